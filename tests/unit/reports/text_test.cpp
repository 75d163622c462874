// SPDX-License-Identifier: Apache-2.0

#include "model/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace assay::report {
namespace {

TEST(Plain, LeavesOrdinaryTextAlone) {
    EXPECT_EQ(plain("gemm.square [µs] 中文 é €"), "gemm.square [µs] 中文 é €");
}

TEST(Plain, TakesOutTerminalSequences) {
    EXPECT_EQ(plain("a\x1b[31;1mred\x1b[0m b"), "ared b");
    EXPECT_EQ(plain("a\x1b]0;title\ab"), "ab");
    EXPECT_EQ(plain("a\x1b]8;;http://x\x1b\\link"), "alink");
    EXPECT_EQ(plain("a\x1b]never ends"), "a");
    EXPECT_EQ(plain("a\x1b"), "a");
    EXPECT_EQ(plain("\xc2\x9b\x31m"), "1m"); // the one-character form of ESC [
}

TEST(Plain, KeepsTextOnOneLineAndInReadingOrder) {
    EXPECT_EQ(plain("a\nb\r\tc"), "a b  c");
    EXPECT_EQ(plain("a\u202Eb\u2066c\u200Bd\uFEFFe\u2028f"), "abcdef");
    EXPECT_EQ(plain(std::string_view{"a\0b\x7f", 4}), "ab");
}

TEST(Plain, ReplacesBrokenUtf8) {
    EXPECT_EQ(plain("a\xff"
                    "b"),
              "a\uFFFD"
              "b");
    EXPECT_EQ(plain("\xc0\xaf"), "\uFFFD\uFFFD");            // an overlong slash
    EXPECT_EQ(plain("\xed\xa0\x80").substr(0, 3), "\uFFFD"); // half of a surrogate pair
    EXPECT_EQ(plain("\xe4\xb8"), "\uFFFD\uFFFD");            // cut in the middle
}

TEST(Plain, CutsWhatIsTooLong) { EXPECT_EQ(plain("ééé", 2), "éé…"); }

TEST(Plain, GivesPrintableTextForAnyBytes) {
    std::mt19937 random{1};
    for (int round = 0; round < 2000; ++round) {
        std::string bytes;
        for (int i = 0; i < 40; ++i) bytes += static_cast<char>(random() & 0xFFU);
        const std::string text = plain(bytes);
        EXPECT_EQ(plain(text), text); // nothing left to clean
        EXPECT_TRUE(std::ranges::all_of(
            text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; }));
    }
}

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
