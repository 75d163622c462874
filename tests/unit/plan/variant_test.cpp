// SPDX-License-Identifier: Apache-2.0
//
// Variants that take turns: how they are written, and in which order they come.

#include "plan/variant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- how they are written -------------------------------------------------------------------------

TEST(Variants, AreALabelAndWhatChanges) {
    const auto plain = parse_variant("old:");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->label, "old");
    EXPECT_THAT(changes_of(*plain), IsEmpty());
    const auto full =
        parse_variant(" new one : OMP_WAIT_POLICY=active , UCX_TLS=\"rc,sm\",library=openblas, "
                      "via=\"numactl --interleave=all\",MALLOC_ARENA_MAX=");
    ASSERT_TRUE(full) << full.error().message;
    EXPECT_EQ(full->label, "new one");
    EXPECT_THAT(changes_of(*full),
                ElementsAre(record::Named{"environment.OMP_WAIT_POLICY", std::string{"active"}},
                            record::Named{"environment.UCX_TLS", std::string{"rc,sm"}},
                            record::Named{"environment.MALLOC_ARENA_MAX", std::string{}},
                            record::Named{"library", std::string{"openblas"}},
                            record::Named{"via", std::string{"numactl --interleave=all"}}));
}

TEST(Variants, WhatCannotBeMeantIsNamed) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"old", "ends with a colon"},
        {":", "label"},
        {" : A=1", "label"},
        {std::string(65, 'x').append(":"), "label"},
        {"a=b:", "label"},
        {"a/b:", "label"},
        {"a: X", "not KEY=VALUE"},
        {"a: =1", "not KEY=VALUE"},
        {"a: UCX_TLS=rc,sm", "is quoted"},
        {"a: X=1,", "not KEY=VALUE"},
        {"a: X=\"1", "not closed"},
        {"a: X=1,X=2", "twice"},
        {"a: via=x,via=y", "twice"},
        {"a: libary=x", "\"library\""},
        {"a: governor=performance", "was removed"},
        {"a: image=/img", "assay compare"},
        {"a: library= ", "needs a value"},
        {"a: OMP_NUM_THREADS=2", "parameter"},
        {"a: ASSAY_TOKEN=2", "by assay itself"},
        {"a: X=1\n", "control characters"},
    };
    for (const auto& [text, part] : wrong) {
        const auto setting = parse_variant(text);
        ASSERT_FALSE(setting) << text;
        EXPECT_EQ(setting.error().fault, Fault::usage);
        EXPECT_THAT(setting.error().message, HasSubstr(part)) << text;
    }
}

TEST(Variants, AreSeveralWithLabelsOfTheirOwnAndAllOrNoneWithALibrary) {
    EXPECT_TRUE(parse_variants({"a:", "b:"})) << "the same twice is a test of the test";
    EXPECT_FALSE(parse_variants({}));
    EXPECT_FALSE(parse_variants({"a:"}));
    EXPECT_FALSE(parse_variants({"a:", "a: X=1"}));
    EXPECT_FALSE(parse_variants({"a:", "b: library=openblas"}));
    EXPECT_TRUE(parse_variants({"a: library=onednn", "b: library=openblas"}));
    std::vector<std::string> many;
    for (int i = 0; i < 27; ++i) many.push_back(std::to_string(i) + ":");
    EXPECT_FALSE(parse_variants(many));
}

TEST(Turns, GoThereAndBack) {
    std::string order;
    for (int pair = 0; pair < 4; ++pair)
        for (const auto index : order_of_turns(pair, 2)) order += index == 0 ? 'A' : 'B';
    EXPECT_EQ(order, "ABBAABBA");
    EXPECT_EQ(order_word(2), "ABBA");
    EXPECT_EQ(order_word(3), "ABCCBA");
}

} // namespace
