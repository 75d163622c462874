// SPDX-License-Identifier: Apache-2.0
//
// What --resume says when it cannot go on, or not with everything.

#include "base/file.hpp"
#include "base/text.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "record/journal.hpp"
#include "record/reader.hpp"
#include "trouble_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using trouble_test::Folder;
using trouble_test::load_trouble;
using trouble_test::Silent;

class ResumeTest : public testing::Test {
protected:
    void run(const std::vector<plan::PlannedRun>& wanted, bool resume = true) {
        observer_.said.clear();
        const auto outcomes =
            run::run(wanted, {.out = folder_.path(), .resume = resume, .program = TROUBLE_PROGRAM},
                     observer_);
        ASSERT_TRUE(outcomes) << outcomes.error().message;
        outcome_ = outcomes->front();
        journal_ = observer_.folder / "journal.ndjson";
    }
    /// The run of the plan, as if it had been killed at its end; then `change`, and --resume.
    void resume_after(const std::function<void()>& change) {
        run({{.plan = plan_}}, false);
        fs::remove(observer_.folder / "run.json");
        before_ = observer_.folder.string();
        change();
        run({{.plan = plan_}});
    }
    void expect_new(const std::string& cause) const {
        EXPECT_FALSE(observer_.resumed);
        EXPECT_NE(observer_.folder, before_);
        EXPECT_TRUE(fs::exists(fs::path{before_} / "journal.ndjson"));
        EXPECT_THAT(observer_.said,
                    AllOf(HasSubstr(before_ + " is not continued: "), HasSubstr(cause),
                          HasSubstr("a new run starts"), Not(HasSubstr("\n"))));
    }
    std::string text() const { return read_whole(journal_, 1'000'000).value(); }
    void write(const std::string& text) const { std::ofstream{journal_, std::ios::trunc} << text; }
    /// Writes the header of an older program: without checksums, and with another value.
    void write_old_header(const std::string& key, const json::Value& value) const {
        const auto whole = text();
        const auto end = whole.find('\n');
        auto header = json::parse(std::string_view{whole}.substr(0, end), "header").value();
        header.erase("crc");
        header["schema"] = record::first_journal_schema_name;
        header[key] = value;
        write(json::to_line(header) + whole.substr(end));
    }
    void flip_a_bit_of_line(std::size_t number) const {
        auto whole = text();
        std::size_t at = 0;
        for (std::size_t line = 1; line < number; ++line) at = whole.find('\n', at) + 1;
        const auto name = whole.find("trouble", at);
        whole[name] = static_cast<char>(whole[name] ^ 1);
        write(whole);
    }

    Folder folder_;
    trouble_test::Trouble trouble_ = load_trouble(TROUBLE_MODULE);
    plan::Plan plan_ = trouble_.plan({"segv"}); // is tried again
    Silent observer_;
    run::Outcome outcome_;
    fs::path journal_;
    std::string before_;
};

TEST_F(ResumeTest, SaysNothingWhereItGoesOn) {
    resume_after([] {});
    EXPECT_TRUE(observer_.resumed);
    EXPECT_EQ(observer_.said, "");
}

/// State after a kill between the last case and the result: a worker died in the attempt before.
TEST_F(ResumeTest, AResultThatIsOlderThanItsJournalIsWrittenAgain) {
    plan_ = trouble_.plan({"fine", "slow"});
    resume_after([&] {
        auto older = outcome_.run;
        auto& last = older.cases.back();
        last.replicas.back().status = last.status = record::Status::crashed;
        last.replicas.back().reason = last.reason = "killed by SIGKILL (Killed)";
        last.metrics.clear();
        ASSERT_TRUE(record::write_run(observer_.folder / "run.json", older));
    });
    EXPECT_TRUE(observer_.resumed);
    EXPECT_EQ(observer_.folder, before_);
    const auto written = record::read_run(observer_.folder / "run.json");
    ASSERT_TRUE(written) << written.error().message;
    for (const auto& c : written->cases) EXPECT_TRUE(record::is_measured(c.status)) << c.reason;
    // A complete result is left alone.
    const auto whole = text();
    run({{.plan = plan_}});
    EXPECT_TRUE(outcome_.was_complete);
    EXPECT_EQ(outcome_.file, before_ / fs::path{"run.json"});
    EXPECT_EQ(text(), whole);
}

TEST_F(ResumeTest, AResultThatCannotBeReadIsWrittenAgain) {
    plan_ = trouble_.plan({"fine"});
    resume_after([&] { std::ofstream{observer_.folder / "run.json"} << "{"; });
    EXPECT_TRUE(observer_.resumed);
    EXPECT_TRUE(record::read_run(observer_.folder / "run.json"));
}

/// Where neither provider nor instance is known, which older versions wrote as unknown/unknown.
TEST_F(ResumeTest, ARunOfNobodysMachineIsInHostAndFoundWhereItUsedToBe) {
    const auto with = [&](bool resume) {
        const run::RunOptions options{.out = folder_.path(),
                                      .provider = "unknown",
                                      .instance = "unknown",
                                      .resume = resume,
                                      .program = TROUBLE_PROGRAM};
        ASSERT_TRUE(trouble_test::run(plan_, options, observer_));
    };
    with(false);
    const auto machine = observer_.folder.parent_path();
    EXPECT_EQ(machine.parent_path(), folder_.path() / "default/host");
    const auto old = folder_.path() / "default/unknown/unknown" / machine.filename();
    fs::create_directories(old.parent_path());
    fs::rename(machine, old);
    fs::remove(old / observer_.folder.filename() / "run.json");
    with(true);
    EXPECT_TRUE(observer_.resumed);
    EXPECT_EQ(observer_.folder.parent_path(), old);
    // Nor is it forgotten where it cannot be continued.
    fs::remove(observer_.folder / "run.json");
    plan_.suite = "other";
    with(true);
    EXPECT_FALSE(observer_.resumed);
    EXPECT_EQ(observer_.folder.parent_path(), machine);
    EXPECT_THAT(observer_.said, HasSubstr("unknown/unknown"));
}

TEST_F(ResumeTest, ARunRecordsItsOccasionAndKeepsItWhenItGoesOn) {
    const auto with = [&](const std::string& note, const std::string& rack, bool resume = true) {
        run::RunOptions options{.out = folder_.path(),
                                .campaign = "2026 Q1",
                                .note = note,
                                .region = "eu-1",
                                .zone = "eu-1b",
                                .resume = resume,
                                .program = TROUBLE_PROGRAM};
        if (!rack.empty()) options.tags.push_back({"rack", rack});
        return trouble_test::run(plan_, options, observer_);
    };
    const auto first = with("before the move", "b7", false);
    ASSERT_TRUE(first);
    for (const auto& [note, rack] : {std::pair{"", ""}, {"before the move", "b7"}}) {
        const auto again = with(note, rack);
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_TRUE(observer_.resumed);
        const auto read = record::read_run(again->file);
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(read->campaign, "2026 Q1");
        EXPECT_EQ(read->note, "before the move");
        EXPECT_EQ(read->machine.platform.region, "eu-1");
        EXPECT_EQ(read->machine.platform.zone, "eu-1b");
        EXPECT_EQ(record::text(read->tags, "rack"), "b7");
    }
    const auto other = with("", "c1");
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().message, HasSubstr("started with another --tag"));
    EXPECT_THAT(with("after", "").error().message, HasSubstr("started with another --note"));
    run({{.plan = plan_}}, false);
    const auto& plain = outcome_.run;
    EXPECT_TRUE(plain.campaign.empty() && plain.note.empty() && plain.tags.empty());
}

TEST_F(ResumeTest, SaysWhyANewRunStarts) {
    const std::pair<const char*, std::function<void()>> others[] = {
        {"another build",
         [&] {
             trouble_.manifest->build_id += "0";
             plan_.digest += "x";
         }},
        {"its suite is trouble, not other", [&] { plan_.suite = "other"; }},
        {"it has 1 replicas of each case, this one 2",
         [&] {
             plan_.replicas = 2;
             plan_.digest += "x";
         }},
        {"its cases, ", [&] { plan_ = trouble_.plan({"segv", "fine"}); }},
        {"measured by assay 0.0.1", [&] { write_old_header("version", "0.0.1"); }},
        {"journal.ndjson: line 1: damaged: checksum differs", [&] { flip_a_bit_of_line(1); }},
    };
    for (const auto& [said, change] : others) {
        SCOPED_TRACE(said);
        resume_after(change);
        expect_new(said);
        for (const auto& entry : fs::directory_iterator{folder_.path()}) fs::remove_all(entry);
        trouble_ = load_trouble(TROUBLE_MODULE);
        plan_ = trouble_.plan({"segv"});
    }
}

TEST_F(ResumeTest, SaysThatTheMachineIsAnother) {
    resume_after([&] { write_old_header("machine", "m-elsewhere"); });
    expect_new("measured on machine m-elsewhere");
    // Where the runs of another machine are.
    fs::remove_all(observer_.folder);
    const auto other = fs::path{before_}.parent_path().parent_path() / "m-elsewhere";
    fs::rename(fs::path{before_}.parent_path(), other);
    before_ = other / fs::path{before_}.filename();
    run({{.plan = plan_}});
    expect_new("measured on machine m-elsewhere");
}

TEST_F(ResumeTest, SaysThatThePairingIsAnother) {
    resume_after([] {});
    fs::remove(observer_.folder / "run.json");
    run(trouble_.turns({"segv"}, {"a:", "b: TROUBLE_X=1"}, 1));
    expect_new("it is not interleaved");
    fs::remove_all(before_);
    fs::remove(observer_.folder / "run.json"); // of b
    before_ = observer_.folder.string();
    run({{.plan = plan_}});
    expect_new("it is interleaved (--interleave), this one is not");
    fs::remove_all(observer_.folder);
    run(trouble_.turns({"segv"}, {"a:", "c: TROUBLE_X=2"}, 1));
    EXPECT_THAT(observer_.said, AllOf(HasSubstr(before_), HasSubstr("its variants")));
}

TEST_F(ResumeTest, SaysThatAnotherProcessHasIt) {
    std::optional<record::Journal> open;
    resume_after([&] {
        const auto content = record::read_journal(journal_).value();
        open.emplace(record::Journal::resume(journal_, content).value());
    });
    expect_new("another run");
}

/// The others stay, the case of the line is measured again, and nothing is taken out of the file.
TEST_F(ResumeTest, SaysWhichLineIsDamagedAndGoesOn) {
    plan_ = trouble_.plan({"fine", "slow", "segv"});
    record::Run first;
    std::string damaged;
    resume_after([&] {
        first = outcome_.run;
        flip_a_bit_of_line(2);
        damaged = text();
    });
    EXPECT_TRUE(observer_.resumed);
    EXPECT_EQ(observer_.folder, before_);
    EXPECT_THAT(observer_.said,
                AllOf(HasSubstr("journal.ndjson: line 2: damaged: checksum differs"),
                      HasSubstr("measured again"), Not(HasSubstr("\n"))));
    EXPECT_TRUE(text().starts_with(damaged));
    ASSERT_EQ(outcome_.run.cases.size(), 3U);
    const auto values = [](const record::Run& run, std::size_t i) {
        return run.cases.at(i).replicas.at(0).values;
    };
    EXPECT_NE(values(outcome_.run, 0), values(first, 0));
    EXPECT_EQ(values(outcome_.run, 1), values(first, 1));
}

} // namespace
} // namespace assay
