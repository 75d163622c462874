// SPDX-License-Identifier: Apache-2.0
//
// Results of HPL, HPL-MxP, HPCG, IOR, mdtest, llama-bench, vLLM and MLPerf as runs: a failed check gives no
// value, a test that did not run gives none either, and rates follow from amounts and times.

#include "decide/check.hpp"
#include "import/figures.hpp"
#include "imports.hpp"
#include "record/convert.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace assay::imports {
namespace {

using record::Status;
using namespace testing;

TEST(ImportFigures, NumbersAreKnownToTheirLastDigit) {
    const auto rate = printed_of("4.089e+04", 1e9).value();
    EXPECT_DOUBLE_EQ(rate.value, 4.089e13);
    EXPECT_DOUBLE_EQ(rate.half_digit, 5e9);
    EXPECT_DOUBLE_EQ(printed_of("12.30")->half_digit, 0.005);
    EXPECT_DOUBLE_EQ(printed_of("17")->half_digit, 0.5);
    for (const char* wrong : {"", "x", "nan", "1e999", "1.5.", "1e+"})
        EXPECT_FALSE(printed_of(wrong)) << wrong;
}

constexpr auto hpl = "hpl.linpack[hpl]@unknown n=20000 nb=192 p=2 q=4 variant=WR11C2R4";

TEST(ImportHpl, RowsOfOneCaseAreValuesAndAFailedResidualIsIncorrect) {
    const auto import = imported("written_hpl.txt");
    ASSERT_EQ(import.run.cases.size(), 2U);
    const auto& c = only(import.run, hpl);
    ASSERT_EQ(c.replicas.size(), 1U);
    ASSERT_EQ(c.replicas[0].values.size(), 2U);
    // 4.3225e+02 has five digits, 12.34 has four: the rate says more.
    const double flops = (2.0 / 3.0 * 20000 + 1.5) * 20000.0 * 20000.0;
    EXPECT_NEAR(c.replicas[0].values[0], flops / 432.25e9, 1e-9);
    EXPECT_NEAR(value(c, "flop_rate"), 429.4e9, 0.2e9);
    EXPECT_EQ(c.headline, "flop_rate");
    EXPECT_TRUE(c.verification && c.verification->passed);
    EXPECT_EQ(c.verification->bound, 16.0);
    EXPECT_THAT(c.warnings, ElementsAre(HasSubstr("checked by hpl itself")));
    const auto& wrong = import.run.cases[1];
    EXPECT_EQ(wrong.status, Status::incorrect);
    EXPECT_TRUE(wrong.metrics.empty()) << "a failed residual gives no value";
    EXPECT_EQ(import.run.started, "2026-01-31T12:34:56Z");
    EXPECT_EQ(import.run.ended, "2026-01-31T12:59:00Z");
    EXPECT_EQ(import.run.imported->tool_version, "2.3");
    EXPECT_EQ(imported("written_hpl.txt", {.started = "2026-06-01"}).run.ended, "")
        << "it would have ended before it began";
    EXPECT_THAT(import.unknown, Contains("--place")) << "HPL looks alike on hosts and devices";
    EXPECT_THAT(import.not_understood, IsEmpty());
}

TEST(ImportHpl, WhatIsCutOrContradictsItselfIsNoResult) {
    const auto text = file("written_hpl.txt");
    const auto cut = text.substr(0, text.find("||Ax-b||_oo/(eps*("));
    EXPECT_THAT(refusal(cut), HasSubstr("its residual is missing"));
    // 20 GFLOP/s in 12.34 s are not this system's operations.
    const auto odd = run_of(changed(text, "4.3225e+02", "2.0000e+01"));
    EXPECT_THAT(odd.imported->notes, Contains(HasSubstr("does not match its amount")));
    // A residual above the threshold that it states cannot be PASSED.
    const auto lie =
        run_of(changed(text, "3.10000000e-03 ...... PASSED", "1.70000000e+01 ...... PASSED"));
    EXPECT_EQ(only(lie, hpl).status, Status::incorrect);
    const auto nan = run_of(changed(text, "3.10000000e-03 ...... PASSED", "nan ...... PASSED"));
    EXPECT_EQ(only(nan, hpl).status, Status::incorrect);
    EXPECT_THAT(unread(changed(text, " 20000   192 ", " 20000     0 ")),
                Contains(Field(&NotUnderstood::reason, "invalid nb (expected a positive number)")));
}

TEST(ImportHpl, RatesOfNvidiaStandInFrontOfThoseOfOneDevice) {
    const auto import = imported("written_hpl-nvidia.txt");
    const auto& c = only(import.run, "hpl.linpack[hpl]@cuda n=92160 nb=1024 p=2 q=1 variant=WC0");
    const double flops = (2.0 / 3.0 * 92160 + 1.5) * 92160.0 * 92160.0;
    EXPECT_NEAR(value(c, "flop_rate"), flops / 11.73, 0.001 * flops / 11.73);
    EXPECT_EQ(import.run.imported->tool_version, "25.2.0");
}

TEST(ImportHpl, MixedPrecisionOfThreePrograms) {
    const auto import = imported("written_hpl-mxp.txt");
    const auto& c =
        only(import.run, "hpl-mxp.linpack[hpl-mxp]@cuda n=180224 nb=2048 p=2 q=2 sloppy_type=1");
    EXPECT_NEAR(value(c, "flop_rate"), 3.1234e14, 1e9);
    EXPECT_FALSE(has(c, "time")) << "the block has none";
    EXPECT_NEAR(value(import.run,
                      "hpl-mxp.factorization[hpl-mxp]@cuda n=180224 nb=2048 p=2 q=2 sloppy_type=1",
                      "flop_rate"),
                8.4567e14, 1e9);
    for (const char* name : {"linpack", "factorization"})
        EXPECT_EQ(only(import.run,
                       fmt::format(
                           "hpl-mxp.{}[hpl-mxp]@cuda n=200704 nb=2048 p=2 q=2 sloppy_type=1", name))
                      .status,
                  Status::incorrect);
    EXPECT_EQ(import.run.cases.size(), 4U);
    const auto reference = imported("written_hpl-ai.txt");
    const auto& r = only(reference.run, "hpl-mxp.linpack[hpl-mxp]@unknown n=2000");
    EXPECT_NEAR(value(r, "time"), 0.5191, 1e-6) << "0.519 s has three digits, the rate more";
    EXPECT_TRUE(r.verification && r.verification->passed);
    const auto amd = imported("written_hpl-mxp-amd.txt");
    EXPECT_NEAR(
        value(amd.run, "hpl-mxp.linpack[hpl-mxp]@hip n=122880 nb=2560 p=1 q=1 variant=WR0", "time"),
        9.87, 0.01);
}

constexpr auto hpcg = "hpcg.rating[hpcg]@unknown nx=208 ny=208 nz=208 ranks=8 threads=4";

TEST(ImportHpcg, RatingBandwidthAndKernels) {
    const auto import = imported("written_hpcg.txt");
    EXPECT_EQ(import.run.cases.size(), 6U);
    const auto& c = only(import.run, hpcg);
    EXPECT_NEAR(value(c, "flop_rate"), 14.4213e9, 1);
    EXPECT_NEAR(value(c, "bandwidth"), 109.2e9, 1);
    EXPECT_TRUE(c.verification && c.verification->passed);
    EXPECT_NEAR(value(import.run, "hpcg.spmv[hpcg]@unknown nx=208 ny=208 nz=208 ranks=8 threads=4",
                      "flop_rate"),
                14.7e9, 1);
    EXPECT_THAT(import.run.imported->notes, Contains(HasSubstr("less than 1800 s")));
}

TEST(ImportHpcg, WhatIsInvalidHasNoValue) {
    const auto text = file("written_hpcg.txt");
    const auto failed = run_of(changed(text, "Iteration Count Information::Result=PASSED",
                                       "Iteration Count Information::Result=FAILED"));
    for (const auto& c : failed.cases) EXPECT_EQ(c.status, Status::incorrect);
    const auto invalid = run_of(changed(
        text, "HPCG result is VALID with a GFLOP/s rating of=14.4213", "HPCG result is=INVALID."));
    EXPECT_EQ(only(invalid, hpcg).status, Status::incorrect);
    // The end is missing: nobody said that it is valid.
    const auto cut = run_of(text.substr(0, text.find("Final Summary=")));
    EXPECT_EQ(only(cut, hpcg).verification, std::nullopt);
    EXPECT_THAT(unread(changed(text, "Raw SpMV=14.7", "Raw SpMV=nan")), SizeIs(1));
}

constexpr auto ior = "ior.write[ior] api=POSIX tasks=16 tasks_per_node=8 file_per_process=1 "
                     "segments=4 block_bytes=16777216 transfer_bytes=1048576";

TEST(ImportIor, RepetitionsAreValuesInTextAndJson) {
    const auto text = imported("written_ior.txt");
    const auto json = imported("written_ior.json");
    for (const auto* import : {&text, &json}) {
        ASSERT_EQ(import->run.cases.size(), 2U);
        const auto& c = only(import->run, ior);
        EXPECT_THAT(c.replicas.at(0).values,
                    ElementsAre(DoubleNear(0.9412, 1e-4), DoubleNear(0.9530, 1e-4),
                                DoubleNear(0.9475, 1e-4)));
        EXPECT_NEAR(value(c, "bandwidth"), 0x1p30 / 0.9472, 1e5);
        EXPECT_NEAR(value(c, "best_bandwidth"), 0x1p30 / 0.9412, 1e5);
        EXPECT_NEAR(value(c, "worst_bandwidth"), 0x1p30 / 0.9530, 1e5);
        EXPECT_NEAR(value(c, "file_operation_rate"), 1024 / 0.9472, 0.2);
        EXPECT_EQ(import->run.started, "2026-01-31T12:34:56Z");
        EXPECT_EQ(import->run.imported->tool_version, "3.3.0");
        EXPECT_THAT(import->not_understood, IsEmpty());
        EXPECT_EQ(record::to_string(*record::find(c.settings, "repetitions")), "3");
    }
    EXPECT_EQ(text.run.machine.id, json.run.machine.id) << "node7";
    EXPECT_EQ(text.run.machine.id, imported("written_nccl.json").run.machine.id);
}

TEST(ImportIor, WithoutASummaryOrWithATimeLimitThereAreNoAmounts) {
    const auto text = file("written_ior.txt");
    // The options say what was asked, too.
    EXPECT_EQ(record::identity(run_of(text.substr(0, text.find("Summary of all tests"))).cases[0]),
              std::string{"external."} + ior);
    EXPECT_THAT(
        refusal(changed(text.substr(0, text.find("Summary of all tests")), "blocksize", "size")),
        HasSubstr("missing in \"Summary of all tests\""));
    // 900 of 1024 MiB: each repetition moved another amount.
    const auto stopped = run_of(changed(text, "1024.0 POSIX", " 900.0 POSIX"));
    const auto& c = only(stopped, ior);
    EXPECT_FALSE(has(c, "time"));
    EXPECT_NEAR(value(c, "bandwidth"), 1081.11 * 0x1p20, 1e5) << "the mean, as printed";
    const auto random = run_of(changed(text, "sequential", "random    "));
    EXPECT_EQ(record::identity(random.cases[0]), std::string{"external."} + ior + " order=random");
    EXPECT_THAT(unread(changed(text, "1024.0 POSIX", "1024.0 x POSIX")),
                Contains(Field(&NotUnderstood::reason, HasSubstr("values under"))));
}

TEST(ImportIor, AnEndBeforeTheStartIsLeftOut) {
    const auto run = run_of(changed(file("written_ior.txt"), "Jan 31 12:35:10", "Jan 31 11:35:10"));
    EXPECT_EQ(run.started, "2026-01-31T12:34:56Z");
    EXPECT_EQ(run.ended, "");
    EXPECT_THAT(decide::check_summaries(run), IsEmpty());
}

TEST(ImportMdtest, PhasesThatWereNotRunAreNoZero) {
    const auto import = imported("written_mdtest.txt");
    ASSERT_EQ(import.run.cases.size(), 4U) << "reading was not asked for";
    const auto& c = only(import.run, "mdtest.file_creation[mdtest] tasks=8 nodes=2 items=8000 "
                                     "api=POSIX depth=0 read_bytes=4096 write_bytes=4096");
    EXPECT_EQ(c.headline, "file_operation_rate");
    EXPECT_NEAR(value(c, "file_operation_rate"), 2893.686, 1e-9);
    EXPECT_NEAR(value(c, "best_file_operation_rate"), 2943.697, 1e-9);
    EXPECT_NEAR(value(c, "worst_file_operation_rate"), 2843.674, 1e-9);
    EXPECT_EQ(c.metrics[0].unit, "operations/s");
    EXPECT_TRUE(c.metrics[0].higher_is_better);
    EXPECT_THAT(import.run.imported->notes, Contains(HasSubstr("they were not run")));
    EXPECT_EQ(import.run.started, "2026-01-31T12:34:56Z");
    EXPECT_EQ(record::to_text(import.run).find("somebody"), std::string::npos) << "a path";
    EXPECT_THAT(unread(changed(file("written_mdtest.txt"), "2893.686", "3893.686")),
                Contains(Field(&NotUnderstood::reason, HasSubstr("between its extremes"))));
}

TEST(ImportLlamaBench, EachFormatSaysTheSame) {
    const std::string of =
        "llama-bench.prompt[llama-bench]@cuda model=llama 8B Q4_K - Medium n_prompt=512 "
        "n_batch=2048 n_ubatch=512 type_k=f16 type_v=f16 n_gpu_layers=99 split_mode=layer";
    const auto json = imported("written_llama-bench.json");
    const auto& c = only(json.run, of);
    EXPECT_EQ(c.replicas.at(0).values.size(), 5U);
    EXPECT_EQ(c.headline, "token_rate");
    EXPECT_NEAR(value(c, "token_rate"), 512 / 45.935580e-3, 0.1);
    EXPECT_EQ(c.metrics[0].unit, "tokens/s");
    EXPECT_EQ(c.metrics[0].interval_scope, record::IntervalScope::within_process);
    EXPECT_NE(record::find(c.settings, "n_threads"), nullptr) << "of a host that does nothing";
    EXPECT_EQ(json.run.imported->tool_version, "5163 (8a1b2c3d)");
    EXPECT_EQ(json.run.machine.cpu_model, "Some Processor, 64-Core");
    EXPECT_EQ(record::to_text(json.run).find("somebody"), std::string::npos) << "a path";
    const auto csv = imported("written_llama-bench.csv");
    EXPECT_NEAR(value(csv.run, of, "token_rate"), value(c, "token_rate"), 0.1);
    EXPECT_EQ(csv.run.imported->format, "CSV");
    const auto lines = imported("written_llama-bench.jsonl");
    EXPECT_NEAR(value(lines.run, of, "token_rate"), value(c, "token_rate"), 1e-6);
    EXPECT_THAT(lines.run.cases.at(1).benchmark, HasSubstr("prompt_and_generation"));
    const auto table = imported("written_llama-bench.md");
    ASSERT_EQ(table.run.cases.size(), 4U);
    EXPECT_NEAR(value(table.run.cases[0], "token_rate"), value(c, "token_rate"), 15)
        << "a mean of rates";
    EXPECT_EQ(record::to_string(*record::find(table.run.cases[2].parameters, "n_depth")), "4096");
    EXPECT_EQ(table.run.imported->tool_version, "5163 (8a1b2c3d)");
    EXPECT_THAT(table.run.imported->notes, Contains(HasSubstr("-o json")));
}

TEST(ImportLlamaBench, ARateThatDoesNotFollowIsRefused) {
    const auto text = file("written_llama-bench.json");
    EXPECT_THAT(unread(changed(text, "\"n_gen\": 128", "\"n_gen\": 512")),
                ElementsAre(Field(&NotUnderstood::reason, HasSubstr("do not match"))));
    EXPECT_THAT(unread(changed(text, "\"n_gen\": 128", "\"n_gen\": 0")),
                ElementsAre(Field(&NotUnderstood::reason, HasSubstr("neither prompt nor"))));
    EXPECT_THAT(refusal(text.substr(0, text.size() / 2)), StartsWith("it.txt:"));
    EXPECT_THAT(
        unread(changed(file("written_llama-bench.md"), "|  1 |           pp512 |", "|  1 |")),
        ElementsAre(Field(&NotUnderstood::reason, HasSubstr("values under"))));
}

TEST(ImportVllm, RatesAndTimesOfAServer) {
    const auto import = imported("written_vllm.json");
    ASSERT_EQ(import.run.cases.size(), 1U);
    const auto& c = import.run.cases[0];
    EXPECT_EQ(record::identity(c),
              "external.vllm.serve[vllm]@unknown model=some/model-8B backend=openai prompts=200 "
              "request_rate=inf concurrency=64 input_tokens=204800");
    EXPECT_NEAR(value(c, "token_rate"), 25600 / 25.5, 1e-6);
    EXPECT_NEAR(value(c, "total_token_rate"), 230400 / 25.5, 1e-6);
    EXPECT_NEAR(value(c, "request_rate"), 200 / 25.5, 1e-9);
    EXPECT_NEAR(value(c, "first_token_time"), 61.5e-3, 1e-12);
    EXPECT_NEAR(value(c, "token_time_p50"), 10.8e-3, 1e-12);
    EXPECT_NEAR(value(c, "inter_token_time_p99"), 19.8e-3, 1e-12);
    for (const auto& metric : c.metrics)
        EXPECT_EQ(metric.higher_is_better, metric.name.ends_with("_rate")) << metric.name;
    EXPECT_EQ(import.run.started, "2026-01-31T12:34:56Z");
    EXPECT_THAT(import.unknown, Contains("--place"));
}

TEST(ImportVllm, SeveralResultsAndRequestsThatFailed) {
    const auto import = imported("written_vllm.jsonl");
    ASSERT_EQ(import.run.cases.size(), 2U);
    EXPECT_EQ(import.run.cases[0].replicas.size(), 2U);
    EXPECT_EQ(import.run.cases[1].status, Status::failed);
    EXPECT_EQ(import.run.cases[1].reason, "198 of 200 requests were completed");
    EXPECT_THAT(import.run.imported->notes, Contains(HasSubstr("p99.9_ttft_ms")));
    const auto text = file("written_vllm.json");
    EXPECT_THAT(refusal(changed(text, "\"completed\": 200", "\"completed\": 0")),
                HasSubstr("no request was completed"));
    EXPECT_THAT(refusal(changed(text, "\"duration\": 25.5", "\"duration\": 51.0")),
                HasSubstr("does not match"));
}

TEST(ImportMlperf, ScenariosOfInference) {
    const auto import = imported("written_mlperf-inference.txt");
    ASSERT_EQ(import.run.cases.size(), 4U);
    const auto& offline = import.run.cases[0];
    EXPECT_EQ(record::identity(offline),
              "external.mlperf-inference.offline[mlperf-inference]@unknown");
    EXPECT_NEAR(value(offline, "sample_rate"), 107.28, 1e-9);
    EXPECT_NEAR(value(offline, "token_rate"), 31313.2, 1e-9);
    EXPECT_FALSE(has(offline, "latency")) << "of queries that were all sent at the start";
    const auto& server = import.run.cases[1];
    EXPECT_NEAR(value(server, "sample_rate"), 98.19, 1e-9) << "the result, not what else is said";
    EXPECT_NEAR(value(server, "first_token_time_p99"), 0.39, 1e-12);
    const auto& single = import.run.cases[2];
    EXPECT_EQ(single.headline, "latency_p90");
    EXPECT_NEAR(value(single, "latency_p90"), 0.025, 1e-12);
    EXPECT_NEAR(value(single, "latency_p999"), 0.042, 1e-12);
    const auto& multi = import.run.cases[3];
    EXPECT_EQ(multi.status, Status::incorrect);
    EXPECT_TRUE(multi.metrics.empty()) << "INVALID gives no result";
    EXPECT_THAT(multi.verification->detail, HasSubstr("Min duration"));
    const auto named = imported("written_mlperf-inference.txt",
                                {.parameters = {{"model", std::string{"resnet50"}}}});
    EXPECT_THAT(record::identity(named.run.cases[0]), HasSubstr("model=resnet50"));
    EXPECT_THAT(named.run.imported->notes, IsEmpty());
}

TEST(ImportMlperf, AnAccuracyRunOrACutSummaryIsNoPerformance) {
    const auto text = file("written_mlperf-inference.txt");
    const auto one = text.substr(0, text.find("No warnings"));
    EXPECT_THAT(refusal(changed(one, "PerformanceOnly", "AccuracyOnly")),
                HasSubstr("has no performance"));
    EXPECT_THAT(refusal(one.substr(0, one.find("Result is"))), HasSubstr("VALID or INVALID"));
    EXPECT_THAT(refusal(one.substr(0, one.find("Samples per"))), HasSubstr("may be incomplete"));
}

TEST(ImportMlperf, ATrainingIsTheTimeToItsTarget) {
    const auto import = imported("written_mlperf-training.txt");
    ASSERT_EQ(import.run.cases.size(), 2U);
    const auto& c = only(
        import.run, "mlperf-training.llama31_8b[mlperf-training]@unknown global_batch_size=32");
    ASSERT_EQ(c.replicas.size(), 2U);
    EXPECT_NEAR(*c.replicas[0].seconds, 4321.5, 1e-9);
    EXPECT_NEAR(value(c, "time"), 4325.9, 0.1);
    EXPECT_EQ(import.run.started, "2026-01-31T12:34:56Z");
    const auto& aborted = import.run.cases[1];
    EXPECT_EQ(aborted.status, Status::failed);
    EXPECT_THAT(aborted.reason, HasSubstr("run_stop says aborted"));
    const auto text = file("written_mlperf-training.txt");
    EXPECT_THAT(refusal(text.substr(0, text.find("\"run_stop\"") - 90)),
                HasSubstr("ends before run_stop"));
}

} // namespace
} // namespace assay::imports
