// SPDX-License-Identifier: Apache-2.0
#include "machine/clock.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace assay::machine {
namespace {

constexpr std::int64_t adds_per_block = 256;
// 512 Ki additions: 0.15 ms at 3.5 GHz, 5000 times what reading the clock costs. Long enough to be
// precise, short enough that some repeats meet no interrupt (a tick every 1 to 10 ms).
constexpr std::int64_t chain = 2048 * adds_per_block;
constexpr int repeats = 12;

/// One block of additions, each waiting for the one before. Register plus register: additions of a
/// constant are done ahead, several per cycle, by recent cores. In assembly, so that no optimiser
/// merges them and no missing optimiser stores them to memory.
inline void add_block(std::uint64_t& sum, std::uint64_t step) {
#if defined(__x86_64__)
    asm volatile(".rept 256\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(step) : "cc");
#elif defined(__aarch64__)
    asm volatile(".rept 256\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(step));
#else
    for (std::int64_t i = 0; i < adds_per_block; i += 16) {
#pragma GCC unroll 16
        for (int j = 0; j < 16; ++j) {
            sum += step;
            asm volatile("" : "+r"(sum));
        }
    }
#endif
}

/// Binds the calling thread to its present CPU, and releases it again.
class StayHere {
public:
    StayHere() {
        CPU_ZERO(&before_);
        const int cpu = ::sched_getcpu();
        // Fails on machines with more CPUs than the set holds; there the thread is not bound.
        if (cpu < 0 || cpu >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof before_, &before_) != 0)
            return;
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(cpu, &here);
        bound_ = ::sched_setaffinity(0, sizeof here, &here) == 0;
    }
    ~StayHere() {
        if (bound_) ::sched_setaffinity(0, sizeof before_, &before_);
    }
    StayHere(const StayHere&) = delete;
    StayHere& operator=(const StayHere&) = delete;
    StayHere(StayHere&&) = delete;
    StayHere& operator=(StayHere&&) = delete;

private:
    cpu_set_t before_{};
    bool bound_ = false;
};

/// Seconds for this many dependent additions, rounded up to a whole block: one a cycle without interrupts.
double chain_seconds(std::int64_t additions) {
    std::uint64_t sum = 0;
    // The optimiser must not know the value either.
    std::uint64_t step = 1;
    asm volatile("" : "+r"(step));
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t done = 0; done < additions; done += adds_per_block) add_block(sum, step);
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(end - begin).count();
}

} // namespace

double measure_core_clock() {
    const StayHere here;
    double shortest = chain_seconds(chain);
    // The shortest: interrupts and neighbours only make it longer.
    for (int i = 1; i < repeats; ++i) shortest = std::min(shortest, chain_seconds(chain));
    return static_cast<double>(chain) / shortest;
}

double measure_steady_core_clock() {
    double last = measure_core_clock();
    double best = last;
    for (int i = 1; i < 10; ++i) {
        const double next = measure_core_clock();
        best = std::max(best, next);
        if (std::abs(next - last) < 0.005 * last) break;
        last = next;
    }
    return best;
}

} // namespace assay::machine
