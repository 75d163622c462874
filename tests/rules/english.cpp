// SPDX-License-Identifier: Apache-2.0
//
// Plain English in comments, messages, help, texts and pages: the patterns that made readers translate. Others are for
// the eye; CONTRIBUTING.md has the style.

#include "document/texts.hpp"
#include "sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace assay::rules {
namespace {

using testing::IsEmpty;

struct Phrase {
    const char* hint; ///< in every line that matches: cheaper than the pattern
    std::regex pattern;
    const char* better;
};

// Flags: the patterns are compiled once and searched in some hundred thousand lines.
constexpr auto flags = std::regex::ECMAScript | std::regex::optimize;

const std::array phrases{
    Phrase{"none of", std::regex{R"(\bis none of\b|\bare none of\b)", flags},
           "say what it is: unknown, not found"},
    Phrase{" against", std::regex{R"(\bheld against\b|\bholds? \w+ against\b)", flags},
           "compared with"},
    Phrase{"est ", std::regex{R"(\b[Tt]est (items?|cases?)\b)", flags}, "case"},
    Phrase{" bar", std::regex{R"(\b(the|a|its|of|each|above|below) bar\b(?! chart))", flags},
           "limit"},
    Phrase{"//", std::regex{R"(//+<? (Of|As|Whose) )", flags},
           "a whole phrase that names its subject"},
};

/// "is no date" for "invalid date"; "there is no date" and "is no longer" are English.
bool denies_a_noun(const std::string& text) {
    static const std::regex denial{
        R"((\w+) (is|are) no (?!longer|more|less|fewer|later|earlier|better|worse|larger|smaller|slower|faster|longer|higher|lower)\w)",
        flags};
    for (std::sregex_iterator match{text.begin(), text.end(), denial}, end; match != end; ++match)
        if ((*match)[1] != "there" && (*match)[1] != "There") return true;
    return false;
}

/// Comments that go on: "Of" at the beginning of a line may be in the middle of a sentence.
bool continues(const std::vector<Line>& lines, std::size_t i) {
    const auto& text = lines[i].text;
    return i > 0 && text.find("//") == text.find_first_not_of(' ') &&
           lines[i - 1].text.find("//") != std::string::npos;
}

TEST(English, PhrasesThatMakeReadersTranslateAreNotUsed) {
    static const std::set<std::string> endings{".cpp", ".hpp",  ".h",  ".cu", ".cuh", ".ts",
                                               ".mjs", ".json", ".md", ".sh", ".py"};
    std::vector<std::string> broken;
    std::size_t seen = 0;
    for (const auto folder :
         {"harness", "benchmarks", "reports", "tests", "configs", "scripts", "docs"})
        for (const auto& file : files_below(folder)) {
            const auto name = fs::relative(file, root).string();
            // Files of others, as they are; and this rule itself.
            if (!endings.contains(file.extension().string()) ||
                name.find("node_modules") != name.npos || name.starts_with("tests/fuzz/corpus") ||
                name.starts_with("tests/decisions/real") || name == "tests/rules/english.cpp" ||
                name.starts_with("reports/samples/"))
                continue;
            const auto lines = lines_of(file);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                const auto& text = lines[i].text;
                ++seen;
                if (text.find(" no ") != text.npos && denies_a_noun(text))
                    broken.push_back(at(lines[i]) + ": " + text +
                                     " (say what it is: invalid, not a ...)");
                for (const auto& phrase : phrases)
                    if (text.find(phrase.hint) != text.npos &&
                        std::regex_search(text, phrase.pattern) && !continues(lines, i))
                        broken.push_back(at(lines[i]) + ": " + text + " (" + phrase.better + ")");
            }
        }
    EXPECT_THAT(broken, IsEmpty());
    EXPECT_GT(seen, 100'000U);
}

/// A noun clause as subject ("What did not fit is ..."), where it is no question.
TEST(English, TextsBeginWithTheirSubject) {
    static const std::regex clause{R"((^|[.;:] )(What|Who|Whom|Whose|Which|Of) [^?]*$)", flags};
    std::vector<std::string> broken;
    for (const auto* entry : text::all)
        if (std::regex_search(std::string{entry->en}, clause) &&
            std::string_view{entry->en}.find('?') == std::string_view::npos)
            broken.push_back(std::string{entry->id} + ": " + entry->en);
    EXPECT_THAT(broken, IsEmpty());
}

} // namespace
} // namespace assay::rules
