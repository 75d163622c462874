// SPDX-License-Identifier: Apache-2.0
//
// `assay run --for` and `assay plan soak` from outside; and a machine that the provider takes back: the run ends in
// order, says why, and can be continued.

#include "program.hpp"
#include "support/fake_metadata.hpp"
#include "support/results.hpp"

namespace assay::cli_test {
namespace {

using namespace testing;

/// A case that is compared bit by bit, one that is checked, a tenth of a second each, and one that does not apply.
class ASoak : public testing::Test {
protected:
    std::vector<std::string> words(const std::string& time, bool resume = false) const {
        std::vector<std::string> all{"run",     suite_,   "--for", time,
                                     "--quiet", "--json", "--out", results().string()};
        if (resume) all.emplace_back("--resume");
        return all;
    }
    std::filesystem::path results() const { return folder_.path() / "results"; }
    /// The result's words about it.
    static json::Value record_of(const Outcome& outcome) {
        const auto file = json::read_file(parsed(outcome)["file"].get<std::string>());
        EXPECT_TRUE(file) << file.error().message;
        return file ? (*file)["run"] : json::Value::object();
    }

private:
    Folder folder_;
    std::string suite_ = folder_.write("tiny.json", R"({"schema": "assay.suite/1", "name": "tiny",
        "description": "d", "replicas": 1, "protocol": {"target": 0.5, "min_seconds": 0.05,
        "budget_seconds": 0.1, "limit_seconds": 60, "warmup_seconds": 0.01}, "cases": [
            {"benchmark": "stencil.heat3d", "library": "host", "parameters": {"stencil": "7_point",
             "precision": "fp64", "footprint": "1MiB", "threads": "one"}},
            {"benchmark": "latency.timer"}, {"benchmark": "latency.timer", "together": "devices"}]})");
};

TEST_F(ASoak, GoesOnForItsTimeAndTellsWhatItSaw) {
    Outcome outcome;
    json::Value soak;
    double asked = 0.5;
    do { // a busy machine reaches the second phase later
        asked *= 3;
        outcome = run(words(std::to_string(asked) + "s"));
        ASSERT_EQ(outcome.code, 0) << outcome.error;
        soak = record_of(outcome)["soak"];
    } while (soak["phases"].size() < 2 && asked < 10);
    EXPECT_EQ(soak["asked_seconds"], asked);
    EXPECT_GE(soak["seconds"].get<double>(), asked);
    EXPECT_EQ(soak["wrong"], 0);
    ASSERT_EQ(soak["phases"].size(), 2U);
    const auto& compared = soak["phases"][0]; // in the order of the plan
    EXPECT_THAT(compared["of"].get<std::string>(), HasSubstr("stencil.heat3d"));
    EXPECT_GT(compared["calls"], 0);
    EXPECT_EQ(compared["compared"], compared["calls"]);
    EXPECT_EQ(compared["digest"].get<std::string>().size(), 16U);
    EXPECT_GT(soak["phases"][1]["checked"], 0) << "latency.timer has no outputs";

    const auto file = parsed(outcome)["file"].get<std::string>();
    EXPECT_EQ(run({"verify", file}).code, 0);
    EXPECT_THAT(run({"report", file}).output, ContainsRegex("No errors in [0-9.]+ s of load"));
    EXPECT_THAT(run({"report", file, "--lang", "zh"}).output, HasSubstr("未发现错误"));
    // By what it found alone; of three visits no speed can be told.
    EXPECT_THAT(run({"check", file}).output, HasSubstr("(1 of 3 required checks ran"));
    EXPECT_THAT(run({"check", file, "--limits", "spec"}).output, HasSubstr("not measured"));
}

TEST_F(ASoak, IsStoppedKilledAndContinued) {
    const auto after = [&](std::size_t steps, int signal) {
        return Options{.interrupt_when = [this, steps] { return steps_in(results()) >= steps; },
                       .signal = signal};
    };
    const auto stopped = run(words("1h"), after(3, SIGTERM));
    ASSERT_EQ(stopped.code, 5) << stopped.error;
    const auto first = record_of(stopped);
    EXPECT_EQ(first["ended_by"], "signal");
    EXPECT_EQ(first["soak"]["asked_seconds"], 3600);
    const auto seconds = first["soak"]["seconds"].get<double>();
    EXPECT_GT(seconds, 0);
    const auto visits = steps_in(results());

    EXPECT_EQ(run(words("1h", true), after(visits + 2, SIGKILL)).code, -1);
    EXPECT_GE(steps_in(results()), visits + 2) << "what was finished is kept";

    // For how long is not part of the plan.
    const auto again = run(words(std::to_string(seconds + 2) + "s", true));
    ASSERT_EQ(again.code, 0) << again.error;
    EXPECT_EQ(parsed(again)["file"], parsed(stopped)["file"]);
    const auto soak = record_of(again)["soak"];
    EXPECT_GE(soak["seconds"].get<double>(), seconds + 2);
    // The case that does not apply was a step as well; on a slow machine the time was over before the third run.
    EXPECT_GE(soak["phases"][0]["visits"].get<std::size_t>() +
                  soak["phases"][1]["visits"].get<std::size_t>() + 1,
              visits + 2);
    EXPECT_EQ(soak["phases"][0]["digest"], first["soak"]["phases"][0]["digest"]);
}

TEST(SoakPlans, SayForHowLongAndAtWhichCost) {
    const std::vector<std::string> words{"plan",    "soak", "--for",   "24h",
                                         "--nodes", "1000", "--price", "24"};
    EXPECT_THAT(run(words).output,
                AllOf(HasSubstr("repeated for 24 h"), HasSubstr("every result is compared"),
                      HasSubstr("1000 nodes")));
    auto as_json = words;
    as_json.emplace_back("--json");
    const auto plan = parsed(run(as_json));
    EXPECT_EQ(plan["expected_seconds"], 86'400);
    EXPECT_EQ(plan["sweep"]["cost"][0], 576'000);
    EXPECT_GE(plan["cases"].size(), 5U);
    for (const auto& one : plan["cases"]) EXPECT_EQ(one["parameters"]["soak"], true) << one;
    EXPECT_EQ(parsed(run({"plan", "soak", "--json"}))["expected_seconds"], 3600)
        << "the suite's own time";
    EXPECT_THAT(run({"plan", "soak", "--for", "200h"}).output, HasSubstr("repeated for 200 h"));
    refuses({"plan", "soak", "--for", "soon"}, {"--for", "soon"});
    refuses({"plan", "soak", "--for", "1h", "--replicas", "3"}, {"--replicas"});
    refuses({"plan", "acceptance", "--for", "1h"}, {"--for", "stages"});
}

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
    const auto record = must(json::read_file(outcome["file"].get<std::string>()));
    EXPECT_EQ(record["run"]["ended_by"], "preempted");
    EXPECT_EQ(service.asked(), 2);

    // A notice that is there already: nothing more is measured, and the same run is still to be continued.
    watched.emplace_back("--resume");
    const auto again = run(watched);
    ASSERT_EQ(again.code, 5) << again.error;
    EXPECT_EQ(parsed(again)["file"], outcome["file"]);
}

TEST(Preemption, RefusesWhatItCannotAsk) {
    refuses({"run", "quick", "--watch-preemption", "aws"},
            {"--watch-preemption", "\"aws\"", "ec2, gce, azure"});
}

} // namespace
} // namespace assay::cli_test
