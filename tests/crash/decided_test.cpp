// SPDX-License-Identifier: Apache-2.0
//
// Runs that end a case where it is decided, where its replicas agree, or where the time of the whole run is over.
#include "record/convert.hpp"
#include "record/reader.hpp"
#include "record/summary.hpp"
#include "support/temporary_folder.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using trouble_test::Folder;
using trouble_test::load_trouble;
using trouble_test::Silent;

class DecidedTest : public testing::Test {
protected:
    DecidedTest() {
        for (auto& planned : plan_.cases)
            planned.spread = record::Spread{.between_replicas = 0.05,
                                            .between_runs = 0.1,
                                            .degrees = 6,
                                            .limit = 10,
                                            .replicas = plan_.replicas,
                                            .source = "test",
                                            .rules = record::current_rules};
    }
    Result<run::Outcome> run(run::RunOptions options = {}) {
        options.out = folder_.path();
        options.program = TROUBLE_PROGRAM;
        options.root = folder_.path(); // without /proc/stat: always quiet
        return trouble_test::run(plan_, options, observer_);
    }
    std::string name_of(std::size_t index) const {
        return record::identity(plan::empty_case(plan_.cases[index]));
    }
    static std::vector<std::size_t> replicas_of(const record::Run& run) {
        std::vector<std::size_t> counts;
        for (const auto& c : run.cases) counts.push_back(c.replicas.size());
        return counts;
    }
    static std::vector<fs::path> files_in(const fs::path& folder) {
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator{folder})
            if (entry.is_regular_file()) files.push_back(entry.path().filename());
        return files;
    }

    Folder folder_;
    trouble_test::Trouble trouble_ = load_trouble(TROUBLE_MODULE);
    plan::Plan plan_ = trouble_.plan({"fine", "fine", "fine"}, 4);
    Silent observer_;
};

TEST_F(DecidedTest, ADecidedCaseIsNotMeasuredAnyMore) {
    std::vector<std::vector<std::size_t>> asked;
    const auto judge = [&](const fs::path& so_far) -> std::optional<run::Judgement> {
        const auto run = record::read_run(so_far);
        EXPECT_TRUE(run) << run.error().message;
        if (!run) return std::nullopt;
        asked.push_back(replicas_of(*run));
        const bool is_open = run->cases[1].replicas.size() < 5;
        return run::Judgement{{name_of(0), {}}, {name_of(1), {.is_open = is_open, .replicas = 5}}};
    };
    const auto outcome = run({.patience_seconds = 60, .judge = judge});
    ASSERT_TRUE(outcome) << outcome.error().message;
    if (outcome->run.schedule->always_busy)
        GTEST_SKIP() << "other programs use all of this machine";
    EXPECT_THAT(asked,
                ElementsAre(ElementsAre(2, 2, 2), ElementsAre(2, 3, 2), ElementsAre(2, 5, 2)));
    EXPECT_THAT(replicas_of(outcome->run), ElementsAre(2, 5, 2));
    EXPECT_EQ(outcome->ended_early, 2);
    EXPECT_EQ(outcome->run.status, "done");
    for (const auto& c : outcome->run.cases)
        EXPECT_FALSE(record::part_of(c)) << "nothing is missing";
    EXPECT_EQ(observer_.finished_cases.size(), 3U);
    EXPECT_THAT(files_in(observer_.folder),
                testing::UnorderedElementsAre("journal.ndjson", "run.json"));

    const auto again = run({.resume = true, .judge = judge});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->was_complete);
    EXPECT_EQ(again->run.id, outcome->run.id);
    EXPECT_THAT(replicas_of(again->run), ElementsAre(2, 5, 2));
    EXPECT_EQ(asked.size(), 3U) << "nothing is measured, and nobody is asked";
}

TEST_F(DecidedTest, WithoutAnAnswerAllPlannedReplicasAreMeasured) {
    const auto outcome = run({.patience_seconds = 0, .judge = [](const fs::path&) {
                                  return std::optional<run::Judgement>{};
                              }});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_THAT(replicas_of(outcome->run), ElementsAre(4, 4, 4));
    EXPECT_EQ(outcome->ended_early, 0);
}

/// Undecided cases go on where the last attempt ended, decided ones do not.
TEST_F(DecidedTest, ARunThatGoesOnAsksFirst) {
    const auto first = run({.patience_seconds = 0});
    ASSERT_TRUE(first);
    auto half = first->run;
    half.status = "interrupted";
    for (auto& c : half.cases) {
        c.replicas.resize(2);
        record::conclude(c, 4);
    }
    ASSERT_TRUE(record::write_run(first->file, half));
    const auto journal = observer_.folder / "journal.ndjson";
    auto lines = test::content_of(journal);
    std::size_t end = 0;
    for (int line = 0; line < 1 + 2 * 3; ++line) end = lines.find('\n', end) + 1;
    std::ofstream{journal, std::ios::trunc} << lines.substr(0, end);
    const auto outcome =
        run({.resume = true, .patience_seconds = 0, .judge = [&](const fs::path&) {
                 return std::optional{run::Judgement{{name_of(2), {.is_open = true}}}};
             }});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(observer_.resumed);
    EXPECT_THAT(replicas_of(outcome->run), ElementsAre(2, 2, 4));
}

TEST_F(DecidedTest, TheFirstRoundFitsIntoAnyTime) {
    plan_.most_seconds = 1e-3;
    const auto outcome = run();
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_THAT(replicas_of(outcome->run), ElementsAre(1, 1, 1));
    EXPECT_EQ(outcome->run.status, "done");
    EXPECT_FALSE(outcome->out_of_time);
}

} // namespace
} // namespace assay
