// SPDX-License-Identifier: Apache-2.0
#include "json/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace assay::json {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(std::string_view text, const Limits& limits = {}) {
    const auto parsed = parse(text, "x.json", limits);
    return parsed ? "no error" : parsed.error().message;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Parse, KeepsValuesAndTheOrderOfKeys) {
    const std::string text =
        R"({"z":1,"a":-2,"m":[true,null,"\u00e9",1.5,18446744073709551615],"o":{}})";
    const auto parsed = parse(text, "x.json");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(to_line(*parsed),
              R"({"z":1,"a":-2,"m":[true,null,"é",1.5,18446744073709551615],"o":{}})");
}

TEST(Parse, SaysLineAndColumn) {
    EXPECT_THAT(error_of("{\n  \"a\": 1,\n  \"b\": tru\n}"), StartsWith("x.json:3:"));
    EXPECT_THAT(error_of(""), AllOf(StartsWith("x.json:1:1: "), HasSubstr("unexpected end")));
    EXPECT_THAT(error_of("{\"a\":"), HasSubstr("unexpected end of input"));
    EXPECT_THAT(error_of("[1] [2]"), HasSubstr("expected end of input"));
}

TEST(Parse, EveryPrefixOfADocumentIsAnError) {
    const std::string text =
        R"({"name":"quick","cases":[{"benchmark":"gemm.square","n":[1,2.5e3]}]})";
    for (std::size_t i = 0; i < text.size(); ++i)
        EXPECT_FALSE(parse(text.substr(0, i), "x.json")) << text.substr(0, i);
    EXPECT_TRUE(parse(text, "x.json"));
}

TEST(Parse, RefusesDuplicateKeysInSmallAndLargeObjects) {
    EXPECT_THAT(error_of("{\"a\":1,\n\"a\":2}"),
                AllOf(StartsWith("x.json:2:"), HasSubstr("the key \"a\" occurs twice")));
    std::string many = "{";
    for (int i = 0; i < 1000; ++i) many += "\"k" + std::to_string(i) + "\":1,";
    EXPECT_TRUE(parse(many + "\"k1000\":1}", "x.json"));
    EXPECT_THAT(error_of(many + "\"k3\":1}"), HasSubstr("\"k3\" occurs twice"));
    EXPECT_THAT(error_of(many + "\"k999\":1}"), HasSubstr("\"k999\" occurs twice"));
    EXPECT_TRUE(parse(R"([{"a":1},{"a":1},{"b":{"a":1},"a":2}])", "x.json"));
}

TEST(Parse, ManyKeysCostLittle) {
    std::string many = "{\"first\":0";
    for (int i = 0; i < 200'000; ++i) many += ",\"k" + std::to_string(i) + "\":1";
    many += "}";
    EXPECT_TRUE(parse(many, "x.json")); // would take minutes if every key were looked up in a list
}

TEST(Parse, StopsAtTheDepthLimit) {
    EXPECT_TRUE(parse(nested(64), "x.json"));
    EXPECT_THAT(error_of(nested(65)),
                AllOf(StartsWith("x.json:1:65: "), HasSubstr("deeper than 64 levels")));
    EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr("deeper than 64 levels"));
    EXPECT_THAT(error_of(nested(3), {.depth = 2}), HasSubstr("deeper than 2 levels"));
}

TEST(Parse, StopsAtTheSizeLimit) {
    EXPECT_THAT(error_of("[1,2,3,4]", {.bytes = 8}), HasSubstr("9 bytes long, 8 is the most"));
    EXPECT_TRUE(parse("[1,2,3,4]", "x.json", {.bytes = 9}));
}

TEST(Parse, RefusesWhatIsNoJson) {
    for (const char* text :
         {"NaN", "Infinity", "-Infinity", "1e999", "01", "+1", "'a'", "[1,]", R"({"a" 1})", "// no",
          "\"\\ud800\"", "\"\xff\xfe\"", "\"\xc0\xaf\"", "\"a\nb\"", "{1:2}", "\x01"})
        EXPECT_FALSE(parse(text, "x.json")) << text;
}

TEST(Parse, AMessageIsShortAndValidText) {
    const std::string message = error_of("\"" + std::string(100'000, 'x') + "\xff\"");
    EXPECT_LT(message.size(), 400U);
    EXPECT_TRUE(parse(to_line(Value(message)), "the message"));
}

TEST(ReadFile, NamesTheFile) {
    const auto missing = read_file("/nowhere/suite.json");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("/nowhere/suite.json"));

    const auto path = std::filesystem::path{testing::TempDir()} / "assay_json_read_file.json";
    std::ofstream{path} << "{\"a\":}";
    const auto broken = read_file(path);
    ASSERT_FALSE(broken);
    EXPECT_THAT(broken.error().message, StartsWith(path.string() + ":1:6: "));
    EXPECT_FALSE(read_file(path, {.bytes = 3}));
    std::filesystem::remove(path);
}

TEST(Write, WhatIsNotFiniteBecomesNull) {
    const Value value{{"nan", std::nan("")}, {"inf", -std::numeric_limits<double>::infinity()}};
    EXPECT_EQ(to_line(value), R"({"nan":null,"inf":null})");
}

TEST(Write, NumbersComeBackAsTheyWere) {
    for (const double number :
         {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -0.0, 1e15, 123456789.123})
        EXPECT_EQ(parse(to_line(Value(number)), "x")->get<double>(), number);
    EXPECT_TRUE(parse(to_line(Value(1e18)), "x")->is_number_float());
}

TEST(Write, BytesThatAreNoTextAreReplaced) {
    EXPECT_EQ(to_line(Value("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(Write, TextIsIndentedWithFlatArraysOnOneLine) {
    const Value value{
        {"a", {1, 2, 3}}, {"b", {{"c", Value::array()}}}, {"d", Value::array({Value::object()})}};
    EXPECT_EQ(
        to_text(value),
        "{\n  \"a\": [1,2,3],\n  \"b\": {\n    \"c\": []\n  },\n  \"d\": [\n    {}\n  ]\n}\n");
    EXPECT_EQ(*parse(to_text(value), "x"), value);
}

TEST(Parse, OfAKeyThatIsRepeatedTheLastValueCountsWhereThatIsAllowed) {
    std::string text = "{\"k0\": 1, \"b\": {\"c\": 1, \"c\": [2]}";
    for (int i = 1; i < 40; ++i) text += ", \"k" + std::to_string(i) + "\": 0";
    text += ", \"k0\": {\"d\": 4}, \"k1\": 5}";
    EXPECT_FALSE(parse(text, "it"));
    const auto value = parse(text, "it", {.repeated_keys = true});
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(value->size(), 41U);
    EXPECT_EQ((*value)["k0"], Value({{"d", 4}}));
    EXPECT_EQ((*value)["k1"], 5);
    EXPECT_EQ((*value)["b"]["c"], Value::array({2}));
}

} // namespace
} // namespace assay::json
