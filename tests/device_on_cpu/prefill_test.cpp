// SPDX-License-Identifier: Apache-2.0
//
// workload.prefill_attention with prompts that fill no tile, one, and several, by each instruction.
#include "case.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace assay::device_on_cpu;

/// Before the first call of the runtime.
const bool is_set_up = ::setenv("ASSAY_HOLD_STREAMS", "0", 1) == 0;

struct Prompt {
    const char* instruction; ///< best: wgmma, as on compute capability 9.0
    const char* head_size;
    const char* tokens;
    const char* causal;
};

class PrefillOnCpu : public testing::TestWithParam<Prompt> {};

TEST_P(PrefillOnCpu, AttendsToEachKeyThatItMayAndToNoOther) {
    const Prompt& p = GetParam();
    Case one{benchmark_of(ASSAY_MODULES_ON_CPU "/cuda.so", "workload.prefill_attention"),
             {{"batch", "1"},
              {"heads", "4"},
              {"group", "2"},
              {"head_size", p.head_size},
              {"tokens", p.tokens},
              {"causal", p.causal},
              {"precision", "fp16"},
              {"instruction", p.instruction}}};
    ASSERT_EQ(one.misfit(), "");
    ASSERT_EQ(one.create(), "");
    for (int round = 0; round < 2; ++round) { // other rows
        ASSERT_EQ(one.poison(), "");
        EXPECT_NE(one.verdict(), "");
        EXPECT_EQ(one.sample(1), "");
        EXPECT_EQ(one.verdict(), "");
        ASSERT_EQ(one.spoil(), "");
        EXPECT_NE(one.verdict(), "");
    }
}

INSTANTIATE_TEST_SUITE_P(
    EachInstruction, PrefillOnCpu,
    testing::Values(Prompt{"mma", "128", "1", "true"}, Prompt{"mma", "128", "333", "true"},
                    Prompt{"mma", "64", "333", "false"}, Prompt{"best", "128", "1", "false"},
                    Prompt{"best", "128", "397", "true"}, Prompt{"best", "64", "397", "true"},
                    Prompt{"best", "128", "300", "false"}));

} // namespace
