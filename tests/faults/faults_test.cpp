// SPDX-License-Identifier: Apache-2.0
//
// What if the n-th call of open, write, fsync, rename, mkdir, mmap, fork, socket or malloc fails? The program ends by
// itself with the right code and says why; the run is whole or is finished by --resume; nothing stray is left. SQLite
// tests itself this way. A few n of each with a fixed seed; every n with ASSAY_FAULTS=all, or 300 of them where there
// are more.

#include "../cli/program.hpp"
#include "base/file.hpp"
#include "decide/check.hpp"
#include "record/reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace assay;
using assay::cli_test::Folder;
using assay::cli_test::Outcome;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Kind {
    const char* name;
    int error;
};
constexpr std::array kinds{Kind{"open", EMFILE},   Kind{"write", ENOSPC},  Kind{"fsync", EIO},
                           Kind{"rename", ENOSPC}, Kind{"mkdir", ENOSPC},  Kind{"mmap", ENOMEM},
                           Kind{"fork", EAGAIN},   Kind{"socket", EMFILE}, Kind{"malloc", ENOMEM}};

/// A command and the files that it works on.
class Faults : public testing::TestWithParam<Kind> {
protected:
    static constexpr const char* suite = R"({"schema": "assay.suite/1", "name": "short",
        "description": "two cases in a moment", "replicas": 2, "patience_seconds": 0,
        "protocol": {"target": 0.5, "min_seconds": 0.001, "budget_seconds": 0.005, "limit_seconds": 20,
                     "warmup_seconds": 0.001},
        "cases": [{"benchmark": "latency.timer", "library": "host"},
                  {"benchmark": "peak.fma", "library": "host",
                   "parameters": {"precision": "fp64", "isa": "best", "threads": "one"}}]})";

    Faults() { folder_.write("short.json", suite); }
    fs::path out() const { return folder_.path() / "out"; }

    /// Without a fault unless `fault` says which: KIND:N:ERRNO:once|always:parent|worker.
    Outcome run(const std::vector<std::string>& arguments, const std::string& fault = "") {
        fs::create_directories(folder_.path() / "tmp");
        std::vector<std::string> environment{"TMPDIR=" + (folder_.path() / "tmp").string(),
                                             "FAIL_COUNT=" + (folder_.path() / "count").string()};
        if (!fault.empty()) {
            environment.emplace_back("LD_PRELOAD=" FAIL_NTH_LIBRARY);
            environment.push_back("FAIL_NTH=" + fault);
        }
        return cli_test::run(arguments, {.environment = environment, .folder = folder_.path()});
    }

    /// How often the command calls it without a fault.
    long count_of(const std::vector<std::string>& command, const std::string& who) {
        fs::remove(folder_.path() / "count");
        run(command, fmt::format("{}:0:0:once:{}", GetParam().name, who));
        long count = 0;
        std::ifstream{folder_.path() / "count"} >> count;
        return count;
    }

    /// With ASSAY_FAULTS=all.
    static bool wants_all() {
        const char* wish = std::getenv("ASSAY_FAULTS");
        return wish != nullptr && std::string_view{wish} == "all";
    }
    /// Failing calls: the first, the last, and some between; or all, but of each kind 300 at most.
    static std::vector<long> chosen(long count, std::size_t sample) {
        std::set<long> which;
        std::mt19937 random{7};
        if (wants_all()) {
            for (long n = 1; n <= count; n += 1 + count / 300) which.insert(n);
        } else if (count > 0) {
            which = {1, count};
            while (which.size() < std::min<std::size_t>(sample, static_cast<std::size_t>(count)))
                which.insert(std::uniform_int_distribution<long>{1, count}(random));
        }
        return {which.begin(), which.end()};
    }

    /// Calls `check` after each run of the command with a fault; `prepare` brings its files back before each.
    template <class Prepare, class Check>
    void each_fault(const std::vector<std::string>& command, std::size_t sample, Prepare prepare,
                    Check check, const std::string& who = "parent") {
        prepare();
        const long count = count_of(command, who);
        for (const long n : chosen(count, sample))
            for (const char* how : {"once", "always"}) {
                if (wants_all() && *how == 'a' && n % 10 != 1) continue;
                const auto fault =
                    fmt::format("{}:{}:{}:{}:{}", GetParam().name, n, GetParam().error, how, who);
                SCOPED_TRACE("FAIL_NTH=" + fault);
                prepare();
                auto outcome = run(command, fault);
                SCOPED_TRACE(outcome.error);
                const bool died = ended_by_a_library(outcome);
                EXPECT_TRUE(died || outcome.code != -1) << "killed by a signal";
                if (died) outcome.code = static_cast<int>(ExitCode::environment);
                check(outcome, died || (std::string_view{how} == "always" && can_mute()));
                EXPECT_THAT(stray(), IsEmpty());
                if (HasFailure()) return; // one is enough to look at
            }
    }
    /// hwloc and the directory iterator of libstdc++ end the process where they get no memory.
    static bool ended_by_a_library(const Outcome& outcome) {
        return outcome.code == -1 && std::string_view{GetParam().name} == "malloc";
    }
    /// Where every write or allocation fails, nothing can be said.
    static bool can_mute() {
        const std::string_view name = GetParam().name;
        return name == "write" || name == "malloc";
    }

    /// Temporary files that were left.
    std::vector<fs::path> stray() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::recursive_directory_iterator{folder_.path()})
            if (entry.path().extension() == ".tmp" ||
                entry.path().parent_path() == folder_.path() / "tmp")
                found.push_back(entry.path());
        return found;
    }
    std::vector<fs::path> results() const { return cli_test::files_named(out(), "run.json"); }
    /// A failure has its words, where they can be said.
    static void expect_said(const Outcome& outcome, bool muted) {
        if (outcome.code != 0 && !muted) {
            EXPECT_THAT(outcome.error, Not(IsEmpty()));
        }
    }
    void expect_consistent(const fs::path& file) {
        const auto checked = decide::verify_run(file);
        ASSERT_TRUE(checked) << checked.error().message;
        for (const auto& finding : checked->findings)
            ADD_FAILURE() << finding.path << ": " << finding.text;
    }
    /// The code says whether all was measured; if not, --resume does it.
    void expect_whole_or_resumable(const Outcome& outcome, bool muted) {
        EXPECT_THAT(outcome.code, AnyOf(0, 1, 4));
        expect_said(outcome, muted);
        const auto files = results();
        for (const auto& file : files) expect_consistent(file);
        if (outcome.code == 0) {
            EXPECT_FALSE(files.empty());
        }
        for (const auto& file : files) {
            const auto result = record::read_run(file);
            ASSERT_TRUE(result) << result.error().message;
            for (const auto& c : result->cases)
                if (outcome.code == 0) {
                    // A module that the loader had no memory for is missing here, and its case skipped.
                    EXPECT_TRUE(record::is_measured(c.status) ||
                                c.reason_code == record::ReasonCode::missing_here)
                        << c.reason;
                }
        }
        const auto again = run({"run", "short.json", "--out", "out", "--resume"});
        EXPECT_EQ(again.code, 0) << again.error;
        const auto all = results();
        EXPECT_FALSE(all.empty());
        for (const auto& file : all) expect_consistent(file);
    }

    Folder folder_;
};

TEST_P(Faults, ARunIsWholeOrResumable) {
    each_fault(
        {"run", "short.json", "--out", "out"}, 4, [&] { fs::remove_all(out()); },
        [&](const Outcome& outcome, bool muted) { expect_whole_or_resumable(outcome, muted); });
}

TEST_P(Faults, AWorkerCostsItsCaseAlone) {
    each_fault(
        {"run", "short.json", "--out", "out"}, 3, [&] { fs::remove_all(out()); },
        [&](const Outcome& outcome, bool /*muted*/) { expect_whole_or_resumable(outcome, true); },
        "worker");
}

TEST_P(Faults, AResumedRunLosesNothing) {
    ASSERT_EQ(run({"run", "short.json", "--out", "out"}).code, 0);
    const auto file = results().at(0);
    fs::remove(file);
    // The journal without its last step.
    const auto journal = file.parent_path() / "journal.ndjson";
    auto kept = read_whole(journal, 1U << 20U).value();
    kept.erase(kept.rfind('\n', kept.size() - 2) + 1);
    std::ofstream{journal, std::ios::binary} << kept;
    const auto before = folder_.path() / "before";
    fs::copy(out(), before, fs::copy_options::recursive);
    each_fault(
        {"run", "short.json", "--out", "out", "--resume"}, 3,
        [&] {
            fs::remove_all(out());
            fs::copy(before, out(), fs::copy_options::recursive);
        },
        [&](const Outcome& outcome, bool muted) {
            expect_whole_or_resumable(outcome, muted);
            EXPECT_TRUE(read_whole(journal, 1U << 20U).value_or("").starts_with(kept))
                << "a step that was measured is lost";
        });
}

TEST_P(Faults, AReportIsWholeOrNotThere) {
    ASSERT_EQ(run({"run", "short.json", "--out", "out"}).code, 0);
    const auto page = folder_.path() / "report.md";
    const std::vector<std::string> command{"report", "out", "--md", page.string()};
    ASSERT_EQ(run(command).code, 0);
    const auto size = fs::file_size(page);
    each_fault(
        command, 4, [&] { fs::remove(page); },
        [&](const Outcome& outcome, bool muted) {
            EXPECT_THAT(outcome.code, AnyOf(0, 2, 4));
            expect_said(outcome, muted);
            if (outcome.code == 0 || fs::exists(page)) {
                EXPECT_EQ(fs::file_size(page), size);
            }
        });
}

TEST_P(Faults, AComparisonOfManyRunsIsWholeOrNotThere) {
    for (const char* campaign : {"a", "b"})
        for (int i = 0; i < 2; ++i)
            ASSERT_EQ(run({"run", "short.json", "--out", fmt::format("out/{}", campaign)}).code, 0);
    const auto table = folder_.path() / "table.md";
    const std::vector<std::string> command{"compare", "out/a", "out/b", "--md", table.string()};
    ASSERT_EQ(run(command).code, 0);
    const auto size = fs::file_size(table);
    each_fault(
        command, 4,
        [&] {
            fs::remove(table);
            fs::remove_all(folder_.path() / "cache"); // each writes the index of the folders anew
        },
        [&](const Outcome& outcome, bool muted) {
            EXPECT_THAT(outcome.code, AnyOf(0, 2, 3, 4));
            expect_said(outcome, muted);
            if (outcome.code == 0 && fs::file_size(table) != size) {
                EXPECT_THAT(read_whole(table, 1U << 20U).value_or(""),
                            HasSubstr("Not compared, and why")); // what it leaves out
            }
            const auto again = run(command);
            EXPECT_EQ(again.code, 0) << again.error;
            EXPECT_EQ(fs::file_size(table), size);
        });
}

TEST(WithoutAnyMemory, BothProgramsSaySoAndEndWithFour) {
    for (const char* verb : {"list", "report"}) { // which start both
        const auto outcome = cli_test::run(
            {verb, "nowhere"},
            {.environment = {"LD_PRELOAD=" FAIL_NTH_LIBRARY,
                             fmt::format("FAIL_NTH=malloc:1:{}:always:parent", ENOMEM)}});
        EXPECT_EQ(outcome.code, static_cast<int>(ExitCode::environment)) << verb;
        EXPECT_THAT(outcome.error, HasSubstr("memory")) << verb;
    }
}

INSTANTIATE_TEST_SUITE_P(Calls, Faults, testing::ValuesIn(kinds),
                         [](const auto& of) { return std::string{of.param.name}; });

} // namespace
