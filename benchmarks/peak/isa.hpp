// SPDX-License-Identifier: Apache-2.0
//
// What the vector loops of this room need of a CPU: names as in /proc/cpuinfo.

#pragma once

#include "fma_kernels.hpp"

#include <assay/benchmark.hpp>
#include <assay/machine.hpp>
#include <assay/parallel.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace assay::peak {

/// Highway's AVX-512 is that of Skylake and later.
struct Requirement {
    Isa isa;
    const char* name;
    std::array<const char*, 4> features; // "" where fewer are needed
};
inline constexpr std::array requirements{
    Requirement{.isa = Isa::sse4, .name = "sse4", .features = {"sse4_1", "sse4_2", "", ""}},
    Requirement{.isa = Isa::avx2, .name = "avx2", .features = {"avx2", "fma", "f16c", "bmi2"}},
    Requirement{.isa = Isa::avx512,
                .name = "avx512",
                .features = {"avx512f", "avx512vl", "avx512dq", "avx512bw"}},
    Requirement{.isa = Isa::neon, .name = "neon", .features = {"asimd", "aes", "", ""}},
    Requirement{.isa = Isa::sve, .name = "sve", .features = {"sve", "", "", ""}},
    Requirement{.isa = Isa::sve2, .name = "sve2", .features = {"sve2", "sveaes", "", ""}},
};

inline const Requirement& requirement(Isa isa) {
    return *std::ranges::find(requirements, isa, &Requirement::isa);
}

/// Why this machine cannot run code that needs `features`; "" when it can.
inline std::string missing(std::span<const char* const> features, const Machine& machine) {
    for (const char* feature : features)
        if (*feature != '\0' && !machine.has(feature)) return std::string{"needs "} + feature;
    return {};
}

/// Can this process use so many cores?
inline Fit fits_cores(Symbolic wanted, const Machine& machine) {
    const std::int64_t threads = machine.workers(wanted);
    const std::int64_t most = std::max(machine.cores(), machine.count("threads"));
    if (threads > most)
        return Fit::no("needs " + std::to_string(threads) + " cores, this process may use " +
                       std::to_string(most));
    if (threads > 1 && !has_threads()) return Fit::no("needs a build with OpenMP");
    return Fit::yes();
}

} // namespace assay::peak
