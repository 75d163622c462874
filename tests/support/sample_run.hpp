// SPDX-License-Identifier: Apache-2.0
//
// A complete, consistent result for tests of whatever reads results: every status, every kind of
// interval and ceiling, text that must be escaped. Deterministic: the same on every machine. `assay
// verify` finds nothing wrong with it.
//
//     #include "support/sample_run.hpp"   (target_include_directories(... ${PROJECT_SOURCE_DIR}/tests))
//     record::Run run = test::sample_run();

#pragma once

#include "base/hash.hpp"
#include "record/model.hpp"
#include "record/summary.hpp"
#include "stats/interval.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay::test {

/// Numbers in 0..1 that are the same everywhere (a linear congruential generator, Knuth's MMIX).
class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_{seed} {}
    double roll() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(state_ >> 11U) * 0x1p-53;
    }

private:
    std::uint64_t state_;
};

/// The same values, measured another time: no replica is a copy, as no interval is the same.
inline void measure_again(record::Run& run, const std::string& when) {
    const double least = 1e-16; // relative
    for (auto& c : run.cases)
        for (auto& replica : c.replicas)
            if (replica.low) *replica.low *= 1 - least * crc32(when);
}

/// A replica whose batches take about `seconds` per call, give or take 1%.
inline record::Replica sample_replica(int index, double seconds, std::uint64_t seed,
                                      std::size_t values = 40) {
    Dice dice{seed + static_cast<std::uint64_t>(index) * 977U};
    record::Replica replica{.index = index,
                            .started = "2026-01-31T12:34:5" + std::to_string(index) + "Z",
                            .status = record::Status::ok,
                            .setup_seconds = 0.125,
                            .warmup_seconds = 0.25,
                            .batches = 5 * values,
                            .calls = 80};
    for (std::size_t i = 0; i < values; ++i)
        replica.values.push_back(seconds * (0.99 + 0.02 * dice.roll()));
    const auto interval = stats::batch_means_interval(replica.values);
    replica.seconds = interval.mean;
    if (std::isfinite(interval.low)) {
        replica.low = interval.low;
        replica.high = interval.high;
    }
    replica.telemetry = {.window_seconds = 1.5 + 0.1 * index,
                         .core_clock_hz = 4.1e9 - 1e7 * index,
                         .foreign_cpu = 0.002 * (index + 1),
                         .steal = 0.0005,
                         .throttle_events = 0};
    return replica;
}

struct SampleCase {
    std::string benchmark;
    std::string library;
    record::NamedList parameters;
    record::NamedList work;
    std::string headline;
    double seconds = 1e-3; ///< per call
    int replicas = 3;
};

inline record::Case sample_case(const SampleCase& what, std::uint64_t seed) {
    record::Case c{.benchmark = what.benchmark,
                   .place = {.kind = "host"},
                   .library = what.library,
                   .parameters = what.parameters,
                   .work = what.work,
                   .headline = what.headline};
    c.verification = record::Verification{
        .passed = true, .method = "compared with a plain loop", .bound = 1e-12, .error = 3.5e-14};
    for (int i = 0; i < what.replicas; ++i)
        c.replicas.push_back(sample_replica(i, what.seconds, seed));
    record::conclude(c, what.replicas);
    return c;
}

inline record::Machine sample_machine() {
    return {.id = "m-0123456789abcdef",
            .cpu_model = "Example EPYC 9R14 <b>\"quoted\"</b>",
            .cpu_vendor = "AuthenticAMD",
            .architecture = "x86_64",
            .sockets = 1,
            .cores = 2,
            .threads = 4,
            .usable_cores = 2,
            .usable_threads = 2,
            .numa_nodes = 1,
            .core_clock_hz = 4.1e9,
            .isa = {"avx2", "fma", "avx512f"},
            .caches =
                {{.level = 1, .type = "data", .bytes = 32768, .count = 2, .line_bytes = 64},
                 {.level = 3, .type = "unified", .bytes = 33554432, .count = 1, .line_bytes = 64}},
            .memory_bytes = 16'000'000'000,
            .memory_limit_bytes = 8'000'000'000,
            .huge_pages = "madvise",
            .pci = {{.address = "0000:65:00.0",
                     .vendor_id = "10de",
                     .device_id = "2330",
                     .kind = "accelerator"}},
            .os = "Debian GNU/Linux 12 (bookworm)",
            .kernel = "6.1.0",
            .virtualization = "kvm",
            .provider = "aws",
            .instance = "c7a.large",
            .system = "Amazon EC2",
            .software = {{"openblas.version", std::string{"0.3.21"}},
                         {"openblas.corename", std::string{"SkylakeX"}}}};
}

namespace detail {

/// Ends without figures, as conclude() would have it.
inline record::Case ended(record::Case c, record::Status status, std::string reason) {
    c.replicas.front().status = status;
    c.replicas.front().reason = std::move(reason);
    record::conclude(c, static_cast<int>(c.replicas.size()));
    return c;
}

inline record::Case without_replicas(record::Case c, record::Status status, std::string reason) {
    c.replicas.clear();
    c.verification.reset();
    c.status = status;
    c.reason = std::move(reason);
    record::conclude(c, 3);
    return c;
}

} // namespace detail

/// Cases of the sample.
inline SampleCase sample_gemm(const char* library, const char* precision, double seconds) {
    return {.benchmark = "gemm.square",
            .library = library,
            .parameters = {{"precision", std::string{precision}},
                           {"size", std::int64_t{1024}},
                           {"threads", std::string{"all"}}},
            .work = {{"flops", 2147483648.0}},
            .headline = "flop_rate",
            .seconds = seconds};
}
inline SampleCase sample_stream(const char* loop) {
    return {.benchmark = "memory.stream",
            .library = "host",
            .parameters = {{"loop", std::string{loop}},
                           {"footprint", std::string{"beyond_cache"}},
                           {"streaming", true}},
            .work = {{"bytes", 402653184.0}, {"flops", 33554432.0}},
            .headline = "bandwidth",
            .seconds = 8e-3};
}
inline SampleCase sample_allreduce(record::Value ranks) {
    return {.benchmark = "collective.allreduce",
            .library = "mpi",
            .parameters = {{"bytes", std::int64_t{8}}, {"ranks", std::move(ranks)}},
            .work = {{"algorithm_bytes", 8.0}, {"bus_bytes", 8.0}},
            .headline = "time",
            .seconds = 1.2e-6};
}

namespace detail {

inline void add_measured(std::vector<record::Case>& cases) {
    cases.push_back(sample_case(sample_gemm("openblas", "fp64", 4.2e-3), 1));
    cases.back().settings = {{"core_type", std::string{"SkylakeX"}}, {"threads", std::int64_t{2}}};
    cases.back().ceiling = {.value = 6.4e11,
                            .kind = record::CeilingKind::measured,
                            .source = "peak.fma[host] precision=fp64"};
    cases.back().warnings = {"OpenBLAS would have chosen Haswell, which is 1.9 times slower here"};

    cases.push_back(sample_case(sample_stream("triad"), 2));
    cases.back().ceiling = {.value = 6e10,
                            .kind = record::CeilingKind::datasheet,
                            .source = "2 channels of DDR5-4800 </script><script>alert(1)</script>"};

    cases.push_back(sample_case(sample_allreduce(std::string{"all"}), 3));
    cases.back().replicas[1].status = record::Status::unstable;
    cases.back().replicas[1].reason = "drift: the second half was 4% slower";
    cases.back().replicas[1].telemetry.disturbances = {"other processes used 12% of the CPU time"};
    record::conclude(cases.back(), 3);

    SampleCase single = sample_stream("copy");
    single.replicas = 1;
    cases.push_back(sample_case(single, 4)); // its interval covers one process only
    cases.back().replicas[0].extra = {{"planning_time", 0.75}};
    record::conclude(cases.back(), 1);
}

inline void add_ended(std::vector<record::Case>& cases) {
    using record::Status;
    auto wrong = ended(sample_case(sample_gemm("onednn", "bf16", 2e-3), 5), Status::incorrect,
                       "error 3.1 is above the bound 0.5");
    wrong.verification = record::Verification{.passed = false,
                                              .method = "Freivalds",
                                              .bound = 0.5,
                                              .error = 3.1,
                                              .detail = "row 17 is off"};
    cases.push_back(std::move(wrong));
    cases.push_back(ended(sample_case(sample_gemm("onednn", "int8", 1e-3), 6), Status::crashed,
                          "ended by signal 11 (segmentation fault)"));
    cases.push_back(ended(sample_case(sample_gemm("onednn", "fp32", 1e-3), 7), Status::timed_out,
                          "not done after 120 s"));
    cases.push_back(without_replicas(sample_case(sample_gemm("cublaslt", "fp16", 1e-3), 8),
                                     Status::failed, "the worker did not start"));
    cases.back().place = {.kind = "cuda", .uuid = "GPU-5f3c", .index = 1};
    cases.push_back(without_replicas(sample_case(sample_allreduce(std::int64_t{1}), 9),
                                     Status::skipped, "one rank: there is nobody to reduce with"));
    cases.push_back(without_replicas(sample_case(sample_gemm("openblas", "fp32", 2e-3), 10),
                                     Status::interrupted, "the run was stopped"));
}

} // namespace detail

inline std::vector<record::Case> sample_cases() {
    std::vector<record::Case> cases;
    detail::add_measured(cases);
    detail::add_ended(cases);
    return cases;
}

inline record::Run sample_run() {
    return {.id = "20260131T123456Z-4f2a",
            .suite = "quick",
            .started = "2026-01-31T12:34:56Z",
            .ended = "2026-01-31T12:35:41Z",
            .status = "interrupted",
            .version = "0.1.0",
            .digest = "89abcdef01234567",
            .machine = sample_machine(),
            .cases = sample_cases()};
}

/// A measured case in few lines of JSON: products with three replicas of eight values.
inline record::Case small_case() {
    auto c = sample_case(sample_gemm("openblas", "fp64", 4.2e-3), 1);
    for (int i = 0; i < 3; ++i)
        c.replicas[static_cast<std::size_t>(i)] = sample_replica(i, 4.2e-3, 1, 8);
    record::conclude(c, 3);
    return c;
}

} // namespace assay::test
