// SPDX-License-Identifier: Apache-2.0

#include "json/fields.hpp"
#include "json/json.hpp"
#include "support/results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace assay::json {
namespace {

using namespace testing;

std::string error_of(std::string_view text, const json::Limits& limits = {}) {
    const auto parsed = parse(text, "x.json", limits);
    return parsed ? "no error" : parsed.error().message;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Parse, KeepsValuesAndTheOrderOfKeys) {
    const std::string text =
        R"({"z":1,"a":-2,"m":[true,null,"\u00e9",1.5,18446744073709551615],"o":{}})";
    const auto parsed = valid(parse(text, "x.json"));
    EXPECT_EQ(json::to_line(*parsed),
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

TEST(Parse, SkipsAByteOrderMark) {
    EXPECT_EQ(parse("\xEF\xBB\xBF[1]", "x.json")->dump(), "[1]");
    EXPECT_FALSE(parse("\xEF\xBB\xBF", "x.json"));
}

TEST(Parse, AMessageIsShortAndValidText) {
    const std::string message = error_of("\"" + std::string(100'000, 'x') + "\xff\"");
    EXPECT_LT(message.size(), 400U);
    EXPECT_TRUE(parse(json::to_line(json::Value(message)), "the message"));
}

TEST(ReadFile, NamesTheFile) {
    EXPECT_THAT(read_file("/nowhere/suite.json"), Fails(HasSubstr("/nowhere/suite.json")));

    const auto path = std::filesystem::path{testing::TempDir()} / "assay_json_read_file.json";
    std::ofstream{path} << "{\"a\":}";
    EXPECT_THAT(read_file(path), Fails(StartsWith(path.string() + ":1:6: ")));
    EXPECT_FALSE(read_file(path, {.bytes = 3}));
    std::filesystem::remove(path);
}

TEST(Write, WhatIsNotFiniteBecomesNull) {
    const json::Value value{{"nan", std::nan("")},
                            {"inf", -std::numeric_limits<double>::infinity()}};
    EXPECT_EQ(json::to_line(value), R"({"nan":null,"inf":null})");
}

TEST(Write, NumbersComeBackAsTheyWere) {
    for (const double number :
         {0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -0.0, 1e15, 123456789.123})
        EXPECT_EQ(parse(json::to_line(json::Value(number)), "x")->get<double>(), number);
    EXPECT_TRUE(parse(json::to_line(json::Value(1e18)), "x")->is_number_float());
}

TEST(Write, BytesThatAreNoTextAreReplaced) {
    EXPECT_EQ(json::to_line(json::Value("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(Write, TextIsIndentedWithFlatArraysOnOneLine) {
    const json::Value value{{"a", {1, 2, 3}},
                            {"b", {{"c", json::Value::array()}}},
                            {"d", json::Value::array({json::Value::object()})}};
    EXPECT_EQ(
        json::to_text(value),
        "{\n  \"a\": [1,2,3],\n  \"b\": {\n    \"c\": []\n  },\n  \"d\": [\n    {}\n  ]\n}\n");
    EXPECT_EQ(*parse(json::to_text(value), "x"), value);
}

TEST(Parse, OfAKeyThatIsRepeatedTheLastValueCountsWhereThatIsAllowed) {
    std::string text = "{\"k0\": 1, \"b\": {\"c\": 1, \"c\": [2]}";
    for (int i = 1; i < 40; ++i) text += ", \"k" + std::to_string(i) + "\": 0";
    text += ", \"k0\": {\"d\": 4}, \"k1\": 5}";
    EXPECT_FALSE(parse(text, "it"));
    const auto value = valid(parse(text, "it", {.repeated_keys = true}));
    EXPECT_EQ(value->size(), 41U);
    EXPECT_EQ((*value)["k0"], json::Value({{"d", 4}}));
    EXPECT_EQ((*value)["k1"], 5);
    EXPECT_EQ((*value)["b"]["c"], json::Value::array({2}));
}

// --- in parts ----------------------------------------------------------------------------------------

// A document in parts is the document that to_text() writes.

/// Writes through a Stream that is given every member and item.
void write(const json::Value& value, json::Stream& out) {
    const bool plain_items = value.is_array() && (value.empty() || !value[0].is_structured());
    if (!value.is_structured() || plain_items) return out.value(value);
    value.is_object() ? out.open_object() : out.open_array();
    for (const auto& item : value.items()) {
        if (value.is_object()) out.key(item.key());
        write(item.value(), out);
    }
    out.close();
}

const json::Value& document() {
    static const json::Value value = [] {
        json::Value made{
            {"schema", "x/1"},
            {"none", json::Value::array()},
            {"flat", {1, 2.5, "three", nullptr, true}},
            {"odd \"key\"", "quote \" backslash \\ tab \t bell \a delete \x7f"},
            {"text", "温度 \xc3\xa9 \xff: "},
            {"nested",
             {{"a", {{"b", json::Value::array({json::Value{{"c", -1}}, json::Value::object()})}}}}},
            {"nodes", json::Value::array()}};
        for (int i = 0; i < 5000; ++i)
            made["nodes"].push_back({{"name", "n" + std::to_string(i)}, {"value", i * 0.1}});
        return made;
    }();
    return value;
}

TEST(Stream, WritesWhatToTextWrites) {
    std::vector<std::string> parts;
    const Sink sink = [&](std::string_view part) {
        parts.emplace_back(part);
        return true;
    };
    json::Stream out{sink};
    write(document(), out);
    EXPECT_TRUE(out.finish());
    std::string all;
    for (const auto& part : parts) {
        EXPECT_TRUE(part.ends_with('\n')) << "parts are whole lines";
        EXPECT_LT(part.size(), std::size_t{70} << 10U);
        all += part;
    }
    EXPECT_EQ(all, json::to_text(document()));
    EXPECT_GT(parts.size(), 2U);
}

TEST(Stream, AReaderThatHasEnoughIsNotAskedAgain) {
    int asked = 0;
    const Sink sink = [&](std::string_view) { return ++asked < 2; };
    json::Stream out{sink};
    write(document(), out);
    EXPECT_FALSE(out.finish());
    EXPECT_EQ(asked, 2);
}

// --- schemas -----------------------------------------------------------------------------------------

constexpr const char* suite_schema = R"({
  "definitions": {
    "case": {
      "type": "object",
      "properties": {
        "benchmark": {"type": "string", "minLength": 1, "description": "id of a benchmark"},
        "replicas": {"type": "integer", "minimum": 1, "maximum": 99},
        "level": {"enum": ["quick", "standard"]},
        "sizes": {"type": "array", "maxItems": 3, "items": {"type": "number"}},
        "any": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "null"}}}]}
      },
      "required": ["benchmark"],
      "additionalProperties": false
    }
  },
  "type": "object",
  "properties": {
    "schema": {"const": "assay.suite/1"},
    "cases": {"type": "array", "items": {"$ref": "#/definitions/case"}},
    "set": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}
  },
  "required": ["schema"]
})";

std::string check(std::string_view text) {
    static const json::Value schema = parse(suite_schema, "schema").value();
    const auto checked = json::check_schema(parse(text, "x.json").value(), schema, "x.json");
    return checked ? "" : checked.error().message;
}

std::string check_case(const std::string& members) {
    return check(R"({"schema":"assay.suite/1","cases":[{"benchmark":"a"},{)" + members + "}]}");
}

TEST(Schema, AcceptsWhatMatches) {
    EXPECT_EQ(check(R"({"schema":"assay.suite/1"})"), "");
    EXPECT_EQ(check_case(R"("benchmark":"b","replicas":3,"level":"quick","sizes":[1,2.5])"), "");
    EXPECT_EQ(check(R"({"schema":"assay.suite/1","set":{"a":1,"b":"x","c":true}})"), "");
}

TEST(Schema, NamesPlaceValueAndWhatWouldBeRight) {
    for (const auto& [members, says] :
         {std::pair{R"("benchmark":7)", ".benchmark: got 7, expected a string"},
          {R"("benchmark":"")", ".benchmark: got \"\", expected at least 1 characters"},
          {R"("benchmark":"a","replicas":0)", ".replicas: got 0, expected at least 1"},
          {R"("benchmark":"a","replicas":1.5)", ".replicas: got 1.5, expected an integer"},
          {R"("benchmark":"a","level":"quikc")",
           ".level: got \"quikc\", expected \"quick\" or \"standard\" (did you mean \"quick\"?)"},
          {R"("benchmark":"a","sizes":[1,2,3,4])", ".sizes: got 4 elements, expected at most 3"},
          {R"("benchmark":"a","sizes":[1,"2"])", ".sizes[1]: got \"2\", expected a number"},
          {R"("level":"quick")", ": `benchmark` is missing: id of a benchmark"},
          {R"("benchmark":"a","replica":1)",
           ": unknown key \"replica\" (did you mean \"replicas\"?)"}})
        EXPECT_EQ(check_case(members), std::string{"x.json: cases[1]"} + says);
    EXPECT_EQ(check(R"({"schema":"assay.suite/2"})"),
              "x.json: schema: got \"assay.suite/2\", expected \"assay.suite/1\"");
    EXPECT_EQ(
        check(R"({"schema":"assay.suite/1","set":{"a.b":[]}})"),
        "x.json: set.\"a.b\": got an empty array, expected a string, a number or true or false");
    EXPECT_EQ(check("[]"), "x.json: got an empty array, expected an object");
}

TEST(Schema, AlternativesFallBackToTheValidatorsWords) {
    EXPECT_THAT(check_case(R"("benchmark":"a","any":7)"), testing::StartsWith("x.json: cases[1]"));
}

TEST(Schema, KeysThatLookLikeIndicesAreKeys) {
    const json::Value schema =
        parse(R"({"additionalProperties":{"type":"string"}})", "schema").value();
    EXPECT_THAT(json::check_schema(parse(R"({"0":1})", "x").value(), schema, "x"),
                Fails("x: 0: got 1, expected a string"));
    EXPECT_THAT(json::check_schema(parse(R"({"":1})", "x").value(), schema, "x"),
                Fails("x: \"\": got 1, expected a string"));
}

TEST(Schema, RefusesSchemasThatRunRegularExpressions) {
    for (const char* text : {R"({"pattern":"a+"})", R"({"properties":{"a":{"format":"date"}}})",
                             R"({"items":[{"patternProperties":{}}]})"}) {
        EXPECT_THAT(json::check_schema(json::Value::object(), parse(text, "s").value(), "x"),
                    Fails(testing::HasSubstr("std::regex")))
            << text;
    }
    const json::Value harmless =
        parse(R"({"properties":{"pattern":{"enum":[{"format":1}]}}})", "s").value();
    EXPECT_TRUE(json::check_schema(json::Value::object(), harmless, "x"));
}

TEST(Schema, ABrokenSchemaIsAnErrorNotAnEnd) {
    for (const char* text : {R"({"type":7})", R"({"$ref":"#/definitions/none"})", "[]", "7",
                             R"({"required":{"a":1}})"}) {
        const auto checked =
            json::check_schema(json::Value::object(), parse(text, "s").value(), "x");
        if (!checked) {
            EXPECT_THAT(checked.error().message, testing::HasSubstr("x"));
        }
    }
}

// --- fields ------------------------------------------------------------------------------------------

json::Value parsed(std::string_view text) { return parse(text, "test").value(); }

/// The problem of reading `key` of {"v": <json>} into a T.
template <class T>
std::string problem(std::string_view json, T target = {}) {
    const json::Value value = parsed("{\"v\":" + std::string{json} + "}");
    json::Document document{value, "f"};
    const T before = target;
    document.root().read("v", target);
    EXPECT_EQ(document.failed(), target == before) << json;
    const auto result = document.result();
    return result ? "" : result.error().message;
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
    const json::Value value = parsed(R"({"cases":[{"benchmark":"a"},{"benchmark":7},{}]})");
    json::Document document{value, "suites/x.json"};
    std::vector<std::string> ids;
    document.root().each(
        "cases", [&](const json::Object& entry) { entry.read("benchmark", ids.emplace_back()); });
    EXPECT_EQ(document.result().error().message,
              "suites/x.json: cases[1].benchmark: got 7, expected a string");
    EXPECT_EQ(ids.size(), 2U) << "reading goes on after the first problem";
}

TEST(Fields, MissingAndOptional) {
    const json::Value value = parsed("{}");
    json::Document document{value, "f"};
    int target = 5;
    document.root().read_if("x", target);
    EXPECT_TRUE(document.result());
    EXPECT_EQ(target, 5);
    document.root().object("inner").read("x", target);
    EXPECT_EQ(document.result().error().message, "f: `inner` is missing");
}

TEST(Fields, UnknownKeysGetASuggestion) {
    const json::Value value = parsed(R"({"bugdet":1})");
    json::Document document{value, "f"};
    document.root().only({"budget", "cases"});
    EXPECT_EQ(document.result().error().message,
              "f: unknown key \"bugdet\" (did you mean \"budget\"?)");
}

TEST(Fields, SurvivesWhatIsNoObject) {
    for (const char* text : {"7", "[1]", "null", "\"x\""}) {
        const json::Value value = parsed(text);
        json::Document document{value, "f"};
        const json::Object root = document.root();
        std::string out;
        root.read("x", out);
        root.only({"x"});
        root.each("x", [](const json::Object&) { FAIL(); });
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
