// SPDX-License-Identifier: Apache-2.0
//
// As scripts/cmake/common_templates.hpp, for tests.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::common_templates {

template <class T>
void of_expectations(const T& value, std::size_t count, bool is_so) {
    EXPECT_EQ(value, value);
    EXPECT_NE(value, value);
    EXPECT_LT(value, value);
    EXPECT_LE(value, value);
    EXPECT_GT(value, value);
    EXPECT_GE(value, value) << value << "a";
    EXPECT_EQ(count, 1U);
    ASSERT_EQ(count, 1U);
    EXPECT_TRUE(is_so) << value;
    EXPECT_FALSE(is_so);
    ASSERT_TRUE(is_so) << value;
}
template <class T>
void of_optional_expectations(std::optional<T> one, const T& value) {
    EXPECT_EQ(one, value);
    EXPECT_EQ(one, std::nullopt);
}
inline void of_matchers(const std::string& text, const std::vector<std::string>& texts,
                        const std::vector<double>& numbers, const nlohmann::ordered_json& value) {
    using namespace testing;
    of_expectations(text, 1, true);
    of_expectations(1.0, 1, true);
    of_expectations(1, 1, true);
    of_expectations(std::int64_t{1}, 1, true);
    of_optional_expectations<std::string>({}, text);
    of_optional_expectations<double>({}, 1);
    EXPECT_EQ(text, "a");
    EXPECT_EQ(std::string_view{text}, text);
    EXPECT_EQ(texts, texts);
    EXPECT_EQ(value, "a");
    EXPECT_EQ(value, text);
    EXPECT_EQ(value, value);
    EXPECT_EQ(value, 1);
    EXPECT_NE(text.find("a"), text.npos);
    EXPECT_NEAR(numbers[0], 1, 1);
    EXPECT_DOUBLE_EQ(numbers[0], 1);
    EXPECT_THAT(text, AllOf(HasSubstr("a"), StartsWith("a"), EndsWith("a"), ContainsRegex("a")));
    EXPECT_THAT(text, AllOf(HasSubstr("a"), HasSubstr("b"), Not(HasSubstr("c")), HasSubstr(text)));
    EXPECT_THAT(text, AllOf(HasSubstr("a"), Not(HasSubstr("b"))));
    EXPECT_THAT(text, AllOf(HasSubstr("a"), HasSubstr("b"), HasSubstr("c")));
    EXPECT_THAT(text, AllOf(HasSubstr("a"), HasSubstr("b")));
    EXPECT_THAT(text, HasSubstr("a"));
    EXPECT_THAT(texts, AllOf(IsEmpty(), SizeIs(1), Contains("a"), Contains(HasSubstr("a"))));
    EXPECT_THAT(texts, ElementsAre("a"));
    EXPECT_THAT(texts, ElementsAre("a", "b"));
    EXPECT_THAT(texts, ElementsAre("a", "b", "c"));
    EXPECT_THAT(texts, ElementsAre(HasSubstr("a")));
    EXPECT_THAT(texts, ElementsAre(HasSubstr("a"), HasSubstr("b")));
    EXPECT_THAT(numbers, ElementsAre(1, 2));
}

} // namespace assay::common_templates
