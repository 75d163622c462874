// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of memory.* on devices compute, walked through on the host: every index is visited as
// often as it is counted.
#include "device/hash_lane.hpp"
#include "memory/device_chain.hpp"
#include "memory/device_stream_shapes.hpp"
#include "memory/device_sweep_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::memory {
namespace {

constexpr std::int64_t kibibyte = 1024;

TEST(DeviceDigest, is_the_hash_of_a_host) {
    constexpr std::size_t block = 256;
    constexpr std::size_t lanes = assay::detail::hash_lanes;
    for (std::size_t bytes = 1; bytes < 3 * block; ++bytes) {
        std::vector<std::uint64_t> words(3 * block / 8);
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = random_bits(7, i);
        const auto* const data = reinterpret_cast<const std::byte*>(words.data());
        const std::size_t blocks = (bytes + block - 1) / block;
        std::vector<std::uint64_t> found(blocks * lanes);
        for (std::size_t i = 0; i < found.size(); ++i)
            device::HashLane{words.data(), bytes, block, found.data()}(i);
        for (std::size_t i = 0; i < blocks; ++i) {
            const std::size_t here = std::min(block, bytes - i * block);
            EXPECT_EQ(assay::detail::hash_of_lanes(&found[i * lanes], here),
                      assay::detail::hash_of(data + i * block, here))
                << bytes << " bytes, block " << i;
        }
    }
}

TEST(DeviceStream, loops_visit_every_vector_once_in_every_shape) {
    const std::uint64_t count = 3 * stream_tile;
    for (const StreamShape& shape : map_shapes(count)) {
        std::vector<int> visits(count / 2);
        for (unsigned block = 0; block < shape.blocks; ++block)
            for (unsigned thread = 0; thread < shape.threads; ++thread)
                for (unsigned k = 0; k < shape.unroll; ++k)
                    ++visits.at(map_vector(block, thread, k, shape.threads, shape.unroll));
        EXPECT_TRUE(std::ranges::all_of(visits, [](int n) { return n == 1; }))
            << shape.threads << " threads, " << shape.unroll << " loads";
    }
}

TEST(DeviceStream, vectors_beyond_four_gibi_have_a_number) {
    EXPECT_EQ(map_vector(1U << 30U, 5, 3, 1024, 4), (std::uint64_t{1} << 42U) + 3 * 1024 + 5);
}

TEST(BulkCopy, RingsTakeEveryPieceOnce) {
    for (const std::int64_t in_flight : {2, 4, 16, 32, 128})
        for (const std::int64_t pieces : {1, 7, 66, 1000}) {
            const BulkShape shape =
                bulk_shape(pieces * kibibyte, kibibyte, in_flight * kibibyte, 3);
            EXPECT_EQ(shape.warps * shape.slots, in_flight);
            EXPECT_GE(shape.slots, 2U);
            EXPECT_LE(shape.warps, most_bulk_warps);
            std::vector<int> visits(shape.pieces);
            for (unsigned ring = 0; ring < shape.rings(); ++ring)
                for (std::uint64_t turn = 0; turn < shape.turns(ring); ++turn)
                    ++visits.at(shape.piece_of(ring, turn));
            EXPECT_TRUE(std::ranges::all_of(visits, [](int n) { return n == 1; }))
                << in_flight << " in flight, " << pieces << " pieces";
        }
}

TEST(BulkCopy, SharedMemoryHoldsSlotsAndBarriers) {
    const BulkShape shape = bulk_shape(1 << 20, 8 * kibibyte, 128 * kibibyte, 132);
    EXPECT_EQ(shape.shared_bytes(), 128U * 1024 + 16 * 8);
}

TEST(BulkCopy, SumsOfThreadsAddUpToTheSumOfAllWords) {
    const BulkShape shape = bulk_shape(50 * kibibyte, kibibyte, 8 * kibibyte, 3);
    std::uint32_t all = 0;
    for (std::uint64_t i = 0; i < shape.pieces * shape.words(); i += 2)
        all += bulk_part(bulk_word(i), bulk_word(i + 1));
    std::uint32_t sums = 0;
    for (std::uint64_t thread = 0; thread < shape.rings() * 32; ++thread)
        sums += bulk_sum(shape, thread, 32);
    EXPECT_EQ(sums, all);
}

TEST(BulkCopy, WrittenPiecesAreTheSlotsOfTheirRings) {
    const BulkShape shape = bulk_shape(100 * kibibyte, kibibyte, 8 * kibibyte, 3);
    for (unsigned ring = 0; ring < shape.rings(); ++ring)
        for (std::uint64_t turn = 0; turn < shape.turns(ring); ++turn)
            for (std::uint64_t word = 0; word < shape.words(); ++word)
                ASSERT_EQ(bulk_written(shape, shape.piece_of(ring, turn) * shape.words() + word),
                          bulk_slot_word(shape, ring, turn, word));
    EXPECT_EQ(bulk_written(shape, 77 * shape.words()), 77U);
    EXPECT_NE(bulk_slot_word(shape, 0, 0, 1), bulk_slot_word(shape, 0, 1, 1));
    EXPECT_NE(bulk_slot_word(shape, 0, 0, 1), bulk_slot_word(shape, 1, 0, 1));
}

TEST(DeviceStream, reductions_visit_every_vector_once) {
    for (const std::uint64_t count : {1U, 255U, 256U, 257U, 1023U, 1024U, 4096U, 10'000U}) {
        constexpr std::uint64_t stride = 256;
        std::vector<int> visits(count);
        for (std::uint64_t first = 0; first < stride; ++first)
            walk_vectors(first, stride, count, [&](unsigned k, std::uint64_t at) {
                EXPECT_LT(k, 4U);
                ++visits.at(at);
            });
        EXPECT_TRUE(std::ranges::all_of(visits, [](int n) { return n == 1; })) << count;
    }
}

TEST(DeviceStream, arrays_are_whole_tiles) {
    EXPECT_EQ(stream_elements(0), stream_tile);
    EXPECT_EQ(stream_elements(1 << 30U) % stream_tile, 0U);
    EXPECT_EQ(stream_elements((1 << 30U) + 4096), std::size_t{1} << 27U);
}

TEST(DeviceSweep, shapes_suit_the_loop_and_the_footprint) {
    for (std::int64_t each = kibibyte; each < 64 * 1024 * kibibyte; each = each * 5 / 4) {
        const std::int64_t footprint = 132 * each;
        const SweepShape shape = sweep_shape(footprint, 132);
        EXPECT_EQ(shape.blocks, 132U);
        EXPECT_EQ(shape.tiles % shape.tiles_at_once, 0U) << each;
        EXPECT_EQ(shape.passes % 4, 0U)
            << each; // one pass may be a quarter of what is queued at once
        EXPECT_GE(shape.passes, 4U);
        EXPECT_TRUE(shape.tiles < 4 ? shape.tiles_at_once == shape.tiles
                                    : shape.tiles_at_once >= 4);
        if (each < sweep_tile) continue;
        EXPECT_LE(shape.bytes(), 1.34 * static_cast<double>(footprint)) << each;
        EXPECT_GE(shape.bytes(), 0.66 * static_cast<double>(footprint)) << each;
    }
    // The bytes read are those asked for, as near as slices of this device allow.
    for (std::int64_t footprint = 2048 * kibibyte; footprint <= 1 << 30U; footprint *= 2)
        EXPECT_NEAR(sweep_shape(footprint, 132).bytes() / static_cast<double>(footprint), 1, 0.04)
            << footprint;
    EXPECT_EQ(sweep_shape(1, 132).tiles, 1U);
    EXPECT_EQ(sweep_shape(std::int64_t{1} << 40U, 132).passes, 4U);
}

TEST(DeviceSweep, levels_are_half_of_what_a_cache_has) {
    constexpr std::int64_t l2 = 60 * 1024 * kibibyte; // of an H200, which has 132 times 227 KiB
    const std::int64_t first = sweep_level(Symbol::l1, 132, 227 * kibibyte, l2);
    EXPECT_EQ(first, 132 * 64 * kibibyte);
    EXPECT_DOUBLE_EQ(sweep_shape(first, 132).bytes(), static_cast<double>(first));
    const SweepShape second = sweep_shape(sweep_level(Symbol::l2, 132, 227 * kibibyte, l2), 132);
    EXPECT_GT(second.bytes(), 0.45 * l2);
    EXPECT_LT(second.bytes(), 0.6 * l2);
    EXPECT_EQ(sweep_level(Symbol::l1, 128, 99 * kibibyte, l2), 128 * 32 * kibibyte);
    EXPECT_EQ(sweep_level(Symbol::l1, 40, 0, l2), 40 * sweep_tile); // where nothing is known
}

TEST(DeviceSweep, sums_are_those_of_a_plain_loop) {
    const SweepShape shape = sweep_shape(3 * 70 * kibibyte, 3);
    for (const std::uint64_t thread : {0U, 1023U, 1024U, 3071U}) {
        std::uint64_t sum = 0;
        for (std::uint64_t pass = 0; pass < shape.passes; ++pass)
            for (unsigned tile = 0; tile < shape.tiles; ++tile) {
                const std::uint64_t vector =
                    (thread / 1024 * shape.tiles + tile) * 1024 + thread % 1024;
                for (const std::uint64_t word : {2 * vector, 2 * vector + 1}) {
                    const std::uint64_t bits = random_bits(sweep_seed, word);
                    sum += (bits & 0xffffffffU) + (bits >> 32U);
                }
            }
        EXPECT_EQ(sweep_sum(shape, thread), static_cast<std::uint32_t>(sum)) << thread;
    }
}

std::vector<DeviceNode> chain_of(std::uint64_t count) {
    std::vector<DeviceNode> nodes(count);
    const LinkNode link{nodes.data(), count, Shuffle{count, 9}};
    for (std::uint64_t rank = 0; rank < count; ++rank) link(rank);
    return nodes;
}

TEST(DeviceChain, a_wrong_link_is_seen_and_never_followed) {
    auto nodes = chain_of(100);
    const WrongLink wrong{nodes.data(), nodes.size()};
    for (std::uint64_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(wrong(i), 0.0);
    const DeviceNode whole = nodes[42];
    const auto broken_by = [&](DeviceNode* next) {
        nodes[42].next = next;
        const double error = wrong(42);
        nodes[42] = whole;
        return error;
    };
    EXPECT_EQ(broken_by(whole.next->next), 1.0);
    EXPECT_EQ(broken_by(nullptr), 1.0);
    EXPECT_EQ(broken_by(nodes.data() + nodes.size()), 1.0);
    EXPECT_EQ(broken_by(nodes.data() - 1), 1.0);
    EXPECT_EQ(
        broken_by(reinterpret_cast<DeviceNode*>(reinterpret_cast<std::uintptr_t>(whole.next) + 8)),
        1.0);
}

TEST(DeviceChain, has_a_node_per_line_and_walks_whole_rounds_of_the_loop) {
    EXPECT_EQ(chain_nodes(16 * kibibyte, Through::l1), 128U);
    EXPECT_EQ(chain_nodes(16 * kibibyte, Through::shared), 4096U);
    EXPECT_EQ(chain_nodes(1, Through::l2), 1U);
    for (const Through through : {Through::l1, Through::l2, Through::shared})
        for (const std::int64_t footprint : {kibibyte, 256 * kibibyte, 1024 * 1024 * kibibyte})
            EXPECT_EQ(chase_steps(footprint, through) % 8, 0U);
    EXPECT_TRUE(reads_ahead(256 * kibibyte, Through::l1));
    EXPECT_FALSE(reads_ahead(256 * kibibyte, Through::l2));
    EXPECT_FALSE(reads_ahead(257 * kibibyte, Through::l1));
}

} // namespace
} // namespace assay::memory
