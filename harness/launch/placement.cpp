// SPDX-License-Identifier: Apache-2.0
#include "launch/placement.hpp"

#include "process/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace assay::launch {
namespace {

/// Symbols mean the same as in Machine::workers in assay/machine.hpp.
int count_of(const record::Value& value, const record::Machine& machine) {
    const int cores = std::max(machine.usable_cores.value_or(1), 1);
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return static_cast<int>(std::clamp<std::int64_t>(*number, 1, 1 << 20U));
    const auto* symbol = std::get_if<std::string>(&value);
    if (symbol == nullptr) return cores;
    if (*symbol == "one" || *symbol == "per_node") return 1;
    return *symbol == "per_socket" ? std::max(machine.sockets.value_or(1), 1) : cores;
}

/// Variables of the case's own parameter values override a tuning: they were requested.
void add_variables(const plan::PlannedCase& planned, record::NamedList& variables) {
    for (const auto& parameter : planned.benchmark->parameters) {
        const auto* value = record::find(planned.parameters, parameter.name);
        if (value == nullptr || parameter.variables.empty()) continue;
        const auto text = record::to_string(*value);
        for (const auto& variable : parameter.variables) {
            if (variable.value != text) continue;
            std::erase_if(variables, [&](const auto& v) { return v.name == variable.name; });
            variables.push_back({variable.name, variable.setting});
        }
    }
}

/// A team of processes with a device each.
bool has_rank_per_device(const plan::Benchmark& benchmark) {
    return benchmark.team && benchmark.all_devices;
}

/// Programs of others start their teams by themselves, with a launcher: ASSAY_TEAM_HOSTS is "h1:2,h2". Without a number
/// a host has as many slots as this one has cores.
void tell_hosts(const plan::PlannedCase& planned, const plan::Job& job,
                record::NamedList& variables) {
    if (job.hosts.empty() || !planned.module->path_variable) return;
    std::string hosts;
    for (const auto& host : job.hosts)
        hosts += fmt::format("{}{}{}", hosts.empty() ? "" : ",", host.name,
                             host.slots > 0 ? fmt::format(":{}", host.slots) : "");
    variables.push_back({"ASSAY_TEAM_HOSTS", std::move(hosts)});
    variables.push_back({"ASSAY_TEAM_LAUNCHER", job.launcher});
}

/// The ranks of a team and their hosts.
Result<void> place_ranks(const plan::PlannedCase& planned, const record::Machine& machine,
                         const plan::Job& job, Placement& placement) {
    const auto* asked = record::find(planned.parameters, "ranks");
    if (asked == nullptr || !planned.benchmark->team) return {};
    const auto& ranks = *asked;
    std::optional<int> devices;
    if (placement.rank_per_device) devices = static_cast<int>(planned.devices.size());
    if (!job.hosts.empty()) {
        ASSAY_TRY(placement.hosts, share_out(job.hosts, job.show_names, ranks, machine, devices));
        placement.launcher = job.launcher;
        placement.ranks = 0;
        for (const auto& host : placement.hosts) placement.ranks += host.ranks;
        return {};
    }
    const auto* number = std::get_if<std::int64_t>(&ranks);
    if (!devices || *devices == 0) {
        // If no device is known, one rank is enough to report why.
        placement.ranks = devices ? 1 : count_of(ranks, machine);
        return {};
    }
    const auto wanted = number != nullptr ? *number : *devices;
    if (wanted < 2)
        return fail("not applicable: needs two devices, there is one", Fault::environment);
    if (wanted > *devices)
        return fail(fmt::format("not applicable: needs {} devices, there are {}", wanted, *devices),
                    Fault::environment);
    placement.ranks = static_cast<int>(wanted);
    return {};
}

/// The devices visible to the ranks or the worker. Devices of other hosts have other UUIDs and, assuming equal hosts,
/// the same numbers; all are visible unless some were chosen.
std::vector<std::string> shown_devices(const plan::PlannedCase& planned, const Placement& placement,
                                       const record::Machine& machine) {
    std::vector<std::string> names;
    if (placement.hosts.empty()) {
        for (const auto& device : planned.devices) names.push_back(device.uuid);
    } else if (std::cmp_not_equal(planned.devices.size(),
                                  std::ranges::count(machine.devices, placement.device_kind,
                                                     &record::Device::kind))) {
        for (const auto& device : planned.devices) names.push_back(std::to_string(device.index));
    }
    return names;
}

} // namespace

Result<Placement> place(const plan::PlannedCase& planned, const record::Machine& machine,
                        const record::NamedList& variables, const ChooseCpus& choose_cpus,
                        const plan::Job& job) {
    const auto* threads = record::find(planned.parameters, "threads");
    const bool team = planned.benchmark->team;
    const int usable = std::max(machine.usable_threads.value_or(1), 1);

    Placement placement{.launcher = team ? planned.module->launcher : "",
                        .variables = variables,
                        .rank_per_device = has_rank_per_device(*planned.benchmark)};
    add_variables(planned, placement.variables);
    tell_hosts(planned, job, placement.variables);
    ASSAY_TRY(place_ranks(planned, machine, job, placement));
    if (!planned.devices.empty()) placement.device_kind = planned.devices.front().kind;
    placement.devices = shown_devices(planned, placement, machine);
    if (threads != nullptr)
        placement.threads = count_of(*threads, machine);
    else
        placement.threads = team ? 1 : std::max(machine.usable_cores.value_or(1), 1);
    if (placement.threads > usable)
        return fail(fmt::format("needs {} hardware threads, this machine lets it use {}",
                                placement.threads, usable),
                    Fault::environment);
    // More ranks than CPUs share them as the kernel decides: slow, but requested.
    const int wanted = placement.ranks * placement.threads;
    // The thread that feeds a device runs near it, so that memory it touches first is near as well.
    const bool near_one = planned.devices.size() == 1;
    const auto near = near_one ? planned.devices.front().pci_address : std::string{};
    if (placement.hosts.empty() && !placement.rank_per_device && wanted <= usable)
        placement.cpus = choose_cpus(wanted, near);
    if (near_one && threads == nullptr && !placement.cpus.empty())
        placement.threads = static_cast<int>(placement.cpus.size()); // a socket has fewer
    else if (placement.cpus.size() != static_cast<std::size_t>(wanted))
        placement.cpus.clear();
    return placement;
}

std::int64_t data_limit_for(double available, int processes) {
    if (std::isnan(available) || available <= 0) return 0;
    // For the parent, the kernel and page tables: 5%, at least 256 MiB.
    const double reserve = std::max(0.05 * available, 256.0 * 1024 * 1024);
    // Below 64 MiB a process could not even load its libraries.
    const double floor = 64.0 * 1024 * 1024;
    return static_cast<std::int64_t>(std::max((available - reserve) / processes, floor));
}

// --- environment ---------------------------------------------------------------------------------

namespace {

/// Variables that place threads: the harness does that, and leftovers of the user's shell would contradict it.
constexpr std::array replaced{"OMP_NUM_THREADS",      "OMP_PROC_BIND",        "OMP_PLACES",
                              "OMP_DYNAMIC",          "OMP_THREAD_LIMIT",     "GOMP_CPU_AFFINITY",
                              "KMP_AFFINITY",         "OPENBLAS_NUM_THREADS", "OPENBLAS_MAIN_FREE",
                              "GOTO_NUM_THREADS",     "MKL_NUM_THREADS",      "BLIS_NUM_THREADS",
                              "OMP_DISPLAY_AFFINITY", "OMP_WAIT_POLICY"};

/// Variables of job launchers: a worker that sees them takes itself for one of their ranks.
constexpr std::array job_prefixes{"OMPI_COMM_",       "OMPI_UNIVERSE_", "OMPI_MCA_orte_",
                                  "OMPI_MCA_ess_",    "OMPI_APP_CTX_",  "OMPI_FIRST_RANKS",
                                  "OMPI_MCA_initial", "PMIX_",          "PMI_",
                                  "SLURM_PROCID",     "SLURM_LOCALID"};

/// Variables that silently make a library compute something else, or by other kernels than those of this machine: TF32
/// for fp32, emulated for native, the kernels of an older processor, another allocator. A benchmark that wants it says
/// so in a parameter; a user who wants it, in a variant or by --keep-environment.
constexpr std::array falsifying_prefixes{"NVIDIA_TF32_OVERRIDE",
                                         "CUBLAS_EMULATE_",
                                         "CUBLAS_EMULATION_",
                                         "CUBLAS_FIXEDPOINT_EMULATION_",
                                         "CUBLAS_WORKSPACE_CONFIG",
                                         "CUBLASLT_",
                                         "CUDNN_",
                                         "OPENBLAS_",
                                         "GOTO_",
                                         "BLIS_",
                                         "ONEDNN_",
                                         "DNNL_",
                                         "MKL_",
                                         "FFTW_",
                                         "GLIBC_TUNABLES",
                                         "MALLOC_"};

/// Variables that libraries under test read.
constexpr std::array recorded_prefixes{"OMP_",
                                       "GOMP_",
                                       "KMP_",
                                       "OPENBLAS_",
                                       "GOTO_",
                                       "BLIS_",
                                       "DNNL_",
                                       "ONEDNN_",
                                       "MKL_",
                                       "OMPI_MCA_",
                                       "UCX_",
                                       "NCCL_",
                                       "CUDA_",
                                       "MALLOC_",
                                       "GLIBC_",
                                       "LD_PRELOAD",
                                       "NVIDIA_TF32_OVERRIDE",
                                       "CUBLAS",
                                       "CUDNN_"};

template <class List>
bool begins_with_any(std::string_view name, const List& prefixes) {
    return std::ranges::any_of(prefixes, [&](const char* p) { return name.starts_with(p); });
}

/// Does the user's shell set it, and would it change what is measured?
bool is_removed(std::string_view name) {
    return std::ranges::find(replaced, name) != replaced.end() ||
           begins_with_any(name, falsifying_prefixes);
}

bool is_ours(std::string_view name) {
    return begins_with_any(name, job_prefixes) || begins_with_any(name, process::start_variables);
}

bool is_device_choice(std::string_view name) {
    return name == "CUDA_VISIBLE_DEVICES" || name == "CUDA_DEVICE_ORDER" ||
           name == "ROCR_VISIBLE_DEVICES" || name == "HIP_VISIBLE_DEVICES" ||
           name == "GPU_DEVICE_ORDINAL";
}

} // namespace

std::vector<std::string> worker_environment(const std::vector<std::string>& inherited,
                                            const Placement& placement,
                                            const record::NamedList& forced) {
    std::vector<std::string> entries;
    for (const auto& entry : inherited) {
        const auto name = process::variable_name(entry);
        if (!is_ours(name) && !is_removed(name) &&
            record::find(placement.variables, name) == nullptr)
            entries.push_back(entry);
    }
    for (const auto& [name, value] : placement.variables)
        entries.push_back(fmt::format("{}={}", name, record::to_string(value)));
    entries.push_back(fmt::format("OMP_NUM_THREADS={}", placement.threads));
    entries.emplace_back("OMP_DYNAMIC=false");
    if (!placement.devices.empty()) {
        // By UUID, and in the order of the driver's tools: CUDA's own order is by speed.
        std::erase_if(entries, [](const std::string& e) {
            return is_device_choice(process::variable_name(e));
        });
        // HIP takes CUDA's variable for its own, and counts what ROCm shows it from 0.
        const bool is_amd = placement.device_kind == "hip";
        if (!is_amd) entries.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
        entries.push_back(fmt::format("{}={}",
                                      is_amd ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES",
                                      fmt::join(placement.devices, ",")));
    }
    process::Start start;
    if (placement.launcher.empty() && !placement.cpus.empty()) {
        entries.emplace_back("OMP_PROC_BIND=true");
        entries.push_back(fmt::format("OMP_PLACES={{{}}}", fmt::join(placement.cpus, "},{")));
    } else {
        start.cpus = placement.cpus; // each rank of a team binds itself
        start.unbound = placement.cpus.empty() && placement.rank_per_device;
    }
    for (const auto& host : placement.hosts) start.host_ranks.push_back(host.ranks);
    std::ranges::move(to_variables(start), std::back_inserter(entries));
    std::erase_if(entries, [&](const std::string& entry) {
        return record::find(forced, process::variable_name(entry)) != nullptr;
    });
    for (const auto& [name, value] : forced)
        entries.push_back(fmt::format("{}={}", name, record::to_string(value)));
    return entries;
}

record::NamedList recorded_environment(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& inherited) {
    record::NamedList settings;
    for (const auto& entry : inherited) {
        const auto name = process::variable_name(entry);
        if (name.size() < entry.size() && is_removed(name) &&
            process::find_variable(environment, name) == nullptr)
            settings.push_back({fmt::format("environment.{}", name),
                                fmt::format("unset, was {}", entry.substr(name.size() + 1))});
    }
    for (const auto& entry : environment) {
        const auto name = process::variable_name(entry);
        if (name.size() < entry.size() && begins_with_any(name, recorded_prefixes))
            settings.push_back(
                {fmt::format("environment.{}", name), entry.substr(name.size() + 1)});
    }
    std::ranges::sort(settings, {}, &record::Named::name);
    return settings;
}

} // namespace assay::launch
