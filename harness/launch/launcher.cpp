// SPDX-License-Identifier: Apache-2.0
#include "launch/launcher.hpp"

#include "base/file.hpp"
#include "process/listing.hpp"
#include "process/scratch.hpp"
#include "process/start.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;

process::Command plain(const LaunchRequest& request, std::vector<std::string> environment) {
    return {.arguments = {request.program.string(), "worker"},
            .environment = std::move(environment),
            .cpus = request.placement.cpus,
            .log = request.log,
            .mark = process::mark_of(request.token)};
}

using Arguments = std::vector<std::string>;

Result<Arguments> launcher_program(const char* name, const char* package,
                                   const std::vector<std::string>& environment) {
    const char* path = process::find_variable(environment, "PATH");
    const auto program = process::find_program(name, path == nullptr ? "/usr/bin:/bin" : path);
    if (program.empty())
        return fail(fmt::format("needs {} (Debian package {})", name, package), Fault::environment);
    return Arguments{program.string()};
}

void set(Arguments& arguments, const char* name, std::string value) {
    arguments.insert(arguments.end(), {"--mca", name, std::move(value)});
}

/// No ssh, no batch system, no probing of the network.
void stay_here(const LaunchRequest& request, const std::vector<std::string>& environment,
               Arguments& arguments) {
    const int ranks = request.placement.ranks;
    arguments.insert(arguments.end(), {"--host", fmt::format("localhost:{}", ranks)});
    set(arguments, "plm", "isolated");
    if (request.placement.cpus.empty()) {
        arguments.emplace_back("--oversubscribe");
        // A spinning rank would block the others on its core.
        set(arguments, "mpi_yield_when_idle", "1");
    }
    // A host without a network has this interface; Open MPI ignores it by default.
    if (process::find_variable(environment, "OMPI_MCA_btl_tcp_if_include") == nullptr)
        set(arguments, "btl_tcp_if_include", "lo");
    set(arguments, "orte_tmpdir_base", request.scratch.string());
    set(arguments, "btl_vader_backing_directory", request.scratch.string());
}

/// Variables to pass on besides Open MPI's own, which it exports by itself.
void carry(const std::vector<std::string>& environment, Arguments& arguments) {
    Arguments names{"LD_LIBRARY_PATH"};
    for (const auto& setting : recorded_environment(environment))
        names.push_back(setting.name.substr(setting.name.find('.') + 1));
    for (const auto& name : names)
        if (!name.starts_with("OMPI_MCA_") && process::find_variable(environment, name) != nullptr)
            arguments.insert(arguments.end(), {"-x", name});
}

void go_to_hosts(const LaunchRequest& request, const std::vector<std::string>& environment,
                 Arguments& arguments) {
    std::string hosts;
    for (const auto& host : request.placement.hosts)
        hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", host.name, host.ranks);
    arguments.insert(arguments.end(), {"--host", hosts});
    carry(environment, arguments);
}

/// Open MPI 4.
Result<process::Command> mpirun(const LaunchRequest& request,
                                std::vector<std::string> environment) {
    ASSAY_TRY(auto arguments, launcher_program("mpirun", "openmpi-bin", environment));
    arguments.insert(arguments.end(), {"-np", std::to_string(request.placement.ranks)});
    if (request.placement.hosts.empty())
        stay_here(request, environment, arguments);
    else
        go_to_hosts(request, environment, arguments);
    // Ranks bind themselves: mpirun counts the machine's cores, not those this process may use.
    arguments.insert(arguments.end(), {"--bind-to", "none"});
    if (!may_read_siblings()) set(arguments, "btl_vader_single_copy_mechanism", "none");
    for (const char* name : process::start_variables)
        if (process::find_variable(environment, name) != nullptr)
            arguments.insert(arguments.end(), {"-x", name});
    arguments.insert(arguments.end(), {request.program.string(), "worker"});
    if (::geteuid() == 0) {
        environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT=1");
        environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
    }
    return process::Command{.arguments = std::move(arguments),
                            .environment = std::move(environment),
                            .log = request.log,
                            .mark = process::mark_of(request.token)};
}

/// A host for each rank: Slurm's way to take a given order.
Result<fs::path> write_rank_file(const LaunchRequest& request) {
    std::string lines;
    for (const auto& host : request.placement.hosts)
        for (int rank = 0; rank < host.ranks; ++rank) lines += host.name + '\n';
    auto path = request.scratch / ("ranks-" + request.token.substr(0, 8));
    ASSAY_TRY(write_atomically(path, lines));
    return path;
}

/// A step of a Slurm allocation. Its environment reaches every rank unchanged.
Result<process::Command> srun(const LaunchRequest& request, std::vector<std::string> environment) {
    ASSAY_TRY(auto arguments, launcher_program("srun", "slurm-client", environment));
    ASSAY_TRY(const auto ranks, write_rank_file(request));
    environment.push_back("SLURM_HOSTFILE=" + ranks.string());
    if (process::find_variable(environment, "SLURM_MPI_TYPE") == nullptr)
        arguments.emplace_back("--mpi=pmix");
    // --overlap: the script that runs this may hold all CPUs; ranks bind themselves.
    for (const char* option : {"--distribution=arbitrary", "--overlap", "--cpu-bind=none",
                               "--kill-on-bad-exit=1", "--export=ALL", "--unbuffered"})
        arguments.emplace_back(option);
    arguments.push_back(fmt::format("--nodes={}", request.placement.hosts.size()));
    arguments.push_back(fmt::format("--ntasks={}", request.placement.ranks));
    if (!may_read_siblings())
        environment.emplace_back("OMPI_MCA_btl_vader_single_copy_mechanism=none");
    arguments.insert(arguments.end(), {request.program.string(), "worker"});
    return process::Command{.arguments = std::move(arguments),
                            .environment = std::move(environment),
                            .log = request.log,
                            .mark = process::mark_of(request.token)};
}

} // namespace

bool may_read_siblings(const fs::path& root) {
    // Yama: 1 and more restricts it to descendants (unless privileged, which ranks rarely are).
    std::ifstream file{root / "proc/sys/kernel/yama/ptrace_scope"};
    int scope = 0;
    if (file >> scope && scope > 0) return false;
    // A seccomp filter may deny the call even for the process itself.
    char from = 1;
    char to = 0;
    const iovec local{.iov_base = &to, .iov_len = 1};
    const iovec remote{.iov_base = &from, .iov_len = 1};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1;
}

namespace {

Result<process::Command> bare_command(const LaunchRequest& request) {
    auto environment =
        worker_environment(request.inherited, request.placement, request.context.variables);
    std::ranges::move(process::to_variables({.socket = request.address,
                                             .token = request.token,
                                             .data_limit = request.data_limit,
                                             .run = process::own_identity()}),
                      std::back_inserter(environment));
    if (request.placement.launcher.empty()) return plain(request, std::move(environment));
    if (request.placement.launcher == "mpirun") return mpirun(request, std::move(environment));
    if (request.placement.launcher == "srun") return srun(request, std::move(environment));
    return fail(
        fmt::format("unknown launcher `{}` (expected mpirun or srun)", request.placement.launcher),
        Fault::environment);
}

} // namespace

Result<process::Command> launch_command(const LaunchRequest& request) {
    auto command = bare_command(request);
    const auto& prefix = request.context.prefix;
    if (!command) return command;
    command->arguments.insert(command->arguments.begin(), prefix.begin(), prefix.end());
    command->kept = true;
    command->groups = request.groups;
    // More than any team of ours with its threads, and a small part of what a system has.
    command->limits = {.processes = 16'384, .bytes = request.memory};
    return command;
}

Result<process::Listener> listener_for(const Placement& placement) {
    for (const auto& host : placement.hosts) {
        ASSAY_TRY(auto own, process::own_address_towards(host.name));
        const auto theirs = process::numeric_address(host.name);
        const bool is_here = theirs && to_text(own).find(*theirs + ':') != std::string::npos;
        if (!is_here) return process::Listener::open(own);
    }
    return process::Listener::open();
}

namespace {

/// The signal that killed it; 0: none.
int signal_of(const process::Ending& ending, bool by_proxy) {
    // A launcher's exit code contains the signal that killed a rank: 128 + n, as a shell's does.
    constexpr int shell_offset = 128;
    const bool told = by_proxy && ending.code > shell_offset;
    return told ? ending.code - shell_offset : ending.signal;
}

std::string killed_by(int signal) {
    return fmt::format("killed by {}{}", process::signal_words(signal),
                       signal == SIGKILL ? ", perhaps out of memory," : "");
}

} // namespace

record::Conclusion early_death(const process::Ending& ending, bool by_proxy) {
    const int signal = signal_of(ending, by_proxy);
    const auto how = signal == 0 ? fmt::format("it ended with exit code {}", ending.code)
                                 : "it was " + killed_by(signal);
    const auto reason =
        fmt::format("the worker could not be started: {} before it reported its build", how);
    return {.status = record::Status::not_started,
            .code = record::ReasonCode::no_worker,
            .reason = reason,
            .values = {{"message", reason}}};
}

record::Conclusion death(const std::optional<process::Ending>& ending, bool by_proxy,
                         const std::string& phase, const std::string& who, record::Values values) {
    record::Conclusion death{.status = record::Status::crashed,
                             .code = record::ReasonCode::process_died,
                             .reason = fmt::format("{}closed its connection while {}", who, phase),
                             .values = std::move(values)};
    death.values.push_back({"phase", phase});
    if (!ending) return death;
    const int signal = signal_of(*ending, by_proxy);
    if (signal == 0) {
        death.reason = fmt::format("{}ended with exit code {} while {}", who, ending->code, phase);
        death.values.push_back({"exit_code", std::int64_t{ending->code}});
    } else {
        death.reason = fmt::format("{}{} while {}", who, killed_by(signal), phase);
        death.values.push_back({"signal", std::int64_t{signal}});
    }
    return death;
}

// --- execution context ---------------------------------------------------------------------------

namespace fs = std::filesystem;

Result<ExecutionContext> context_of(const plan::Variant& variant, std::string_view path) {
    ExecutionContext context{.variables = variant.variables, .prefix = {}};
    std::istringstream words{variant.via};
    for (std::string word; words >> word;) {
        if (context.prefix.empty() && word.find('/') == std::string::npos) {
            const auto program = process::find_program(word, path);
            if (program.empty())
                return fail(
                    fmt::format("variant {}: program {} not found on PATH", variant.label, word),
                    Fault::environment);
            word = program.string();
        }
        context.prefix.push_back(std::move(word));
    }
    return context;
}

Result<void> try_out(const ExecutionContext& context, const fs::path& program,
                     const std::vector<std::string>& environment) {
    if (context.prefix.empty()) return {};
    constexpr std::chrono::seconds patience{30}; // its files may come from a slow disk
    ASSAY_TRY(const auto scratch, process::Scratch::create());
    process::Command command{.arguments = context.prefix,
                             .environment =
                                 worker_environment(environment, Placement{}, context.variables),
                             .log = scratch.folder() / "log"};
    command.arguments.insert(command.arguments.end(), {program.string(), "worker"});
    ASSAY_TRY(auto process, process::Process::start(command));
    const auto& ending = process.wait(patience);
    // A worker without a socket reports that and exits with its usage code.
    if (ending && ending->signal == 0 && ending->code == static_cast<int>(ExitCode::usage))
        return {};
    const auto said = process::last_line_of(command.log);
    return fail(fmt::format("a worker could not be started with {}: {}", context.prefix.front(),
                            said.empty() ? "it printed nothing" : said),
                Fault::environment);
}

} // namespace assay::launch
