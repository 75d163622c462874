// SPDX-License-Identifier: Apache-2.0
//
// SIGKILL at any moment to the parent, a worker or the launcher: within a second nothing of ours runs,
// and --resume ends with the same set of cases, none lost and none twice. Seeded; a failing round
// prints its number.

#include "base/file.hpp"
#include "decide/check.hpp"
#include "launch/launcher.hpp"
#include "launch/placement.hpp"
#include "process/process.hpp"
#include "process/start.hpp"
#include "record/journal.hpp"
#include "record/reader.hpp"
#include "support/variable.hpp"
#include "trouble_plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using process::Process;
using record::Status;
using testing::IsEmpty;
using trouble_test::Folder;

enum class Victim { parent, worker, launcher };

/// Result of the first look at which `holds` is true, or of the last: one every 10 ms.
template <class Find, class Holds>
auto wait_until(const Find& find, const Holds& holds, int most_tries = 1000) {
    auto found = find();
    for (int tries = 1; tries < most_tries && !holds(found); ++tries) {
        std::this_thread::sleep_for(10ms);
        found = find();
    }
    return found;
}

class KillTest : public testing::Test {
protected:
    Process start(const std::string& module, const std::vector<std::string>& what,
                  const std::string& how = "2") {
        process::Command command{.arguments = {TROUBLE_PROGRAM, "run", module,
                                               (folder_.path() / "out").string(), how, "resume"},
                                 .environment = process::own_environment(),
                                 .log = folder_.path() / "log",
                                 .mark = mark()};
        command.arguments.insert(command.arguments.end(), what.begin(), what.end());
        command.environment.push_back(mark());
        command.environment.insert(command.environment.end(), more_.begin(), more_.end());
        auto process = Process::start(command);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    std::string mark() const { return "ASSAY_TEST_MARK=" + folder_.path().string(); }

    /// Ours, less the parent: workers, ranks, launchers.
    std::vector<pid_t> others(pid_t parent) const {
        auto all = process::processes_of(-1, mark());
        std::erase(all, parent);
        return all;
    }
    static std::string name_of(pid_t pid) {
        std::ifstream file{fmt::format("/proc/{}/comm", pid)};
        std::string name;
        std::getline(file, name);
        return name;
    }
    std::vector<pid_t> candidates(pid_t parent, Victim victim) const {
        if (victim == Victim::parent) return {parent};
        auto all = others(parent);
        std::erase_if(all, [&](pid_t pid) {
            return (name_of(pid) == "mpirun") != (victim == Victim::launcher);
        });
        return all;
    }
    /// Everything of ours is gone within a second; a sanitized process takes longer to come and go.
    void expect_nothing_left() const {
#if defined(__SANITIZE_ADDRESS__)
        constexpr int most_tries = 500;
#else
        constexpr int most_tries = 100;
#endif
        const auto left = wait_until([&] { return process::processes_of(-1, mark()); },
                                     [](const auto& found) { return found.empty(); }, most_tries);
        EXPECT_THAT(left, IsEmpty());
    }
    std::vector<fs::path> runs() const {
        std::vector<fs::path> found;
        std::error_code none;
        for (const auto& entry : fs::recursive_directory_iterator{folder_.path() / "out", none})
            if (entry.path().filename() == "journal.ndjson")
                found.push_back(entry.path().parent_path());
        return found;
    }
    void wait_for_the_first_step() const {
        const bool is_there = wait_until(
            [&] {
                return std::ranges::any_of(runs(), [](const fs::path& run) {
                    const auto journal = record::read_journal(run / "journal.ndjson");
                    return journal && !journal->steps.empty();
                });
            },
            std::identity{});
        ASSERT_TRUE(is_there) << "no step was finished";
    }

    /// The number of kills by ASSAY_KILLS; `otherwise` where that is not set.
    static int kills(int otherwise) {
        const char* wish = std::getenv("ASSAY_KILLS");
        return wish == nullptr ? otherwise : std::atoi(wish);
    }
    /// The folder of the run that has begun, and the whole lines of its journal.
    std::pair<fs::path, std::string> begun() const {
        std::pair<fs::path, std::string> found;
        for (const auto& folder : runs()) {
            auto text = read_whole(folder / "journal.ndjson", std::size_t{1} << 30U).value_or("");
            text.resize(text.rfind('\n') + 1);
            if (text.empty()) continue; // killed before its first line was whole
            EXPECT_TRUE(found.second.empty()) << "two runs:" << summary_of_runs();
            found = {folder, std::move(text)};
        }
        return found;
    }

    /// Kills for as long as `time` lasts, or ASSAY_KILLS times, going on with the run each time; then lets it finish.
    /// Where a run is complete before, another begins.
    void torment(const std::string& module, const std::vector<Victim>& victims,
                 std::chrono::seconds time, unsigned seed, std::size_t cases) {
        std::mt19937 random{seed};
        const std::vector<std::string> what(cases, "slow");
        const auto end = std::chrono::steady_clock::now() + time;
        const int most = kills(0);
        int round = 0;
        while (most > 0 ? round < most
                        : std::chrono::steady_clock::now() < end && !is_complete(what.size())) {
            if (most > 0 && is_complete(what.size())) {
                check_journals();
                fs::remove_all(folder_.path() / "out");
            }
            SCOPED_TRACE(fmt::format("seed {} round {}", seed, ++round));
            auto parent = start(module, what);
            parent.wait(std::chrono::milliseconds{std::uniform_int_distribution{1, 700}(random)});
            const auto victim = victims[random() % victims.size()];
            const auto targets = candidates(parent.pid(), victim);
            if (!targets.empty()) ::kill(targets[random() % targets.size()], SIGKILL);
            if (victim != Victim::parent) {
                // One worker costs one case; the parent carries on. Not to the end each time.
                parent.wait(300ms);
                ::kill(parent.pid(), SIGKILL);
            }
            ASSERT_TRUE(parent.wait(5s));
            expect_nothing_left();
        }
        finish(module, what);
    }

    void finish(const std::string& module, const std::vector<std::string>& what) {
        // A case whose worker was killed counts as crashed and is tried again by the next one.
        for (int tries = 0; tries < 3 && !is_complete(what.size()); ++tries) {
            auto parent = start(module, what);
            const auto& ending = parent.wait(60s);
            ASSERT_TRUE(ending);
            ASSERT_EQ(ending->code, 0);
        }
        EXPECT_TRUE(is_complete(what.size()));
        expect_nothing_left();
        check_journals();
    }
    /// Has a result been written, with every case of the plan once and all of them measured?
    bool is_complete(std::size_t cases) const {
        for (const auto& folder : runs()) {
            const auto run = record::read_run(folder / "run.json");
            if (!run) continue;
            std::set<std::string> identities;
            bool all_measured = true;
            for (const auto& c : run->cases) {
                identities.insert(record::identity(c));
                all_measured =
                    all_measured && c.replicas.size() == 2U && record::is_measured(c.status);
            }
            EXPECT_EQ(run->cases.size(), cases);
            EXPECT_EQ(identities.size(), cases);
            if (all_measured) return true;
        }
        return false;
    }
    /// No step that succeeded was measured twice.
    void check_journals() const {
        int begun = 0; // a run killed before its first line was whole never began
        for (const auto& folder : runs()) {
            const auto journal = record::read_journal(folder / "journal.ndjson");
            ASSERT_TRUE(journal) << journal.error().message;
            begun += journal->header ? 1 : 0;
            // View that readers have of a run whose process died.
            EXPECT_EQ(record::read_run(folder / "journal.ndjson").has_value(),
                      journal->header.has_value());
            std::set<std::pair<std::uint64_t, int>> done;
            for (const auto& step : journal->steps)
                for (const auto& replica : step.result.replicas) {
                    const bool twice = record::is_finished(replica.status) &&
                                       !done.emplace(step.case_index, replica.index).second;
                    EXPECT_FALSE(twice) << step.case_index << ", " << replica.index;
                }
        }
        EXPECT_EQ(begun, 1) << "every attempt should have gone on with the same run:"
                            << summary_of_runs();
    }
    /// The log; then the folder of each run, and its cases if a result was written.
    std::string summary_of_runs() const {
        std::string text = '\n' + read_whole(folder_.path() / "log", 1U << 20U).value_or("");
        for (const auto& folder : runs()) {
            text += '\n' + folder.string();
            const auto run = record::read_run(folder / "run.json");
            if (!run) continue;
            for (const auto& c : run->cases)
                text += fmt::format("\n  {} of {} replicas: {}", record::to_string(c.status),
                                    c.replicas.size(), c.reason);
        }
        return text;
    }

    Folder folder_;
    std::vector<std::string> more_; ///< environment
};

TEST_F(KillTest, NothingIsLostWhereFilesAreSlow) {
    more_ = {"LD_PRELOAD=" FAIL_NTH_LIBRARY, "FILES_TAKE=5000"}; // 5 ms: a busy NFS server
    torment(TROUBLE_MODULE, {Victim::parent, Victim::worker}, 4s, 3, 5);
}

TEST_F(KillTest, KilledParentsAndWorkersLoseNothing) {
    torment(TROUBLE_MODULE, {Victim::parent, Victim::worker}, 6s, 1, 20);
}

/// Wrong results that a soak has found stay found.
TEST_F(KillTest, KilledSoaksLoseNothing) {
    constexpr unsigned seed = 4;
    std::mt19937 random{seed};
    std::string before;
    for (int round = 0; round < kills(4); ++round) {
        SCOPED_TRACE(fmt::format("seed {} round {}", seed, round));
        auto parent = start(TROUBLE_MODULE, {"-"}, "soak:3600");
        parent.wait(std::chrono::milliseconds{std::uniform_int_distribution{1, 1200}(random)});
        ::kill(parent.pid(), SIGKILL);
        ASSERT_TRUE(parent.wait(5s));
        expect_nothing_left();
        const auto now = begun().second;
        EXPECT_TRUE(now.starts_with(before)) << "lines of earlier attempts are lost";
        before = now;
    }
    auto parent = start(TROUBLE_MODULE, {"-"}, "soak:3600");
    wait_until([&] { return begun().second.size(); },
               [&](std::size_t size) { return size > before.size(); });
    ::kill(parent.pid(), SIGINT);
    const auto& ending = parent.wait(20s);
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->code, 5);
    const auto folder = begun().first;
    const auto file = record::read_journal(folder / "journal.ndjson");
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->damaged, 0U);
    std::uint64_t wrong = 0;
    std::set<int> visits;
    for (const auto& step : file->steps)
        for (const auto& replica : step.result.replicas) {
            EXPECT_TRUE(visits.insert(replica.index).second) << "twice: " << replica.index;
            wrong += replica.soak.value_or(record::SoakVisit{}).wrong;
        }
    const auto run = record::read_run(folder / "run.json");
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_TRUE(run->soak);
    EXPECT_GT(wrong, 0U);
    EXPECT_EQ(run->soak->wrong, wrong);
    EXPECT_EQ(run->soak->phases.at(0).visits, static_cast<std::int64_t>(visits.size()));
    EXPECT_EQ(run->cases.at(0).status, Status::incorrect);
    EXPECT_TRUE(decide::check_summaries(*run).empty());
}

TEST_F(KillTest, KilledParentsRanksAndLaunchersLoseNothing) {
    const char* path = std::getenv("PATH");
    if (process::find_program("mpirun", path == nullptr ? "" : path).empty() ||
        !fs::exists(TROUBLE_TEAM_MODULE))
        GTEST_SKIP() << "no mpirun here";
    torment(TROUBLE_TEAM_MODULE, {Victim::parent, Victim::worker, Victim::launcher}, 6s, 2, 6);
}

/// A process that has nothing of ours but its name.
std::vector<pid_t> daemons(const std::string& name) {
    return process::find_processes([&](pid_t pid, const process::Stat&) {
        std::string command;
        std::ifstream file{fmt::format("/proc/{}/cmdline", pid)};
        return std::getline(file, command, '\0') && command == name;
    });
}

/// Until there is something, for ten seconds.
template <class Find>
auto wait_for(const Find& find) {
    return wait_until(find, [](const auto& found) { return !found.empty(); });
}

TEST_F(KillTest, ADaemonDoesNotOutliveAKilledParent) {
    const auto name = (folder_.path() / "daemon").string();
    const test::Variable daemon{"TROUBLE_DAEMON", name};
    auto parent = start(TROUBLE_MODULE, {"escapes", "hang"});
    ASSERT_FALSE(wait_for([&] { return daemons(name); }).empty());
    ::kill(parent.pid(), SIGKILL);
    ASSERT_TRUE(parent.wait(5s));
    expect_nothing_left();
    EXPECT_THAT(daemons(name), IsEmpty());
}

TEST_F(KillTest, WhatOutlivesParentAndKeeperIsEndedByTheNextRun) {
    auto parent = start(TROUBLE_MODULE, {"breeds", "hang"});
    const auto is_keeper = [](pid_t pid) { return name_of(pid) == "assay-keeper"; };
    const auto bred = wait_for([&] { // a session of its own
        auto found = others(parent.pid());
        // The keeper has one too, and for a moment no name.
        if (std::ranges::none_of(found, is_keeper)) return std::vector<pid_t>{};
        std::erase_if(found, [&](pid_t pid) {
            return is_keeper(pid) || process::stat_of(pid).value_or(process::Stat{}).session != pid;
        });
        return found;
    });
    ASSERT_EQ(bred.size(), 1U);
    auto keepers = others(parent.pid());
    std::erase_if(keepers, [&](pid_t pid) { return !is_keeper(pid); });
    ASSERT_EQ(keepers.size(), 1U);
    ::kill(parent.pid(), SIGSTOP); // or it would see to the rest
    ::kill(keepers[0], SIGKILL);
    ::kill(parent.pid(), SIGKILL);
    ASSERT_TRUE(parent.wait(5s));
    const auto left =
        wait_until([&] { return others(0); }, [](const auto& found) { return found.size() <= 1; });
    EXPECT_EQ(left, bred) << "it belongs to nobody now";
    auto next = start(TROUBLE_MODULE, {"fine"});
    ASSERT_TRUE(next.wait(60s));
    EXPECT_THAT(others(0), IsEmpty());
}

class OneSignal : public KillTest, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(EverySignal, OneSignal, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(OneSignal, EndsTheRunInOrder) {
    const std::vector<std::string> what(20, "slow");
    auto parent = start(TROUBLE_MODULE, what);
    wait_for_the_first_step();
    ::kill(parent.pid(), GetParam());
    const auto& ending = parent.wait(5s);
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->signal, 0);
    EXPECT_EQ(ending->code, 5);
    expect_nothing_left();
    ASSERT_EQ(runs().size(), 1U);
    const auto run = record::read_run(runs()[0] / "run.json");
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->status, "interrupted");
    EXPECT_EQ(run->ended_by, record::RunEnd::signal);
    EXPECT_EQ(run->cases.size(), what.size());
    for (const auto& c : run->cases)
        EXPECT_TRUE(c.status != Status::interrupted || !c.reason.empty());
}

/// The wall clock is asked once; all later times are steady. The run says by how much it was set.
TEST_F(KillTest, AWallClockThatIsSetBackIsNoticed) {
    const auto set = folder_.path() / "set";
    more_ = {"LD_PRELOAD=" FAIL_NTH_LIBRARY, "CLOCK_SET=-3456000:" + set.string()};
    auto parent = start(TROUBLE_MODULE, std::vector<std::string>(5, "slow"));
    wait_for_the_first_step();
    std::ofstream{set} << "now";
    const auto& ending = parent.wait(60s);
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->code, 0);
    EXPECT_TRUE(is_complete(5));
    ASSERT_EQ(runs().size(), 1U);
    const auto run = record::read_run(runs()[0] / "run.json");
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_GE(run->ended, run->started);
    ASSERT_TRUE(run->clock);
    EXPECT_NEAR(run->clock->step_seconds, -3456000, 30);
    EXPECT_GT(run->clock->up_seconds, 0);
    const auto wrong = decide::check_clock(*run);
    ASSERT_EQ(wrong.size(), 1U);
    EXPECT_EQ(wrong[0].code, "clock_was_set");
    for (const auto& c : run->cases)
        for (const auto& replica : c.replicas) {
            EXPECT_GE(*replica.seconds, 0.002);
            EXPECT_LT(*replica.seconds, 1);
        }
    EXPECT_TRUE(decide::check_summaries(*run).empty());
}

TEST_F(KillTest, TheSecondSignalEndsItAtOnce) {
    auto parent = start(TROUBLE_MODULE, std::vector<std::string>(20, "slow"));
    wait_for_the_first_step();
    ::kill(parent.pid(), SIGINT);
    ::kill(parent.pid(), SIGTERM);
    const auto& ending = parent.wait(5s);
    ASSERT_TRUE(ending);
    EXPECT_TRUE(ending->signal == SIGINT || ending->signal == SIGTERM) << ending->code;
    expect_nothing_left();
}

} // namespace
} // namespace assay
