// SPDX-License-Identifier: Apache-2.0
#include "doctor/expectations.hpp"
#include "registry/parameter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace {

using namespace assay;
using namespace assay::harness;
using ::testing::AllOf;
using ::testing::HasSubstr;

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

TEST(Expectations, SayWhatWasFound) {
    record::Machine machine;
    machine.usable_cores = 2;
    machine.memory_bytes = std::int64_t{8} << 30;
    machine.memory_limit_bytes = std::int64_t{4} << 30;
    machine.pci.push_back({.kind = "accelerator"});
    EXPECT_TRUE(check_expectations(machine, {"cores=2", "memory=4GiB", "gpu=1"}));
    const auto gpus = check_expectations(machine, {"cores=2", "gpu=8"});
    ASSERT_FALSE(gpus);
    EXPECT_EQ(gpus.error().fault, Fault::environment);
    EXPECT_THAT(gpus.error().message, AllOf(HasSubstr("gpu=8"), HasSubstr("found gpu=1")));
    // Nine are plugged in and eight answer, one of them divided into two.
    machine.pci.assign(9, {.kind = "accelerator"});
    for (const char* address : {"1", "2", "3", "3", "4", "5", "6", "7", "8"})
        machine.devices.push_back({.kind = "cuda", .pci_address = address});
    EXPECT_TRUE(check_expectations(machine, {"gpu=8"}));
    EXPECT_FALSE(check_expectations(machine, {"gpu=9"}));
    const auto memory = check_expectations(machine, {"memory=8GiB"});
    ASSERT_FALSE(memory);
    EXPECT_THAT(memory.error().message, HasSubstr("4 GiB"));
    for (const char* text : {"cors=2", "cores", "cores=", "cores=two", "cores=-1", "=2", ""}) {
        const auto wrong = check_expectations(machine, {text});
        ASSERT_FALSE(wrong) << text;
        EXPECT_EQ(wrong.error().fault, Fault::usage) << text;
    }
}

} // namespace
