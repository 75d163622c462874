// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"
#include "base/terminal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

namespace assay {
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

TEST(Console, ShowsLinesAndOurOwnColoursAndNoOtherSequence) {
    EXPECT_EQ(shown("a\tb\n\nc\n", false), "a\tb\n\nc\n");
    EXPECT_EQ(shown("a\r\x1b[2Kb\x1b]0;title\ac", true), "abc");
    const auto red = paint({.colour = true}, Paint::red, "x");
    EXPECT_EQ(shown(red, true), red);
    EXPECT_EQ(shown(red, false), "x") << "nobody paints where there is no colour";
    EXPECT_EQ(shown("\x1b[31", true), "");
    EXPECT_EQ(shown(std::string_view{"a\0b", 3}, true), "ab");
}

} // namespace
} // namespace assay
