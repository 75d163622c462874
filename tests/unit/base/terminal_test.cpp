// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

TEST(Wrap, KeepsWordsAndWidth) {
    std::mt19937 random{2};
    for (int round = 0; round < 300; ++round) {
        std::string text;
        for (int i = 0; i < 30; ++i)
            text += std::string(random() % 14, 'a') + (i % 3 == 0 ? " 中" : " ");
        const std::size_t columns = 2 + random() % 30;
        std::string joined;
        for (const auto& line : wrap(text, columns)) {
            EXPECT_LE(display_width(line), columns);
            joined += line;
        }
        const auto without_blanks = [](std::string s) {
            std::erase(s, ' ');
            return s;
        };
        EXPECT_EQ(without_blanks(joined), without_blanks(text));
    }
}

TEST(Fit, CountsColumnsNotBytes) {
    EXPECT_EQ(fit("µs", 4), "µs  ");
    EXPECT_EQ(fit("中文字", 4), "中… "); // another wide character would not fit
    EXPECT_EQ(fit_right("1 µs", 6), "  1 µs");
    EXPECT_EQ(fit("abcdef", 1), "…");
    EXPECT_EQ(fit("abc", 0), "");
}

TEST(Wrap, KeepsAWholeWordAndIndentsLaterLines) {
    EXPECT_EQ(indented("a /a/path/that/is/longer b", 2, 10), "a\n  /a/path/that/is/longer\n  b");
    EXPECT_EQ(indented("one two", 3, 10), "one two");
}

TEST(TextTable, ChineseAligns) {
    TextTable table{{"NAME", "N", "WHAT"}};
    table.align_right(1);
    table.add({"带宽", "1", "x"});
    table.add({"latency", "22", "y"});
    EXPECT_EQ(table.text({}), "NAME      N  WHAT\n带宽      1  x\nlatency  22  y\n");
}

TEST(TextTable, TheWidestColumnGivesWayOnATerminal) {
    TextTable table{{"A", "B"}};
    table.add({std::string(50, 'a'), "b"});
    EXPECT_EQ(table.text({.width = 40, .present = true}),
              "A" + std::string(38, ' ') + "B\n" + std::string(36, 'a') + "…  b\n");
    EXPECT_EQ(table.text({.width = 40}),
              "A" + std::string(51, ' ') + "B\n" + std::string(50, 'a') + "  b\n");
}

TEST(TextTable, RowsThatDifferStillDifferWhenCut) {
    std::mt19937 random{3};
    for (int round = 0; round < 300; ++round) {
        TextTable table{{"CASE", "VALUE"}};
        std::vector<std::string> names;
        for (int i = 0; i < 8; ++i) {
            std::string name = "gemm.square[openblas]";
            for (int word = 0; word < 8; ++word)
                name +=
                    " parameter=" + std::string(random() % 2, 'x') + std::to_string(random() % 3);
            names.push_back(name);
            table.add({name, "1 GB/s"});
        }
        const std::size_t width = 40 + random() % 60;
        std::istringstream lines{table.text({.width = width, .present = true})};
        std::map<std::string, std::string> seen;
        std::string line;
        std::getline(lines, line);
        for (const auto& name : names) {
            ASSERT_TRUE(std::getline(lines, line));
            EXPECT_EQ(seen.try_emplace(line, name).first->second, name) << line;
        }
    }
    EXPECT_EQ(cut_apart({"abcdefghijk size=1 x", "abcdefghijk size=2 x"}, 14),
              (std::vector<std::string>{"abcd…size=1 x", "abcd…size=2 x"}));
}

/// For the whole program, and off again.
struct Ascii {
    Ascii() { use_ascii(true); }
    ~Ascii() { use_ascii(false); }
    Ascii(const Ascii&) = delete;
    Ascii& operator=(const Ascii&) = delete;
};

TEST(Ascii, IsLaidOutAsItIsShown) {
    const Ascii ascii;
    TextTable table{{"A", "B"}};
    table.add({"±1%", "61 °C"});
    table.add({"0", "▁█ 中"});
    EXPECT_EQ(shown(table.text({}), false), "A     B\n+-1%  61 C\n0     18 ?\n");
    EXPECT_EQ(shown(cut("abcdefgh", 5), false), "ab...");
    EXPECT_EQ(shown(fit("µs", 4), false), "us  ");
}

// --- texts of others on a terminal -------------------------------------------------------------------

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
