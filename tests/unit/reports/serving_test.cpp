// SPDX-License-Identifier: Apache-2.0
//
// Sweeps over batches as a service: who belongs to a series, and the batch that a bound of p99 allows.
#include "document/language.hpp"
#include "rendered.hpp"
#include "report/serving.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace assay::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

record::Case decoding(std::int64_t batch, double seconds, std::optional<double> p99,
                      const char* precision = "bf16") {
    record::Case c{.benchmark = "workload.attention",
                   .place = {.kind = "host"},
                   .library = "host",
                   .parameters = {{"batch", batch}, {"precision", precision}},
                   .headline = "bandwidth",
                   .status = record::Status::ok};
    c.metrics = {{.name = "bandwidth", .unit = "B/s", .value = 1e9},
                 {.name = "time",
                  .unit = "s",
                  .higher_is_better = false,
                  .value = seconds,
                  .median = seconds * 0.9,
                  .p99 = p99}};
    return c;
}

/// Batches of 1, 4 and 16 in bf16: 500, 1000 and 800 queries a second.
record::Run sweep() {
    return {.cases = {decoding(16, 0.02, 0.030), decoding(1, 0.002, 0.003),
                      decoding(4, 0.004, 0.008), decoding(1, 0.001, 0.002, "int8")}};
}

TEST(Serving, ASeriesHasCasesThatDifferInTheirBatch) {
    const auto serving = find_serving(sweep(), {});
    ASSERT_THAT(serving.series, SizeIs(1)) << "one batch in int8 is no series";
    const auto& batches = serving.series[0].batches;
    ASSERT_THAT(batches, SizeIs(3));
    EXPECT_EQ(batches[0].batch, 1);
    EXPECT_EQ(batches[2].batch, 16);
    EXPECT_DOUBLE_EQ(batches[1].queries, 1000);
    EXPECT_DOUBLE_EQ(batches[1].p50, 0.0036);
    EXPECT_EQ(batches[1].p99, 0.008);
}

TEST(Serving, TheBestBatchHasMostQueriesWithinTheBound) {
    const auto series = find_serving(sweep(), {}).series.at(0);
    const auto best = [&](double bound) {
        const auto* found = best_within(series, bound);
        return found == nullptr ? 0 : found->batch;
    };
    EXPECT_EQ(best(0.0029), 0);
    EXPECT_EQ(best(0.003), 1);
    EXPECT_EQ(best(0.008), 4);
    EXPECT_EQ(best(1), 4) << "16 at once are slower";
}

TEST(Serving, WhoseP99IsUnknownIsWithinNoBound) {
    auto run = sweep();
    run.cases[2] = decoding(4, 0.004, {});
    const auto series = find_serving(run, {}).series.at(0);
    EXPECT_EQ(best_within(series, 1)->batch, 16);
    for (auto& c : run.cases) c.metrics[1].p99.reset();
    EXPECT_THAT(find_serving(run, {}).series, IsEmpty()) << "batches of several calls have none";
}

TEST(Serving, WrongCasesAreNoPartOfIt) {
    auto run = sweep();
    run.cases[0].status = record::Status::incorrect;
    EXPECT_THAT(find_serving(run, {}).series.at(0).batches, SizeIs(2));
}

TEST(Serving, TheSectionAnswersOnlyWhatIsAsked) {
    const auto text = [](std::optional<double> bound) {
        ReportOptions options;
        options.p99 = bound;
        return write::to_terminal(test::document_of(sweep(), options), {});
    };
    EXPECT_THAT(text({}), AllOf(HasSubstr("Latency and throughput by batch"),
                                HasSubstr("queries per second"), Not(HasSubstr("within 20"))));
    EXPECT_THAT(text(0.02), AllOf(HasSubstr("at most 1.00 kqueries/s with p99 within 20.0 ms"),
                                  HasSubstr("batches of 4 (p99 8.00 ms)")));
    EXPECT_THAT(text(0.001), AllOf(HasSubstr("no batch has its p99 within 1.00 ms"),
                                   HasSubstr("3.00 ms, in batches of 1.")));
    use_language(Language::zh);
    EXPECT_THAT(text(0.02), HasSubstr("在 p99 不超过"));
    use_language(Language::en);
}

TEST(Serving, ABoundWithoutASeriesIsAnswered) {
    EXPECT_FALSE(serving_section(find_serving({}, {})));
    EXPECT_TRUE(serving_section(find_serving({}, 0.02)));
}

} // namespace
} // namespace assay::report
