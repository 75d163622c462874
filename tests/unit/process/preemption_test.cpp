// SPDX-License-Identifier: Apache-2.0
#include "process/preemption.hpp"
#include "process/signals.hpp"
#include "support/fake_metadata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>

namespace {

using namespace assay;
using assay::harness::PreemptionWatch;
using assay::test::FakeMetadata;
using std::chrono::milliseconds;
using testing::HasSubstr;

class Preemption : public testing::TestWithParam<const char*> {};

TEST_P(Preemption, ANoticeIsToldOnce) {
    const FakeMetadata service{3};
    std::promise<void> told; // a second one would throw
    const auto watch =
        PreemptionWatch::begin(service.url(GetParam()), [&] { told.set_value(); }, milliseconds{1});
    ASSERT_TRUE(watch) << watch.error().message;
    ASSERT_EQ(told.get_future().wait_for(std::chrono::seconds{30}), std::future_status::ready);
    EXPECT_EQ(service.asked(), 4);
}

TEST_P(Preemption, OneThatIsThereAlreadyIsToldAtOnce) {
    const FakeMetadata service{0};
    int told = 0;
    const auto watch = PreemptionWatch::begin(service.url(GetParam()), [&] { ++told; });
    ASSERT_TRUE(watch) << watch.error().message;
    EXPECT_EQ(told, 1);
}

INSTANTIATE_TEST_SUITE_P(Clouds, Preemption,
                         testing::Values("/latest/meta-data/spot/instance-action",
                                         "/computeMetadata/v1/instance/preempted",
                                         "/metadata/scheduledevents?api-version=2020-07-01"));

TEST(PreemptionRefusals, SayWhatWouldBeRight) {
    for (const auto* wrong : {"", "aws", "https://169.254.169.254/", "http://", "http://localhost",
                              "http:///latest/meta-data/spot/instance-action"}) {
        const auto watch = PreemptionWatch::begin(wrong, [] {});
        ASSERT_FALSE(watch) << wrong;
        EXPECT_EQ(watch.error().fault, Fault::usage) << wrong;
        EXPECT_THAT(watch.error().message, HasSubstr("expected ec2, gce, azure"));
    }
}

TEST(PreemptionRefusals, AServiceThatDoesNotAnswerIsNotSilence) {
    const auto watch =
        PreemptionWatch::begin("http://127.0.0.1:1/latest/meta-data/spot/instance-action", [] {});
    ASSERT_FALSE(watch);
    EXPECT_EQ(watch.error().fault, Fault::environment);
    EXPECT_THAT(watch.error().message, HasSubstr("127.0.0.1:1 does not answer"));
}

TEST(PreemptionRefusals, ANoticeActsAsASignalDoes) {
    harness::Signals signals;
    EXPECT_EQ(signals.caught(), 0);
    signals.preempt();
    signals.preempt();
    EXPECT_EQ(signals.caught(), harness::Signals::preempted);
}

} // namespace
