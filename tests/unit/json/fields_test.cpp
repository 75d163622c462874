// SPDX-License-Identifier: Apache-2.0
#include "json/fields.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::json {
namespace {

Value parsed(std::string_view text) { return parse(text, "test").value(); }

/// The problem of reading `key` of {"v": <json>} into a T.
template <class T>
std::string problem(std::string_view json, T target = {}) {
    const Value value = parsed("{\"v\":" + std::string{json} + "}");
    Document document{value, "f"};
    const T before = target;
    document.root().read("v", target);
    EXPECT_EQ(document.failed(), target == before) << json;
    const auto result = document.result();
    return result ? "" : result.error().message;
}

TEST(Fields, ReadsEveryType) {
    const Value value = parsed(
        R"({"s":"x","b":true,"d":2.5,"i":-7,"u":18446744073709551615,"l":["a"],"n":[1,2.5],"z":null})");
    Document document{value, "f"};
    const Object object = document.root();
    std::string s;
    bool b = false;
    double d = 0;
    int i = 0;
    std::uint64_t u = 0;
    std::vector<std::string> l;
    std::vector<double> n;
    std::optional<double> z = 1;
    std::optional<double> missing = 1;
    std::optional<double> there;
    object.read("s", s);
    object.read("b", b);
    object.read("d", d);
    object.read("i", i);
    object.read("u", u);
    object.read("l", l);
    object.read("n", n);
    object.read("z", z);
    object.read("missing", missing);
    object.read("d", there);
    ASSERT_TRUE(document.result()) << document.result().error().message;
    EXPECT_EQ(s, "x");
    EXPECT_TRUE(b);
    EXPECT_EQ(d, 2.5);
    EXPECT_EQ(i, -7);
    EXPECT_EQ(u, UINT64_MAX);
    EXPECT_EQ(l, std::vector<std::string>{"a"});
    EXPECT_EQ(n, (std::vector<double>{1, 2.5}));
    EXPECT_EQ(z, std::nullopt);
    EXPECT_EQ(missing, std::nullopt);
    EXPECT_EQ(there, 2.5);
}

TEST(Fields, SaysWhatIsThereAndWhatWouldBeRight) {
    EXPECT_EQ(problem<std::string>("7"), "f: v: got 7, expected a string");
    EXPECT_EQ(problem<bool>("\"yes\""), "f: v: got \"yes\", expected true or false");
    EXPECT_EQ(problem<double>("\"1\""), "f: v: got \"1\", expected a number");
    EXPECT_EQ(problem<double>("null"), "f: v: got null, expected a number");
    EXPECT_EQ(problem<std::uint8_t>("256"), "f: v: got 256, expected an integer from 0 to 255");
    EXPECT_EQ(problem<std::uint32_t>("-1"),
              "f: v: got -1, expected an integer from 0 to 4294967295");
    EXPECT_EQ(problem<std::int64_t>("9223372036854775808"),
              "f: v: got 9223372036854775808, expected an integer from -9223372036854775808 to "
              "9223372036854775807");
    EXPECT_EQ(problem<int>("1.5"), "f: v: got 1.5, expected an integer from -2147483648 to "
                                   "2147483647");
    EXPECT_EQ(problem<std::vector<double>>("[1,[]]"),
              "f: v[1]: got an empty array, expected a number");
    EXPECT_EQ(problem<std::vector<std::string>>("{}"),
              "f: v: got an empty object, expected an array");
}

TEST(Fields, NamesTheWholePathAndKeepsTheFirstProblem) {
    const Value value = parsed(R"({"cases":[{"benchmark":"a"},{"benchmark":7},{}]})");
    Document document{value, "suites/x.json"};
    std::vector<std::string> ids;
    document.root().each("cases",
                         [&](const Object& entry) { entry.read("benchmark", ids.emplace_back()); });
    EXPECT_EQ(document.result().error().message,
              "suites/x.json: cases[1].benchmark: got 7, expected a string");
    EXPECT_EQ(ids.size(), 2U) << "reading goes on after the first problem";
}

TEST(Fields, MissingAndOptional) {
    const Value value = parsed("{}");
    Document document{value, "f"};
    int target = 5;
    document.root().read_if("x", target);
    EXPECT_TRUE(document.result());
    EXPECT_EQ(target, 5);
    document.root().object("inner").read("x", target);
    EXPECT_EQ(document.result().error().message, "f: `inner` is missing");
}

TEST(Fields, UnknownKeysGetASuggestion) {
    const Value value = parsed(R"({"bugdet":1})");
    Document document{value, "f"};
    document.root().only({"budget", "cases"});
    EXPECT_EQ(document.result().error().message,
              "f: unknown key \"bugdet\" (did you mean \"budget\"?)");
}

TEST(Fields, SurvivesWhatIsNoObject) {
    for (const char* text : {"7", "[1]", "null", "\"x\""}) {
        const Value value = parsed(text);
        Document document{value, "f"};
        const Object root = document.root();
        std::string out;
        root.read("x", out);
        root.only({"x"});
        root.each("x", [](const Object&) { FAIL(); });
        EXPECT_FALSE(root.has("x"));
        EXPECT_NE(document.result().error().message.find("expected an object"), std::string::npos);
    }
}

TEST(Fields, HostileTextInMessagesIsCutAndEscaped) {
    const std::string message = problem<double>("\"\\u001b[31m" + std::string(5000, 'a') + "\"");
    EXPECT_LT(message.size(), 200U);
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

} // namespace
} // namespace assay::json
