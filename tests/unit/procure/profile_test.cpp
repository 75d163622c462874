// SPDX-License-Identifier: Apache-2.0
#include "procure/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using ::testing::HasSubstr;

Profiles installed() {
    auto read = read_profiles({});
    EXPECT_TRUE(read) << read.error().message;
    return read.value_or(Profiles{});
}

std::string refusal(const std::string& text) {
    auto profiles = installed();
    const auto added = add_profiles(text, "mine.json", profiles);
    return added ? "" : added.error().message;
}

TEST(Profiles, AreInstalledForTheWorkThatPeopleDo) {
    const auto profiles = installed();
    for (const auto* name :
         {"training", "inference", "hpc-md", "weather", "rendering", "data", "mixed"})
        EXPECT_TRUE(find_profile(profiles, name)) << name;
    const auto missing = find_profile(profiles, "trainig");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("training"));
}

TEST(Profiles, OwnOnesUseInstalledMeasuresAndReplaceThem) {
    auto profiles = installed();
    const auto added = add_profiles(R"({"schema": "assay.profiles/1", "name": "mine",
        "measures": [{"id": "fft", "title": "Ours", "where": ["benchmark=fft.*"], "take": "each"}],
        "profiles": [{"name": "mine", "weights": {"fft": 0.25, "memory_bandwidth": 0.75}}]})",
                                    "mine.json", profiles);
    ASSERT_TRUE(added) << added.error().message;
    const auto profile = find_profile(profiles, "mine");
    ASSERT_TRUE(profile);
    EXPECT_EQ(title_of(*profile), "mine");
    EXPECT_EQ(title_of(measure_of(profiles, profile->weights[0])), "Ours");
    EXPECT_EQ(measure_of(profiles, profile->weights[0]).take, Take::each);
}

TEST(Profiles, RefuseWhatMeansNothing) {
    const auto profile = [](const std::string& weights) {
        return R"({"schema": "assay.profiles/1", "name": "x", "profiles": [{"name": "p", "weights": {)" +
               weights + "}}]}";
    };
    EXPECT_THAT(refusal(profile(R"("fft": 0.5, "stencil": 0.4)")), HasSubstr("sum to 0.9"));
    EXPECT_THAT(refusal(profile(R"("fft": 0.5, "stencils": 0.5)")),
                HasSubstr("there is no measure \"stencils\""));
    EXPECT_THAT(refusal(profile(R"("fft": -1)")), HasSubstr("mine.json"));
    EXPECT_THAT(refusal(profile("")), HasSubstr("weights"));
    EXPECT_THAT(refusal(R"({"schema": "assay.profiles/1", "name": "x",
        "measures": [{"id": "m", "where": ["gemm"]}]})"),
                HasSubstr("no filter"));
    EXPECT_THAT(refusal(R"({"schema": "assay.profiles/1", "name": "x",
        "measures": [{"id": "m", "where": ["benchmark=a"], "take": "all"}]})"),
                HasSubstr("take"));
    EXPECT_THAT(refusal("{"), HasSubstr("mine.json"));
}

} // namespace
} // namespace assay::report
