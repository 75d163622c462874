// SPDX-License-Identifier: Apache-2.0
//
// What a comparison of fixed figures looks like: two sides with one of everything, and three sides.

#include "compare/document.hpp"
#include "document/language.hpp"
#include "exchange/comparison_data.hpp"
#include "expect_golden.hpp"
#include "latin.hpp"
#include "support/collection_maker.hpp"
#include "write/markdown.hpp"
#include "write/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::report {
namespace {

using test::expect_golden;
using test::gemm;

void observe_old(test::CollectionMaker& maker, std::uint32_t run, double level) {
    maker.observe(run, gemm("openblas", 1024), {5.00e11 * level, 5.02e11 * level, 4.99e11 * level});
    maker.observe(run, gemm("onednn", 1024, "fp32"),
                  {9.1e11 * level, 9.12e11 * level, 9.09e11 * level});
    maker.observe(run, gemm("openblas", 1024, "fp32"),
                  {9.4e11 * level, 9.41e11 * level, 9.38e11 * level});
    auto& triad = maker.observe(run, test::triad(), {2.61e10 * level, 2.55e10, 2.66e10});
    triad.ceiling = 3.2e10;
    triad.status = record::Status::unstable;
    maker.observe(run, test::latency(65536), {3.9e-9, 3.91e-9 / level, 3.89e-9});
}

/// Two runs of an old machine and two of a new one.
Collection collection() {
    test::CollectionMaker maker;
    for (const double level : {1.0, 1.003}) {
        const auto run =
            maker.run({.label = "c6a.large", .instance = "c6a.large", .cpu = "EPYC 7R13"});
        observe_old(maker, run, level);
        maker.observe(run, gemm("openblas", 512), {4.4e11, 4.41e11});
        maker.observe(
            run, test::series_of("fft.one", "fftw", {{"size", std::int64_t{4096}}}, "flop_rate"),
            {2e10, 2.01e10 * level});
    }
    for (const double level : {1.0, 0.998}) {
        const auto run = maker.run({.label = "c7a.large <b>",
                                    .machine = "m-2",
                                    .instance = "c7a.large",
                                    .started = "2026-02-11T08:00:00Z",
                                    .cpu = "EPYC 9R14"});
        maker.observe(run, gemm("openblas", 1024), {6.1e11 * level, 6.12e11, 6.08e11 * level});
        maker.observe(run, gemm("onednn", 1024, "fp32"), {1.31e12 * level, 1.30e12, 1.32e12});
        maker.observe(run, gemm("openblas", 1024, "fp32"), {1.22e12 * level, 1.23e12, 1.21e12});
        maker.observe(run, test::triad(), {2.7e10 * level, 2.58e10, 2.63e10}).ceiling = 3.6e10;
        maker.observe(run, test::latency(65536), {4.4e-9 / level, 4.41e-9, 4.39e-9});
        maker.observe(run, gemm("openblas", 2048), {6.3e11, 6.31e11});
        maker.fail(run,
                   test::series_of("fft.one", "fftw", {{"size", std::int64_t{4096}}}, "flop_rate"),
                   record::Status::incorrect, "error 3.1 is above the bound 0.5");
    }
    maker.collection().problems.push_back(
        {"results/9/run.json", "not JSON (A string is opened, but never closed.)"});
    return maker.collection();
}

Comparison comparison() { return *compare(collection()); }

std::string in_terminal(const Comparison& comparison, const Terminal& style = {}) {
    return write::to_terminal(std::vector{make_document(comparison)}, style);
}

TEST(CompareGolden, Terminal) { expect_golden("compare.txt", in_terminal(comparison())); }

TEST(CompareGolden, InChineseNothingIsEnglish) {
    use_language(Language::zh);
    EXPECT_THAT(test::latin_sentences(std::vector{make_document(comparison())}),
                testing::IsEmpty());
    use_language(Language::en);
}

TEST(CompareGolden, NarrowTerminalInColour) {
    expect_golden("compare-narrow.txt", in_terminal(comparison(), {.width = 64, .colour = true}));
}

TEST(CompareGolden, Markdown) {
    expect_golden("compare.md", write::to_markdown(std::vector{make_document(comparison())}));
}
TEST(CompareGolden, Csv) { expect_golden("compare.csv", to_csv(comparison())); }
TEST(CompareGolden, Json) {
    auto without = comparison();
    without.questions.clear(); // have the format of `tables`
    test::expect_golden_json("compare.json", to_json(without));
}

} // namespace
} // namespace assay::report
