// SPDX-License-Identifier: Apache-2.0
#include "launch/environment.hpp"

#include "process/program.hpp"
#include "process/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace assay::harness {
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

/// What makes a library compute something else than it is asked for, or by other kernels than those of this machine,
/// without a word: TF32 for fp32, emulated for native, the kernels of an older processor, another allocator. A benchmark
/// that wants it says so in a parameter; a user who wants it, in a variant or by --keep-environment.
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

/// Of the user's shell, and would change what is measured.
bool is_removed(std::string_view name) {
    return std::ranges::find(replaced, name) != replaced.end() ||
           begins_with_any(name, falsifying_prefixes);
}

bool is_ours(std::string_view name) {
    return begins_with_any(name, job_prefixes) || begins_with_any(name, start_variables);
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
        const auto name = variable_name(entry);
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
        std::erase_if(entries,
                      [](const std::string& e) { return is_device_choice(variable_name(e)); });
        // HIP takes CUDA's variable for its own, and counts what ROCm shows it from 0.
        const bool is_amd = placement.device_kind == "hip";
        if (!is_amd) entries.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
        entries.push_back(fmt::format("{}={}",
                                      is_amd ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES",
                                      fmt::join(placement.devices, ",")));
    }
    Start start;
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
        return record::find(forced, variable_name(entry)) != nullptr;
    });
    for (const auto& [name, value] : forced)
        entries.push_back(fmt::format("{}={}", name, record::to_string(value)));
    return entries;
}

record::NamedList recorded_environment(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& inherited) {
    record::NamedList settings;
    for (const auto& entry : inherited) {
        const auto name = variable_name(entry);
        if (name.size() < entry.size() && is_removed(name) &&
            find_variable(environment, name) == nullptr)
            settings.push_back({fmt::format("environment.{}", name),
                                fmt::format("unset, was {}", entry.substr(name.size() + 1))});
    }
    for (const auto& entry : environment) {
        const auto name = variable_name(entry);
        if (name.size() < entry.size() && begins_with_any(name, recorded_prefixes))
            settings.push_back(
                {fmt::format("environment.{}", name), entry.substr(name.size() + 1)});
    }
    std::ranges::sort(settings, {}, &record::Named::name);
    return settings;
}

} // namespace assay::harness
