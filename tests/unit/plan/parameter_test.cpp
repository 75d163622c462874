// SPDX-License-Identifier: Apache-2.0
#include "plan/parameter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace {

using namespace assay;
using namespace assay::harness;

Parameter of(ParameterKind kind) {
    return {.name = "p",
            .kind = kind,
            .integer_low = std::numeric_limits<std::int64_t>::min(),
            .integer_high = std::numeric_limits<std::int64_t>::max(),
            .real_low = 0,
            .real_high = 1,
            .names = {"one", "all"}};
}

TEST(Parameter, IntegersRoundTripToTheirEnds) {
    const auto p = of(ParameterKind::integer);
    for (const std::int64_t number : {p.integer_low, p.integer_low + 1, std::int64_t{-1},
                                      std::int64_t{0}, p.integer_high - 1, p.integer_high}) {
        EXPECT_EQ(parse_value(p, std::to_string(number)), record::Value{number});
        EXPECT_EQ(value_from_json(p, json::Value(number)), record::Value{number});
    }
    EXPECT_EQ(parse_value(p, "all"), record::Value{std::string{"all"}});
    EXPECT_FALSE(parse_value(p, "some"));
    EXPECT_FALSE(value_from_json(p, json::Value(0.5)));
    EXPECT_FALSE(value_from_json(p, json::Value(true)));
    EXPECT_FALSE(value_from_json(p, json::Value(std::numeric_limits<std::uint64_t>::max())));
}

TEST(Parameter, AnUnknownSuffixIsToldWhichThereAre) {
    const auto p = of(ParameterKind::integer);
    EXPECT_EQ(parse_value(p, "64Ki"), record::Value{std::int64_t{65536}});
    EXPECT_EQ(value_from_json(p, json::Value("1e6")), record::Value{std::int64_t{1'000'000}});
    for (const char* text : {"64Kx", "64K", "1.5Mi"}) {
        const auto refused = parse_value(p, text);
        ASSERT_FALSE(refused) << text;
        EXPECT_THAT(refused.error().message,
                    ::testing::AllOf(::testing::HasSubstr(text), ::testing::HasSubstr("Ki, Mi")));
    }
    EXPECT_FALSE(parse_value(of(ParameterKind::real), "1Ki"));
}

TEST(Parameter, RealsAreFiniteAndInRange) {
    const auto p = of(ParameterKind::real);
    EXPECT_EQ(parse_value(p, "0.25"), record::Value{0.25});
    EXPECT_EQ(value_from_json(p, json::Value(1)), record::Value{1.0})
        << "a whole number is one too";
    for (const char* text : {"nan", "inf", "1.01", "-0.1", "", "1e-400x", "0,5"})
        EXPECT_FALSE(parse_value(p, text)) << text;
}

TEST(Parameter, WordsAreTakenAsTheyAre) {
    EXPECT_EQ(parse_value(of(ParameterKind::boolean), "true"), record::Value{true});
    EXPECT_FALSE(parse_value(of(ParameterKind::boolean), "1"));
    EXPECT_EQ(parse_value(of(ParameterKind::name), "one"), record::Value{std::string{"one"}});
    EXPECT_FALSE(parse_value(of(ParameterKind::name), "On"));
    EXPECT_EQ(parse_value(of(ParameterKind::text), "x=y z"), record::Value{std::string{"x=y z"}});
    EXPECT_FALSE(parse_value(of(ParameterKind::text), std::string(5000, 'x')));
    EXPECT_FALSE(parse_value(of(ParameterKind::text), std::string("a\0b", 3)));
}

} // namespace
