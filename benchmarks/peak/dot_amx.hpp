// SPDX-License-Identifier: Apache-2.0
//
// The configuration of AMX tiles, as LDTILECFG reads it.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::peak {

/// 64 bytes (Intel SDM volume 1, chapter 18, "tile configuration format").
struct alignas(64) TileConfig {
    std::uint8_t palette = 1; ///< eight tiles of up to 16 rows of 64 bytes
    std::uint8_t start_row = 0;
    std::array<std::uint8_t, 14> reserved{};
    std::array<std::uint16_t, 16> bytes_per_row{}; ///< of each tile
    std::array<std::uint8_t, 16> rows{};
};
static_assert(sizeof(TileConfig) == 64 && offsetof(TileConfig, bytes_per_row) == 16 &&
              offsetof(TileConfig, rows) == 48);

inline constexpr std::size_t tile_count = 8;
inline constexpr std::size_t tile_rows = 16;
inline constexpr std::size_t tile_row_bytes = 64;

/// Eight full tiles.
constexpr TileConfig full_tiles() {
    TileConfig config;
    for (std::size_t tile = 0; tile < tile_count; ++tile) {
        config.bytes_per_row[tile] = tile_row_bytes;
        config.rows[tile] = tile_rows;
    }
    return config;
}

} // namespace assay::peak
