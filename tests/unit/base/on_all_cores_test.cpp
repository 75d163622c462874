// SPDX-License-Identifier: Apache-2.0

#include "base/on_all_cores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace assay {
namespace {

using testing::Each;

TEST(OnAllCores, DoesEachPieceOnce) {
    for (const std::size_t count : {0U, 1U, 1000U}) {
        std::vector<int> done(count);
        on_all_cores(count, [&](std::size_t i) { ++done[i]; });
        EXPECT_THAT(done, Each(1));
    }
}

TEST(OnAllCores, ThrowsWhatAPieceThrows) {
    const auto work = [](std::size_t i) {
        if (i == 700) throw std::runtime_error{"no"};
    };
    EXPECT_THROW(on_all_cores(1000, work), std::runtime_error);
    EXPECT_THROW(on_all_cores(1000, work, 1), std::runtime_error);
}

} // namespace
} // namespace assay
