// SPDX-License-Identifier: Apache-2.0
//
// Hashes of outputs: every change changes its block's, and only that.

#include <assay/digest.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace assay {
namespace {

std::vector<std::uint64_t> hashes_of(const Outputs& outputs) {
    std::vector<std::uint64_t> hashes(ASSAY_MOST_BLOCKS);
    assay_digest to{};
    to.struct_size = sizeof to;
    to.hashes = hashes.data();
    to.capacity = hashes.size();
    detail::digest(outputs, to);
    hashes.resize(to.count);
    return hashes;
}

TEST(Digest, EveryBitOfABlockCounts) {
    for (const std::size_t size : {1U, 7U, 8U, 63U, 64U, 65U, 200U}) {
        std::vector<std::byte> data(size, std::byte{0x5a});
        std::set<std::uint64_t> seen{detail::hash_of(data.data(), size)};
        for (std::size_t bit = 0; bit < 8 * size; ++bit) {
            data[bit / 8] ^= std::byte{1} << (bit % 8);
            EXPECT_TRUE(seen.insert(detail::hash_of(data.data(), size)).second)
                << size << ' ' << bit;
            data[bit / 8] ^= std::byte{1} << (bit % 8);
        }
    }
}

TEST(Digest, EqualFlipsOfTwoElementsDoNotCancel) {
    std::vector<double> values(1024, 1.0);
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    const auto right = detail::hash_of(bytes, 8 * values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        for (const std::size_t j : {i + 1, i + 8, i + 64})
            if (j < values.size()) {
                values[i] = values[j] = -1; // the highest bit, which multiplication carries nowhere
                EXPECT_NE(detail::hash_of(bytes, 8 * values.size()), right) << i << ' ' << j;
                values[i] = values[j] = 1;
            }
}

TEST(Digest, LengthAndOrderCount) {
    const std::vector<std::byte> zeros(128);
    EXPECT_NE(detail::hash_of(zeros.data(), 64), detail::hash_of(zeros.data(), 128));
    const std::array<std::uint64_t, 2> one{1, 2};
    const std::array<std::uint64_t, 2> other{2, 1};
    EXPECT_NE(detail::hash_of(reinterpret_cast<const std::byte*>(one.data()), 16),
              detail::hash_of(reinterpret_cast<const std::byte*>(other.data()), 16));
}

TEST(Digest, ABlockIsFoundWithItsElements) {
    const float first = 3;
    std::vector<double> second(20'000);
    const Outputs outputs{first, second};
    const auto right = hashes_of(outputs);
    ASSERT_EQ(right.size(), 1U + 3U) << "blocks of 64 KiB";
    second[9'000] = 1;
    const auto wrong = hashes_of(outputs);
    for (std::size_t i = 0; i < right.size(); ++i) EXPECT_EQ(right[i] == wrong[i], i != 2) << i;
    assay_digest block{};
    block.struct_size = sizeof block;
    block.wanted = 2;
    detail::digest(outputs, block);
    EXPECT_EQ(block.output, 1U);
    EXPECT_EQ(block.element_bytes, sizeof(double));
    EXPECT_EQ(block.first_element, 8192U);
    ASSERT_EQ(block.byte_count, 65536U);
    std::vector<double> copy(8192);
    block.bytes = copy.data();
    block.byte_capacity = block.byte_count;
    detail::digest(outputs, block);
    EXPECT_EQ(copy[9'000 - 8192], 1);
}

TEST(Digest, LargeOutputsHaveFewBlocks) {
    const std::vector<std::byte> large(std::size_t{200} << 20U);
    const auto count = hashes_of({large}).size();
    EXPECT_GT(count, 500U);
    EXPECT_LE(count, ASSAY_MOST_BLOCKS / 2);
}

} // namespace
} // namespace assay
