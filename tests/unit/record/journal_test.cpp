// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/text.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "record/journal.hpp"
#include "record/reader.hpp"
#include "record/summary.hpp"
#include "support/results.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <string>

namespace assay::record {
namespace {

using namespace testing;

const record::JournalHeader header{.run = "r1",
                                   .suite = "quick",
                                   .started = "2026-01-31T12:34:56Z",
                                   .version = "0.1.0",
                                   .digest = "abc",
                                   .machine = "m-1",
                                   .replicas = 3,
                                   .modules = {{"host", "b1"}}};

record::JournalStep step(std::uint64_t index, int replica) {
    record::Case c = test::sample_cases()[0];
    c.replicas = {test::sample_replica(replica, 1e-3, 1, 5)};
    c.metrics.clear();
    return {.case_index = index, .result = c};
}

class JournalTest : public testing::Test {
protected:
    std::filesystem::path path() const { return folder_.path() / "journal.ndjson"; }
    std::string text() const { return read_whole(path(), 100'000'000).value(); }
    void write(std::string_view content) const { folder_.write("journal.ndjson", content); }
    /// A journal of steps 0, 1, ..., each of replica 0, closed again.
    void write_steps(std::uint64_t count) const {
        auto journal = valid(record::Journal::create(path(), header));
        for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(journal->add(step(i, 0)));
    }

private:
    made::TemporaryFolder folder_;
};

void expect_same(const record::JournalStep& a, const record::JournalStep& b) {
    EXPECT_EQ(a.case_index, b.case_index);
    EXPECT_EQ(record::to_json(a.result), record::to_json(b.result));
}

TEST_F(JournalTest, GivesBackWhatWasAdded) {
    write_steps(2);
    auto content = valid(record::read_journal(path()));
    EXPECT_EQ(content->header, header);
    ASSERT_EQ(content->steps.size(), 2U);
    EXPECT_EQ(content->bytes, text().size());
    {
        auto journal = valid(record::Journal::resume(path(), *content));
        ASSERT_TRUE(journal->add(step(0, 1)));
    }
    content = record::read_journal(path());
    ASSERT_EQ(content->steps.size(), 3U);
    expect_same(content->steps[0], step(0, 0));
    expect_same(content->steps[1], step(1, 0));
    expect_same(content->steps[2], step(0, 1));
}

/// Whatever byte we died at: what was finished is there, nothing else is, and we can go on.
TEST_F(JournalTest, CutAnywhereIsAPrefix) {
    write_steps(3);
    const std::string whole = text();
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        const auto content = record::parse_journal(whole.substr(0, cut), "journal");
        ASSERT_TRUE(content) << cut << ": " << content.error().message;
        const auto lines = static_cast<std::size_t>(
            std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut), '\n'));
        ASSERT_EQ(content->header.has_value(), lines > 0) << cut;
        ASSERT_EQ(content->steps.size(), lines == 0 ? 0 : lines - 1) << cut;
        for (std::size_t i = 0; i < content->steps.size(); ++i)
            ASSERT_EQ(content->steps[i].case_index, i);
    }
    // Going on costs an fsync each: some cuts are enough to meet each kind of place.
    for (std::size_t cut = 0; cut <= whole.size(); cut += 61) {
        write(whole.substr(0, cut));
        const auto content = record::read_journal(path());
        {
            auto journal = content->header ? record::Journal::resume(path(), *content)
                                           : record::Journal::create(path(), header);
            ASSERT_TRUE(journal) << cut << ": " << journal.error().message;
            ASSERT_TRUE(journal->add(step(77, 0)));
        }
        const auto again = record::read_journal(path());
        ASSERT_TRUE(again) << cut << ": " << again.error().message;
        ASSERT_EQ(again->steps.size(), content->steps.size() + 1) << cut;
        EXPECT_EQ(again->steps.back().case_index, 77U);
    }
}

/// A journal of version 1: the same lines without checksums.
std::string first_version(const std::string& text) {
    std::string out;
    for (const auto line : split(text, '\n')) {
        if (line.empty()) continue;
        auto value = json::parse(line, "line").value();
        if (value.contains("schema")) value["schema"] = record::first_journal_schema_name;
        value.erase("crc");
        out += json::to_line(value) + '\n';
    }
    return out;
}

TEST_F(JournalTest, DamageNamesTheLineAndCostsNoOther) {
    write_steps(2);
    for (const bool first : {false, true}) {
        const std::string good = first ? first_version(text()) : text();
        const auto damaged = [&](const std::string& what, const std::string& with) {
            std::string bad = good;
            const auto at = bad.find(what);
            EXPECT_NE(at, bad.npos);
            bad.replace(at, what.size(), with);
            const auto content = record::parse_journal(bad, "j.ndjson");
            if (!content) return content.error().message;
            EXPECT_EQ(content->steps.size(), 1U);
            EXPECT_EQ(content->bytes, bad.size());
            return content->damaged == 0 ? "no damage" : content->first_damage;
        };
        const auto says = [&](const std::string& without_checksum) {
            return HasSubstr(first ? without_checksum : "damaged: checksum differs");
        };
        const auto in_line = [](int number) {
            return StartsWith("j.ndjson: line " + std::to_string(number) + ":");
        };
        EXPECT_THAT(damaged("\"case\":0", "\"case\":-1"), AllOf(in_line(2), says("case: got -1")));
        EXPECT_THAT(damaged("\"case\":1", "\"case\":"), AllOf(in_line(3), says("")));
        EXPECT_THAT(damaged("\"benchmark\":\"gemm.square\"", "\"benchmark\":7"),
                    AllOf(in_line(2), says("result.benchmark: got 7, expected a string")));
        EXPECT_THAT(damaged("\"run\":\"r1\"", "\"run\":7"), AllOf(in_line(1), says("run: got 7")));
    }
    EXPECT_THAT(record::parse_journal("{\"schema\":\"assay.journal/3\"}\n", "j").error().message,
                HasSubstr("line 1: schema: got \"assay.journal/3\", expected \"assay.journal/2\""));
    EXPECT_FALSE(record::parse_journal("not a journal\n", "j"));
    EXPECT_FALSE(record::parse_journal("\n", "j"));
}

TEST_F(JournalTest, ReadsJournalsOfVersion1) {
    write_steps(1);
    const auto content = valid(record::parse_journal(first_version(text()), "j.ndjson"));
    EXPECT_EQ(content->header, header);
    EXPECT_EQ(content->damaged, 0U);
    ASSERT_EQ(content->steps.size(), 1U);
    expect_same(content->steps[0], step(0, 0));
}

/// Whichever bit it is: what is read was written, and a line that is not read is named.
TEST_F(JournalTest, NoFlippedBitChangesAStep) {
    write_steps(2);
    const std::string good = text();
    constexpr std::size_t stride = 101; // bits: each position of a byte occurs
    for (std::size_t bit = 0; bit < 8 * good.size(); bit += stride) {
        auto bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
        const auto content = record::parse_journal(bad, "j");
        if (!content) {
            EXPECT_THAT(content.error().message, StartsWith("j: line 1:")) << bit;
            continue;
        }
        const bool torn = bad.back() != '\n';
        const bool joined = !torn && good[bit / 8] == '\n'; // both lines are lost
        ASSERT_EQ(content->steps.size(), joined ? 0U : 1U) << bit;
        EXPECT_EQ(content->damaged == 0, torn) << bit;
        for (const auto& left : content->steps) expect_same(left, step(left.case_index, 0));
    }
}

TEST_F(JournalTest, NeverOverwritesARun) {
    write_steps(1);
    const std::string before = text();
    EXPECT_THAT(record::Journal::create(path(), header).error().message,
                HasSubstr("not overwritten"));
    EXPECT_EQ(text(), before);
    EXPECT_EQ(record::Journal::create("/nowhere/at/all/journal.ndjson", header).error().fault,
              Fault::environment);
}

TEST_F(JournalTest, OneWriterAtATime) {
    const auto first = valid(record::Journal::create(path(), header));
    EXPECT_THAT(record::Journal::resume(path(), record::read_journal(path()).value()),
                Fails(Fault::environment, HasSubstr("another run")));
}

TEST_F(JournalTest, ALineWrittenAfterReadingIsNotCutOff) {
    record::JournalContent old;
    {
        auto journal = valid(record::Journal::create(path(), header));
        old = record::read_journal(path()).value();
        ASSERT_TRUE(journal->add(step(0, 0)));
    }
    EXPECT_THAT(record::Journal::resume(path(), old), Fails(HasSubstr("has grown")));
    EXPECT_EQ(record::read_journal(path()).value().steps.size(), 1U);
}
/// A full disk, played by a limit on the size of files.
TEST_F(JournalTest, AFailedWriteLeavesNoHalfLine) {
    auto journal = record::Journal::create(path(), header);
    ASSERT_TRUE(journal->add(step(0, 0)));
    const std::string before = text();

    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    rlimit tight = old;
    tight.rlim_cur = before.size() + 10;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    const auto failed = journal->add(step(1, 0));
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);

    EXPECT_THAT(failed, Fails(Fault::environment, testing::_));
    EXPECT_EQ(text(), before);
    EXPECT_TRUE(journal->add(step(1, 0)));
    EXPECT_EQ(record::read_journal(path())->steps.size(), 2U);
}

TEST(AddStep, ReplacesAReplicaThatWasMeasuredAgain) {
    record::Case c;
    c.benchmark = "a";
    add_step(c, step(0, 2).result);
    add_step(c, step(0, 0).result);
    record::Case again = step(0, 2).result;
    again.replicas[0].status = record::Status::crashed;
    add_step(c, again);
    ASSERT_EQ(c.replicas.size(), 2U);
    EXPECT_EQ(c.replicas[0].index, 0);
    EXPECT_EQ(c.replicas[1].status, record::Status::crashed);
}

TEST(AddStep, KeepsSomeWarningsOfManyAndSaysSo) {
    record::Case c;
    for (int replica = 0; replica < 4; ++replica) {
        auto loud = step(0, replica).result;
        loud.warnings = {std::to_string(replica) + std::string(20'000, 'x'), "of each"};
        add_step(c, loud);
    }
    EXPECT_THAT(c.warnings, SizeIs(5)) << "three of 20,000 bytes fit";
    EXPECT_EQ(c.warnings.back(), "further warnings were left out");
    EXPECT_THAT(c.warnings, Contains("of each").Times(1));
    std::vector<std::string> many;
    for (int i = 0; i < 1000; ++i) record::add_warning(many, std::to_string(i));
    EXPECT_EQ(many.size(), 100U);
    EXPECT_EQ(many.back(), "further warnings were left out");
    std::vector<std::string> full;
    record::add_warning(full, std::string((std::size_t{64} << 10U) - 30, 'x'));
    EXPECT_EQ(full.front().front(), 'x') << "64 KiB with the sentence that there were more";
    record::add_warning(full, "y");
    EXPECT_THAT(full, Contains("further warnings were left out"));
}

TEST(AddStep, KeepsAFailedVerification) {
    record::Case c;
    record::Case bad = step(0, 0).result;
    bad.verification->passed = false;
    add_step(c, bad);
    add_step(c, step(0, 1).result);
    EXPECT_FALSE(c.verification->passed);
}

TEST(AddStep, TakesStatusAndReasonWhereNothingWasMeasured) {
    record::Case c;
    record::Case skipped = step(0, 0).result;
    skipped.replicas.clear();
    skipped.status = record::Status::skipped;
    skipped.reason = "one rank";
    skipped.warnings = {"w", "w"};
    add_step(c, skipped);
    EXPECT_EQ(c.status, record::Status::skipped);
    EXPECT_EQ(c.reason, "one rank");
    EXPECT_EQ(c.warnings.size(), 1U);
}

TEST_F(JournalTest, IsTheRunOfAProcessThatDied) {
    record::Machine machine;
    machine.id = "m-1";
    machine.cpu_model = "a processor";
    {
        auto journal = valid(record::Journal::create(path(), header, machine));
        for (const auto& [index, replica] : {std::pair{0U, 0}, {1U, 0}, {0U, 1}}) {
            auto measured = step(index, replica);
            measured.result.spread = record::Spread{.between_replicas = 0.01,
                                                    .degrees = 3,
                                                    .limit = 0.05,
                                                    .replicas = 3,
                                                    .source = "memory",
                                                    .rules = record::current_rules};
            ASSERT_TRUE(journal->add(measured));
        }
        EXPECT_TRUE(is_being_written(path()));
        EXPECT_THAT(read_run(path()).error().message, HasSubstr("is being written"));
    }
    EXPECT_FALSE(is_being_written(path()));
    const auto run = valid(read_run(path()));
    EXPECT_EQ(run->id, "r1");
    EXPECT_EQ(run->status, "interrupted");
    EXPECT_EQ(run->machine.cpu_model, "a processor");
    ASSERT_EQ(run->cases.size(), 2U);
    EXPECT_EQ(run->cases[0].replicas.size(), 2U);
    EXPECT_TRUE(is_measured(run->cases[0].status)) << run->cases[0].reason;
    ASSERT_TRUE(part_of(run->cases[0]));
    EXPECT_EQ(part_of(run->cases[0])->planned, 3);
    EXPECT_FALSE(run->cases[0].metrics.empty());
}

TEST_F(JournalTest, OlderOnesWithoutMachineAndSpreadGiveValuesToo) {
    write_steps(1);
    const auto run = valid(read_run(path()));
    EXPECT_EQ(run->machine.id, "m-1");
    ASSERT_EQ(run->cases.size(), 1U);
    EXPECT_FALSE(run->cases[0].metrics.empty());
    write("");
    EXPECT_THAT(read_run(path()).error().message, HasSubstr("before it measured anything"));
}

} // namespace
} // namespace assay::record
