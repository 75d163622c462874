// SPDX-License-Identifier: Apache-2.0
//
// Decoding attention of module cuda on contexts in parts: queries that fill no tile, keys that fill no part, warps
// without keys, and one call after the other, which must find the counts of parts as the first one did.
#include "case.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using namespace assay::device_on_cpu;

/// Before the first call of the runtime.
const bool is_set_up = [] { return ::setenv("ASSAY_HOLD_STREAMS", "0", 1) == 0; }();

void expect_right(const Given& given) {
    std::string trace;
    for (const auto& [name, value] : given) trace += name + ' ' + value + ", ";
    SCOPED_TRACE(trace);
    Case one{benchmark_of(ASSAY_MODULES_ON_CPU "/cuda.so", "workload.attention"), given};
    ASSERT_EQ(one.create(), "");
    for (int call = 0; call < 2; ++call) {
        EXPECT_EQ(one.poison(), "");
        EXPECT_EQ(one.sample(1), "");
        EXPECT_EQ(one.verdict(), "");
    }
    EXPECT_EQ(one.spoil(), "");
    EXPECT_NE(one.verdict(), "");
}

TEST(DecodingOnCpu, JoinsPartsOfContextsOfAnyLength) {
    for (const char* context : {"1", "17", "64", "65", "999", "1040"})
        for (const char* head_size : {"64", "128"})
            expect_right(
                {{"context", context}, {"heads", "8"}, {"head_size", head_size}, {"group", "4"}});
}

TEST(DecodingOnCpu, TakesGroupsOfAnySize) {
    for (const char* group : {"1", "8", "16", "20"})
        for (const char* precision : {"bf16", "fp16"})
            expect_right({{"batch", "2"},
                          {"context", "333"},
                          {"heads", group},
                          {"group", group},
                          {"precision", precision}});
}

} // namespace
