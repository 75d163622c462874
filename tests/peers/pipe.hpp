// SPDX-License-Identifier: Apache-2.0
//
// What a process that takes turns does: says `ready <flops of one call> <words>` once, then answers
// every number of calls on a line with the seconds they took, until its input ends.

#pragma once

#include <chrono>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <string>

namespace assay::peers {

/// Seconds of so many calls.
template <class Call>
double seconds_of(std::size_t calls, Call&& call) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < calls; ++i) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Sample>
int answer_turns(double flops_per_call, const std::string& words, Sample&& sample) {
    sample(1); // threads, kernels, pages
    std::cout << "ready " << std::setprecision(17) << flops_per_call << ' ' << words << '\n'
              << std::flush;
    for (std::size_t calls = 0; std::cin >> calls;)
        std::cout << sample(calls) << '\n' << std::flush;
    return 0;
}

} // namespace assay::peers
