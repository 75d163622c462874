// SPDX-License-Identifier: Apache-2.0

#include "plan/manifest.hpp"
#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "support/catalogue_maker.hpp"
#include "support/made_plan.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace assay;
using namespace assay::plan;
using namespace testing;
using made::catalogue;
using made::names_of;
using made::TemporaryFolder;
using made::values_of;

const Catalogue all = catalogue();

Plan plan_of(const PlanRequest& request) { return made::plan_of(all, request); }
std::string error_of(const PlanRequest& request) { return made::refusal(all, request); }
/// Error of memory.copy with this setting.
std::string error_of_copy(const std::string& setting) {
    return error_of({.what = {"memory.copy"}, .set = {setting}});
}

TEST(Plan, SelectsByLibraryFamilyAndPattern) {
    EXPECT_THAT(plan_of({.what = {"gemm.square"}}).cases, SizeIs(8));
    EXPECT_THAT(plan_of({.what = {"gemm"}}).cases, SizeIs(8));
    EXPECT_THAT(plan_of({.what = {"g*.squ?re"}}).cases, SizeIs(8));
    EXPECT_THAT(names_of(plan_of({.what = {"gemm.square[openblas]"}})),
                AllOf(SizeIs(4), Each(HasSubstr("[openblas]"))));
    EXPECT_THAT(plan_of({.what = {"*"}}).cases, SizeIs(14));
    EXPECT_THAT(plan_of({.what = {"*", "gemm.square"}}).cases, SizeIs(14)) << "each case once";
}

TEST(Plan, SetReplacesValuesWithTypeSuffixAndSymbol) {
    const auto plan =
        plan_of({.what = {"memory.copy"}, .set = {"memory.copy.bytes=1KiB,2GiB", "*.threads=all"}});
    EXPECT_THAT(names_of(plan), ElementsAre("memory.copy[host] bytes=1024 threads=all",
                                            "memory.copy[host] bytes=2147483648 threads=all"));
}

TEST(Plan, AValueThatOneLibraryLacksLeavesThatLibraryOut) {
    const auto plan = plan_of({.what = {"gemm.square"}, .set = {"gemm.square.precision=fp64"}});
    EXPECT_THAT(names_of(plan), AllOf(SizeIs(2), Each(HasSubstr("openblas"))));
    EXPECT_THAT(plan.notes, ElementsAre(AllOf(HasSubstr("onednn"), HasSubstr("fp64"))));
}

TEST(Plan, OnlyKeepsBenchmarksFamiliesAndLibraries) {
    EXPECT_THAT(plan_of({.what = {"*"}, .only = {"peak"}}).cases, SizeIs(4));
    EXPECT_THAT(plan_of({.what = {"*"}, .only = {"onednn"}}).cases, SizeIs(4));
    EXPECT_THAT(plan_of({.what = {"*"}, .only = {"memory.copy", "onednn"}}).cases, SizeIs(6));
}

TEST(Plan, EntriesOfASuiteThatNeedWhatIsNotHereAreLeftOut) {
    const TemporaryFolder folder;
    const auto file = folder.write("needs.json", R"({"schema":"assay.suite/1","name":"n",
        "description":"d","cases":[
        {"benchmark":"memory.copy","needs":["devices"],"parameters":{"bytes":1024}},
        {"benchmark":"memory.copy","needs":["hosts","rdma"],"parameters":{"bytes":[1024,2048]}},
        {"benchmark":"memory.copy","parameters":{"bytes":["4Ki"]}}]})");
    PlanRequest request{.what = {file}};
    const auto counts = [&] {
        const auto plan = plan_of(request);
        return std::pair{plan.cases.size(), plan.not_here.size()};
    };
    EXPECT_EQ(counts(), (std::pair<std::size_t, std::size_t>{2, 4})) << "each case once";
    EXPECT_THAT(plan_of(request).left_out,
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

TEST(Plan, ModulesOfAbsentVendorsAreNotMissed) {
    const TemporaryFolder folder;
    const auto file = folder.write("modules.json", R"({"schema":"assay.suite/1","name":"n",
        "description":"d","cases":[{"benchmark":"memory.copy","parameters":{"bytes":1024}},
        {"benchmark":"fft.transform","library":"hipfft"},
        {"benchmark":"fft.transform","library":"special"}]})");
    PlanRequest request{.what = {file}};
    EXPECT_THAT(plan_of(request).notes,
                ElementsAre(AllOf(StartsWith("1 entry of the suite needs"), HasSubstr("special"),
                                  Not(HasSubstr("hipfft")))));
    EXPECT_THAT(plan_of(request).left_out, ElementsAre(HasSubstr("hipfft"))) << "in the record";
    request.machine.pci = {{.address = "0000:65:00.0", .vendor_id = "1002", .kind = "accelerator"}};
    EXPECT_THAT(plan_of(request).notes, ElementsAre(HasSubstr("hipfft, special")));
}

TEST(Plan, ErrorsNameTheItemAndTheNearestKnown) {
    EXPECT_THAT(error_of({.what = {"gemm.sqare"}}),
                AllOf(HasSubstr("gemm.sqare"), HasSubstr("gemm.square")));
    for (const auto& [setting, says] :
         {std::pair{"memory.copy.byte=1", "did you mean \"bytes\""},
          {"memory.cpy.bytes=1", "memory.copy"},
          {"memory.copy.bytes=1", "1024 to 1099511627776"},
          {"memory.copy.bytes=1.5", "bytes cannot be"},
          {"memory.copy.bytes=9223372036854775807GiB", "bytes cannot be"},
          {"memory.copy.bytes=2048 ", "bytes cannot be"},
          {"memory.copy.threads=al", "did you mean all"},
          {"memory.copy.bytes", "benchmark.parameter=value"},
          {"peak.fma.threads=one", "does not measure peak.fma"}})
        EXPECT_THAT(error_of_copy(setting), HasSubstr(says)) << setting;
    EXPECT_THAT(error_of({.what = {"gemm.square"}, .set = {"gemm.square.precision=fp63"}}),
                HasSubstr("fp63"));
    EXPECT_THAT(error_of({.what = {"*"}, .only = {"opnblas"}}), HasSubstr("openblas"));
    EXPECT_THAT(error_of({.what = {}}), HasSubstr("name a suite or benchmark"));
    EXPECT_THAT(error_of({.what = {"memory.copy"}, .only = {"gemm"}}),
                HasSubstr("nothing is left"));
    EXPECT_THAT(error_of({.what = {"gemm.square["}}), HasSubstr("gemm.square[openblas]"));
    EXPECT_THAT(error_of({.what = {""}}), Not(IsEmpty()));
}

TEST(Plan, CeilingsStandBesideWhatTheyJudgeAndWorkersAreFew) {
    const auto plan = plan_of({.what = {"gemm.square", "memory.copy", "peak.fma"},
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
    auto dot = made::benchmark(
        "peak.dot", "flop_rate",
        {made::choice("precision", {"bf16"}, {std::string{"bf16"}}), made::threads()});
    dot.is_ceiling = true;
    all.modules.front().benchmarks.push_back(dot);
    for (auto& benchmark : all.modules[1].benchmarks) benchmark.ceiling = "peak.fma peak.dot";
    const auto plan = made::plan_of(
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
    const auto digest = made::plan_of(all, request).digest;
    EXPECT_EQ(made::plan_of(all, request).digest, digest);
    std::set<std::string> digests{digest};
    digests.insert(made::plan_of(all, {.what = {"memory.copy"}, .replicas = 5}).digest);
    digests.insert(made::plan_of(all, {.what = {"memory.copy"}, .budget_seconds = 2}).digest);
    digests.insert(made::plan_of(all, {.what = {"peak.fma"}}).digest);
    all.modules.front().build_id = "4567";
    digests.insert(made::plan_of(all, request).digest);
    EXPECT_THAT(digests, SizeIs(5));
}

TEST(Plan, BudgetIsKeptWhereItCanBeAndNeverBelowTheFloor) {
    for (const double seconds : {10.0, 30.0, 100.0, 1000.0}) {
        const auto plan = plan_of({.what = {"*"}, .budget_seconds = seconds});
        if (seconds >= 30) {
            EXPECT_LE(plan.expected_seconds, seconds);
        }
        EXPECT_GE(plan.protocol.min_seconds, 0.1);
        EXPECT_GE(plan.protocol.budget_seconds, plan.protocol.min_seconds);
        EXPECT_GE(plan.protocol.warmup_seconds, 0.1);
    }
    const auto tight = plan_of({.what = {"*"}, .budget_seconds = 1});
    EXPECT_THAT(tight.notes, Contains(HasSubstr("too small")));
    EXPECT_THAT(plan_of({.what = {"*"}, .budget_seconds = 1e6}).notes, IsEmpty());
}

/// A program measures as long as it is told, three times a replica: that is what a budget shortens.
TEST(Plan, BudgetSetsTheRunTimeOfOtherPrograms) {
    auto programs = catalogue();
    auto& benchmark = programs.modules.front().benchmarks.front();
    benchmark.long_calls = true;
    benchmark.parameters.push_back(made::count("seconds", 1, 60, {std::int64_t{5}}));
    const auto of = [&](std::optional<double> budget, const std::string& set = {}) {
        PlanRequest request{.what = {benchmark.id + "[" + programs.modules.front().module + "]"},
                            .budget_seconds = budget};
        if (!set.empty()) request.set = {benchmark.id + ".seconds=" + set};
        return made::plan_of(programs, request);
    };
    const auto seconds_of = [](const Plan& plan) {
        return std::get<std::int64_t>(*record::find(plan.cases.front().parameters, "seconds"));
    };
    const auto free = of({});
    EXPECT_GT(free.expected_seconds, 3 * 5 * 3) << "three calls in each of three replicas";
    EXPECT_FALSE(free.hard_seconds);
    const double part = free.expected_seconds / 2;
    EXPECT_EQ(seconds_of(free), 5);
    EXPECT_LT(seconds_of(of(part)), 5);
    EXPECT_LE(of(part).expected_seconds, part);
    EXPECT_EQ(of(part).hard_seconds, part);
    EXPECT_EQ(seconds_of(of(2)), 1);
    EXPECT_THAT(of(2).notes, Contains(HasSubstr("not measured")));
    EXPECT_EQ(seconds_of(of(part, "7")), 7) << "chosen by people";
}

TEST(Plan, ACaseThatHangsMayCostWhatTheBudgetLeaves) {
    const auto usual = plan_of({.what = {"*"}}).cases.front().protocol.limit_seconds;
    for (const double seconds : {1.0, 30.0, 60.0}) {
        const auto plan = plan_of({.what = {"*"}, .budget_seconds = seconds});
        for (const auto& planned : plan.cases) {
            const auto& p = planned.protocol;
            EXPECT_LT(p.limit_seconds, usual);
            EXPECT_LE(p.limit_seconds,
                      20 + std::max(seconds, 2 * (p.warmup_seconds + p.budget_seconds)));
            EXPECT_GE(p.limit_seconds / 2, p.warmup_seconds + p.budget_seconds);
            EXPECT_GE(p.limit_seconds, 20); // set-up is not in the budget of a case
        }
    }
    const auto ample = plan_of({.what = {"*"}, .budget_seconds = 1e6});
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

TEST(Plan, ARangeIsEveryDoublingUpToWhatASymbolStandsFor) {
    PlanRequest request{.what = {"gemm.square[openblas]"},
                        .set = {"gemm.square.precision=fp32", "gemm.square.size=100..1000",
                                "gemm.square.threads=one..all"}};
    request.machine.usable_cores = 6;
    std::vector<std::string> sizes;
    std::vector<std::string> threads;
    for (const auto& planned : plan_of(request).cases) {
        const auto size = record::to_string(*record::find(planned.parameters, "size"));
        const auto workers = record::to_string(*record::find(planned.parameters, "threads"));
        if (workers == "all") sizes.push_back(size);
        if (size == "100") threads.push_back(workers);
    }
    EXPECT_THAT(sizes, ElementsAre("100", "200", "400", "800", "1000"));
    EXPECT_THAT(threads, ElementsAre("1", "2", "4", "all"));
}

TEST(Plan, ARangeMayHaveSeveralValuesInAnOctave) {
    const auto plan = plan_of(
        {.what = {"memory.copy"}, .set = {"memory.copy.bytes=4KiB..16KiB:4", "*.threads=one"}});
    EXPECT_THAT(values_of(plan, "bytes"), ElementsAre("4096", "5120", "6144", "7168", "8192",
                                                      "10240", "12288", "14336", "16384"));
}

TEST(Plan, ARangeThatIsNoneSaysWhatWouldBeRight) {
    for (const auto* range : {"8KiB..4KiB", "4KiB..8KiB:0", "4KiB..8KiB:x", "4KiB..8KiB:17"})
        EXPECT_THAT(error_of_copy(fmt::format("memory.copy.bytes={}", range)),
                    HasSubstr("write a range as in 8KiB..1GiB"))
            << range;
    EXPECT_THAT(error_of_copy("memory.copy.bytes=4KiB..lots"), HasSubstr("cannot be \"lots\""));
    EXPECT_THAT(error_of_copy("memory.copy.bytes=..4KiB"), HasSubstr("an end is missing"));
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
    const auto plan = plan_of({.what = {"gemm.square", "memory.copy", "peak.fma"}});
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
    const auto plan = made::plan_of(all, {.what = {"memory.copy", "peak.fma"}, .replicas = 5});
    for (const auto& planned : plan.cases) {
        const auto c = empty_case(planned);
        ASSERT_TRUE(c.spread);
        EXPECT_EQ(c.spread->replicas, 5);
        const bool memory = planned.benchmark->id == "memory.copy";
        EXPECT_EQ(c.spread->source, memory ? "memory" : "unknown");
        EXPECT_EQ(c.spread->degrees, memory ? 3 : 0) << "nothing is known of an undeclared kind";
        EXPECT_GE(c.spread->limit, planned.protocol.target);
    }
    EXPECT_THAT(plan.notes, Contains(AllOf(HasSubstr("not reach ±1%"), HasSubstr("(144)"))));
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
    const auto whole = plan_of({.what = {path.string()}});
    ASSERT_THAT(whole.cases, SizeIs(6));
    const auto budget_of = [](const Plan& plan, const char* id) {
        for (const auto& planned : plan.cases)
            if (planned.benchmark->id == id) return planned.protocol.budget_seconds;
        return 0.0;
    };
    EXPECT_DOUBLE_EQ(budget_of(whole, "memory.copy"), 0.04);
    EXPECT_DOUBLE_EQ(budget_of(whole, "peak.fma"), 10);
    EXPECT_DOUBLE_EQ(whole.cases.front().protocol.warmup_seconds, 0.5) << "the suite's";
    const auto cut = plan_of({.what = {path.string()}, .budget_seconds = 6});
    EXPECT_DOUBLE_EQ(budget_of(cut, "memory.copy"), 0.04);
    EXPECT_LT(budget_of(cut, "peak.fma"), 3);
    EXPECT_GT(budget_of(cut, "peak.fma"), 0.5);
}

TEST(PlanOfSuite, MayLastAsLongAsItSaysOrAsThreeReplicasTake) {
    const TemporaryFolder folder;
    const auto plan = [&](double most, PlanRequest request = {}) {
        request.what = {folder.write("timed.json", fmt::format(R"({{
            "schema": "assay.suite/1", "name": "timed", "description": "for a test",
            "replicas": 5, "most_seconds": {},
            "cases": [ {{ "benchmark": "peak.fma" }}, {{ "benchmark": "memory.copy" }} ] }})",
                                                               most))};
        return plan_of(request);
    };
    const double all = plan(1e4).expected_seconds;
    EXPECT_EQ(plan(1e4).fewest_replicas, 3);
    EXPECT_NEAR(plan(0.8 * all).expected_seconds, 0.8 * all, 1e-9);
    EXPECT_NEAR(plan(1).expected_seconds, 0.6 * all, 1e-9);
    EXPECT_NEAR(plan(1).most_seconds.value_or(0), 0.6 * all, 1e-9);
    const auto exact = plan(1, {.replicas = 5});
    EXPECT_NEAR(exact.expected_seconds, all, 1e-9);
    EXPECT_FALSE(exact.fewest_replicas || exact.most_seconds) << "exactly as many as asked for";
    EXPECT_FALSE(plan(1, {.budget_seconds = 1000}).most_seconds) << "the user's time counts";
    EXPECT_FALSE(plan(1, {.soak_seconds = 60}).most_seconds);
}

TEST(PlanOfSuite, CombinesListsAndLeavesOutLibrariesThatAreNotThere) {
    const TemporaryFolder folder;
    const auto plan = plan_of({.what = {folder.write("small.json", small_suite)}});
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
            "cases":[{"benchmark":"peak.fma"},{"benchmark":)" +
                                          text + "}]}");
    };
    for (const auto& [text, says] :
         {std::pair{R"("gemm.sqare")", "gemm.square"},
          {R"("gemm.sqare","library":"onednn")", "gemm.square"},
          {R"("peak.fma","parameters":{"thread":1})", "cases[1].parameters"},
          {R"("peak.fma","parameters":{"thread":1})", "threads"},
          {R"("peak.fma","parameters":{"threads":0})", "1 to 4096"},
          {R"("peak.fma","parameters":{"threads":1.5})", "1.5"},
          {R"("peak.fma","parameters":{"threads":18446744073709551615})", "18446744073709551615"}})
        EXPECT_THAT(error_of({.what = {with_case(text)}}),
                    AllOf(HasSubstr("x.json: cases[1]"), HasSubstr(says)));
    EXPECT_THAT(error_of({.what = {with_case(R"("peak.fma")"), "gemm.square"}}),
                HasSubstr("either one suite or benchmarks"));
}

// --- filters -----------------------------------------------------------------------------------------

/// The sizes of the products that are left, of 16 to 4096.
std::vector<std::string> sizes(const std::string& only, const std::string& exclude = "") {
    const auto all = catalogue();
    PlanRequest request{
        .what = {"gemm.square"},
        .set = {"gemm.square.size=16..4096", "gemm.square.threads=one", "*.precision=fp32"}};
    request.only = {only};
    if (!exclude.empty()) request.exclude = {exclude};
    const auto plan = make_plan(all, request);
    if (!plan) return {plan.error().message};
    std::vector<std::string> left;
    for (const auto& planned : plan->cases)
        if (planned.module->module == "openblas")
            left.push_back(record::to_string(*record::find(planned.parameters, "size")));
    return left;
}

TEST(Filter, RangesHaveOneEndOrTwo) {
    EXPECT_THAT(sizes("gemm.square size=1Ki.."), ElementsAre("1024", "2048", "4096"));
    EXPECT_THAT(sizes("gemm.square size=..63"), ElementsAre("16", "32"));
    EXPECT_THAT(sizes("gemm.square size=33..200"), ElementsAre("64", "128"));
    EXPECT_THAT(sizes("gemm size=16|4Ki..|64"), ElementsAre("16", "64", "4096"));
    EXPECT_THAT(sizes("openblas size=2048.. precision=fp32|fp64"), ElementsAre("2048", "4096"));
    EXPECT_THAT(sizes("*", "gemm.square size=32.."), ElementsAre("16"));
    EXPECT_THAT(sizes("gemm.square size=..1e9", "g* size=64.."), ElementsAre("16", "32"));
}

TEST(Filter, ASymbolCountsAsWhatItStandsFor) {
    const auto all = catalogue();
    const auto cases = [&](const std::string& only, int cores) {
        PlanRequest request{.what = {"memory.copy"}, .only = {only}};
        request.machine.usable_cores = cores;
        const auto plan = make_plan(all, request);
        return plan ? plan->cases.size() : 0;
    };
    EXPECT_EQ(cases("memory.copy threads=1..", 8), 2U) << "one and all";
    EXPECT_EQ(cases("memory.copy threads=5..", 8), 1U) << "all are 8";
    EXPECT_EQ(cases("memory.copy threads=5..", 4), 0U);
    EXPECT_EQ(cases("memory.copy threads=one", 4), 1U);
}

TEST(Filter, AMistakeIsNamedWithWhatWouldBeRight) {
    const auto message = [](const std::string& text) { return sizes(text).at(0); };
    EXPECT_THAT(message("gemm.sqare size=1.."),
                AllOf(HasSubstr("--only"), HasSubstr("gemm.square")));
    EXPECT_THAT(message("gemm.square sze=1.."), AllOf(HasSubstr("sze"), HasSubstr("\"size\"")));
    EXPECT_THAT(message("gemm.square size"), HasSubstr("PARAMETER=VALUES"));
    EXPECT_THAT(message("gemm.square size="), HasSubstr("PARAMETER=VALUES"));
    EXPECT_THAT(message("gemm.square =3"), HasSubstr("no parameter"));
    EXPECT_THAT(message("gemm.square size=9..3"), HasSubstr("9..3"));
    EXPECT_THAT(message("gemm.square size=1Kx.."), AllOf(HasSubstr("1Kx"), HasSubstr("Ki")));
    EXPECT_THAT(message("gemm.square size=1||2"), HasSubstr("size cannot be"));
    EXPECT_THAT(message("gemm.square precision=fp63"), HasSubstr("did you mean fp64"));
    EXPECT_THAT(message("gemm.square precision=a..b"), HasSubstr("precision cannot be"));
    EXPECT_THAT(message(" "), HasSubstr("invalid benchmark"));
}

TEST(Filter, WhatIsLeftOutEntirelyIsNotForSet) {
    const auto all = catalogue();
    PlanRequest request{.what = {"*"}, .set = {"gemm.square.size=64"}, .exclude = {"gemm"}};
    EXPECT_THAT(make_plan(all, request), Fails(HasSubstr("does not measure gemm.square")));
    request.exclude = {"gemm size=64.."};
    const auto plan = valid(make_plan(all, request));
    for (const auto& planned : plan->cases) EXPECT_NE(planned.benchmark->id, "gemm.square");
}

} // namespace
