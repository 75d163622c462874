// SPDX-License-Identifier: Apache-2.0

#include "base/utc.hpp"
#include "record/conditions.hpp"
#include "record/convert.hpp"
#include "record/journal.hpp"
#include "record/noise.hpp"
#include "store/collection.hpp"
#include "store/digest.hpp"
#include "store/input.hpp"
#include "support/results.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

namespace assay::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;

constexpr double in_2027 = 1.8e9; // seconds since 1970: after every run here

class StoreTest : public testing::Test {
protected:
    fs::path write(const std::string& name, const std::string& text) const {
        return temporary_.write(name, text);
    }
    fs::path write(const std::string& name, const record::Run& run) const {
        return write(name, record::to_text(run));
    }
    static record::Run run(const std::string& id) {
        record::Run made = test::sample_run();
        made.id = id;
        test::measure_again(made, id);
        return made;
    }
    Collection collected(const std::vector<std::string>& inputs) const {
        return must(collect(inputs, {.now = in_2027}));
    }
    Collection all() const { return collected({folder_.string()}); }
    static std::vector<std::string> ids(const Collection& collection) {
        std::vector<std::string> ids;
        for (const auto& run : collection.runs) ids.push_back(run.id);
        return ids;
    }
    static testing::Matcher<const Collection&> complains(const std::string& where,
                                                         const std::string& reason) {
        return Field(&Collection::problems,
                     ElementsAre(AllOf(Field(&Problem::where, HasSubstr(where)),
                                       Field(&Problem::reason, HasSubstr(reason)))));
    }
    made::TemporaryFolder temporary_;
    const fs::path& folder_ = temporary_.path();
};

TEST_F(StoreTest, ASeriesHasTheConditionsOfItsCaseAndARunItsTags) {
    record::Run made = run("a");
    made.cases = {test::sample_case(test::sample_gemm("cublaslt", "bf16", 1e-3), 1)};
    made.cases.front().place = {.kind = "cuda", .uuid = "GPU-1"};
    made.cases.front().evidence.ranks = 8;
    made.cases.front().settings = {{"path", std::string{"nvlink"}}};
    made.campaign = std::string{"2026 Q1"};
    made.tags.push_back({"rack", std::string{"b7"}});
    made.machine.devices = {{.kind = "cuda", .uuid = "GPU-1", .mode = "vgpu", .ecc = false}};
    write("run.json", made);
    const auto collection = all();
    EXPECT_EQ(collection.runs.at(0).campaign, "2026 Q1");
    EXPECT_EQ(record::text(collection.runs.at(0).tags, "rack"), "b7");
    const auto& series = collection.series.at(0);
    EXPECT_EQ(series.place, "cuda");
    EXPECT_EQ(series.conditions, record::conditions(made.cases.front(), made.machine));
    EXPECT_EQ(record::text(series.conditions, "ranks"), "8");
    made.cases.front().parameters = {{"ranks", std::string{"all"}}};
    write("run.json", made);
    EXPECT_EQ(all().series.at(0).what, "all ranks (8)");
    EXPECT_EQ(record::text(series.conditions, "mode"), "vgpu");
    EXPECT_EQ(record::text(series.conditions, "ecc"), "off");
}

TEST_F(StoreTest, OlderCasesHaveTheParametersThatTheirBenchmarkGotLater) {
    record::Run made = run("a");
    made.cases = {test::sample_case(test::sample_gemm("openblas", "fp64", 1e-3), 1)};
    auto& older = made.cases.front();
    older.benchmark = "workload.attention";
    older.parameters = {{"batch", std::int64_t{4}}};
    write("a/run.json", made);
    made.id = "b";
    test::measure_again(made, made.id);
    older.parameters.push_back({"group", std::int64_t{1}});
    write("b/run.json", made);
    made.id = "c";
    test::measure_again(made, made.id);
    older.parameters.back().value = std::int64_t{8};
    write("c/run.json", made);
    const auto collection = all();
    ASSERT_EQ(collection.series.size(), 2U) << "groups of 1, and of 8";
    EXPECT_EQ(collection.observations.size(), 3U);
}

TEST_F(StoreTest, OlderPeaksOfFp8AreFastOnes) {
    double seconds = 1e-3;
    const auto write_peak = [&](const std::string& id, record::NamedList parameters) {
        record::Run made = run(id);
        made.cases = {test::sample_case(test::sample_gemm("cuda", "fp8_e4m3", seconds *= 1.01), 1)};
        made.cases.front().benchmark = "peak.tensor";
        made.cases.front().parameters = std::move(parameters);
        write(id + "/run.json", made);
    };
    write_peak("older", {{"precision", "fp8_e4m3"}});
    for (const char* accumulation : {"fast", "exact"})
        write_peak(
            accumulation,
            {{"precision", "fp8_e4m3"}, {"sparsity", "none"}, {"accumulation", accumulation}});
    const auto fp8 = all();
    ASSERT_EQ(fp8.series.size(), 2U);
    EXPECT_EQ(fp8.observations.size(), 3U);
    write_peak("bf16", {{"precision", "bf16"}});
    for (const auto& series : all().series)
        if (record::text(series.parameters, "precision") == "bf16")
            EXPECT_EQ(record::text(series.parameters, "accumulation"), "exact");
}

TEST_F(StoreTest, DisturbedReplicasAreLeftOutBesideOthers) {
    record::Run made = run("a");
    made.machine.virtualization = "kvm";
    made.cases = {test::sample_case(test::sample_gemm("openblas", "fp64", 1e-3), 1)};
    auto& c = made.cases.front();
    c.spread = record::Spread{.between_replicas = 0.01,
                              .between_runs = 0.1,
                              .degrees = 10,
                              .limit = 0.05,
                              .replicas = 3,
                              .source = "memory"};
    const auto disturb = [&](std::size_t replica, double share) {
        record::disturb(c.replicas[replica].telemetry, record::DisturbanceCode::steal,
                        {{"share", share}}, "stolen: " + std::to_string(share));
        record::conclude(c, 3);
    };
    disturb(1, 0.1);
    write("run.json", made);
    auto seen = all().observations.at(0);
    EXPECT_EQ(seen.status, record::Status::ok);
    EXPECT_EQ(seen.between_runs,
              record::noise_level("memory", record::NoisePlace::guest).between_runs);
    EXPECT_FALSE(seen.two_levels || seen.cause);
    ASSERT_THAT(seen.replicas, SizeIs(3)) << "all are there";
    EXPECT_TRUE(seen.replicas[1].disturbed);
    ASSERT_THAT(counted(seen), SizeIs(2));
    EXPECT_EQ(counted(seen)[1].index, 2);
    disturb(2, 0.3);
    disturb(0, 0.2);
    made.machine.virtualization = "none";
    write("run.json", made);
    seen = all().observations.at(0);
    EXPECT_EQ(seen.status, record::Status::disturbed);
    EXPECT_EQ(seen.between_runs,
              record::noise_level("memory", record::NoisePlace::bare_metal).between_runs);
    ASSERT_TRUE(seen.cause);
    EXPECT_EQ(record::number(seen.cause->values, "share"), 0.3);
    EXPECT_THAT(counted(seen), SizeIs(3)) << "none is undisturbed";
    c.spread.reset();
    write("run.json", made);
    EXPECT_FALSE(all().observations.at(0).between_runs);
}

TEST_F(StoreTest, TakesJournalOfRunThatDiedAsPartialRun) {
    auto c = test::sample_case(test::sample_stream("triad"), 2);
    c.spread = record::Spread{.between_replicas = 0.01,
                              .between_runs = 0.1,
                              .degrees = 3,
                              .limit = 0.5,
                              .replicas = 5,
                              .source = "memory",
                              .rules = record::current_rules};
    write("done/run.json", run("a"));
    fs::create_directories(folder_ / "killed");
    const auto path = folder_ / "killed" / "journal.ndjson";
    auto journal = record::Journal::create(path, {.run = "k", .machine = "m", .replicas = 5});
    ASSERT_TRUE(journal->add({.case_index = 0, .result = c}));
    const auto journals = [&](bool ended) {
        return collect({folder_.string()}, {.unfinished = true, .ended = ended, .now = in_2027});
    };
    // Its process lives.
    EXPECT_THAT(all().runs, SizeIs(1));
    auto seen = journals(true).value();
    EXPECT_THAT(seen.runs, SizeIs(1));
    EXPECT_THAT(seen.unfinished, ElementsAre(path));
    journal = tl::unexpected{Error{}}; // and died
    seen = journals(false).value();
    EXPECT_THAT(seen.unfinished, ElementsAre(path));
    seen = journals(true).value();
    EXPECT_THAT(seen.unfinished, IsEmpty());
    ASSERT_THAT(seen.runs, SizeIs(2));
    const auto killed = std::ranges::find(seen.runs, "k", &RunInfo::id);
    ASSERT_NE(killed, seen.runs.end());
    EXPECT_TRUE(killed->partial);
    const auto number = static_cast<std::uint32_t>(killed - seen.runs.begin());
    const auto& value = *std::ranges::find(seen.observations, number, &decide::Observation::run);
    EXPECT_TRUE(value.value);
    EXPECT_TRUE(is_partial(value));
    EXPECT_EQ(value.planned, 5);
    EXPECT_EQ(value.replicas.size(), c.replicas.size());
}

TEST_F(StoreTest, AMachineGoesByOneIdWhateverWasReadOfIt) {
    auto old = run("a");
    old.machine.id = "old";
    write("a/run.json", old);
    auto other = run("b");
    other.machine.id = "other";
    write("b/run.json", other);
    auto now = run("c");
    now.machine.id = "new";
    now.machine.identity = {.by = "product_uuid", .aliases = {"old"}};
    write("c/run.json", now);
    const auto collection = all();
    std::vector<std::string> machines;
    for (const auto& info : collection.runs)
        machines.push_back(collection.machines[info.machine].id);
    EXPECT_THAT(machines, ElementsAre("new", "other", "new"));
}

TEST_F(StoreTest, ReplicasOfTheHeadlineMakeTheCasesValue) {
    write("run.json", run("a"));
    const auto collection = all();
    std::size_t compared = 0;
    for (const auto& seen : collection.observations) {
        if (!seen.value || seen.replicas.empty()) continue;
        double sum = 0;
        for (const auto& replica : seen.replicas) sum += std::log(replica.value);
        EXPECT_NEAR(std::exp(sum / static_cast<double>(seen.replicas.size())) / *seen.value, 1,
                    1e-12);
        ++compared;
    }
    EXPECT_GT(compared, 3U);
    EXPECT_THAT(collection.problems, IsEmpty());
}

TEST_F(StoreTest, WrongAndSkippedCasesHaveAStatusAndNoFigure) {
    const auto sample = run("a");
    write("run.json", sample);
    const auto collection = all();
    ASSERT_THAT(collection.observations, SizeIs(sample.cases.size()));
    for (std::size_t i = 0; i < sample.cases.size(); ++i) {
        const auto& seen = collection.observations[i];
        EXPECT_EQ(seen.status, sample.cases[i].status);
        EXPECT_EQ(seen.reason, sample.cases[i].reason);
        if (seen.status == record::Status::ok || seen.status == record::Status::unstable) continue;
        EXPECT_FALSE(seen.value);
        EXPECT_THAT(seen.replicas, IsEmpty());
    }
    auto failed = sample;
    for (auto& c : failed.cases) c.verification = record::Verification{.detail = "off by one"};
    write("run.json", failed);
    for (const auto& seen : all().observations)
        EXPECT_FALSE(seen.value) << "whatever the status says";
}

TEST_F(StoreTest, RunsShareSeriesSettingsAndMachines) {
    auto second = run("b");
    second.started = "2026-03-01T00:00:00Z";
    second.ended = "2026-03-01T00:10:00Z";
    second.machine.core_clock_hz = 1.5e9; // still the same machine
    write("x/run.json", second);
    write("y/run.json", run("a"));
    const auto collection = all();
    EXPECT_THAT(ids(collection), ElementsAre("a", "b")) << "by time";
    EXPECT_THAT(collection.machines, SizeIs(1));
    EXPECT_EQ(collection.runs[1].core_clock_hz, 1.5e9);
    EXPECT_EQ(collection.observations.size(), 2 * collection.series.size());
    EXPECT_LE(collection.settings.size(), collection.series.size());
    second.machine.kernel = "6.99";
    write("x/run.json", second);
    EXPECT_THAT(all().machines, SizeIs(2)) << "another state of it";
}

TEST_F(StoreTest, InputsAreFilesFoldersAndPatternsWithLabels) {
    write("one/deep/run.json", run("a"));
    write("two/other.json", run("b"));
    write("two/run.txt", "no result");
    const auto collection =
        collected({"old=" + (folder_ / "one").string(), (folder_ / "t*" / "*.json").string()});
    ASSERT_THAT(ids(collection), ElementsAre("a", "b"));
    EXPECT_EQ(collection.runs[0].label, "old");
    EXPECT_EQ(collection.runs[1].label, "");
    EXPECT_THAT(collection.problems, IsEmpty());
}

TEST_F(StoreTest, AnInputThatNamesNothingIsAnError) {
    write("two/other.json", run("b"));
    const auto message = [](const std::string& input) {
        const auto collection = collect({input});
        return collection ? "" : collection.error().message;
    };
    EXPECT_THAT(message((folder_ / "none.json").string()), HasSubstr("no such file"));
    EXPECT_THAT(message((folder_ / "x*").string()), HasSubstr("no file or folder matches"));
    EXPECT_THAT(message((folder_ / "two").string()), HasSubstr("no run.json in this folder"));
    EXPECT_THAT(message((folder_ / "t*").string()), HasSubstr("no matching folder"));
}

TEST_F(StoreTest, FilesThatAreNoResultAreNamed) {
    write("a/run.json", run("a"));
    const auto text = record::to_text(run("b"));
    write("b/run.json", text.substr(0, text.find("assay.run/2") + 3)); // inside of a string
    auto newer = text;
    newer.replace(newer.find("assay.run/2"), 11, "assay.run/7");
    write("c/run.json", newer);
    write("d/run.json", "");
    const auto collection = all();
    EXPECT_THAT(ids(collection), ElementsAre("a"));
    ASSERT_THAT(collection.problems, SizeIs(3));
    EXPECT_THAT(collection.problems[0].reason, HasSubstr("not JSON"));
    EXPECT_THAT(collection.problems[1].reason, HasSubstr("newer"));
    EXPECT_THAT(collection.problems[2].where, HasSubstr("d/run.json"));
}

TEST_F(StoreTest, OneFileUnderTwoNamesCountsOnce) {
    const auto path = write("a/run.json", run("a"));
    fs::create_hard_link(path, folder_ / "b.json");
    const auto collection = collected({path.string(), (folder_ / "b.json").string()});
    EXPECT_THAT(ids(collection), ElementsAre("a"));
    EXPECT_THAT(collection, complains("b.json", "same file"));
}

TEST_F(StoreTest, OfTwoCopiesOfARunTheWholeOneIsUsed) {
    auto half = run("a");
    half.status = "interrupted";
    half.cases.resize(2);
    auto whole = run("a");
    whole.status = "done";
    write("a/run.json", half);
    write("b/run.json", whole);
    write("c/run.json", half);
    const auto collection = all();
    EXPECT_EQ(collection.observations.size(), whole.cases.size());
    ASSERT_THAT(collection.problems, SizeIs(2));
    EXPECT_THAT(collection.problems[0].where, HasSubstr("a/run.json"));
    EXPECT_THAT(collection.problems[0].reason, HasSubstr("b/run.json"));
    EXPECT_THAT(collection.problems[1].where, HasSubstr("c/run.json"));
}

TEST_F(StoreTest, OneRunOfTwoMachinesIsNamed) {
    auto other = run("a");
    other.machine.id = "another";
    write("a/run.json", run("a"));
    write("b/run.json", other);
    EXPECT_THAT(all(), complains("b/run.json", "another machine"));
}

TEST_F(StoreTest, ClocksThatJumpedAreNamed) {
    const auto dated = [&](const std::string& started, const std::string& ended) {
        auto made = run("a");
        made.started = started;
        made.ended = ended;
        write("run.json", made);
        const auto collection = all();
        EXPECT_EQ(collection.runs.size() + collection.problems.size(), 1U);
        return collection.problems.empty() ? "" : collection.problems.front().reason;
    };
    EXPECT_EQ(dated("2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"), "");
    EXPECT_EQ(dated("", ""), "");
    EXPECT_THAT(dated("2026-03-01T00:00:00Z", "2026-02-28T23:59:59Z"), HasSubstr("before"));
    EXPECT_THAT(dated("2031-03-01T00:00:00Z", "2031-03-01T00:00:00Z"), HasSubstr("in the future"));
    EXPECT_THAT(dated("1970-01-01T00:00:09Z", "2026-03-01T00:00:00Z"), HasSubstr("not set"));
    EXPECT_THAT(dated("last Tuesday", "2026-03-01T00:00:00Z"), HasSubstr("invalid start time"));
}

TEST_F(StoreTest, ZeroNullAndForeignFiguresAreNoFigures) {
    const auto damaged = [&](auto damage) {
        auto made = run("a");
        made.cases.erase(made.cases.begin() + 1, made.cases.end());
        EXPECT_TRUE(made.cases[0].metrics.front().value);
        damage(made.cases[0].metrics);
        write("run.json", made);
        const auto collection = all();
        EXPECT_THAT(collection.observations, SizeIs(1));
        EXPECT_FALSE(collection.observations[0].value);
        EXPECT_THAT(collection.observations[0].replicas, IsEmpty());
        EXPECT_THAT(collection.problems, SizeIs(1));
        return collection.problems.empty() ? "" : collection.problems.front().reason;
    };
    using Metrics = std::vector<record::Metric>;
    EXPECT_THAT(damaged([](Metrics& m) { m[0].value = 0; }), HasSubstr("above zero"));
    EXPECT_THAT(damaged([](Metrics& m) { m[0].value = -1; }), HasSubstr("above zero"));
    EXPECT_THAT(damaged([](Metrics& m) { m[0].value.reset(); }), HasSubstr("no value"));
    EXPECT_THAT(damaged([](Metrics& m) { m.clear(); }), HasSubstr("no value"));
    EXPECT_THAT(damaged([](Metrics& m) { m[0].unit = "GB/s"; }), HasSubstr("GB/s"));
    EXPECT_THAT(damaged([](Metrics& m) { std::swap(m[0], m[1]); }), HasSubstr("first metric"));
    EXPECT_THAT(damaged([](Metrics& m) { m[0].higher_is_better = !m[0].higher_is_better; }),
                HasSubstr("opposite"));
}

TEST_F(StoreTest, AReplicaThatSaysNothingPositiveIsNone) {
    auto made = run("a");
    auto& replicas = made.cases[0].replicas;
    ASSERT_GE(replicas.size(), 3U);
    replicas[0].seconds = 0;
    replicas[1].seconds.reset();
    write("run.json", made);
    const auto collection = all();
    EXPECT_THAT(collection.observations[0].replicas,
                ElementsAre(Field(&decide::ReplicaValue::index, replicas[2].index)));
}

TEST_F(StoreTest, TextsArePlain) {
    auto made = run("a\x1b[31m");
    made.machine.instance = "c7a\n.large";
    made.cases[0].library = "open\x07"
                            "blas";
    write("run.json", made);
    const auto collection = collected({"l\x1b[1mabel=" + folder_.string()});
    EXPECT_EQ(collection.runs[0].id, "a");
    EXPECT_EQ(collection.runs[0].label, "label");
    EXPECT_EQ(collection.machines[0].instance, "c7a .large");
    EXPECT_EQ(collection.series[0].library, "openblas");
}

TEST_F(StoreTest, QuestionsAreEqualAcrossLibrariesOnly) {
    auto made = run("a");
    auto other = made.cases[0];
    other.library = "another";
    auto larger = made.cases[0];
    larger.parameters.push_back({"more", std::int64_t{1}});
    made.cases = {made.cases[0], other, larger};
    write("run.json", made);
    const auto collection = all();
    ASSERT_THAT(collection.series, SizeIs(3));
    EXPECT_EQ(collection.series[0].question, collection.series[1].question);
    EXPECT_NE(collection.series[0].question, collection.series[2].question);
}

TEST_F(StoreTest, AReportTakesTheNewestRunBelowAFolder) {
    const auto make = [&](const std::string& name, int age_seconds) {
        const auto path = write(name, "{}");
        fs::last_write_time(path,
                            fs::file_time_type::clock::now() - std::chrono::seconds{age_seconds});
        return path;
    };
    EXPECT_THAT(find_input(folder_.string()).error().message, HasSubstr("no run.json"));
    make("a/1/run.json", 30);
    const auto newest = make("a/2/run.json", 10);
    make("b/run.json", 20);
    const auto other = make("b/newer.json", 0);
    EXPECT_EQ(find_input(folder_.string())->file, newest);
    EXPECT_EQ(find_input(other.string())->file, other) << "a file is itself";
}

TEST_F(StoreTest, ALabelComesBeforeTheFirstEqualsSign) {
    const auto path = write("x=y/run.json", "{}");
    EXPECT_EQ(find_input("old=" + path.string())->label, "old");
    EXPECT_EQ(find_input("old=" + path.string())->file, path);
    EXPECT_EQ(find_input(path.string())->label, "") << "a path that is there is no label";
    EXPECT_FALSE(find_input("").has_value());
    EXPECT_FALSE(find_input("label=").has_value());
}

TEST(SecondsOf, ReadsWhatTheHarnessWritesAndDates) {
    EXPECT_EQ(seconds_of("1970-01-02T00:00:01Z"), 86401);
    EXPECT_EQ(seconds_of("2026-01-31T12:34:56Z"), 1769862896);
    EXPECT_EQ(seconds_of("2026-01-31T12:34:56.789Z"), 1769862896);
    EXPECT_EQ(seconds_of("2026-01-31"), 1769817600);
    for (const auto* wrong : {"", "2026", "2026-02-30", "2026-01-31T25:00:00Z",
                              "2026-01-31T12:34:56", "2026-01-31T12:34:56Zx", "-026-01-31"})
        EXPECT_FALSE(seconds_of(wrong)) << wrong;
}

} // namespace
} // namespace assay::store
