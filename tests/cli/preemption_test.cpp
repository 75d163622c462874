// SPDX-License-Identifier: Apache-2.0
//
// A machine that the provider takes back: the run ends in order, says why, and can be continued.
#include "program.hpp"
#include "support/fake_metadata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace assay;
using cli_test::expect_refusal;
using cli_test::Folder;
using cli_test::parsed;
using cli_test::run;

TEST(Preemption, EndsARunInOrderAndResumeContinuesIt) {
    const Folder folder;
    const test::FakeMetadata service{1};
    // Longer than the five seconds until the second question.
    std::vector<std::string> words{"run", "memory.stream", "--replicas", "40",    "--patience",
                                   "0",   "--quiet",       "--json",     "--out", folder.path()};
    auto watched = words;
    watched.insert(watched.end(),
                   {"--watch-preemption", service.url("/latest/meta-data/spot/instance-action")});
    const auto stopped = run(watched);
    ASSERT_EQ(stopped.code, 5) << stopped.error << stopped.output;
    const auto outcome = parsed(stopped);
    EXPECT_EQ(outcome["status"], "interrupted");
    EXPECT_EQ(outcome["ended_by"], "preempted");
    const auto record = json::read_file(outcome["file"].get<std::string>());
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ((*record)["run"]["ended_by"], "preempted");
    EXPECT_EQ(service.asked(), 2);

    // A notice that is there already: nothing more is measured, and the same run is still to be continued.
    watched.emplace_back("--resume");
    const auto again = run(watched);
    ASSERT_EQ(again.code, 5) << again.error;
    EXPECT_EQ(parsed(again)["file"], outcome["file"]);
}

TEST(Preemption, RefusesWhatItCannotAsk) {
    expect_refusal(run({"run", "quick", "--watch-preemption", "aws"}), 2,
                   {"--watch-preemption", "\"aws\"", "ec2, gce, azure"});
}

} // namespace
