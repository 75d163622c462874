// SPDX-License-Identifier: Apache-2.0
#include "core/launcher.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

namespace assay::core {
namespace {

namespace fs = std::filesystem;

Command plain(const LaunchRequest& request, std::vector<std::string> environment) {
    return {.arguments = {request.surroundings.inside(request.program), "worker"},
            .environment = std::move(environment),
            .cpus = request.placement.cpus,
            .log = request.log,
            .mark = "ASSAY_TOKEN=" + request.token};
}

/// Open MPI 4 on this host alone: no ssh, no batch system, no look at the network.
Result<Command> mpirun(const LaunchRequest& request, std::vector<std::string> environment) {
    const char* path = find_variable(environment, "PATH");
    const auto program = find_program("mpirun", path == nullptr ? "/usr/bin:/bin" : path);
    if (program.empty())
        return fail("needs mpirun (Debian package openmpi-bin)", Fault::environment);
    const int ranks = request.placement.ranks;
    std::vector<std::string> arguments{program.string(), "-np", std::to_string(ranks)};
    const auto set = [&](const char* name, std::string value) {
        arguments.insert(arguments.end(), {"--mca", name, std::move(value)});
    };
    arguments.insert(arguments.end(), {"--host", fmt::format("localhost:{}", ranks)});
    set("plm", "isolated");
    // Ranks bind themselves: mpirun counts cores of the machine, not those this process may use.
    arguments.insert(arguments.end(), {"--bind-to", "none"});
    if (request.placement.cpus.empty()) {
        arguments.emplace_back("--oversubscribe");
        set("mpi_yield_when_idle", "1"); // a rank that spins would keep the others off the core
    }
    // A host without a network still has this one; Open MPI leaves it out unless told.
    if (find_variable(environment, "OMPI_MCA_btl_tcp_if_include") == nullptr)
        set("btl_tcp_if_include", "lo");
    set("orte_tmpdir_base", request.scratch.string());
    set("btl_vader_backing_directory", request.scratch.string());
    if (!may_read_siblings()) set("btl_vader_single_copy_mechanism", "none");
    for (const char* name : {"ASSAY_SOCKET", "ASSAY_TOKEN", "ASSAY_CPUS", "ASSAY_DATA_LIMIT"})
        if (find_variable(environment, name) != nullptr)
            arguments.insert(arguments.end(), {"-x", name});
    arguments.insert(arguments.end(), {request.surroundings.inside(request.program), "worker"});
    if (::geteuid() == 0) {
        environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT=1");
        environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
    }
    return Command{.arguments = std::move(arguments),
                   .environment = std::move(environment),
                   .log = request.log,
                   .mark = "ASSAY_TOKEN=" + request.token};
}

} // namespace

fs::path find_program(std::string_view name, std::string_view path) {
    while (!path.empty()) {
        const auto end = path.find(':');
        const auto candidate = fs::path{path.substr(0, end)} / name;
        std::error_code error;
        if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
        if (end == std::string_view::npos) break;
        path.remove_prefix(end + 1);
    }
    return {};
}

bool may_read_siblings(const fs::path& root) {
    // Yama: 1 and more restricts it to descendants (unless privileged, which ranks rarely are).
    std::ifstream file{root / "proc/sys/kernel/yama/ptrace_scope"};
    int scope = 0;
    if (file >> scope && scope > 0) return false;
    // A seccomp filter refuses the call even for the process itself.
    char from = 1;
    char to = 0;
    const iovec local{.iov_base = &to, .iov_len = 1};
    const iovec remote{.iov_base = &from, .iov_len = 1};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == 1;
}

namespace {

Result<Command> bare_command(const LaunchRequest& request) {
    auto environment =
        worker_environment(request.inherited, request.placement, request.surroundings.variables);
    environment.push_back("ASSAY_SOCKET=" + request.address);
    environment.push_back("ASSAY_TOKEN=" + request.token);
    if (request.data_limit > 0)
        environment.push_back(fmt::format("ASSAY_DATA_LIMIT={}", request.data_limit));
    if (request.placement.launcher.empty()) return plain(request, std::move(environment));
    if (request.placement.launcher == "mpirun") return mpirun(request, std::move(environment));
    return fail(fmt::format("needs the launcher `{}`, which this version of assay does not know",
                            request.placement.launcher),
                Fault::environment);
}

} // namespace

Result<Command> launch_command(const LaunchRequest& request) {
    auto command = bare_command(request);
    const auto& prefix = request.surroundings.prefix;
    if (command)
        command->arguments.insert(command->arguments.begin(), prefix.begin(), prefix.end());
    return command;
}

} // namespace assay::core
