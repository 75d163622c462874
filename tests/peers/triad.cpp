// SPDX-License-Identifier: Apache-2.0
//
// memory.stream's triad against the loop that everybody writes, in this process: same threads, equal
// buffers, far beyond the caches.
#include "comparison.hpp"
#include "machine/inventory.hpp"
#include "pipe.hpp"
#include "subject.hpp"

#include <assay/host.hpp>
#include <assay/random.hpp>

#include <sched.h>

#include <cstdint>
#include <string>

namespace assay::peers {
namespace {

/// Not inlined, so that the compiler knows no more about the arrays than in a program of its own.
[[gnu::noinline]] void plain_triad(double* out, const double* left, const double* right,
                                   double scalar, std::size_t count, int threads) {
#pragma omp parallel for simd schedule(static) num_threads(threads)
    for (std::size_t i = 0; i < count; ++i) out[i] = left[i] + scalar * right[i];
}

/// Every thread of the team on a core of its own, until this is gone. Not by OMP_PROC_BIND, which
/// would bind this process and all that it starts to one core.
class BoundTeam {
public:
    explicit BoundTeam(int threads) : threads_{threads} {
        const auto cpus = machine::choose_cpus(threads);
        ::sched_getaffinity(0, sizeof before_, &before_);
        if (cpus.size() < static_cast<std::size_t>(threads)) return;
        on_each_thread(threads_, [&](std::size_t thread, std::size_t) {
            cpu_set_t own;
            CPU_ZERO(&own);
            CPU_SET(static_cast<std::size_t>(cpus[thread]), &own);
            ::sched_setaffinity(0, sizeof own, &own);
        });
    }
    BoundTeam(const BoundTeam&) = delete;
    BoundTeam& operator=(const BoundTeam&) = delete;
    ~BoundTeam() {
        on_each_thread(threads_, [this](std::size_t, std::size_t) {
            ::sched_setaffinity(0, sizeof before_, &before_);
        });
    }

private:
    int threads_;
    cpu_set_t before_{};
};

class Bare {
public:
    Bare(std::size_t count, int threads)
        : out_{count, {.threads = threads}}, left_{count, {.threads = threads}},
          right_{count, {.threads = threads}}, threads_{threads} {
        fill_uniform<double>(left_.view(), 1, 0, 1, threads);
        fill_uniform<double>(right_.view(), 2, 0, 1, threads);
    }
    double sample(std::size_t calls) {
        return seconds_of(calls, [this] {
            plain_triad(out_.data(), left_.data(), right_.data(), 3.0, out_.size(), threads_);
        });
    }

private:
    HostBuffer<double> out_;
    HostBuffer<double> left_;
    HostBuffer<double> right_;
    int threads_;
};

} // namespace

std::vector<Row> compare_triad(const Options& options) {
    std::vector<Row> rows;
    const BoundTeam bound{options.threads};
    const std::int64_t threads = options.threads;
    for (const std::string stores : {"plain", "streaming"}) {
        Subject ours{options.module("host"),
                     "memory.stream",
                     {{"kernel", std::string{"triad"}}, {"stores", stores}, {"threads", threads}}};
        ours.prove();
        Bare bare{std::stoul(ours.setting("elements")), options.threads};
        const Ratio ratio =
            take_turns(turn_of([&](std::size_t n) { return ours.sample(n); }),
                       turn_of([&](std::size_t n) { return bare.sample(n); }), options.plan);
        const double rate = ours.work("bytes") / ratio.a_seconds / 1e9;
        rows.push_back(row_of("triad, " + stores + " stores / plain OpenMP loop", ratio,
                              stores == "plain" ? 0.98 : 1.20,
                              "ours " + std::to_string(rate) + " GB/s"));
    }
    return rows;
}

} // namespace assay::peers
