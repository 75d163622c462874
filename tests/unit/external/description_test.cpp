// SPDX-License-Identifier: Apache-2.0
//
// A description says what is wrong with it, and refers to nothing outside.

#include "external/fill.hpp"
#include "made.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <iterator>

namespace assay::external {

using made::TemporaryFolder;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Description, IsReadWhole) {
    const auto d = made(made_json());
    EXPECT_EQ(d.id, "test.one");
    EXPECT_EQ(d.packages, "coreutils");
    ASSERT_EQ(d.parameters.size(), 3U);
    EXPECT_EQ(d.parameters[1].high, 100);
    EXPECT_EQ(d.metrics.front().unit.base, "B/s");
    EXPECT_EQ(d.metrics.front().unit.factor, 1e6);
    EXPECT_EQ(d.checks.front().equals, "0");
}

struct Wrong {
    const char* name;
    std::function<void(Json&)> make;
    const char* said;
};

class WrongDescription : public testing::TestWithParam<Wrong> {};

TEST_P(WrongDescription, SaysWhatIsWrong) {
    auto json = made_json();
    GetParam().make(json);
    const auto said = problem_of(json);
    EXPECT_THAT(said, HasSubstr(GetParam().said));
    EXPECT_THAT(said, testing::StartsWith("made.json"));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongDescription,
    testing::Values(
        Wrong{"NoObject", [](Json& j) { j = Json::array(); }, "expected an object"},
        Wrong{"OtherSchema", [](Json& j) { j["schema"] = "assay.suite/1"; }, "invalid schema"},
        Wrong{"UnknownKey", [](Json& j) { j["comand"] = 1; }, "unknown key \"comand\""},
        Wrong{"DirectOfNothing",
              [](Json& j) {
                  j["scratch_in"] = "where";
                  j["direct_io"] = {"direct", "yes"};
              },
              "there is no parameter direct"},
        Wrong{"DirectWithoutFolder", [](Json& j) { j["direct_io"] = {"mode", "fast"}; },
              "needs scratch_in"},
        Wrong{"NoCheck", [](Json& j) { j["checks"].clear(); }, "checks: expected at least one"},
        Wrong{"NoMetric", [](Json& j) { j["metrics"].clear(); }, "primary"},
        Wrong{"TwoMetricsOfOneName", [](Json& j) { j["metrics"].push_back(j["metrics"][0]); },
              "given twice"},
        Wrong{"UnknownUnit", [](Json& j) { j["metrics"][0]["unit"] = "furlong"; }, "furlong"},
        Wrong{"Id", [](Json& j) { j["id"] = "Test"; }, "<family>.<name>"},
        Wrong{"Place", [](Json& j) { j["place"] = "moon"; }, "host or cuda"},
        // There is no shell.
        Wrong{"ALine", [](Json& j) { j["command"] = "fio --name=x | tee log"; },
              "there is no shell"},
        Wrong{"APipe", [](Json& j) { j["command"].push_back("|"); }, "needs a shell"},
        Wrong{"ARedirection", [](Json& j) { j["command"].push_back("2>&1"); }, "needs a shell"},
        Wrong{"ASubstitution", [](Json& j) { j["command"].push_back("--user=$(id)"); },
              "needs a shell"},
        Wrong{"Backticks", [](Json& j) { j["command"].push_back("`id`"); }, "needs a shell"},
        Wrong{"AShell", [](Json& j) { j["command"] = {"/bin/bash", "-c", "true"}; },
              "bash starts other programs"},
        Wrong{"AShellToPrepare", [](Json& j) { j["prepare"] = {{"sh", "-c", "true"}}; },
              "sh starts"},
        Wrong{"NoProgram", [](Json& j) { j["command"] = Json::array(); }, "begins with a program"},
        Wrong{"ANul", [](Json& j) { j["command"][0] = std::string{"a\0b", 3}; }, "NUL"},
        // Nothing outside of its folder.
        Wrong{"AnInputOutside",
              [](Json& j) { j["inputs"] = {{{"name", "../x"}, {"lines", {"a"}}}}; },
              "invalid file name"},
        Wrong{"AHiddenInput",
              [](Json& j) { j["inputs"] = {{{"name", ".bashrc"}, {"lines", {"a"}}}}; },
              "invalid file name"},
        Wrong{"ACopyOfAShippedOne", [](Json& j) { j["inputs"] = {{{"name", "x"}, {"copy", "x"}}}; },
              "cannot have files"},
        // Patterns that RE2 refuses, so that none can take for ever.
        Wrong{"NoPattern", [](Json& j) { j["checks"][0]["match"] = "("; }, "invalid RE2 pattern"},
        Wrong{"ABackReference", [](Json& j) { j["checks"][0]["match"] = "(a)\\1"; },
              "invalid RE2 pattern"},
        Wrong{"APatternThatExplodes",
              [](Json& j) { j["checks"][0]["match"] = "((a{500}){500}){500}"; },
              "invalid RE2 pattern"},
        Wrong{"TwoGroups", [](Json& j) { j["checks"][0]["match"] = "(a)(b)"; },
              "more than one group"},
        Wrong{"TwoPlaces", [](Json& j) { j["checks"][0]["at"] = "/a"; }, "expected one of"},
        Wrong{"NoPointer",
              [](Json& j) { j["metrics"][0] = {{"metric", "time"}, {"unit", "s"}, {"at", "a/b"}}; },
              "invalid JSON pointer"},
        Wrong{"NothingToCompare", [](Json& j) { j["checks"][0].erase("equals"); },
              "expected \"equals\""},
        Wrong{"ARangeUpsideDown",
              [](Json& j) {
                  j["checks"][0].erase("equals");
                  j["checks"][0]["at_least"] = 2;
                  j["checks"][0]["at_most"] = 1;
              },
              "above at_most"},
        Wrong{"ShareOfNothing",
              [](Json& j) {
                  j["checks"][0].erase("equals");
                  j["checks"][0]["near"] = {{"match", "a"}};
                  j["checks"][0]["within"] = 0;
              },
              "between 0 and 1"},
        // Names.
        Wrong{"NobodysPlaceholder", [](Json& j) { j["command"].push_back("{sise}"); },
              "unknown placeholder {sise}"},
        Wrong{"AnOpenPlaceholder", [](Json& j) { j["command"].push_back("{size"); },
              "unknown placeholder {size"},
        Wrong{"AWordOfNothing", [](Json& j) { j["words"]["flags"]["of"] = "speed"; },
              "no parameter speed"},
        Wrong{"AWordWithAHole", [](Json& j) { j["words"]["flags"]["values"].erase("slow"); },
              "no entry for slow"},
        Wrong{"TwoOfOneName", [](Json& j) { j["parameters"][0]["name"] = "size"; },
              "the name size is used twice"},
        Wrong{"ANameOfOurs", [](Json& j) { j["parameters"][0]["name"] = "scratch"; },
              "the name scratch is used twice"},
        Wrong{"ADefaultThatIsNone", [](Json& j) { j["parameters"][0]["defaults"] = {"medium"}; },
              "invalid value"},
        Wrong{"NoTimeLimit", [](Json& j) { j["time_limit"] = 0; }, "time_limit"},
        Wrong{"ASecondsText", [](Json& j) { j["time_limit"] = "5s"; }, "expected a number"}),
    [](const testing::TestParamInfo<Wrong>& test) { return test.param.name; });

TEST(Description, OfNoJsonIsAnError) {
    EXPECT_THROW(parse_description("{", "x"), Problem);
    EXPECT_THROW(parse_description("", "x"), Problem);
    EXPECT_THROW(parse_description(std::string(100'000, '['), "x"), Problem);
}

TEST(Description, CopiesFilesOfItsFolderAlone) {
    const TemporaryFolder folder;
    std::ofstream{folder.path() / "in.txt"} << "inside";
    std::filesystem::create_directory(folder.path() / "below");
    std::ofstream{folder.path() / "below/in.txt"} << "below";
    std::filesystem::create_symlink("/etc/passwd", folder.path() / "link");
    const auto with = [&](const char* name) {
        auto json = made_json();
        json["inputs"] = {{{"name", "x"}, {"copy", name}}};
        return json;
    };
    EXPECT_EQ(made(with("in.txt"), folder.path()).inputs[0].text, "inside");
    EXPECT_EQ(made(with("below/in.txt"), folder.path()).inputs[0].text, "below");
    for (const char* name : {"../x", "/etc/passwd", "below/../../x", "link", "."})
        EXPECT_THAT(problem_of(with(name), folder.path()),
                    HasSubstr("\"" + std::string{name} + "\" is "))
            << name;
}

TEST(Fill, ArgumentsAreAsManyAsAWordHas) {
    const auto d = made(made_json());
    const auto arguments = [&](const char* mode) {
        Fill fill{d, {{"mode", mode}, {"size", "7"}, {"where", "/a b"}}};
        fill.set("tool", "/bin/true");
        return fill.arguments(d.command);
    };
    EXPECT_THAT(arguments("fast"), ElementsAre("/bin/true", "--size=7"));
    EXPECT_THAT(arguments("slow"), ElementsAre("/bin/true", "-s", "7", "--size=7"));
    const Fill fill{d, {{"mode", "slow"}, {"size", "7"}, {"where", "{size}"}}};
    EXPECT_THAT(fill.arguments({"{where}"}),
                ElementsAre("{size}")); // user text is not a placeholder
    EXPECT_THROW(static_cast<void>(fill.text("x{flags}")), Problem); // two arguments within one
    EXPECT_EQ(fill.file("n = @size@; {size} @other@"), "n = 7; {size} @other@");
}

TEST(Fill, WordsInWordsEnd) {
    auto json = made_json();
    const auto word = [](const std::string& stands_for) {
        return Json{{"of", "mode"}, {"values", {{"*", stands_for}}}};
    };
    json["words"] = {{"flags", word("")},   {"a", word("{size}-{size}")},
                     {"b", word("{a}{a}")}, {"c", word("{c}{c}")},
                     {"d0", word("")},      {"d1", word("")}};
    std::string many;
    for (int i = 0; i < 100; ++i) many += "{d0}";
    json["words"]["d1"] = word(many);
    std::string more;
    for (int i = 0; i < 100; ++i) more += "{d1}";
    json["words"]["d2"] = word(more);
    const auto d = made(json);
    const Fill fill{d, {{"mode", "fast"}, {"size", "7"}}};
    EXPECT_EQ(fill.text("{b}"), "7-77-7");
    EXPECT_THROW(static_cast<void>(fill.text("{c}")), Problem) << "contains itself";
    EXPECT_EQ(fill.text("{d1}"), "");
    EXPECT_THROW(static_cast<void>(fill.text("{d2}")), Problem) << "ten thousand";
}

} // namespace
} // namespace assay::external
