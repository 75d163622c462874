// SPDX-License-Identifier: Apache-2.0
//
// What the counters of NVLink prove of a case that says what they should show.
#include "worker/transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using telemetry::LinkBytes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::int64_t gib = std::int64_t{1} << 30U;

/// Two devices, a GiB for each call at least; and ten calls.
const record::Evidence at_least{.nvlink_devices = 2, .nvlink_least_bytes = gib};
const record::Evidence at_most{.nvlink_devices = 2,
                               .nvlink_most_bytes = static_cast<double>(gib) / 10};
std::vector<LinkBytes> each(std::int64_t received, std::int64_t sent) {
    return {{.received = received, .sent = sent}, {.received = received, .sent = sent}};
}

TEST(LinkProof, ALinkThatCarriedTooLittleContradicts) {
    EXPECT_THAT(prove_links(at_least, each(20 * gib, 20 * gib), 10).contradiction, IsEmpty());
    EXPECT_THAT(prove_links(at_least, each(6 * gib, 0), 10).contradiction, IsEmpty())
        << "half is enough, in one direction";
    const auto proof = prove_links(at_least, each(gib, 4 * gib), 10);
    EXPECT_EQ(proof.contradiction, "the NVLink counters show 410 MiB per call and device, "
                                   "where at least 1 GiB must have gone");
    EXPECT_EQ(proof.said, "counted");
    EXPECT_EQ(record::number(proof.values, "least_bytes"), gib);
    EXPECT_TRUE(record::number(proof.values, "counted_bytes"));
}

TEST(LinkProof, ALinkThatShouldHaveBeenIdleAndWasNotContradicts) {
    EXPECT_THAT(prove_links(at_most, each(gib, gib), 10).contradiction, IsEmpty());
    EXPECT_THAT(prove_links(at_most, each(0, 12 << 20U), 10).contradiction, IsEmpty());
    const auto proof = prove_links(at_most, each(20 * gib, 20 * gib), 10);
    EXPECT_THAT(proof.contradiction, HasSubstr("show 2 GiB"));
    EXPECT_THAT(proof.contradiction, HasSubstr("at most 102 MiB may have gone"));
}

TEST(LinkProof, OnlyTheDevicesOfTheCaseCount) {
    auto counted = each(10 * gib, 10 * gib);
    counted.push_back({.received = 0, .sent = 0});
    EXPECT_THAT(prove_links(at_least, counted, 10).contradiction, IsEmpty());
    EXPECT_THAT(prove_links(at_least, {counted.front()}, 10).said, StartsWith("not counted"));
}

TEST(LinkProof, WithoutCountersNothingIsContradicted) {
    for (const auto& told : {at_least, at_most}) {
        const auto none = prove_links(told, {LinkBytes{}, LinkBytes{}}, 10);
        EXPECT_THAT(none.said, StartsWith("not counted"));
        EXPECT_THAT(none.contradiction, IsEmpty());
        EXPECT_THAT(prove_links(told, {}, 10).contradiction, IsEmpty());
    }
    const auto tiny = prove_links({.nvlink_devices = 2, .nvlink_least_bytes = 8}, each(0, 0), 1000);
    EXPECT_THAT(tiny.said, HasSubstr("too few"));
    EXPECT_THAT(tiny.contradiction, IsEmpty());
}

TEST(LinkProof, WhoExpectsNothingGetsNothing) {
    const auto moved = each(gib, gib);
    EXPECT_THAT(prove_links({}, moved, 10).said, IsEmpty());
    EXPECT_THAT(prove_links({.nvlink_least_bytes = 1e9}, moved, 10).said, IsEmpty());
    EXPECT_THAT(prove_links(at_least, moved, 0).said, IsEmpty());
    EXPECT_THAT(
        prove_links({.nvlink_devices = INT64_MAX, .nvlink_least_bytes = 1e9}, moved, 1).said,
        StartsWith("not counted"));
}

TEST(LinkProof, SumsDoNotOverflow) {
    const auto sum = sum_of(each(INT64_MAX, 1));
    EXPECT_EQ(sum.received, std::nullopt);
    EXPECT_EQ(sum.sent, 2);
    EXPECT_EQ(sum_of({}).sent, std::nullopt);
}

} // namespace
