// SPDX-License-Identifier: Apache-2.0
//
// What the harness itself costs: in a batch, between batches, at the start of a worker, in the parent.
#include "child.hpp"
#include "comparison.hpp"
#include "launch/session.hpp"
#include "machine/inventory.hpp"
#include "process/program.hpp"
#include "subject.hpp"
#include "worker/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

namespace assay::peers {
namespace {

namespace fs = std::filesystem;

constexpr double batch_floor = 100e-6; // seconds; the shortest batch of the protocol

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A folder that is gone when this is.
class Scratch {
public:
    Scratch() {
        std::string name = (fs::temp_directory_path() / "assay-peers-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no folder " + name};
        path_ = name;
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

/// Takes no time, so that all that is left is ours.
class Nothing : public measure::Subject {
public:
    Result<double> sample(std::uint64_t) override { return batch_floor; }
    Result<record::Verification> verify() override { return record::Verification{.passed = true}; }
    Result<void> poison() override { return {}; }
    Result<void> spoil() override { return {}; }
    Result<void> rewind() override { return {}; }
};

Row inside_a_batch(const Options& options) {
    Subject subject{options.module("host"),
                    "memory.stream",
                    {{"threads", std::int64_t{1}}, {"footprint", std::int64_t{1} << 20U}}};
    constexpr int times = 10000;
    double sum = 0;
    for (int i = 0; i < times; ++i) sum += subject.sample(0); // two looks at the clock
    return {.name = "own cost inside a batch of 100 us",
            .value = sum / times / batch_floor,
            .at_most = 0.01,
            .note = fmt::format("{:.0f} ns", sum / times * 1e9)};
}

Row between_batches() {
    Nothing nothing;
    constexpr int times = 1000;
    const double seconds = seconds_of([&] {
        for (int i = 0; i < times; ++i)
            if (!measure::google_benchmark().run(nothing, 1))
                throw std::runtime_error{"Google Benchmark did not run a batch"};
    });
    return {.name = "between two batches, not timed",
            .unit = "s",
            .value = seconds / times,
            .note = "through Google Benchmark"};
}

/// From nothing to the answer about a module's libraries: start, hello, module loaded.
double worker_start(const Options& options, const fs::path& scratch) {
    harness::LaunchRequest request;
    request.program = options.program();
    request.log = scratch / "worker.log";
    request.scratch = scratch;
    request.inherited = harness::own_environment();
    const auto machine = machine::inspect();
    return seconds_of([&] {
        const auto answer =
            harness::ask_facts(harness::Session::start(std::move(request), {.machine = machine}),
                               options.module("host"));
        if (!answer.problem.empty()) throw std::runtime_error{answer.problem};
    });
}

double list_seconds(const Options& options) {
    return seconds_of([&] {
        Spawned list{{options.program(), "list"}, {}};
        while (!list.read_line().empty()) continue;
        if (list.wait() != 0) throw std::runtime_error{"`assay list` failed"};
    });
}

double best_of(int times, const std::function<double()>& measure) {
    double best = measure();
    for (int i = 1; i < times; ++i) best = std::min(best, measure());
    return best;
}

/// Peak resident bytes so far; 0 when the process is gone.
double peak_memory(pid_t pid) {
    std::ifstream file{fmt::format("/proc/{}/status", pid)};
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
    return 0;
}

Row parent_memory(const Options& options, const fs::path& scratch) {
    Spawned run{{options.program(), "run", "quick", "--only", "host", "--replicas", "1", "--budget",
                 "5s", "--quiet", "--out", (scratch / "results").string()},
                {}};
    double peak = 0;
    for (double now = peak_memory(run.pid()); now > 0; now = peak_memory(run.pid())) {
        peak = std::max(peak, now);
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    // A case that did not fit into the budget is no fault here; a program that fell over is.
    if (const int code = run.wait(); code < 0 || code > 1)
        throw std::runtime_error{fmt::format("`assay run quick` ended with {}", code)};
    return {.name = "peak memory of the parent, module host of quick",
            .unit = "B",
            .value = peak,
            .at_most = 100e6};
}

} // namespace

std::vector<Row> measure_own_cost(const Options& options) {
    const Scratch scratch;
    std::vector<Row> rows{inside_a_batch(options), between_batches()};
    constexpr int times = 5; // the best of five: how long it takes when nothing is in the way
    rows.push_back({.name = "start of a worker, to its first answer",
                    .unit = "s",
                    .value = best_of(times, [&] { return worker_start(options, scratch.path()); }),
                    .at_most = 0.050,
                    .note = "module host, best of 5"});
    rows.push_back({.name = "assay list",
                    .unit = "s",
                    .value = best_of(times, [&] { return list_seconds(options); }),
                    .at_most = 0.100,
                    .note = "best of 5"});
    rows.push_back(parent_memory(options, scratch.path()));
    return rows;
}

} // namespace assay::peers
