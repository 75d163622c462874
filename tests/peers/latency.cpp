// SPDX-License-Identifier: Apache-2.0
//
// memory.latency against multichase (github.com/google/multichase), the same footprint on the same kind
// of pages on the same core. multichase is no package of Debian: it is found in PATH or by --multichase,
// and without it nothing is compared.
#include "child.hpp"
#include "comparison.hpp"
#include "machine/inventory.hpp"
#include "subject.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>

namespace assay::peers {
namespace {

namespace fs = std::filesystem;

std::string find_program(const Options& options) {
    if (!options.multichase.empty()) return options.multichase;
    const char* const path = std::getenv("PATH");
    std::istringstream folders{path == nullptr ? "" : path};
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const fs::path file = fs::path{folder} / "multichase";
            !folder.empty() && ::access(file.c_str(), X_OK) == 0)
            return file.string();
    return {};
}

/// This thread, and the processes it starts, on one core until this is gone.
class OneCore {
public:
    OneCore() {
        ::sched_getaffinity(0, sizeof before_, &before_);
        const auto cpus = machine::choose_cpus(1);
        if (cpus.empty()) return;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(static_cast<std::size_t>(cpus.front()), &own);
        ::sched_setaffinity(0, sizeof own, &own);
    }
    OneCore(const OneCore&) = delete;
    OneCore(OneCore&&) = delete;
    OneCore& operator=(const OneCore&) = delete;
    OneCore& operator=(OneCore&&) = delete;
    ~OneCore() { ::sched_setaffinity(0, sizeof before_, &before_); }

private:
    cpu_set_t before_{};
};

struct Size {
    const char* words;
    std::int64_t bytes; // 0: beyond the caches
    bool huge;          // multichase asks for huge pages only where one fits
};
constexpr std::array sizes{Size{"16 KiB", 16 << 10U, false}, Size{"256 KiB", 256 << 10U, false},
                           Size{"4 MiB", 4 << 20U, true}, Size{"beyond the caches", 0, true}};

/// Seconds of one step: the mean of the second half second, because it drops the first.
double multichase(const std::string& program, const std::string& bytes, bool huge) {
    std::vector<std::string> arguments{program, "-a", "-n",  "1",  "-s",
                                       "64",    "-m", bytes, "-T", bytes}; // random over all of it
    if (huge) arguments.emplace_back("-H");
    Spawned process{arguments, {}};
    std::string last;
    for (std::string line = process.read_line(); !line.empty(); line = process.read_line())
        last = line;
    double nanoseconds = 0;
    if (process.wait() != 0 || !(std::istringstream{last} >> nanoseconds) || nanoseconds <= 0)
        throw std::runtime_error{program + " did not say a latency: " + last};
    return nanoseconds * 1e-9;
}

/// CPU seconds of this process and of those that it waited for.
double cpu_seconds_with_children() {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return own_cpu_seconds() + seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Seconds of one step of ours, after as long a start as multichase takes.
double follow(Subject& ours, double steps) {
    constexpr double seconds = 0.5; // a sample of multichase
    constexpr std::uint64_t few = 16;
    const double one = ours.sample(few) / few;
    const auto calls = static_cast<std::uint64_t>(seconds / one) + 1;
    ours.sample(calls);
    return ours.sample(calls) / static_cast<double>(calls) / steps;
}

Row compare(const Size& size, const std::string& program, const Options& options) {
    Subject ours{options.module("host"),
                 "memory.latency",
                 {{"footprint", size.bytes == 0 ? record::Value{std::string{"beyond_cache"}}
                                                : record::Value{size.bytes}},
                  {"pages", std::string{size.huge ? "huge" : "small"}}}};
    ours.prove();
    const double steps = ours.work("steps");
    const auto bytes = std::to_string(std::llround(std::stod(ours.setting("footprint"))));
    const OneCore bound;
    Plan plan = options.plan;
    constexpr std::size_t enough = 8; // a pair takes four seconds
    plan.pairs = std::min(plan.pairs, enough);
    const Ratio ratio = take_turns([&](double) { return follow(ours, steps); },
                                   [&](double) { return multichase(program, bytes, size.huge); },
                                   plan, cpu_seconds_with_children);
    Row row = row_of(
        fmt::format("chase, {}, {} pages / multichase", size.words, size.huge ? "huge" : "small"),
        ratio, 0.95,
        fmt::format("ours {:.2f} ns, multichase {:.2f} ns", ratio.a_seconds * 1e9,
                    ratio.b_seconds * 1e9));
    row.at_most = 1.05;
    return row;
}

} // namespace

std::vector<Row> compare_latency(const Options& options) {
    const std::string program = find_program(options);
    if (program.empty()) {
        Row row{.name = "chase / multichase", .note = {}};
        row.not_measured = "there is no multichase in PATH; name one with --multichase FILE";
        return {row};
    }
    std::vector<Row> rows;
    for (const Size& size : sizes) rows.push_back(compare(size, program, options));
    return rows;
}

} // namespace assay::peers
