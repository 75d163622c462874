// SPDX-License-Identifier: Apache-2.0

#include "good_values.hpp"

#include "reference/sheet_bounds.hpp"
#include "situation.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace assay::decisions {

using record::Case;
using reference::HardwareEntry;

plan::Catalogue catalogue() {
    plan::Catalogue all;
    for (const auto* module : {"host", "openblas", "onednn", "fftw", "cuda", "cublaslt", "cufft",
                               "nccl", "hip", "rocblas", "hipfft", "rccl"}) {
        plan::Manifest manifest{.module = module};
        const std::string_view name{module};
        const bool on_host =
            name == "host" || name == "openblas" || name == "onednn" || name == "fftw";
        for (const auto* id :
             {"peak.fma", "peak.dot", "gemm.square", "memory.stream", "stencil.heat3d",
              "transfer.host", "transfer.peer", "collective.allreduce", "collective.allgather",
              "collective.reduce_scatter", "collective.alltoall"})
            manifest.benchmarks.push_back(
                {.id = id, .bound = reference::declared_bound(id, on_host)});
        all.modules.push_back(std::move(manifest));
    }
    return all;
}

std::string precision_of(const Case& c) { return record::text(c.parameters, "precision"); }

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](auto word) { return text.find(word) != text.npos; });
}

Value measured(double share, std::string source) {
    return {.basis = {share, true, std::move(source)}};
}
Value guessed(double share, std::string source) {
    return {.basis = {share, false, std::move(source)}};
}
Value amount(Value value) {
    value.is_amount = true;
    return value;
}
Value share_of(Value value, std::string benchmark, double per_unit, std::string metric) {
    value.of = std::move(benchmark);
    value.per_unit = per_unit;
    value.metric = std::move(metric);
    return value;
}

namespace {

constexpr const char* h200 = "real/h200-acceptance.json";
constexpr const char* h100 = "real/h100-acceptance-interrupted.json";
constexpr const char* h100_host = "the host of real/h100-acceptance-interrupted.json";
constexpr const char* zen4 = "reports/samples/zen4-2cores-quick.json";
constexpr const char* azure = "results of ND_A100_v4 that Azure publishes";
constexpr const char* rocm = "ROCm/system-acceptance-docs, MI300X";
constexpr const char* fryer = "huggingface/gpu-fryer:README.md";
constexpr const char* engineering = "stas00/ml-engineering, network and accelerator";

/// Products by libraries under sustained load.
Value product(const std::string& precision, const HardwareEntry& chip, bool is_amd) {
    if (is_amd)
        return is_one_of(chip.id, {"mi300x"}) && precision == "fp64"
                   ? guessed(0.5)
                   : guessed(
                         is_one_of(precision, {"fp64"}) ? 0.6 : 0.5,
                         "half of what rocm-acceptance reaches in fp32 (58%, MI300X) and less in "
                         "narrow types; recalled");
    if (is_one_of(chip.name, {"H200"}) && !is_one_of(chip.name, {"NVL", "GH200"})) {
        static const std::map<std::string, double, std::less<>> seen{{"fp64", 0.779},
                                                                     {"tf32", 0.709},
                                                                     {"bf16", 0.678},
                                                                     {"int8", 0.644},
                                                                     {"fp8_e4m3", 0.642}};
        return measured(seen.at(precision), h200);
    }
    if (is_one_of(chip.name, {"H100 SXM"})) {
        static const std::map<std::string, double, std::less<>> seen{{"fp64", 0.805},
                                                                     {"tf32", 0.744},
                                                                     {"bf16", 0.711},
                                                                     {"int8", 0.678},
                                                                     {"fp8_e4m3", 0.672}};
        return measured(seen.at(precision), h100);
    }
    if (is_one_of(chip.name, {"A100", "A800"}))
        return precision == "bf16"   ? measured(0.87, fryer)
               : precision == "tf32" ? measured(0.83, fryer)
                                     : guessed(precision == "fp64" ? 0.95 : 0.75);
    if (is_one_of(chip.name, {"B200", "B300"}))
        return precision == "bf16"
                   ? measured(0.65, "gpu-fryer: 62% (GB200); ml-engineering: 78% (B200)")
               : precision == "tf32" ? measured(0.64, fryer)
               : precision == "fp8_e4m3"
                   ? measured(0.70, "ml-engineering: 76% (B200), the best shapes")
                   : guessed(0.65);
    if (chip.power.value_or(300) <= 165) return guessed(0.45, "cards of 70 to 165 W; recalled");
    return guessed(0.7);
}

} // namespace

Value host_value(const Case& c, const HostKind& host) {
    const auto& id = c.benchmark;
    const bool is_one = record::text(c.parameters, "threads") == "one";
    const bool is_small = host.cores <= 2;
    const bool is_large = host.cores > 16;
    if (id == "peak.fma" && is_one) return measured(0.96, h100_host);
    if (id == "peak.fma" && host.are_threads) return measured(0.447, h100_host);
    if (id == "peak.fma") return is_small ? measured(0.98, zen4) : guessed(0.92);
    if (id == "peak.dot" && host.are_threads) return measured(0.33, h100_host);
    if (id == "peak.dot") return is_small ? measured(0.98, zen4) : guessed(0.88);
    if (id == "gemm.square" && c.library == "openblas")
        return host.are_threads ? measured(0.40, h100_host)
               : is_small       ? measured(0.90, zen4)
                                : guessed(is_large ? 0.55 : 0.8);
    if (id == "gemm.square")
        return host.are_threads ? measured(0.11, h100_host)
               : is_small       ? measured(0.97, zen4)
                                : guessed(is_large ? 0.4 : 0.5);
    if (id == "memory.stream" && is_one) return amount(measured(22.5e9, h100_host));
    if (id == "memory.stream" && host.is_guest)
        return host.are_threads ? amount(measured(136e9, h100_host))
                                : amount(guessed(std::min(host.cores, 24) * 10e9));
    if (id == "memory.stream")
        return measured(0.78, "azure-stream: 71 to 85% of the channels (HB120rs_v3, HB176rs_v4)");
    if (id == "stencil.heat3d" && host.is_guest)
        return host.are_threads ? amount(measured(116e9, h100_host))
                                : amount(guessed(std::min(host.cores, 24) * 8.5e9));
    if (id == "stencil.heat3d")
        return guessed(0.66, "85% of triad, as on the H100's host; recalled");
    if (id == "memory.latency") return amount(guessed(host.sockets > 1 ? 115e-9 : 105e-9));
    if (id == "latency.core_to_core") return amount(guessed(host.sockets > 1 ? 180e-9 : 60e-9));
    if (id == "latency.context_switch") return amount(measured(1.6e-6, h100_host));
    if (id == "fft.transform")
        return share_of(host.are_threads ? measured(0.058, h100_host)
                        : is_small       ? measured(0.35, zen4)
                        : is_large       ? guessed(0.03)
                                         : guessed(0.2),
                        "peak.fma", 1);
    if (id == "md.lennard_jones")
        return share_of(host.are_threads ? measured(0.028, h100_host)
                        : is_small       ? measured(0.15, zen4)
                        : is_large       ? guessed(0.03)
                                         : guessed(0.1),
                        "peak.fma", 0.04, "pair_rate");
    throw std::logic_error{"no value for " + record::identity(c)};
}

Value device_value(const Case& c, const HardwareEntry& chip, bool is_amd) {
    const auto& id = c.benchmark;
    const auto precision = precision_of(c);
    const bool is_h200 = chip.id == "nvidia-h200-sxm-141gb";
    const bool is_h100 = chip.id == "nvidia-h100-sxm5-80gb";
    const bool is_a100 = is_one_of(chip.name, {"A100"});
    const bool is_weak = chip.power.value_or(300) <= 165;
    const bool has_nvlink = chip.nvlink_bandwidth && !chip.nvlink_bridge;
    if (id == "memory.stream") {
        const bool is_copy = record::text(c.parameters, "kernel") == "copy";
        if (is_amd)
            return is_one_of(chip.id, {"mi300x"}) ? measured(is_copy ? 0.79 : 0.78, rocm)
                                                  : guessed(0.77);
        if (is_h200) return measured(is_copy ? 0.885 : 0.909, h200);
        if (is_h100) return measured(is_copy ? 0.906 : 0.917, h100);
        if (is_a100) return measured(is_copy ? 0.84 : 0.85, azure);
        return guessed(is_copy ? 0.87 : 0.88);
    }
    if (id == "peak.fma") {
        if (is_amd) return guessed(precision == "fp64" ? 0.85 : 0.55);
        if (is_h200) return measured(precision == "fp64" ? 0.994 : 0.981, h200);
        if (is_h100) return measured(precision == "fp64" ? 0.998 : 0.987, h100);
        if (is_a100) return measured(0.97, "Yinghan-Li/YHs_Sample issue 4");
        return guessed(is_weak ? 0.65 : 0.92);
    }
    if (id == "gemm.square") return product(precision, chip, is_amd);
    if (id == "fft.transform")
        return share_of(is_h200   ? measured(0.718, h200)
                        : is_h100 ? measured(0.775, h100)
                                  : guessed(is_amd ? 0.55 : 0.65),
                        "memory.stream", 2.5);
    if (id == "memory.latency")
        return amount(is_h200   ? measured(337e-9, h200)
                      : is_h100 ? measured(348e-9, h100)
                                : guessed(is_amd ? 700e-9 : 500e-9));
    if (id == "stencil.heat3d") return share_of(guessed(0.8), "memory.stream", 1);
    if (id == "md.lennard_jones") return amount(measured(1.7e9, h100));
    if (id == "transfer.host")
        return chip.host_link_bandwidth ? measured(0.8, engineering)
               : is_h200                ? measured(0.869, h200)
               : is_h100                ? measured(0.849, h100)
               : is_a100                ? measured(0.83, azure)
                                        : guessed(0.84);
    if (id == "transfer.latency") return amount(measured(6.1e-6, h200));
    if (id == "latency.kernel") return amount(measured(9.3e-6, h100));
    if (id == "transfer.peer")
        return has_nvlink ? measured(0.88, engineering) : guessed(is_amd ? 0.75 : 0.8);
    if (id.starts_with("collective.")) {
        if (is_amd) return amount(guessed(id.ends_with("allreduce") ? 3e11 : 2.5e11));
        if (id.ends_with("alltoall")) return guessed(has_nvlink ? 0.75 : 0.3);
        return has_nvlink ? measured(0.79, engineering) : guessed(0.4);
    }
    throw std::logic_error{"no value for " + record::identity(c)};
}

const std::vector<Case>& patterns(bool on_host) {
    static const auto all = [] {
        std::vector<Case> cases = read(real("h100-acceptance-interrupted")).cases;
        std::erase_if(cases, [](const Case& c) {
            return record::find(c.parameters, "together") != nullptr || c.work.empty();
        });
        for (auto& c : cases) {
            c = {.benchmark = c.benchmark,
                 .version = c.version,
                 .place = c.place,
                 .library = c.library,
                 .parameters = c.parameters,
                 .evidence = c.evidence,
                 .work = c.work,
                 .headline = c.headline,
                 .verification =
                     record::Verification{.passed = true, .method = "as in the real file"},
                 .spread = c.spread};
        }
        return cases;
    }();
    static const auto split = [] {
        std::array<std::vector<Case>, 2> parts;
        for (const auto& c : all) parts.at(c.place.kind == "host" ? 1 : 0).push_back(c);
        return parts;
    }();
    return split.at(on_host ? 1 : 0);
}

} // namespace assay::decisions
