// SPDX-License-Identifier: Apache-2.0
//
// SaidRows about two sides and more: what `compare` and `history` say where the answer is known.

#include "cli/program.hpp"
#include "good_nodes.hpp"
#include "record/conditions.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using record::DisturbanceCode;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double quarter_hours = 2190;

record::Run sample(const std::string& name) {
    return read(std::filesystem::path{ASSAY_SAMPLES} / (name + ".json"));
}
record::Run device_run() { return read(real("h200-acceptance")); }

/// Another measurement of the same: all replicas of a case by one factor, each by another one.
record::Run again(const record::Run& run, double hours, double between_runs,
                  double between_replicas, unsigned seed) {
    auto out = later(run, hours);
    std::mt19937 random{seed};
    std::normal_distribution<double> normal;
    for (auto& c : out.cases) {
        if (measured_replicas(c) == 0) continue;
        const double common = between_runs * normal(random);
        for (std::size_t i = 0; i < c.replicas.size(); ++i) {
            const auto index = c.replicas[i].index;
            const double factor = std::exp(common + between_replicas * normal(random));
            slow_down(
                out, [&](const record::Case& other) { return &other == &c; }, factor,
                [&](const record::Replica& replica) { return replica.index == index; });
        }
    }
    return out;
}

/// Differences reported for the second side, by the identity of the case; `side` counts from the first.
struct Said {
    std::string outcome;
    std::string kind;
    std::string reason;
    double ratio = 0;
};
using SaidRows = std::map<std::string, Said>;
SaidRows said_in(const Answer& answer, std::size_t side = 1) {
    SaidRows rows;
    if (answer.json.is_null()) return rows;
    for (const auto& table : answer.json.at("tables"))
        for (const auto& row : table.at("rows")) {
            const auto& contrast = row.at("cells").at(side).at("contrast");
            const auto text = [&](const char* key) {
                const auto& value = contrast.at(key);
                return value.is_string() ? value.get<std::string>() : std::string{};
            };
            const auto& ratio = contrast.at("ratio");
            rows[row.at("identity")] = {.outcome = text("outcome"),
                                        .kind = text("kind"),
                                        .reason = text("reason_code"),
                                        .ratio = ratio.is_number() ? ratio.get<double>() : 0};
        }
    return rows;
}
std::size_t count(const SaidRows& rows, const std::string& outcome) {
    return static_cast<std::size_t>(std::ranges::count_if(
        rows, [&](const auto& row) { return row.second.outcome == outcome; }));
}
std::size_t called(const SaidRows& rows) { return count(rows, "better") + count(rows, "worse"); }
/// "gemm.square worse 0.91; ...": of rows that are called.
std::string in_words(const SaidRows& rows) {
    std::string text;
    for (const auto& [identity, row] : rows)
        if (row.outcome != "cannot_tell" && row.outcome != "missing" && row.outcome != "same")
            text += fmt::format("{} {} {} {:.3f}\n", identity, row.outcome, row.kind, row.ratio);
    return text;
}
SaidRows with(const SaidRows& rows, const std::string& start) {
    SaidRows found;
    for (const auto& row : rows)
        if (row.first.starts_with(start)) found.insert(row);
    return found;
}
/// The first lines: the verdict, and how many cases could not be compared.
std::string headline(const Answer& answer) {
    if (answer.json.is_null()) return answer.error;
    auto text = answer.json.at("verdict").get<std::string>();
    for (const auto& line : answer.json.at("gaps")) text += "\n" + line.get<std::string>();
    return text;
}

class Sides : public ::testing::Test {
protected:
    void side(const std::string& label, const record::Run& run) {
        files_.push_back(label + "=" + write(folder_.path(), label, run).string());
    }
    Answer compared(const Words& more = {}) const {
        Words words{"compare", "--json"};
        words.insert(words.end(), files_.begin(), files_.end());
        words.insert(words.end(), more.begin(), more.end());
        return ask(words);
    }
    Answer history() const { return ask({"history", "--json", folder_.path().string()}); }

    Folder folder_;
    Words files_;
};

// --- quarters ------------------------------------------------------------------------------------

const char* const slower_ones[] = {"gemm.square precision=fp64", "gemm.square precision=fp32",
                                   "gemm.square precision=int8"};

/// Three quarters of one instance. In the third four products are 10% slower, with another microcode.
struct Quarters : Sides {
    void make(const record::Run& run, double between_runs, double between_replicas) {
        for (unsigned i = 0; i < 3; ++i) {
            auto quarter =
                again(run, quarter_hours * (i - 2.0), between_runs, between_replicas, 7 + i);
            quarter.campaign = fmt::format("2026Q{}", i + 1);
            quarter.machine.platform.microcode = i < 2 ? "0x1000065" : "0xa101158";
            if (i == 2)
                for (const auto* words : slower_ones) slow_down(quarter, on_host(words), 1.1);
            side(quarter.campaign, quarter);
        }
    }
    void expect_the_change() const {
        const auto answer = compared();
        const auto second = said_in(answer, 1);
        const auto third = said_in(answer, 2);
        EXPECT_EQ(called(second), 0) << in_words(second);
        EXPECT_EQ(count(third, "worse"), 4) << in_words(third) << headline(answer);
        EXPECT_EQ(count(with(third, "gemm.square"), "worse"), 4) << in_words(third);
        EXPECT_EQ(count(third, "better"), 0) << in_words(third);
        EXPECT_THAT(headline(answer), HasSubstr("slower"));
        const auto history_answer = history();
        const auto& groups = history_answer.json.at("groups");
        ASSERT_EQ(groups.size(), 1);
        const auto& events = groups.at(0).at("events");
        ASSERT_EQ(events.size(), 1) << history_answer.json.at("verdict");
        EXPECT_EQ(events.at(0).at("worse"), 4);
        EXPECT_EQ(events.at(0).at("better"), 0);
        EXPECT_THAT(events.at(0).at("text").get<std::string>(), HasSubstr("0xa101158"));
    }
};

TEST_F(Quarters, OfExactCopiesAgree) {
    make(sample("zen4-2cores-quick"), 0, 0);
    expect_the_change();
}
TEST_F(Quarters, WithSmallNoiseAgree) {
    make(sample("zen4-2cores-quick"), 0.003, 0.001);
    expect_the_change();
}

TEST_F(Sides, OfAGuestSayWhatItDelivers) {
    const auto run = read(real("h100-acceptance-interrupted"));
    auto oversold = later(run, 24);
    const auto wanted = on_host("gemm.square precision=fp64");
    slow_down(oversold, wanted, 2,
              [](const record::Replica& replica) { return replica.index == 1; });
    side("a", run);
    side("b", oversold);
    const auto answer = compared();
    bool found = false;
    for (const auto& table : answer.json.at("tables"))
        for (const auto& row : table.at("rows")) {
            if (row.at("benchmark") != "gemm.square" || row.at("library") == "cublaslt") continue;
            const auto& cell = row.at("cells").at(1);
            if (!cell.at("value").is_number()) continue;
            const double share =
                cell.at("delivered").get<double>() / cell.at("value").get<double>();
            if (row.at("identity").get<std::string>().find("fp64") == std::string::npos)
                EXPECT_NEAR(share, 1, 0.05);
            else
                found = cell.at("fast_share").get<double>() < 1 && share < 0.99;
        }
    EXPECT_TRUE(found) << headline(answer);
}

// --- host and device -----------------------------------------------------------------------------

TEST_F(Sides, OfHostAndDeviceHaveARangeAndNoOverallFigure) {
    side("host", sample("zen4-2cores-quick"));
    side("h100", sample("h100-80gb-device"));
    const auto answer = compared();
    const auto rows = said_in(answer);
    EXPECT_EQ(count(rows, "better"), 3) << in_words(rows);
    EXPECT_THAT(headline(answer), HasSubstr("51"));
    EXPECT_THAT(headline(answer), HasSubstr("290"));
    EXPECT_THAT(headline(answer), HasSubstr("3 of 171"));
    EXPECT_TRUE(answer.json.at("overall").at(1).at("ratio").is_null()) << "and nowhere else";
    EXPECT_TRUE(answer.json.at("ranking").empty());
}

// --- load on one side ----------------------------------------------------------------------------

TEST_F(Sides, BurstsOnOneSideMakeNoDifference) {
    const auto run = device_run();
    auto burst = again(run, 1, 0.0005, 0.0003, 3);
    const auto wanted = on_devices("memory.stream");
    slow_down(burst, wanted, 1.3, half_of_replicas());
    mark(burst, wanted, DisturbanceCode::device_shared, half_of_replicas());
    side("a", run);
    side("b", burst);
    const auto rows = said_in(compared());
    EXPECT_EQ(called(rows), 0) << in_words(rows);
    for (const auto& [identity, row] : with(rows, "memory.stream"))
        EXPECT_EQ(row.kind, "exact") << identity;
}

TEST_F(Sides, LoadOnTheSecondSideNeverMakesItSlower) {
    const auto run = device_run();
    auto loaded = later(run, 1);
    const auto wanted = on_devices("memory.stream");
    slow_down(loaded, wanted, 1.3);
    mark(loaded, wanted, DisturbanceCode::device_shared);
    const auto fft = on_devices("fft.transform");
    slow_down(loaded, fft, 1 / 1.5); // faster although under load
    mark(loaded, fft, DisturbanceCode::device_shared);
    side("a", run);
    side("b", loaded);
    const auto rows = said_in(compared());
    for (const auto& [identity, row] : with(rows, "memory.stream")) {
        EXPECT_EQ(row.outcome, "cannot_tell") << identity;
        EXPECT_EQ(row.kind, "at_least") << identity;
    }
    for (const auto& [identity, row] : with(rows, "fft.transform")) {
        EXPECT_EQ(row.outcome, "better") << identity;
        EXPECT_EQ(row.kind, "at_least") << identity;
    }
    files_ = {files_[1], files_[0]};
    const auto turned = said_in(compared());
    for (const auto& [identity, row] : with(turned, "memory.stream"))
        EXPECT_EQ(row.outcome, "cannot_tell") << identity;
    for (const auto& [identity, row] : with(turned, "fft.transform")) {
        EXPECT_EQ(row.outcome, "worse") << identity;
        EXPECT_EQ(row.kind, "at_most") << identity;
    }
}

TEST_F(Sides, UnderLoadBothHaveARatioAndNoVerdict) {
    const auto run = device_run();
    auto other = later(run, 1);
    auto first = run;
    for (auto* one : {&first, &other})
        mark(*one, on_devices("memory.stream"), DisturbanceCode::device_shared);
    slow_down(other, on_devices("memory.stream"), 1.4);
    side("a", first);
    side("b", other);
    const auto answer = compared();
    for (const auto& [identity, row] : with(said_in(answer), "memory.stream")) {
        EXPECT_EQ(row.outcome, "cannot_tell") << identity;
        EXPECT_EQ(row.kind, "about") << identity;
        EXPECT_NEAR(row.ratio, 1 / 1.4, 0.01) << identity;
    }
}

// --- levels --------------------------------------------------------------------------------------

TEST_F(Sides, LevelsHideOnlyWhatLiesWithinThem) {
    const auto run = device_run();
    auto levels = run;
    const auto wanted = on_devices("memory.stream");
    slow_down(levels, wanted, 1.2,
              [](const record::Replica& replica) { return replica.index < 2; });
    for (const auto& [factor, outcome] : std::map<double, std::string>{
             {1.1, "cannot_tell"}, {1 / 38.0, "better"}, {1.5, "worse"}, {1.0, "same"}}) {
        auto other = later(run, 1);
        slow_down(other, wanted, factor);
        files_.clear();
        side("a", levels);
        side("b", other);
        const auto rows = with(said_in(compared()), "memory.stream");
        ASSERT_FALSE(rows.empty());
        for (const auto& [identity, row] : rows) {
            EXPECT_EQ(row.outcome, outcome) << factor << " " << identity << " " << row.reason;
            if (factor == 1.1) EXPECT_EQ(row.reason, "two_levels");
        }
    }
}

// --- devices -------------------------------------------------------------------------------------

TEST_F(Sides, OfAnH100AndAnH200DifferInMemory) {
    side("h200", device_run());
    side("h100", read(real("h100-acceptance-interrupted")));
    const auto answer = compared();
    const auto rows = said_in(answer);
    for (const auto* family : {"memory.stream[cuda]", "fft.transform", "stencil.heat3d"}) {
        const auto own = with(rows, family);
        EXPECT_GT(count(own, "worse"), 0) << family;
        EXPECT_EQ(count(own, "better"), 0) << family;
    }
    EXPECT_EQ(called(with(rows, "latency.")), 0) << in_words(rows);
    EXPECT_EQ(called(with(rows, "transfer.")), 0) << in_words(rows);
    EXPECT_THAT(headline(answer), HasSubstr("slower"));
}

TEST_F(Sides, OfTwoRunsOfOneSuiteDoNotDiffer) {
    const auto run = read(real("h100-acceptance-interrupted"));
    side("a", run);
    side("b", again(run, 24, 0.0003, 0.0002, 5));
    const auto rows = said_in(compared());
    EXPECT_EQ(called(rows), 0) << in_words(rows);
    for (const auto* family : {"memory.stream[cuda]", "fft.transform[cufft]"})
        for (const auto& [identity, row] : with(rows, family))
            EXPECT_EQ(row.outcome, "same") << identity;
    files_.pop_back();
    auto slower = again(run, 24, 0.0003, 0.0002, 5);
    slow_down(slower, on_devices("memory.stream"), 1.015);
    side("c", slower);
    const auto found = said_in(compared());
    const auto memory = with(found, "memory.stream[cuda]");
    EXPECT_EQ(count(memory, "worse"), memory.size()) << in_words(found);
    EXPECT_EQ(called(found), memory.size()) << in_words(found);
}

// --- turns ---------------------------------------------------------------------------------------

TEST_F(Sides, ThatTookTurnsUnderLoadAreCompared) {
    auto first = device_run();
    for (auto& c : first.cases)
        for (auto& replica : c.replicas) replica.status = replica.status;
    auto second = later(first, 0.01);
    const auto wanted = on_devices("memory.stream");
    slow_down(second, wanted, 1.1);
    for (auto* run : {&first, &second}) {
        mark(*run, wanted, DisturbanceCode::device_shared);
        run->pairing = record::Pairing{.id = "turns",
                                       .setting = run == &first ? "old" : "new",
                                       .order = "ABBA",
                                       .changes = {}};
    }
    side("old", first);
    side("new", second);
    const auto rows = with(said_in(compared()), "memory.stream");
    ASSERT_FALSE(rows.empty());
    for (const auto& [identity, row] : rows) {
        EXPECT_EQ(row.outcome, "worse") << identity;
        EXPECT_EQ(row.kind, "exact") << identity;
    }
}

// --- what does not fit ---------------------------------------------------------------------------

TEST_F(Sides, WithoutACommonCaseEndWith3) {
    auto host = device_run();
    std::erase_if(host.cases, [](const auto& c) { return c.place.kind != "host"; });
    auto device = device_run();
    std::erase_if(device.cases, [](const auto& c) { return c.benchmark != "memory.stream"; });
    auto other = later(device_run(), 1);
    std::erase_if(other.cases, [](const auto& c) { return c.benchmark != "fft.transform"; });
    side("a", device);
    side("b", other);
    const auto answer = compared();
    EXPECT_EQ(answer.code, 3);
    EXPECT_THAT(headline(answer), HasSubstr("common"));
}

TEST_F(Sides, OfAnOldVersionOfABenchmarkAreCountedFirst) {
    auto old = later(device_run(), 1);
    for (auto& c : old.cases)
        if (c.benchmark == "memory.stream") c.version = 7;
    side("a", device_run());
    side("b", old);
    const auto answer = compared();
    EXPECT_EQ(answer.code, 0);
    EXPECT_EQ(called(said_in(answer)), 0);
    EXPECT_THAT(headline(answer), HasSubstr("different benchmark versions"));
}

TEST_F(Sides, OfWhichOneIsAHostAreRankedWithoutIt) {
    side("host", sample("zen4-2cores-quick"));
    const auto run = device_run();
    for (int i = 1; i < 6; ++i) {
        auto other = again(run, i, 0.0003, 0.0002, static_cast<unsigned>(i));
        slow_down(other, on_devices("memory.stream"), 1 + 0.05 * i);
        side(fmt::format("gpu{}", i), other);
    }
    const auto answer = compared();
    EXPECT_EQ(answer.code, 0);
    ASSERT_EQ(answer.json.at("ranking").size(), 5) << headline(answer);
    EXPECT_THAT(headline(answer), Not(HasSubstr("nothing"))) << headline(answer);
    EXPECT_THAT(headline(answer), HasSubstr("host"));
}

TEST_F(Sides, OfWhichOneIsPartialSaySo) {
    auto partial = again(device_run(), 1, 0.0003, 0.0002, 4);
    interrupt(partial, 3);
    partial.cases.resize(partial.cases.size() / 2);
    side("a", device_run());
    side("b", partial);
    const auto answer = compared();
    EXPECT_EQ(answer.code, 0);
    EXPECT_EQ(called(said_in(answer)), 0) << in_words(said_in(answer));
    EXPECT_THAT(headline(answer), HasSubstr("could not be compared"));
}

// --- campaigns -----------------------------------------------------------------------------------

TEST_F(Sides, AreCampaignsOfOneFolder) {
    for (const auto* campaign : {"2026Q1", "2026Q2"}) {
        auto run = again(device_run(), campaign[5] == '1' ? -quarter_hours : 0, 0.0003, 0.0002, 9);
        run.campaign = campaign;
        write(folder_.path(), campaign, run);
    }
    const auto folder = folder_.path().string();
    const auto answer = ask({"compare", "--json", folder});
    ASSERT_EQ(answer.code, 0) << answer.error;
    EXPECT_EQ(answer.json.at("sides").at(0).at("label"), "2026Q1");
    EXPECT_EQ(answer.json.at("sides").at(1).at("label"), "2026Q2");
    auto other = later(device_run(), 3);
    const Folder elsewhere;
    write(elsewhere.path(), "other", other);
    const auto pooled = ask({"compare", "--json", "a=" + elsewhere.path().string(), "b=" + folder});
    EXPECT_EQ(pooled.json.at("sides").at(1).at("campaigns").size(), 2);
    EXPECT_THAT(pooled.json.at("sides").at(1).at("what").get<std::string>(), HasSubstr("2026Q1"));
}

} // namespace
} // namespace assay::decisions
