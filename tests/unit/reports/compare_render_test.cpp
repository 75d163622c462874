// SPDX-License-Identifier: Apache-2.0
//
// Outputs of a comparison whose every text is hostile.

#include "compare/document.hpp"
#include "compare/words.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "exchange/comparison_data.hpp"
#include "json/json.hpp"
#include "markup.hpp"
#include "support/collection_maker.hpp"
#include "write/html.hpp"
#include "write/markdown.hpp"
#include "write/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace assay::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Comparison hostile(const std::string& text) {
    test::CollectionMaker maker;
    for (const char* side : {"1", "2", "3"}) {
        const auto run = maker.run({.label = text + side,
                                    .machine = text + side,
                                    .instance = text,
                                    .started = text,
                                    .cpu = text});
        maker.observe(run, test::series_of("gemm." + text, text, {{text, text}}, "flop_rate"),
                      {1e9, 1.1e9});
        maker.fail(run, test::series_of(text, text, {}, "time"), record::Status::failed, text);
    }
    maker.collection().problems.push_back({text, text});
    return *compare(maker.collection());
}

TEST(CompareRender, HostileTextStaysText) {
    for (const std::string text :
         {"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
          "=cmd|' /C calc'!A0", "\x1b[31mred\x1b]0;title\a", "a|b`c\n# d", "\xff\xfe\x80",
          "\xE2\x80\xAE" // NOLINT(bugprone-suspicious-missing-comma): e is a hexadecimal digit
          "evil"}) {
        const auto comparison = hostile(text);
        const std::vector documents{make_document(comparison)};
        const auto html = write::to_html(documents, {}).value();
        for (const auto& output : {html, write::to_markdown(documents),
                                   write::to_terminal(documents), to_csv(comparison)})
            EXPECT_THAT(output, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xE2\x80\xAE"))))
                << text;
        EXPECT_EQ(test::MarkupReader{html}.problem(), "") << text;
        EXPECT_TRUE(json::parse(to_json(comparison), "json").has_value()) << text;
    }
}

TEST(CompareRender, CsvRunsNothingInASpreadsheet) {
    EXPECT_THAT(to_csv(hostile("a; =1+1")), HasSubstr("\"a;' =1+1\""));
    EXPECT_THAT(to_csv(hostile("=1+1")), AllOf(HasSubstr("\"'=1+1"), Not(HasSubstr(",=1+1"))));
}

TEST(CompareRender, LinesFitTheTerminalInBothLanguages) {
    const auto comparison = hostile("quite a long name of something ");
    for (const auto language : {Language::en, Language::zh})
        for (const std::size_t width : {60U, 80U, 100U}) {
            use_language(language);
            const std::vector documents{make_document(comparison)};
            std::istringstream lines{write::to_terminal(documents, {.width = width})};
            for (std::string line; std::getline(lines, line);)
                EXPECT_LE(display_width(line), width) << line;
        }
    use_language(Language::en);
}

TEST(CompareRender, NothingIsShownOfWhatWasNotMeasured) {
    test::CollectionMaker maker;
    maker.observe(maker.run({.label = "A"}), test::gemm("openblas", 1), {1e9});
    maker.fail(maker.run({.label = "B"}), test::gemm("openblas", 1), record::Status::incorrect,
               "off");
    const auto comparison = *compare(maker.collection());
    EXPECT_FALSE(has_common(comparison));
    EXPECT_THAT(make_document(comparison).verdict, HasSubstr("no test case in common"));
    const auto parsed = json::parse(to_json(comparison), "json");
    const auto& cell = (*parsed)["tables"][0]["rows"][0]["cells"][1];
    EXPECT_TRUE(cell["value"].is_null());
    EXPECT_EQ(cell["contrast"]["outcome"], "missing");
    EXPECT_TRUE(cell["contrast"]["ratio"].is_null());
}

} // namespace
} // namespace assay::report
