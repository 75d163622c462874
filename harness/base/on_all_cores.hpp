// SPDX-License-Identifier: Apache-2.0
//
// Independent pieces of work, each done once by whichever core is free.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace assay {

/// Calls `work` with every number below `count`, in this thread and up to `most - 1` others. Throws what one of them
/// throws; those that have not begun are then left out.
template <class Work>
void on_all_cores(std::size_t count, const Work& work, std::size_t most = 16) {
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::atomic<std::size_t> next = 0;
    const auto take = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++) work(i);
        } catch (...) {
            next = count;
            throw;
        }
    };
    std::vector<std::future<void>> others; // waits for them, whatever happens
    for (std::size_t i = 1; i < std::min({cores, most, count}); ++i)
        others.push_back(std::async(std::launch::async, take));
    take();
    for (auto& other : others) other.get();
}

} // namespace assay
