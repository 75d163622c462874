// SPDX-License-Identifier: Apache-2.0
//
// The hash of assay/digest.hpp as threads of a device compute it: each one lane of one block. Lanes of a block read
// neighbouring words, so that memory is read in whole sectors.

#pragma once

#include <assay/digest.hpp>

#include <cstddef>
#include <cstdint>

namespace assay::device {

struct HashLane {
    const std::uint64_t* words;
    std::size_t bytes;
    std::size_t block; ///< bytes of a block, a multiple of a word
    std::uint64_t* lanes;

    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        constexpr std::size_t word = sizeof(std::uint64_t);
        const std::size_t lane = i % assay::detail::hash_lanes;
        const std::size_t first = i / assay::detail::hash_lanes * block;
        const std::size_t here = bytes - first < block ? bytes - first : block;
        const std::uint64_t* const at = words + first / word;
        std::uint64_t hash = assay::detail::hash_factor * (lane + 1);
#ifdef ASSAY_ON_DEVICE // several loads on their way at once
#pragma unroll 8
#endif
        for (std::size_t k = lane; k < here / word; k += assay::detail::hash_lanes)
            hash = assay::detail::hash_step(hash, at[k]);
        // The rest of a word.
        if (here % word != 0 && here / word % assay::detail::hash_lanes == lane) {
            const auto* const rest = reinterpret_cast<const unsigned char*>(at + here / word);
            std::uint64_t value = 0;
            for (std::size_t k = 0; k < here % word; ++k)
                value |= std::uint64_t{rest[k]} << (8 * k);
            hash = assay::detail::hash_step(hash, value);
        }
        lanes[i] = hash;
    }
};

} // namespace assay::device
