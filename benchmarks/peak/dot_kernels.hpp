// SPDX-License-Identifier: Apache-2.0
//
// Dot instructions: each adds products of narrow numbers to sums of 32 bits. dot_paths() lists those in
// this build, whether or not this CPU has them.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::peak {

enum class Format : std::uint8_t { int8, bf16 };
enum class DotIsa : std::uint8_t {
    best,
    avx2,
    avx_vnni,
    avx512_vnni,
    avx512_bf16,
    amx,
    neon_dot,
    neon_mm
};

/// The elements of the operands a and b whose products one sum takes.
enum class Layout : std::uint8_t {
    lanes, ///< lane by lane: `depth` neighbours of a with the same ones of b
    tiles, ///< AMX: 16 rows of a with 16 columns of b, whose rows are interleaved in 32-bit groups
    pairs, ///< Arm's matrix multiply-accumulate: 2 rows of a with 2 rows of b
};

struct DotShape {
    Layout layout;
    std::size_t sums;  ///< of one instruction
    std::size_t depth; ///< products that it adds to each
    std::size_t elements() const;
    std::size_t a_index(std::size_t sum, std::size_t product) const;
    std::size_t b_index(std::size_t sum, std::size_t product) const;
};

/// Chains of one instruction that is given, in turn, the two operands b; even and odd chains have an
/// operand a each. Sums are 32-bit integers or fp32, chain by chain.
struct DotOperands {
    const void* a;
    const void* b;
    const void* start;
    void* result;
};
using DotChains = void (*)(const DotOperands& operands, std::size_t steps);

struct DotPath {
    DotIsa isa;
    Format format;
    const char* name;        ///< of the isa
    const char* instruction; ///< what is counted
    std::array<const char*, 2> features;
    DotShape shape;
    std::size_t chains;
    DotChains run;
};

/// A row of a table of paths.
constexpr DotPath dot_path(DotIsa isa, Format format, const char* name, const char* instruction,
                           std::array<const char*, 2> features, DotShape shape, std::size_t chains,
                           DotChains run) {
    return {isa, format, name, instruction, features, shape, chains, run};
}

/// The most productive first.
std::vector<DotPath> dot_paths();

/// Why the operating system does not let this process use the path; "" when it does. Asks for AMX
/// tiles where the path needs them, for all threads of the process.
std::string refusal(const DotPath& path);

/// The kernels of a build for this architecture; empty elsewhere.
std::span<const DotPath> x86_dot_paths();
std::span<const DotPath> amx_dot_paths();
std::span<const DotPath> arm_dot_paths();
bool allow_tiles();

inline std::size_t DotShape::elements() const {
    switch (layout) {
    case Layout::tiles:
        return 16 * depth;
    case Layout::pairs:
        return 2 * depth;
    case Layout::lanes:
        break;
    }
    return sums * depth;
}

inline std::size_t DotShape::a_index(std::size_t sum, std::size_t product) const {
    if (layout == Layout::tiles) return sum / 16 * depth + product;
    if (layout == Layout::pairs) return sum / 2 * depth + product;
    return sum * depth + product;
}

inline std::size_t DotShape::b_index(std::size_t sum, std::size_t product) const {
    if (layout == Layout::pairs) return sum % 2 * depth + product;
    if (layout == Layout::lanes) return sum * depth + product;
    const std::size_t group =
        depth / 16; // products whose elements share 32 bits: 4 bytes or 2 bf16
    return product / group * 16 * group + sum % 16 * group + product % group;
}

} // namespace assay::peak
