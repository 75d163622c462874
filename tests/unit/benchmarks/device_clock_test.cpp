// SPDX-License-Identifier: Apache-2.0
//
// What the clock of a device decides on the host.
#include "device/holding.hpp"
#include "device/trial.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace assay::device {
namespace {

std::string_view forbidden(const std::map<std::string, std::string>& variables) {
    return forbids_holding([&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

TEST(Holding, is_forbidden_where_kernels_run_one_at_a_time) {
    EXPECT_EQ(forbidden({}), "");
    EXPECT_EQ(forbidden({{"CUDA_LAUNCH_BLOCKING", "1"}}), "CUDA_LAUNCH_BLOCKING");
    EXPECT_EQ(forbidden({{"ASSAY_HOLD_STREAMS", "0"}}), "ASSAY_HOLD_STREAMS");
    for (const char* tool :
         {"CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID", "NV_COMPUTE_PROFILER_PERFWORKS_DIR",
          "NV_SANITIZER_INJECTION_PORT_BASE", "NV_SANITIZER_INJECTION_PORT_RANGE_BEGIN"})
        EXPECT_EQ(forbidden({{tool, "/x"}}), tool);
    for (const char* harmless : {"CUDA_LAUNCH_BLOCKING", "CUDA_INJECTION64_PATH"})
        EXPECT_EQ(forbidden({{harmless, ""}}), "");
    EXPECT_EQ(forbidden({{"CUDA_LAUNCH_BLOCKING", "0"}, {"ASSAY_HOLD_STREAMS", "1"}}), "");
}

TEST(Holding, fills_the_queue_and_no_more) {
    EXPECT_EQ(held_calls(1), 128U);
    EXPECT_EQ(held_calls(4), 32U);
    EXPECT_EQ(held_calls(1000), 1U);
    EXPECT_EQ(held_calls(0), 128U);
}

TEST(Holding, long_calls_follow_without_a_pause) {
    EXPECT_TRUE(stays_ahead(1.4e-3, 4)); // a product of 8192
    EXPECT_TRUE(stays_ahead(170e-6, 4)); // of 4096
    EXPECT_FALSE(stays_ahead(4e-6, 4));  // of 1024
    EXPECT_FALSE(stays_ahead(0, 1));     // not known
}

/// A device that loads kernels lazily: the first launch of one waits for
/// the device, for ever while a stream is held back.
struct LazyClock {
    double seconds(std::uint64_t calls, const std::function<void()>& queue) {
        holding = true;
        total = 0;
        for (std::uint64_t i = 0; i < calls; ++i) queue();
        holding = false;
        return total;
    }
    void launch(std::size_t kernel, double cost) {
        if (loaded.insert(kernel).second && holding) deadlocked = true;
        total += cost;
    }
    std::set<std::size_t> loaded;
    bool holding = false;
    bool deadlocked = false;
    double total = 0;
};

TEST(FastestOf, loads_every_way_before_it_holds_a_stream_back) {
    LazyClock clock;
    constexpr std::array costs{3.0, 2.0, 2.5};
    EXPECT_EQ(fastest_of(clock, 3, [&](std::size_t i) { clock.launch(i, costs.at(i)); }), 1U);
    EXPECT_FALSE(clock.deadlocked);
}

TEST(FastestOf, weighs_time_by_work_and_keeps_the_first_of_equals) {
    LazyClock clock;
    constexpr std::array costs{3.0, 2.0, 2.999};
    const auto launch = [&](std::size_t i) { clock.launch(i, costs.at(i)); };
    EXPECT_EQ(fastest_of(clock, 3, launch, [](std::size_t i) { return i == 1 ? 1.0 : 2.0; }), 0U);
}

} // namespace
} // namespace assay::device
