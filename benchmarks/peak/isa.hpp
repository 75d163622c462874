// SPDX-License-Identifier: Apache-2.0
//
// What the vector loops of this room need of a CPU: names as in /proc/cpuinfo.

#pragma once

#include "fma_kernels.hpp"

#include <assay/benchmark.hpp>
#include <assay/machine.hpp>
#include <assay/room.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

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

inline Isa isa_named(std::string_view name) {
    return std::ranges::find(requirements, name, &Requirement::name)->isa;
}

/// Why this machine cannot run code that needs `features`; "" when it can.
inline std::string missing(std::span<const char* const> features, const Machine& machine) {
    for (const char* feature : features)
        if (*feature != '\0' && !machine.has(feature)) return std::string{"needs "} + feature;
    return {};
}

/// The first of `chains`, which come widest first, that is for `isa` and runs here; null where this
/// build or this machine has none. A Chain has an `isa` and Highway's `target`.
template <class Chain>
const Chain* find_chain(std::span<const Chain> chains, Isa isa, const Machine& machine) {
    for (const Chain& chain : chains)
        if ((isa == Isa::best || isa == chain.isa) && is_supported(chain.target) &&
            missing(requirement(chain.isa).features, machine).empty())
            return &chain;
    return nullptr;
}

/// Are there a chain and enough cores?
template <class Chain>
Fit fits_chains(std::span<const Chain> chains, Isa isa, Symbolic threads, const Machine& machine) {
    if (Fit cores = host::fits_cores(threads, machine); !cores) return cores;
    if (find_chain(chains, isa, machine) != nullptr) return Fit::yes();
    if (isa == Isa::best)
        return Fit::no("not applicable: needs sse4_1, avx2, avx512f, asimd or sve");
    if (std::string why = missing(requirement(isa).features, machine); !why.empty())
        return Fit::no("not applicable: " + why);
    return Fit::no(std::string{"not applicable: needs a build with "} + requirement(isa).name);
}

template <class Params>
consteval auto isa_axis() {
    return choice("isa", "instruction set; best is the widest that this machine has", &Params::isa,
                  {Name{"best", Isa::best}, Name{"sse4", Isa::sse4}, Name{"avx2", Isa::avx2},
                   Name{"avx512", Isa::avx512}, Name{"neon", Isa::neon}, Name{"sve", Isa::sve},
                   Name{"sve2", Isa::sve2}},
                  {Isa::best});
}

} // namespace assay::peak
