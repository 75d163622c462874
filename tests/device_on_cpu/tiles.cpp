// SPDX-License-Identifier: Apache-2.0
//
// Instructions on tiles of shared memory (device/tiles.cuh), from the PTX ISA: copies by every other thread happen
// when it waits for them, and the others at once: a missing wait is seen, and a place that is still in use.

#include "device/narrow_float.hpp"
#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

namespace assay::device_on_cpu {
namespace {

struct Copy {
    unsigned to;
    const void* from;
};
/// Groups of copies that a thread has queued; the last one is open.
using Groups = std::deque<std::vector<Copy>>;
Groups& own_groups() {
    struct Own {
        const void* memory = nullptr; ///< of its launch
        unsigned block = 0;
        Groups groups;
    };
    static std::map<unsigned, Own> of_threads;
    Own& own = of_threads[place.thread.x];
    if (own.memory != dynamic_memory || own.block != place.block.x) {
        if (std::ranges::any_of(own.groups, [](const auto& group) { return !group.empty(); }))
            fault("a block ended before copies that it queued");
        own = {dynamic_memory, place.block.x, Groups(1)};
    }
    return own.groups;
}

struct Load {
    unsigned at;
    bool is_transposed;
    unsigned* to;
};
void load(const std::array<void*, most_lanes>& lanes) {
    const auto of = [&](unsigned lane) { return static_cast<const Load*>(lanes[lane]); };
    for (unsigned lane = 0; lane < 32; ++lane)
        if (lanes[lane] == nullptr || of(lane)->at % 16 != 0)
            return fault("ldmatrix without all lanes, or with an address that is not aligned");
    const auto number = [&](unsigned matrix, unsigned row, unsigned column) {
        std::uint16_t found = 0;
        std::memcpy(&found, dynamic_memory + of(8 * matrix + row)->at + 2 * column, sizeof found);
        return unsigned{found};
    };
    for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned matrix = 0; matrix < 4; ++matrix) {
            const unsigned whole = lane / 4;
            const unsigned pair = lane % 4 * 2;
            of(lane)->to[matrix] =
                of(lane)->is_transposed
                    ? number(matrix, pair, whole) | number(matrix, pair + 1, whole) << 16U
                    : number(matrix, whole, pair) | number(matrix, whole, pair + 1) << 16U;
        }
}

// --- wgmma -------------------------------------------------------------------------------------------------------------

struct Product {
    float* c;
    const unsigned* a;
    std::uint64_t a_from;
    std::uint64_t b;
    TileProduct how;
    unsigned warp;
};
float number(std::uint16_t bits, bool is_bf16) {
    static const auto table = [] {
        std::vector<float> all(1U << 16U);
        for (std::uint32_t code = 0; code < all.size(); ++code)
            all[code] = static_cast<float>(device::decode(device::fp16_format(), code));
        return all;
    }();
    return is_bf16 ? std::bit_cast<float>(std::uint32_t{bits} << 16U) : table[bits];
}
/// Address of a matrix descriptor and its offsets, with swizzle of 128 bytes: bits 4 to 6 of an address are exchanged by
/// its bits 7 to 9.
struct Matrix {
    explicit Matrix(std::uint64_t bits)
        : first{field(bits, 0)}, leading{field(bits, 16)}, stride{field(bits, 32)},
          is_known{bits >> 62U == 1 && (bits >> 49U & 7U) == 0} {}
    static unsigned field(std::uint64_t bits, unsigned at) {
        return static_cast<unsigned>(bits >> at & 0x3fffU) * 16;
    }
    /// Rows of 128 bytes follow each other, eight of them are `stride` apart; `leading`: the next 128 bytes of rows, where
    /// an instruction needs more of them than one.
    std::uint16_t at(unsigned row, unsigned column) const {
        const unsigned plain =
            first + row / 8 * stride + row % 8 * 128 + column / 64 * leading + column % 64 * 2;
        std::uint16_t found = 0;
        std::memcpy(&found, dynamic_memory + (plain ^ (plain >> 3U & 0x70U)), sizeof found);
        return found;
    }
    unsigned first;
    unsigned leading;
    unsigned stride;
    bool is_known;
};
void multiply(const std::array<void*, most_lanes>& lanes) {
    constexpr unsigned k = 16;
    const auto of = [&](unsigned lane) { return static_cast<const Product*>(lanes[lane]); };
    for (unsigned lane = 0; lane < 32; ++lane)
        if (lanes[lane] == nullptr || of(lane)->b != of(0)->b || of(lane)->a_from != of(0)->a_from)
            return fault("wgmma without all lanes, or with several descriptors");
    const Product& one = *of(0);
    const Matrix a{one.a_from};
    const Matrix b{one.b};
    if (!b.is_known || (one.a == nullptr && !a.is_known))
        return fault("wgmma with a layout that this device does not know");
    std::array<std::array<float, k>, 16> rows{};
    for (unsigned row = 0; row < 16; ++row)
        for (unsigned i = 0; i < k; ++i) {
            const unsigned pair =
                one.a == nullptr ? 0 : of(row % 8 * 4 + i % 8 / 2)->a[row / 8 + i / 8 * 2];
            rows[row][i] = number(one.a == nullptr
                                      ? a.at(16 * one.warp + row, i)
                                      : static_cast<std::uint16_t>(i % 2 == 0 ? pair : pair >> 16U),
                                  one.how.is_bf16);
        }
    const unsigned columns = 8 * one.how.eights;
    std::array<std::array<float, 128>, k> others{};
    for (unsigned column = 0; column < columns; ++column)
        for (unsigned i = 0; i < k; ++i)
            others[i][column] =
                number(one.how.is_across ? b.at(i, column) : b.at(column, i), one.how.is_bf16);
    for (unsigned row = 0; row < 16; ++row) {
        const auto sum = [&](unsigned column) -> float& {
            return of(row % 8 * 4 + column % 8 / 2)->c[column / 8 * 4 + row / 8 * 2 + column % 2];
        };
        std::array<float, 128> sums{};
        for (unsigned column = 0; column < columns && one.how.adds; ++column)
            sums[column] = sum(column);
        for (unsigned i = 0; i < k; ++i)
            for (unsigned column = 0; column < sums.size(); ++column)
                sums[column] += rows[row][i] * others[i][column];
        for (unsigned column = 0; column < columns; ++column) sum(column) = sums[column];
    }
}

} // namespace

void copy_async(unsigned to, const void* from) {
    if (place.thread.x % 2 == 0)
        own_groups().back().push_back({to, from});
    else
        std::memcpy(dynamic_memory + to, from, 16);
}
void close_copies() { own_groups().emplace_back(); }
void wait_for_copies(unsigned pending) {
    Groups& own = own_groups();
    while (own.size() > pending + 1) {
        for (const Copy& copy : own.front()) std::memcpy(dynamic_memory + copy.to, copy.from, 16);
        own.pop_front();
    }
}
void load_matrices(unsigned (&to)[4], unsigned at, bool is_transposed) {
    Load own{at, is_transposed, to};
    together(load, &own, std::source_location::current());
}
void multiply_tiles(float* c, const unsigned* a, std::uint64_t a_from, std::uint64_t b,
                    const TileProduct& how) {
    Product own{c, a, a_from, b, how, place.thread.x / 32 % 4};
    together(multiply, &own, std::source_location::current());
}

} // namespace assay::device_on_cpu
