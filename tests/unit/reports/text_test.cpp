// SPDX-License-Identifier: Apache-2.0

#include "document/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay::report {
namespace {

TEST(Sentences, EndWithAFullStopOnce) {
    EXPECT_EQ(as_sentence("the governor is powersave"), "the governor is powersave.");
    EXPECT_EQ(as_sentence("It ends."), "It ends.");
    EXPECT_EQ(as_sentence("结束。"), "结束。");
    EXPECT_EQ(as_sentence(""), "");
}

TEST(Lists, ReadAsPeopleWriteThem) {
    EXPECT_EQ(list_of({}, 3), "");
    EXPECT_EQ(list_of({"a"}, 3), "a");
    EXPECT_EQ(list_of({"a", "b", "c"}, 3), "a, b and c");
    EXPECT_EQ(list_of({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

} // namespace
} // namespace assay::report
