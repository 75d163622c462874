// SPDX-License-Identifier: Apache-2.0
//
// Intel's tiles: four sums, two operands a and two b are the eight tiles there are. One product is
// issued every 16 cycles and takes 52 (Intel's optimisation manual, chapter on AMX), so four chains
// keep the unit busy.

#include "dot_amx.hpp"

#include "dot_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace assay::peak {
namespace {

constexpr std::size_t chains = 4;
constexpr std::size_t tile_bytes = tile_rows * tile_row_bytes;

const std::byte* tile(const void* first, std::size_t index) {
    return static_cast<const std::byte*>(first) + index * tile_bytes;
}
std::byte* tile(void* first, std::size_t index) {
    return static_cast<std::byte*>(first) + index * tile_bytes;
}

// Tiles are named by number in the instruction, so there is no loop over them.
[[gnu::target("amx-tile"), gnu::always_inline]] inline void load(const DotOperands& operands) {
    static constexpr TileConfig config = full_tiles();
    _tile_loadconfig(&config);
    _tile_loadd(0, tile(operands.start, 0), tile_row_bytes);
    _tile_loadd(1, tile(operands.start, 1), tile_row_bytes);
    _tile_loadd(2, tile(operands.start, 2), tile_row_bytes);
    _tile_loadd(3, tile(operands.start, 3), tile_row_bytes);
    _tile_loadd(4, tile(operands.a, 0), tile_row_bytes);
    _tile_loadd(5, tile(operands.a, 1), tile_row_bytes);
    _tile_loadd(6, tile(operands.b, 0), tile_row_bytes);
    _tile_loadd(7, tile(operands.b, 1), tile_row_bytes);
}

[[gnu::target("amx-tile"), gnu::always_inline]] inline void store(const DotOperands& operands) {
    _tile_stored(0, tile(operands.result, 0), tile_row_bytes);
    _tile_stored(1, tile(operands.result, 1), tile_row_bytes);
    _tile_stored(2, tile(operands.result, 2), tile_row_bytes);
    _tile_stored(3, tile(operands.result, 3), tile_row_bytes);
    _tile_release();
}

[[gnu::target("amx-tile,amx-int8")]] void run_int8(const DotOperands& operands, std::size_t steps) {
    load(operands);
    for (std::size_t i = 0; i < steps; i += 2) {
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 5, 6);
        _tile_dpbusd(2, 4, 6);
        _tile_dpbusd(3, 5, 6);
        _tile_dpbusd(0, 4, 7);
        _tile_dpbusd(1, 5, 7);
        _tile_dpbusd(2, 4, 7);
        _tile_dpbusd(3, 5, 7);
    }
    store(operands);
}

[[gnu::target("amx-tile,amx-bf16")]] void run_bf16(const DotOperands& operands, std::size_t steps) {
    load(operands);
    for (std::size_t i = 0; i < steps; i += 2) {
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 5, 6);
        _tile_dpbf16ps(2, 4, 6);
        _tile_dpbf16ps(3, 5, 6);
        _tile_dpbf16ps(0, 4, 7);
        _tile_dpbf16ps(1, 5, 7);
        _tile_dpbf16ps(2, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
    }
    store(operands);
}

constexpr std::array paths{
    dot_path(DotIsa::amx, Format::int8, "amx", "tdpbusd", {"amx_tile", "amx_int8"},
             {Layout::tiles, 256, 64}, chains, run_int8),
    dot_path(DotIsa::amx, Format::bf16, "amx", "tdpbf16ps", {"amx_tile", "amx_bf16"},
             {Layout::tiles, 256, 32}, chains, run_bf16),
};

} // namespace

std::span<const DotPath> amx_dot_paths() { return paths; }

bool allow_tiles() {
    constexpr long request_permission = 0x1023; // ARCH_REQ_XCOMP_PERM, asm/prctl.h, Linux 5.16
    constexpr long tile_data = 18;              // XFEATURE_XTILEDATA
    return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

} // namespace assay::peak
#else
namespace assay::peak {
std::span<const DotPath> amx_dot_paths() { return {}; }
bool allow_tiles() { return false; }
} // namespace assay::peak
#endif
