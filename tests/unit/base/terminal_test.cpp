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

} // namespace
} // namespace assay
