// SPDX-License-Identifier: Apache-2.0
#include "plan/manifest.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "support/catalogue_maker.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using harness::made::catalogue;
using harness::made::TemporaryFolder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> names_of(const Plan& plan) {
    std::vector<std::string> names;
    for (const auto& planned : plan.cases) names.push_back(record::identity(empty_case(planned)));
    return names;
}

Plan plan_of(const Catalogue& all, const PlanRequest& request) {
    auto made = make_plan(all, request);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? *made : Plan{};
}

std::string error_of(const PlanRequest& request) {
    const auto all = catalogue();
    const auto made = make_plan(all, request);
    EXPECT_FALSE(made);
    return made ? "" : made.error().message;
}

TEST(Plan, TakesAllDefaultsOfABenchmark) {
    const auto all = catalogue();
    const auto plan = plan_of(all, {.what = {"memory.copy"}});
    EXPECT_EQ(plan.suite, "custom");
    EXPECT_THAT(names_of(plan), ElementsAre("memory.copy[host] bytes=4194304 threads=one",
                                            "memory.copy[host] bytes=4194304 threads=all"));
}

TEST(Plan, SelectsByLibraryFamilyAndPattern) {
    const auto all = catalogue();
    EXPECT_THAT(plan_of(all, {.what = {"gemm.square"}}).cases, SizeIs(8));
    EXPECT_THAT(plan_of(all, {.what = {"gemm"}}).cases, SizeIs(8));
    EXPECT_THAT(plan_of(all, {.what = {"g*.squ?re"}}).cases, SizeIs(8));
    EXPECT_THAT(names_of(plan_of(all, {.what = {"gemm.square[openblas]"}})),
                AllOf(SizeIs(4), Each(HasSubstr("[openblas]"))));
    EXPECT_THAT(plan_of(all, {.what = {"*"}}).cases, SizeIs(14));
    EXPECT_THAT(plan_of(all, {.what = {"*", "gemm.square"}}).cases, SizeIs(14)) << "each case once";
}

TEST(Plan, SetReplacesValuesWithTypeSuffixAndSymbol) {
    const auto all = catalogue();
    const auto plan = plan_of(
        all, {.what = {"memory.copy"}, .set = {"memory.copy.bytes=1KiB,2GiB", "*.threads=all"}});
    EXPECT_THAT(names_of(plan), ElementsAre("memory.copy[host] bytes=1024 threads=all",
                                            "memory.copy[host] bytes=2147483648 threads=all"));
}

TEST(Plan, AValueThatOneLibraryLacksLeavesThatLibraryOut) {
    const auto all = catalogue();
    const auto plan =
        plan_of(all, {.what = {"gemm.square"}, .set = {"gemm.square.precision=fp64"}});
    EXPECT_THAT(names_of(plan), AllOf(SizeIs(2), Each(HasSubstr("openblas"))));
    EXPECT_THAT(plan.notes, ElementsAre(AllOf(HasSubstr("onednn"), HasSubstr("fp64"))));
}

TEST(Plan, OnlyKeepsBenchmarksFamiliesAndLibraries) {
    const auto all = catalogue();
    EXPECT_THAT(plan_of(all, {.what = {"*"}, .only = {"peak"}}).cases, SizeIs(4));
    EXPECT_THAT(plan_of(all, {.what = {"*"}, .only = {"onednn"}}).cases, SizeIs(4));
    EXPECT_THAT(plan_of(all, {.what = {"*"}, .only = {"memory.copy", "onednn"}}).cases, SizeIs(6));
}

TEST(Plan, EntriesOfASuiteThatNeedWhatIsNotHereAreLeftOut) {
    const auto all = catalogue();
    const TemporaryFolder folder;
    const auto file = folder.write("needs.json", R"({"schema":"assay.suite/1","name":"n",
        "description":"d","cases":[
        {"benchmark":"memory.copy","needs":["devices"],"parameters":{"bytes":1024}},
        {"benchmark":"memory.copy","needs":["hosts","rdma"],"parameters":{"bytes":[1024,2048]}},
        {"benchmark":"memory.copy","parameters":{"bytes":["4Ki"]}}]})");
    PlanRequest request{.what = {file}};
    const auto counts = [&] {
        const auto plan = plan_of(all, request);
        return std::pair{plan.cases.size(), plan.not_here.size()};
    };
    EXPECT_EQ(counts(), (std::pair<std::size_t, std::size_t>{2, 4})) << "each case once";
    EXPECT_THAT(plan_of(all, request).left_out,
                ElementsAre(AllOf(HasSubstr("several devices"), HasSubstr(": 2")),
                            AllOf(HasSubstr("several hosts"), HasSubstr(": 2"))));
    request.machine.devices.resize(2);
    EXPECT_EQ(counts(), (std::pair<std::size_t, std::size_t>{4, 2}));
    request.machine.platform.network = {{.name = "eth0"}};
    request.job.hosts = {{.name = "a"}, {.name = "b"}};
    EXPECT_EQ(counts(), (std::pair<std::size_t, std::size_t>{4, 2})) << "no RDMA device";
    request.machine.platform.network.push_back({.name = "mlx5_0:1"});
    EXPECT_EQ(counts(), (std::pair<std::size_t, std::size_t>{6, 0}));
}

TEST(Plan, ErrorsNameTheItemAndTheNearestKnown) {
    EXPECT_THAT(error_of({.what = {"gemm.sqare"}}),
                AllOf(HasSubstr("gemm.sqare"), HasSubstr("gemm.square")));
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .set = {"memory.copy.byte=1"}}),
                AllOf(HasSubstr("byte"), HasSubstr("did you mean \"bytes\"")));
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .set = {"memory.cpy.bytes=1"}}),
                HasSubstr("memory.copy"));
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .set = {"memory.copy.bytes=1"}}),
                HasSubstr("1024 to 1099511627776"));
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .set = {"memory.copy.threads=al"}}),
                HasSubstr("did you mean all"));
    EXPECT_THAT(error_of({.what = {"gemm.square"}, .set = {"gemm.square.precision=fp63"}}),
                HasSubstr("fp63"));
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .set = {"memory.copy.bytes"}}),
                HasSubstr("benchmark.parameter=value"));
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .set = {"peak.fma.threads=one"}}),
                HasSubstr("does not measure peak.fma"));
    EXPECT_THAT(error_of({.what = {"*"}, .only = {"opnblas"}}), HasSubstr("openblas"));
    EXPECT_THAT(error_of({.what = {}}), HasSubstr("say what"));
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .only = {"gemm"}}),
                HasSubstr("nothing is left"));
    EXPECT_THAT(error_of({.what = {"gemm.square["}}), HasSubstr("gemm.square[openblas]"));
    EXPECT_THAT(error_of({.what = {""}}), Not(IsEmpty()));
}

TEST(Plan, NumbersThatDoNotFitAreRefused) {
    for (const char* value : {"99999999999999999999", "9223372036854775807GiB", "-5", "1.5", "1KB",
                              "", "0x10", " 2048", "2048 "})
        EXPECT_THAT(
            error_of({.what = {"memory.copy"}, .set = {std::string{"memory.copy.bytes="} + value}}),
            HasSubstr("bytes cannot be"))
            << value;
}

TEST(Plan, CeilingsStandBesideWhatTheyJudgeAndWorkersAreFew) {
    const auto all = catalogue();
    const auto plan = plan_of(all, {.what = {"gemm.square", "memory.copy", "peak.fma"},
                                    .set = {"gemm.square.precision=fp32"}});
    EXPECT_THAT(names_of(plan),
                ElementsAre("peak.fma[host] precision=fp64 threads=one",
                            "peak.fma[host] precision=fp32 threads=one",
                            "gemm.square[onednn] precision=fp32 size=2048 threads=one",
                            "gemm.square[openblas] precision=fp32 size=2048 threads=one",
                            "peak.fma[host] precision=fp64 threads=all",
                            "peak.fma[host] precision=fp32 threads=all",
                            "gemm.square[onednn] precision=fp32 size=2048 threads=all",
                            "gemm.square[openblas] precision=fp32 size=2048 threads=all",
                            "memory.copy[host] bytes=4194304 threads=one",
                            "memory.copy[host] bytes=4194304 threads=all"));
}

TEST(Plan, SeveralCeilingsStandBesideWhatTheyJudge) {
    auto all = catalogue();
    auto dot = harness::made::benchmark(
        "peak.dot", "flop_rate",
        {harness::made::choice("precision", {"bf16"}, {std::string{"bf16"}}),
         harness::made::threads()});
    dot.is_ceiling = true;
    all.modules.front().benchmarks.push_back(dot);
    for (auto& benchmark : all.modules[1].benchmarks) benchmark.ceiling = "peak.fma peak.dot";
    const auto plan = plan_of(
        all, {.what = {"memory.copy", "peak.fma", "gemm.square[onednn]", "peak.dot"},
              .set = {"gemm.square.precision=bf16", "peak.fma.precision=fp32", "*.threads=all"}});
    EXPECT_THAT(names_of(plan),
                ElementsAre("memory.copy[host] bytes=4194304 threads=all",
                            "peak.fma[host] precision=fp32 threads=all",
                            "peak.dot[host] precision=bf16 threads=all",
                            "gemm.square[onednn] precision=bf16 size=2048 threads=all"));
}

TEST(Plan, DigestTellsPlansApart) {
    auto all = catalogue();
    const PlanRequest request{.what = {"memory.copy"}};
    const auto digest = plan_of(all, request).digest;
    EXPECT_EQ(plan_of(all, request).digest, digest);
    std::set<std::string> digests{digest};
    digests.insert(plan_of(all, {.what = {"memory.copy"}, .replicas = 5}).digest);
    digests.insert(plan_of(all, {.what = {"memory.copy"}, .budget_seconds = 2}).digest);
    digests.insert(plan_of(all, {.what = {"peak.fma"}}).digest);
    all.modules.front().build_id = "4567";
    digests.insert(plan_of(all, request).digest);
    EXPECT_THAT(digests, SizeIs(5));
}

TEST(Plan, BudgetIsKeptWhereItCanBeAndNeverBelowTheFloor) {
    const auto all = catalogue();
    for (const double seconds : {10.0, 30.0, 100.0, 1000.0}) {
        const auto plan = plan_of(all, {.what = {"*"}, .budget_seconds = seconds});
        if (seconds >= 30) {
            EXPECT_LE(plan.expected_seconds, seconds);
        }
        EXPECT_GE(plan.protocol.min_seconds, 0.1);
        EXPECT_GE(plan.protocol.budget_seconds, plan.protocol.min_seconds);
        EXPECT_GE(plan.protocol.warmup_seconds, 0.1);
    }
    const auto tight = plan_of(all, {.what = {"*"}, .budget_seconds = 1});
    EXPECT_THAT(tight.notes, ::testing::Contains(HasSubstr("too small")));
    EXPECT_THAT(plan_of(all, {.what = {"*"}, .budget_seconds = 1e6}).notes, IsEmpty());
}

TEST(Plan, ACaseThatHangsMayCostWhatTheBudgetLeaves) {
    const auto all = catalogue();
    const auto usual = plan_of(all, {.what = {"*"}}).cases.front().protocol.limit_seconds;
    for (const double seconds : {1.0, 30.0, 60.0}) {
        const auto plan = plan_of(all, {.what = {"*"}, .budget_seconds = seconds});
        for (const auto& planned : plan.cases) {
            const auto& p = planned.protocol;
            EXPECT_LT(p.limit_seconds, usual);
            EXPECT_LE(p.limit_seconds,
                      20 + std::max(seconds, 2 * (p.warmup_seconds + p.budget_seconds)));
            EXPECT_GE(p.limit_seconds / 2, p.warmup_seconds + p.budget_seconds);
            EXPECT_GE(p.limit_seconds, 20); // set-up is not in the budget of a case
        }
    }
    const auto ample = plan_of(all, {.what = {"*"}, .budget_seconds = 1e6});
    EXPECT_EQ(ample.cases.front().protocol.limit_seconds, usual);
}

TEST(Plan, TooManyCasesAreRefusedBeforeTheyAreMade) {
    std::string values = "16"; // 13,000 sizes by 8 combinations of the rest
    for (int i = 17; i < 13'016; ++i) values.append(",").append(std::to_string(i));
    EXPECT_THAT(error_of({.what = {"gemm.square"}, .set = {"gemm.square.size=" + values}}),
                HasSubstr("more than 100000 cases"));
}

TEST(Plan, TooManyValuesAreRefusedBeforeTheyAreMade) {
    std::string ranges = "1KiB..1024GiB:16"; // 481 values each
    for (int i = 1; i < 207; ++i) ranges += ",1KiB..1024GiB:16";
    const auto all = catalogue();
    const auto with = [](const std::string& more) {
        return PlanRequest{.what = {"memory.copy"},
                           .set = {"memory.copy.threads=one", "memory.copy.bytes=" + more}};
    };
    EXPECT_TRUE(make_plan(all, with(ranges))) << "99,567 values, most of them twice";
    const auto refusal = error_of(with(ranges + ",1KiB..1024GiB:16"));
    EXPECT_THAT(refusal, AllOf(HasSubstr("--set memory.copy.bytes"),
                               HasSubstr("more than 100000 values"), HasSubstr("shorter ranges")));
    EXPECT_LT(refusal.size(), 200U) << "a sentence, not the list";
}

TEST(Plan, EveryCaseOfAnyRequestIsInsideItsRange) {
    const auto all = catalogue();
    for (const auto* what : {"*", "gemm", "peak.fma", "memory.copy"})
        for (const auto& planned : plan_of(all, {.what = {what}}).cases) {
            ASSERT_EQ(planned.parameters.size(), planned.benchmark->parameters.size());
            for (std::size_t i = 0; i < planned.parameters.size(); ++i)
                EXPECT_EQ(planned.parameters[i].name, planned.benchmark->parameters[i].name);
        }
}

TEST(Plan, ARangeIsEveryDoublingUpToWhatASymbolStandsFor) {
    const auto all = catalogue();
    PlanRequest request{.what = {"gemm.square[openblas]"},
                        .set = {"gemm.square.precision=fp32", "gemm.square.size=100..1000",
                                "gemm.square.threads=one..all"}};
    request.machine.usable_cores = 6;
    std::vector<std::string> sizes;
    std::vector<std::string> threads;
    for (const auto& planned : plan_of(all, request).cases) {
        const auto size = record::to_string(*record::find(planned.parameters, "size"));
        const auto workers = record::to_string(*record::find(planned.parameters, "threads"));
        if (workers == "all") sizes.push_back(size);
        if (size == "100") threads.push_back(workers);
    }
    EXPECT_THAT(sizes, ElementsAre("100", "200", "400", "800", "1000"));
    EXPECT_THAT(threads, ElementsAre("1", "2", "4", "all"));
}

TEST(Plan, ARangeMayHaveSeveralValuesInAnOctave) {
    const auto all = catalogue();
    PlanRequest request{.what = {"memory.copy"},
                        .set = {"memory.copy.bytes=4KiB..16KiB:4", "memory.copy.threads=one"}};
    std::vector<std::string> bytes;
    for (const auto& planned : plan_of(all, request).cases)
        bytes.push_back(record::to_string(*record::find(planned.parameters, "bytes")));
    EXPECT_THAT(bytes, ElementsAre("4096", "5120", "6144", "7168", "8192", "10240", "12288",
                                   "14336", "16384"));
}

TEST(Plan, ARangeThatIsNoneSaysWhatWouldBeRight) {
    for (const auto* range : {"8KiB..4KiB", "4KiB..8KiB:0", "4KiB..8KiB:x", "4KiB..8KiB:17"})
        EXPECT_THAT(error_of({.what = {"memory.copy"},
                              .set = {fmt::format("memory.copy.bytes={}", range)}}),
                    HasSubstr("write a range as in 8KiB..1GiB"))
            << range;
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .set = {"memory.copy.bytes=4KiB..lots"}}),
                HasSubstr("bytes cannot be \"lots\""));
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .set = {"memory.copy.bytes=..4KiB"}}),
                HasSubstr("an end is missing"));
}

// --- by suite -------------------------------------------------------------------------------------

constexpr const char* small_suite = R"({
  "schema": "assay.suite/1", "name": "small", "description": "for a test",
  "protocol": { "target": 0.05, "min_seconds": 0.2, "budget_seconds": 2 },
  "replicas": 2,
  "cases": [
    { "benchmark": "memory.copy", "library": "host",
      "parameters": { "bytes": ["64KiB", 4096], "threads": "all" } },
    { "benchmark": "gemm.square", "library": "mkl" },
    { "benchmark": "gemm.square", "parameters": { "precision": ["fp64", "bf16"], "threads": "one" } }
  ] })";

TEST(Plan, CasesOfOneClusterAreOneBlock) {
    const auto all = catalogue();
    const auto plan = plan_of(all, {.what = {"gemm.square", "memory.copy", "peak.fma"}});
    std::set<std::size_t> blocks;
    for (const auto& planned : plan.cases)
        if (planned.benchmark->id == "memory.copy")
            EXPECT_NE(planned.block, plan.cases.front().block);
        else
            EXPECT_EQ(planned.block, plan.cases.front().block) << planned.benchmark->id;
}

TEST(Plan, SaysHowFarReplicasAreExpectedToDiffer) {
    auto all = catalogue();
    for (auto& benchmark : all.modules.front().benchmarks)
        if (benchmark.id == "memory.copy") benchmark.noise = Noise::memory;
    const auto plan = plan_of(all, {.what = {"memory.copy", "peak.fma"}, .replicas = 5});
    for (const auto& planned : plan.cases) {
        const auto c = empty_case(planned);
        ASSERT_TRUE(c.spread);
        EXPECT_EQ(c.spread->replicas, 5);
        const bool memory = planned.benchmark->id == "memory.copy";
        EXPECT_EQ(c.spread->source, memory ? "memory" : "unknown");
        EXPECT_EQ(c.spread->degrees, memory ? 3 : 0) << "nothing is known of an undeclared kind";
        EXPECT_GE(c.spread->limit, planned.protocol.target);
    }
    EXPECT_THAT(plan.notes,
                Contains(AllOf(HasSubstr("half width of 1.0%"), HasSubstr("memory 144"))));
}

TEST(PlanOfSuite, AnEntryMayHaveAProtocolOfItsOwnAndABudgetCutsTheLongOnesFirst) {
    TemporaryFolder folder;
    const auto path = folder.write("curve.json", R"({
      "schema": "assay.suite/1", "name": "curve", "description": "for a test",
      "protocol": { "min_seconds": 1, "budget_seconds": 10, "warmup_seconds": 0.5 },
      "replicas": 1,
      "cases": [
        { "benchmark": "memory.copy", "parameters": { "bytes": "4KiB..64KiB", "threads": "one" },
          "protocol": { "min_seconds": 0.02, "budget_seconds": 0.04 } },
        { "benchmark": "peak.fma", "parameters": { "precision": "fp64", "threads": "one" } }
      ] })");
    const auto all = catalogue();
    const auto whole = plan_of(all, {.what = {path.string()}});
    ASSERT_THAT(whole.cases, SizeIs(6));
    const auto budget_of = [](const Plan& plan, const char* id) {
        for (const auto& planned : plan.cases)
            if (planned.benchmark->id == id) return planned.protocol.budget_seconds;
        return 0.0;
    };
    EXPECT_DOUBLE_EQ(budget_of(whole, "memory.copy"), 0.04);
    EXPECT_DOUBLE_EQ(budget_of(whole, "peak.fma"), 10);
    EXPECT_DOUBLE_EQ(whole.cases.front().protocol.warmup_seconds, 0.5) << "the suite's";
    const auto cut = plan_of(all, {.what = {path.string()}, .budget_seconds = 6});
    EXPECT_DOUBLE_EQ(budget_of(cut, "memory.copy"), 0.04);
    EXPECT_LT(budget_of(cut, "peak.fma"), 3);
    EXPECT_GT(budget_of(cut, "peak.fma"), 0.5);
}

TEST(PlanOfSuite, CombinesListsAndLeavesOutLibrariesThatAreNotThere) {
    const TemporaryFolder folder;
    const auto all = catalogue();
    const auto plan = plan_of(all, {.what = {folder.write("small.json", small_suite)}});
    EXPECT_EQ(plan.suite, "small");
    EXPECT_EQ(plan.replicas, 2);
    EXPECT_EQ(plan.protocol.target, 0.05);
    EXPECT_EQ(plan.protocol.limit_seconds, 120) << "left out, so the default";
    EXPECT_THAT(names_of(plan),
                ElementsAre("memory.copy[host] bytes=65536 threads=all",
                            "memory.copy[host] bytes=4096 threads=all",
                            "gemm.square[onednn] precision=bf16 size=2048 threads=one",
                            "gemm.square[openblas] precision=fp64 size=2048 threads=one"));
    EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("mkl")));
}

TEST(PlanOfSuite, AsManyValuesAsFitAreInAllEntriesTogether) {
    const TemporaryFolder folder;
    std::string entries; // of 481 values for the bytes, and three defaults
    for (int i = 0; i < 220; ++i)
        entries += std::string{i == 0 ? "" : ","} +
                   R"({"benchmark":"memory.copy","parameters":{"bytes":"1KiB..1024GiB:16"}})";
    const auto path =
        folder.write("wide.json", R"({"schema":"assay.suite/1","name":"x","description":"x",
            "cases":[)" + entries + "]}");
    EXPECT_THAT(error_of({.what = {path.string()}}),
                AllOf(HasSubstr("wide.json: cases[206]"), HasSubstr("more than 100000 values")));
}

TEST(PlanOfSuite, WrongNamesAndValuesAreErrorsWithTheirPlace) {
    const TemporaryFolder folder;
    const auto with_case = [&](const std::string& text) {
        return folder.write("x.json", R"({"schema":"assay.suite/1","name":"x","description":"x",
            "cases":[{"benchmark":"peak.fma"},)" +
                                          text + "]}");
    };
    EXPECT_THAT(error_of({.what = {with_case(R"({"benchmark":"gemm.sqare"})")}}),
                AllOf(HasSubstr("x.json: cases[1]"), HasSubstr("gemm.square")));
    EXPECT_THAT(error_of({.what = {with_case(R"({"benchmark":"gemm.sqare","library":"onednn"})")}}),
                HasSubstr("gemm.square"));
    EXPECT_THAT(
        error_of({.what = {with_case(R"({"benchmark":"peak.fma","parameters":{"thread":1}})")}}),
        AllOf(HasSubstr("cases[1].parameters"), HasSubstr("threads")));
    EXPECT_THAT(
        error_of({.what = {with_case(R"({"benchmark":"peak.fma","parameters":{"threads":0}})")}}),
        HasSubstr("1 to 4096"));
    EXPECT_THAT(
        error_of({.what = {with_case(R"({"benchmark":"peak.fma","parameters":{"threads":1.5}})")}}),
        HasSubstr("1.5"));
    EXPECT_THAT(
        error_of(
            {.what = {with_case(
                 R"({"benchmark":"peak.fma","parameters":{"threads":18446744073709551615}})")}}),
        HasSubstr("18446744073709551615"));
    EXPECT_THAT(error_of({.what = {with_case(R"({"benchmark":"peak.fma"})"), "gemm.square"}}),
                HasSubstr("not both"));
}

} // namespace
