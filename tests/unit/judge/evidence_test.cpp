// SPDX-License-Identifier: Apache-2.0
//
// Which values count, what their noise is, and which parameters tell cases apart.

#include "judge/evidence.hpp"
#include "measured_node.hpp"
#include "support/collection_maker.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace assay::report {
namespace {

TEST(Evidence, ATeamIsNotOfOneDevice) {
    auto series = test::gemm("cublaslt", 8192);
    EXPECT_FALSE(is_of_one_device(series)); // of the host
    series.place = "cuda:1";
    EXPECT_TRUE(is_of_one_device(series));
    series.conditions = {{"ranks", std::int64_t{2}}};
    EXPECT_FALSE(is_of_one_device(series));
    series.place = "host";
    EXPECT_FALSE(is_of_one_device(series));
}

TEST(Evidence, NeighboursAreOnTheHostAndItsNetwork) {
    const record::Machine guest{.virtualization = "kvm"};
    const record::Machine metal{.virtualization = "none"};
    auto series = test::triad();
    EXPECT_TRUE(feels_neighbours(guest, series));
    EXPECT_FALSE(feels_neighbours(metal, series));
    series = test::on_device(test::gemm("cublaslt", 8192), 0);
    EXPECT_FALSE(feels_neighbours(guest, series));
    series.conditions = {{"machines", std::int64_t{1}}, {"ranks", std::int64_t{8}}};
    EXPECT_FALSE(feels_neighbours(guest, series));
    series.conditions = {{"machines", std::int64_t{2}}, {"ranks", std::int64_t{16}}};
    EXPECT_TRUE(feels_neighbours(guest, series));
    EXPECT_FALSE(feels_neighbours(metal, series));
}

TEST(Evidence, NoiseIsThatOfTheLimit) {
    const Observation seen{.between_replicas = 0.03, .degrees = 5};
    const Item item{.seen = {{.observation = &seen}}};
    EXPECT_DOUBLE_EQ(noise_of({}, item, false).fail.replica.variance, 0.0009);
    EXPECT_EQ(noise_of({}, item, false).fail.replica.degrees, 5);
    // A spread without that of replicas says nothing of them.
    EXPECT_DOUBLE_EQ(
        noise_of({.spread = Components{.run = 0.1}}, item, false).fail.replica.variance, 0.0009);
    const Limit of_replicas{.spread = Components{.replica = 0.01}};
    EXPECT_DOUBLE_EQ(noise_of(of_replicas, item, false).fail.replica.variance, 0.0001);
    EXPECT_EQ(noise_of(of_replicas, item, false).fail.run.degrees,
              stats::AcceptanceNoise{}.run.degrees);
    // Days alone, or runs alone, are enough for a variance between runs.
    EXPECT_DOUBLE_EQ(noise_of({.spread = Components{.replica = 0.01, .day = 0.2}}, item, false)
                         .fail.run.variance,
                     0.04);
    EXPECT_DOUBLE_EQ(noise_of({.spread = Components{.replica = 0.01, .run = 0.1}}, item, false)
                         .fail.run.variance,
                     0.01);
    EXPECT_DOUBLE_EQ(
        noise_of({.spread = Components{.replica = 0.01, .run = 0.3, .day = 0.4}}, item, false)
            .fail.run.variance,
        0.25);
}

TEST(Evidence, NoiseOfReplicasNeedsDegrees) {
    const Observation unsure{.between_replicas = 0.03};
    const Item item{.seen = {{.observation = &unsure}}};
    EXPECT_EQ(noise_of({}, item, false).fail.replica.degrees,
              stats::AcceptanceNoise{}.replica.degrees);
    const Observation without{.degrees = 5};
    const Item other{.seen = {{.observation = &without}}};
    EXPECT_EQ(noise_of({}, other, false).fail.replica.degrees,
              stats::AcceptanceNoise{}.replica.degrees);
}

TEST(Evidence, CasesDifferInTheseParameters) {
    auto small = test::gemm("openblas", 1024);
    auto large = test::gemm("openblas", 2048);
    auto tuned = test::gemm("openblas", 2048);
    tuned.parameters.push_back({"load", std::string{"sustained"}});
    const auto which = differences_of({&small, &large, &tuned});
    ASSERT_EQ(which.size(), 3U);
    ASSERT_EQ(which[0].size(), 1U); // the precision is that of all
    EXPECT_EQ(which[0][0].name, "size");
    EXPECT_EQ(record::to_string(which[0][0].value), "1024");
    ASSERT_EQ(which[2].size(), 2U);
    EXPECT_EQ(which[2][1].name, "load");
    EXPECT_TRUE(differences_of({&small})[0].empty());
    EXPECT_TRUE(differences_of({}).empty());
}

} // namespace
} // namespace assay::report
