// SPDX-License-Identifier: Apache-2.0
#include "json/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::json {
namespace {

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
    static const Value schema = parse(suite_schema, "schema").value();
    const auto checked = check_schema(parse(text, "x.json").value(), schema, "x.json");
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
    EXPECT_EQ(check_case(R"("benchmark":7)"),
              "x.json: cases[1].benchmark: got 7, expected a string");
    EXPECT_EQ(check_case(R"("benchmark":"")"),
              "x.json: cases[1].benchmark: got \"\", expected at least 1 characters");
    EXPECT_EQ(check_case(R"("benchmark":"a","replicas":0)"),
              "x.json: cases[1].replicas: got 0, expected at least 1");
    EXPECT_EQ(check_case(R"("benchmark":"a","replicas":1.5)"),
              "x.json: cases[1].replicas: got 1.5, expected an integer");
    EXPECT_EQ(
        check_case(R"("benchmark":"a","level":"quikc")"),
        "x.json: cases[1].level: got \"quikc\", expected \"quick\" or \"standard\" (did you mean "
        "\"quick\"?)");
    EXPECT_EQ(check_case(R"("benchmark":"a","sizes":[1,2,3,4])"),
              "x.json: cases[1].sizes: got 4 elements, expected at most 3");
    EXPECT_EQ(check_case(R"("benchmark":"a","sizes":[1,"2"])"),
              "x.json: cases[1].sizes[1]: got \"2\", expected a number");
    EXPECT_EQ(check_case("\"level\":\"quick\""),
              "x.json: cases[1]: `benchmark` is missing: id of a benchmark");
    EXPECT_EQ(check_case(R"("benchmark":"a","replica":1)"),
              "x.json: cases[1]: unknown key \"replica\" (did you mean \"replicas\"?)");
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
    const Value schema = parse(R"({"additionalProperties":{"type":"string"}})", "schema").value();
    const auto checked = check_schema(parse(R"({"0":1})", "x").value(), schema, "x");
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().message, "x: 0: got 1, expected a string");
    const auto empty = check_schema(parse(R"({"":1})", "x").value(), schema, "x");
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().message, "x: \"\": got 1, expected a string");
}

TEST(Schema, RefusesSchemasThatRunRegularExpressions) {
    for (const char* text : {R"({"pattern":"a+"})", R"({"properties":{"a":{"format":"date"}}})",
                             R"({"items":[{"patternProperties":{}}]})"}) {
        const auto checked = check_schema(Value::object(), parse(text, "s").value(), "x");
        ASSERT_FALSE(checked) << text;
        EXPECT_THAT(checked.error().message, testing::HasSubstr("std::regex"));
    }
    const Value harmless =
        parse(R"({"properties":{"pattern":{"enum":[{"format":1}]}}})", "s").value();
    EXPECT_TRUE(check_schema(Value::object(), harmless, "x"));
}

TEST(Schema, ABrokenSchemaIsAnErrorNotAnEnd) {
    for (const char* text : {R"({"type":7})", R"({"$ref":"#/definitions/none"})", "[]", "7",
                             R"({"required":{"a":1}})"}) {
        const auto checked = check_schema(Value::object(), parse(text, "s").value(), "x");
        if (!checked) {
            EXPECT_THAT(checked.error().message, testing::HasSubstr("x"));
        }
    }
}

} // namespace
} // namespace assay::json
