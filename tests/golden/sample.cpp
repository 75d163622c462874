// SPDX-License-Identifier: Apache-2.0

#include "sample.hpp"

#include "record/metrics.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay::test {
namespace {

using record::Case;
using record::NamedList;
using record::Status;
using record::Value;

/// -1 to 1, the same everywhere: no std::uniform_real_distribution, whose results are not fixed.
class Noise {
public:
    explicit Noise(std::uint64_t seed) : state_{seed} {}
    double next() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(state_ >> 40U) / static_cast<double>(1U << 23U) - 1.0;
    }

private:
    std::uint64_t state_;
};

struct Shape {
    double work = 0;      ///< per call
    double rate = 0;      ///< work per second
    double spread = 0.01; ///< within a process
    double between = 0.004;
    double drift = 0; ///< from first to last batch
    int replicas = 3;
};

/// A round number that prints the same with every C library.
double rounded(double value) {
    const double scale = std::pow(10.0, 9 - std::ceil(std::log10(value)));
    return std::round(value * scale) / scale;
}

void add_replicas(Case& c, const Shape& shape, Noise& noise) {
    for (int index = 0; index < shape.replicas; ++index) {
        record::Replica replica{.index = index,
                                .started = "2026-01-31T12:0" + std::to_string(index) + ":00Z",
                                .status = c.status,
                                .setup_seconds = 0.02,
                                .warmup_seconds = 0.125,
                                .batches = 120,
                                .calls = 16};
        const double level = shape.work / shape.rate * (1 + shape.between * (index - 1));
        double sum = 0;
        for (int i = 0; i < 120; ++i) {
            double value = level * (1 + shape.spread * noise.next() * noise.next());
            value *= 1 + shape.drift * i / 120;
            replica.values.push_back(rounded(value));
            sum += replica.values.back();
        }
        replica.seconds = rounded(sum / 120);
        replica.low = rounded(*replica.seconds * 0.999);
        replica.high = rounded(*replica.seconds * 1.001);
        c.replicas.push_back(std::move(replica));
    }
}

void add_metric(Case& c, const std::string& name, double work, double half_width) {
    const auto* definition = record::find_metric(name);
    double log_sum = 0;
    for (const auto& replica : c.replicas) log_sum += std::log(*replica.seconds);
    const double seconds = std::exp(log_sum / static_cast<double>(c.replicas.size()));
    const double value = rounded(work > 0 ? work / seconds : seconds);
    c.metrics.push_back({.name = name,
                         .unit = std::string{definition->unit},
                         .higher_is_better = definition->higher_is_better,
                         .value = value,
                         .low = rounded(value * (1 - half_width)),
                         .high = rounded(value * (1 + half_width)),
                         .interval_scope = c.replicas.size() > 1
                                               ? record::IntervalScope::between_replicas
                                               : record::IntervalScope::within_process,
                         .median = value,
                         .min = value,
                         .p95 = value,
                         .count = 120 * c.replicas.size()});
}

struct Identity {
    std::string benchmark;
    std::string library;
    NamedList parameters;
    NamedList settings;
};

Case measured(Identity who, const std::string& headline, const Shape& shape, Noise& noise) {
    Case c{.benchmark = std::move(who.benchmark),
           .place = {.kind = "host"},
           .library = std::move(who.library),
           .parameters = std::move(who.parameters),
           .settings = std::move(who.settings),
           .headline = headline,
           .status = Status::ok};
    const auto* definition = record::find_metric(headline);
    if (!definition->work.empty())
        c.work.push_back({std::string{definition->work}, Value{shape.work}});
    add_replicas(c, shape, noise);
    add_metric(c, headline, definition->work.empty() ? 0 : shape.work, 1.2 * shape.between);
    if (headline != "time") add_metric(c, "time", 0, 1.2 * shape.between);
    c.verification = record::Verification{.passed = true,
                                          .method = "every element against the definition",
                                          .bound = 1.0,
                                          .error = 0.25};
    c.telemetry = {.window_seconds = 1.0,
                   .core_clock_hz = 3.7e9,
                   .foreign_cpu = 0.004,
                   .steal = 0.0,
                   .throttle_events = 0.0};
    return c;
}

void hold_against(Case& c, double value, const std::string& source) {
    c.ceiling = {.value = value,
                 .kind = record::CeilingKind::measured,
                 .source = "measured in this run: " + source,
                 .measured_by = source};
}

Case gemm(const std::string& library, const std::string& precision, double rate, Noise& noise) {
    const std::int64_t size = 2048;
    auto c = measured({.benchmark = "gemm.square",
                       .library = library,
                       .parameters = {{"precision", precision}, {"size", size}, {"threads", "all"}},
                       .settings = {{"threads", std::int64_t{2}}}},
                      precision == "int8" ? "operation_rate" : "flop_rate",
                      {.work = 2.0 * 2048 * 2048 * 2048, .rate = rate}, noise);
    c.verification->method =
        precision == "int8"
            ? "every element, exactly: 128 rows against integer arithmetic"
            : "Freivalds: A(Bx) against Cx, bound from the rounding errors of random data";
    c.verification->error = precision == "int8" ? 0.0 : 3.1e-6;
    c.verification->bound = precision == "int8" ? 0.0 : 1.7e-5;
    return c;
}

void add_gemm(record::Run& run, Noise& noise) {
    auto fp64 = gemm("openblas", "fp64", 1.05e11, noise);
    fp64.settings.push_back({"core_type", "SkylakeX"});
    fp64.warnings.emplace_back(
        "OpenBLAS picked Haswell by itself; SkylakeX is 1.91 times faster: set "
        "OPENBLAS_CORETYPE=SkylakeX");
    hold_against(fp64, 1.12e11, "peak.fma[host] precision=fp64 isa=best threads=all");
    fp64.other_ceilings = {{.value = 1.18e11,
                            .kind = record::CeilingKind::datasheet,
                            .source = "2 cores x 16 FLOP in a clock of 3.70 GHz"},
                           {.source = "no data sheet says what a guest can do"}};
    run.cases.push_back(fp64);
    auto fp32 = gemm("openblas", "fp32", 2.09e11, noise);
    fp32.settings.push_back({"core_type", "SkylakeX"});
    fp32.warnings = fp64.warnings;
    hold_against(fp32, 2.24e11, "peak.fma[host] precision=fp32 isa=best threads=all");
    run.cases.push_back(fp32);
    auto onednn = gemm("onednn", "fp32", 2.26e11, noise);
    hold_against(onednn, 2.24e11, "peak.fma[host] precision=fp32 isa=best threads=all");
    run.cases.push_back(onednn);
    auto bf16 = gemm("onednn", "bf16", 3.9e11, noise);
    bf16.ceiling.source = "peak.fma was not measured for precision=bf16 in this run";
    run.cases.push_back(bf16);
    run.cases.push_back(gemm("onednn", "int8", 7.7e11, noise));
    run.cases.back().ceiling.source = "none is known";

    Case wrong = fp32;
    wrong.parameters[1].value = std::int64_t{4096};
    wrong.status = Status::incorrect;
    wrong.reason = "the result is further off than its bound allows";
    wrong.verification = {.passed = false,
                          .method = fp32.verification->method,
                          .bound = 1.7e-5,
                          .error = 4.2e-3,
                          .detail = "row 17 differs by 4.2e-3: as if inputs were rounded to bf16"};
    wrong.warnings.clear();
    run.cases.push_back(wrong);
}

void add_memory(record::Run& run, Noise& noise) {
    const auto stream = [&](const char* kernel, const char* stores, const char* threads,
                            const Shape& shape) {
        auto c = measured({.benchmark = "memory.stream",
                           .library = "host",
                           .parameters = {{"kernel", kernel},
                                          {"stores", stores},
                                          {"footprint", "beyond_cache"},
                                          {"threads", threads}},
                           .settings = {{"footprint", std::int64_t{134217728}},
                                        {"threads", std::int64_t{threads[0] == 'a' ? 2 : 1}},
                                        {"instructions", "AVX3_ZEN4"}}},
                          "bandwidth", shape, noise);
        c.ceiling.source = "none is known";
        return c;
    };
    run.cases.push_back(stream("triad", "plain", "one", {.work = 1.3e8, .rate = 2.9e10}));
    run.cases.push_back(stream("triad", "plain", "all",
                               {.work = 1.3e8, .rate = 3.61e10, .spread = 0.08, .between = 0.02}));
    run.cases.push_back(stream("triad", "streaming", "all",
                               {.work = 1.3e8, .rate = 4.52e10, .spread = 0.06, .between = 0.012}));
    auto drifting =
        stream("copy", "streaming", "all",
               {.work = 1.3e8, .rate = 4.4e10, .spread = 0.05, .between = 0.03, .drift = 0.12});
    drifting.status = Status::unstable;
    drifting.reason = "drift: the second half of the window is 6% slower than the first";
    drifting.telemetry.foreign_cpu = 0.14;
    drifting.telemetry.disturbances = {"other programs used 14% of the CPU during this window"};
    run.cases.push_back(drifting);
}

void add_rest(record::Run& run, Noise& noise) {
    for (const auto& [precision, rate] : {std::pair{"fp64", 1.12e11}, std::pair{"fp32", 2.24e11}}) {
        auto peak = measured(
            {.benchmark = "peak.fma",
             .library = "host",
             .parameters = {{"precision", precision}, {"isa", "best"}, {"threads", "all"}},
             .settings = {{"isa", "avx512f"}, {"threads", std::int64_t{2}}}},
            "flop_rate", {.work = 1e8, .rate = rate, .spread = 0.002, .between = 0.0008}, noise);
        peak.ceiling.source = "it is a ceiling itself";
        run.cases.push_back(peak);
    }
    for (const std::int64_t bytes : {8LL, 1024LL, 65536LL, 4194304LL, 67108864LL}) {
        const auto size = static_cast<double>(bytes);
        auto c = measured(
            {.benchmark = "collective.allreduce",
             .library = "mpi",
             .parameters =
                 {{"ranks", "all"}, {"bytes", bytes}, {"type", "fp32"}, {"in_place", bytes == 8}},
             .settings = {{"ranks", std::int64_t{2}}, {"machines", std::int64_t{1}}}},
            "bus_bandwidth",
            {.work = size, .rate = size / (6e-7 + size / 6.1e9), .spread = 0.2, .between = 0.05},
            noise);
        if (bytes == 8) {
            // One process only.
            c.replicas.resize(1);
            for (auto& metric : c.metrics)
                metric.interval_scope = record::IntervalScope::within_process;
        }
        run.cases.push_back(c);
    }
    Case skipped{.benchmark = "collective.allreduce",
                 .place = {.kind = "host"},
                 .library = "mpi",
                 .parameters = {{"ranks", "one"}, {"bytes", std::int64_t{8}}, {"type", "fp32"}},
                 .headline = "bus_bandwidth",
                 .status = Status::skipped,
                 .reason = "one rank has nobody to talk to"};
    run.cases.push_back(skipped);
    Case crashed = skipped;
    crashed.benchmark = "fft.forward";
    crashed.library = "fftw";
    crashed.parameters = {{"size", std::int64_t{1048576}}};
    crashed.headline = "time";
    crashed.status = Status::crashed;
    crashed.reason = "process 2 of 3 died of signal 11 (segmentation fault)";
    run.cases.push_back(crashed);
}

/// Loads of a chain by footprint: three levels of caches, then memory.
void add_curves(record::Run& run, Noise& noise) {
    for (const char* pages : {"huge", "small"})
        for (std::int64_t bytes = 8192; bytes <= 134217728; bytes *= 4) {
            const double latency = bytes <= 32768      ? 1.1e-9
                                   : bytes <= 1048576  ? 3.8e-9
                                   : bytes <= 33554432 ? 1.4e-8
                                                       : 1.05e-7;
            const double walk = pages[0] == 's' && bytes > 8000000 ? 1.6 : 1.0;
            auto c = measured({.benchmark = "memory.latency",
                               .library = "host",
                               .parameters = {{"footprint", bytes}, {"pages", pages}},
                               .settings = {}},
                              "latency", {.work = 2048, .rate = 1 / (latency * walk)}, noise);
            auto& latencies = c.metrics.front();
            for (auto* value : {&latencies.value, &latencies.median, &latencies.min})
                *value = rounded(*c.replicas[1].seconds / 2048);
            latencies.low = rounded(*latencies.value * 0.99);
            latencies.high = rounded(*latencies.value * 1.01);
            c.ceiling.source = "none is known";
            run.cases.push_back(std::move(c));
        }
    auto pairs = measured({.benchmark = "latency.core_to_core",
                           .library = "host",
                           .parameters = {},
                           .settings = {{"cores", std::int64_t{4}}}},
                          "latency", {.work = 2048, .rate = 1 / 6e-8}, noise);
    pairs.metrics.front().value = 6e-8;
    pairs.metrics.front().low = 5.9e-8;
    pairs.metrics.front().high = 6.1e-8;
    const std::vector<std::string> cores{"0", "1", "2", "3"};
    record::Table table{.metric = "latency",
                        .unit = "s",
                        .row_title = "from core",
                        .column_title = "to core",
                        .rows = cores,
                        .columns = cores,
                        .values = {}};
    for (int from = 0; from < 4; ++from)
        for (int to = 0; to < 4; ++to)
            table.values.push_back(from == to           ? std::nullopt
                                   : from / 2 == to / 2 ? std::optional{2.5e-8}
                                                        : std::optional{1.1e-7});
    pairs.tables = {table};
    pairs.ceiling.source = "none is known";
    run.cases.push_back(std::move(pairs));
}

record::Machine machine() {
    return {.id = "m-5f1c02d7a9",
            .cpu_model = "AMD EPYC 9R14",
            .cpu_vendor = "AMD",
            .architecture = "x86_64",
            .sockets = 1,
            .cores = 2,
            .threads = 2,
            .usable_cores = 2,
            .usable_threads = 2,
            .numa_nodes = 1,
            .core_clock_hz = 3.702e9,
            .isa = {"avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16"},
            .caches = {{1, "data", 32768, 2, 64},
                       {1, "instruction", 32768, 2, 64},
                       {2, "unified", 1048576, 2, 64},
                       {3, "unified", 33554432, 1, 64}},
            .memory_bytes = 8254390272,
            .memory_limit_bytes = 4294967296,
            .huge_pages = "never",
            .pci = {{"0000:00:05.0", "1d0f", "ec20", "network", "Elastic Network Adapter", "ena"},
                    {"0000:00:1e.0", "10de", "2330", "accelerator", "", ""}},
            .os = "Debian GNU/Linux 12 (bookworm)",
            .kernel = "6.1.0-18-amd64",
            .virtualization = "kvm",
            .container = "docker",
            .provider = "aws",
            .instance = "c7a.large",
            .system = "Amazon EC2 c7a.large",
            .software = {{"openblas.version", "0.3.21"},
                         {"openblas.corename", "Haswell"},
                         {"onednn.version", "2.6.3"},
                         {"mpi.version", "Open MPI 4.1.4"}}};
}

} // namespace

record::Run golden_run() {
    record::Run run{.id = "20260131-120000-4f2a",
                    .suite = "quick",
                    .started = "2026-01-31T12:00:00Z",
                    .ended = "2026-01-31T12:00:58Z",
                    .status = "done",
                    .version = "0.1.0",
                    .digest = "9f4c1e77",
                    .machine = machine()};
    Noise noise{42};
    add_gemm(run, noise);
    add_memory(run, noise);
    add_rest(run, noise);
    add_curves(run, noise);
    return run;
}

record::Run large_run(std::size_t count) {
    record::Run run = golden_run();
    Noise noise{7};
    run.cases.clear();
    for (std::size_t i = 0; i < count; ++i) {
        auto c = gemm(i % 2 == 0 ? "openblas" : "onednn", "fp32", 1e11, noise);
        c.parameters[1].value = "number " + std::to_string(i);
        hold_against(c, 1e11 + static_cast<double>(i), "peak number " + std::to_string(i));
        run.cases.push_back(std::move(c));
    }
    return run;
}

} // namespace assay::test
