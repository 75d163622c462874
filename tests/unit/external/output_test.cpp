// SPDX-License-Identifier: Apache-2.0
//
// Values are found once or not at all, and checks notice the smallest error.

#include "external/output.hpp"
#include "made.hpp"

#include <gmock/gmock.h>

namespace assay::external {
namespace {

using testing::HasSubstr;

Where at(const std::string& pointer) { return {.kind = Where::Kind::pointer, .text = pointer}; }
Where line(const std::string& pattern, Where::Take take = Where::Take::only) {
    return {.text = pattern, .take = take};
}
Where cell(const std::string& column, const std::string& key = "", const std::string& value = "") {
    return {.kind = Where::Kind::column, .text = column, .row_column = key, .row_value = value};
}

std::string problem_at(const std::string& output, const Where& where) {
    try {
        return "found " + find({{"stdout", output}}, where);
    } catch (const Problem& problem) {
        return problem.what();
    }
}

TEST(Pattern, MatchesAWholeLineOnce) {
    EXPECT_EQ(problem_at("a\nrate: 5 MB/s\nb\n", line("rate: ([0-9]+) MB/s")), "found 5");
    EXPECT_EQ(problem_at("rate: 5 MB/s\r\n", line("rate: ([0-9]+) MB/s")), "found 5");
    EXPECT_EQ(problem_at("frame=1\rframe=22\n", line("frame=([0-9]+)")),
              "found 22");                                     // overwritten in place
    EXPECT_EQ(problem_at("DONE", line("DONE")), "found DONE"); // no group: the line
    EXPECT_THAT(problem_at("x rate: 5 MB/s", line("rate: ([0-9]+) MB/s")),
                HasSubstr("nothing in stdout"));
    EXPECT_THAT(problem_at("rate: 5 MB/s or so", line("rate: ([0-9]+) MB/s")),
                HasSubstr("nothing in stdout"));
    EXPECT_THAT(problem_at("r: 1\nr: 2\n", line("r: (.)")), HasSubstr("2 places"));
    EXPECT_EQ(problem_at("r: 1\nr: 2\n", line("r: (.)", Where::Take::first)), "found 1");
    EXPECT_EQ(problem_at("r: 1\nr: 2\n", line("r: (.)", Where::Take::last)), "found 2");
    EXPECT_THAT(problem_at("", line(".*")), HasSubstr("stdout is empty"));
}

TEST(Pattern, TakesTimeInProportion) {
    // Exponential for a matcher that goes back.
    const std::string text(200'000, 'a');
    EXPECT_THAT(problem_at(text, line("(?:a*)*b")), HasSubstr("nothing in stdout"));
    EXPECT_THAT(problem_at(text, line("(?:a|aa)+c")), HasSubstr("nothing in stdout"));
}

TEST(Pointer, FindsAValueOfOneDocument) {
    const std::string json = R"({"a": [{"b": 1.5, "c": "x", "n": null}], "t": true})";
    EXPECT_EQ(problem_at(json, at("/a/0/b")), "found 1.5");
    EXPECT_EQ(problem_at(json, at("/a/0/c")), "found x");
    EXPECT_EQ(problem_at(json, at("/t")), "found true");
    EXPECT_THAT(problem_at(json, at("/a/1/b")), HasSubstr("has no a.1.b"));
    EXPECT_THAT(problem_at(json, at("/a/x")), HasSubstr("has no a.x"));
    EXPECT_THAT(problem_at(json, at("/a")), HasSubstr("a is array"));
    EXPECT_THAT(problem_at(json, at("/a/0/n")), HasSubstr("null"));
}

/// iperf3 has written all of these.
TEST(Pointer, RefusesWhatIsNoJson) {
    for (const char* text : {R"({"a": 1}{"a": 1})", "{\"a\": 1}\n{\"a\": 1}\n", R"({"a": 1,)",
                             "iperf3: error", R"({"a": 1e999})"})
        EXPECT_THAT(problem_at(text, at("/a")), HasSubstr("not one JSON document")) << text;
}

/// One bad number costs itself alone.
TEST(Pointer, FindsWhatIsNoNumberAsAText) {
    const std::string json = R"({"bits_per_second": -nan, "a": 1})";
    EXPECT_EQ(problem_at(json, at("/bits_per_second")), "found nan");
    EXPECT_EQ(problem_at(json, at("/a")), "found 1");
}

TEST(Table, FindsACellByItsColumnAndRow) {
    const std::string table = "test,rate,note\nread,5,\"a, b\"\nwrite,6,c\n";
    EXPECT_EQ(problem_at(table, cell("rate", "test", "write")), "found 6");
    EXPECT_EQ(problem_at(table, cell("note", "test", "read")), "found a, b");
    EXPECT_THAT(problem_at(table, cell("rate")), HasSubstr("2 places"));
    EXPECT_THAT(problem_at(table, cell("rate", "test", "erase")), HasSubstr("nothing in stdout"));
    EXPECT_THAT(problem_at(table, cell("speed")), HasSubstr("missing column speed"));
    EXPECT_THAT(problem_at("a,a\n1,2\n", cell("a")), HasSubstr("column a occurs twice"));
    EXPECT_THAT(problem_at("a,b\n1\n", cell("a")), HasSubstr("1 fields"));
    EXPECT_EQ(problem_at("a\n1\n", cell("a")), "found 1");
    EXPECT_EQ(problem_at("n, rate\n  500, 7 \n", cell("rate", "n", "500")), "found 7");
}

TEST(Number, IsOneOfTheCLocale) {
    EXPECT_EQ(number_of("-1.5e3", "x"), -1500);
    for (const char* text :
         {"1,5", "1.234,5", "", " 1", "1 ", "0x10", "inf", "-inf", "nan", "1e999", "five", "1.5.2"})
        EXPECT_THROW(number_of(text, "x"), Problem) << text;
}

TEST(Value, IsInTheBaseUnitAndNotBelowZero) {
    Metric metric{
        .name = "latency", .where = line("t: (.*)"), .unit = unit_of("ms"), .unit_at = {}};
    EXPECT_DOUBLE_EQ(value_of({{"stdout", "t: 5"}}, metric), 5e-3);
    EXPECT_THROW(value_of({{"stdout", "t: -5"}}, metric), Problem);
    EXPECT_THROW(value_of({{"stdout", "t: inf"}}, metric), Problem);
    metric.unit_at = line("u: (.*)");
    EXPECT_DOUBLE_EQ(value_of({{"stdout", "t: 5\nu: us"}}, metric), 5e-6);
    EXPECT_THROW(value_of({{"stdout", "t: 5\nu: weeks"}}, metric), Problem);
}

/// Each kind of check notices its smallest error, in each kind of output.
TEST(Check, NoticesWhatSpoilDoes) {
    const Outputs outputs{{"stdout", "errors: 0\nstate: PASS\nsent: 100\ngot: 99\n"},
                          {"j", R"({"error": 0, "ok": true, "drift": -0.5, "name": "TCP"})"},
                          {"t", "a,b\n1,2\n"}};
    auto in = [](Where where, const char* name) {
        where.in = name;
        return where;
    };
    const std::vector<Check> checks{
        {.notices = "a", .where = line("errors: (.*)"), .equals = "0"},
        {.notices = "b", .where = line("state: (.*)"), .equals = "PASS"},
        {.notices = "c", .where = line("got: (.*)"), .near = line("sent: (.*)"), .within = 0.02},
        {.notices = "d", .where = line("got: (.*)"), .at_least = 99.0},
        {.notices = "e", .where = line("got: (.*)"), .at_most = 99.0},
        {.notices = "f", .where = in(at("/error"), "j"), .equals = "0"},
        {.notices = "g", .where = in(at("/ok"), "j"), .equals = "true"},
        {.notices = "h", .where = in(at("/name"), "j"), .equals = "TCP"},
        {.notices = "i", .where = in(at("/drift"), "j"), .at_least = -1.0, .at_most = 1.0},
        {.notices = "j", .where = in(cell("b"), "t"), .equals = "2.0"},
    };
    for (const auto& check : checks) {
        SCOPED_TRACE(check.notices);
        const auto before = judge(outputs, check);
        EXPECT_TRUE(before.holds) << before.said;
        auto spoiled = outputs;
        spoil(spoiled, check);
        const auto after = judge(spoiled, check);
        EXPECT_FALSE(after.holds);
        EXPECT_FALSE(after.said.empty());
        EXPECT_FALSE(judge({}, check).holds) << "accepts what is not there";
    }
    EXPECT_NEAR(judge(outputs, checks[2]).share, 0.5, 1e-9); // 1% of 2%
    EXPECT_NEAR(judge(outputs, checks[8]).share, 0.5, 1e-9);
}

} // namespace
} // namespace assay::external
