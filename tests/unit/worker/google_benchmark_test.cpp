// SPDX-License-Identifier: Apache-2.0

#include "fakes.hpp"
#include "worker/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>

namespace assay::measure {
namespace {

std::int64_t resident_pages() {
    std::ifstream file{"/proc/self/statm"};
    std::int64_t size = 0;
    std::int64_t resident = 0;
    file >> size >> resident;
    return resident;
}

TEST(GoogleBenchmark, ReportsTheSecondsOfTheSample) {
    FakeClock clock;
    std::mt19937_64 random{1};
    std::uniform_real_distribution<> exponents{-9, 3};
    FakeSubject subject{clock, [&] { return std::pow(10, exponents(random)); }};
    for (const std::uint64_t calls : {1ULL, 2ULL, 1000ULL, 1'000'000'000'000ULL}) {
        const Result<double> seconds = google_benchmark().run(subject, calls);
        ASSERT_TRUE(seconds);
        EXPECT_EQ(*seconds, subject.batch_seconds.back());
        EXPECT_EQ(subject.batch_calls.back(), calls);
    }
    EXPECT_EQ(subject.count("sample"), 4); // once for every batch
}

TEST(GoogleBenchmark, TenThousandBatchesNeitherLeakNorSlowDown) {
    FakeClock clock;
    FakeSubject subject{clock, [] { return 1e-6; }};
    const auto thousand = [&] {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 1000; ++i) EXPECT_TRUE(google_benchmark().run(subject, 7));
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    subject.steps.reserve(20'000);
    subject.batch_calls.reserve(20'000);
    subject.batch_seconds.reserve(20'000);
    const double first = std::min(thousand(), thousand());
    const std::int64_t before = resident_pages();
    for (int i = 0; i < 6; ++i) thousand();
    const double last = std::min(thousand(), thousand());
    EXPECT_EQ(subject.batch_calls.size(), 10'000U);
    RecordProperty("microseconds_per_batch", std::to_string(first * 1e3));
    // If earlier batches ran again the last thousand would take nine times as long.
    EXPECT_LT(last, 3 * first);
    // 8000 leaked registrations of some 500 bytes would be 1000 pages. The sanitizer's allocator
    // holds freed memory back, up to 256 MiB, and finds leaks by itself.
#if defined(__SANITIZE_ADDRESS__)
    constexpr std::int64_t most_pages = 65536;
#else
    constexpr std::int64_t most_pages = 250;
#endif
    EXPECT_LT(resident_pages() - before, most_pages);
}

TEST(GoogleBenchmark, AFailingSampleIsAnErrorAndNothingMore) {
    FakeClock clock;
    FakeSubject subject{clock, [] { return 1e-6; }};
    subject.fail_at = {"sample", 2};
    EXPECT_TRUE(google_benchmark().run(subject, 100));
    const Result<double> broken = google_benchmark().run(subject, 100);
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().message, "sample broke");
    EXPECT_TRUE(google_benchmark().run(subject, 100));
}

TEST(GoogleBenchmark, RefusesNumbersThatWouldEndTheProcess) {
    FakeClock clock;
    FakeSubject subject{clock, [] { return 1e-6; }};
    EXPECT_FALSE(google_benchmark().run(subject, 0));
    EXPECT_FALSE(google_benchmark().run(subject, std::numeric_limits<std::uint64_t>::max()));
    EXPECT_EQ(subject.count("sample"), 0);
}

TEST(GoogleBenchmark, PrintsNothing) {
    FakeClock clock;
    FakeSubject subject{clock, [] { return 1e-6; }};
    subject.fail_at = {"sample", 3};
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    for (int i = 0; i < 5; ++i) {
        const Result<double> seconds = google_benchmark().run(subject, 3);
        EXPECT_EQ(seconds.has_value(), i != 2);
    }
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(GoogleBenchmark, MeasuresAWholeCase) {
    FakeClock clock;
    std::mt19937_64 random{1};
    std::normal_distribution<> noise{1, 0.05};
    FakeSubject subject{clock, [&] { return 1e-4 * noise(random); }};
    const Team alone;
    const Measurement result = measure(subject, Protocol{}, clock, google_benchmark(), alone, {});
    EXPECT_EQ(result.replica.status, record::Status::ok) << result.replica.reason;
    EXPECT_NEAR(*result.replica.seconds, 1e-4, 1e-6);
}

TEST(SteadyClock, MovesForwardAndKnowsItself) {
    Clock& clock = steady_clock();
    const double first = clock.now();
    double second = clock.now();
    for (int i = 0; i < 1000; ++i) second = clock.now();
    EXPECT_GT(second, first);
    EXPECT_GT(clock.read_cost(), 0);
    EXPECT_LT(clock.read_cost(), 1e-4);
    EXPECT_GT(clock.resolution(), 0);
    EXPECT_LT(clock.resolution(), 1e-2);
}

} // namespace
} // namespace assay::measure
