// SPDX-License-Identifier: Apache-2.0
//
// What tests/gpu/status.md says of every benchmark on a device: that it is there, and whether it was executed on a CPU.

#include "loaded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::contract {
namespace {

std::string name_of(const Loaded& loaded) {
    return std::string{loaded.benchmark->id} + '[' + loaded.module->name + ']';
}

/// Does the contract run it? Benchmarks for several processes run as a job.
bool is_executed(const assay_benchmark& benchmark) {
    static const FakeProgram program;
    const auto any_of = [&](Sizes sizes) {
        return std::ranges::any_of(small_cases(benchmark, 2, sizes), [&](const Case& values) {
            return misfit(benchmark, program, values).empty();
        });
    };
    return (benchmark.flags & ASSAY_TEAM) != 0 || any_of(Sizes::usual) || any_of(Sizes::tiny);
}

TEST(Modules, OfDevicesSayWhetherTheyEverRan) {
    std::ifstream file{ASSAY_GPU_STATUS};
    if (!file) GTEST_SKIP() << "not in a tree with its sources";
    const std::string status{std::istreambuf_iterator<char>{file}, {}};
    for (const auto& loaded : every_benchmark()) {
        if (loaded.benchmark == nullptr || std::string_view{loaded.benchmark->place} == "host")
            continue;
        EXPECT_NE(status.find(name_of(loaded)), std::string::npos)
            << "tests/gpu/status.md has no " << name_of(loaded);
    }
}

/// With all modules for the device that is the CPU (tests/device_on_cpu): the last column of the table.
TEST(Modules, OfDevicesSayWhetherTheyWereExecutedOnACpu) {
    std::ifstream file{ASSAY_GPU_STATUS};
    if (std::getenv("ASSAY_CONTRACT_FOLDER") == nullptr ||
        std::getenv("ASSAY_CONTRACT_MODULE") != nullptr || !file)
        GTEST_SKIP() << "not with all modules for that device";
    std::set<std::string> executed;
    for (const auto& loaded : every_benchmark()) {
        ASSERT_NE(loaded.benchmark, nullptr) << loaded.name << ": " << loaded.problem;
        // Modules for AMD's devices are built for warps of 64 threads, and the device has as many as this says.
        ::setenv("ASSAY_CPU_LANES",
                 loaded.benchmark->place == std::string_view{"hip"} ? "64" : "32", 1);
        if (is_executed(*loaded.benchmark)) executed.insert(name_of(loaded));
    }
    for (std::string line; std::getline(file, line);) {
        const bool says_yes = line.ends_with("| yes |");
        if (!says_yes && !line.ends_with("| no |")) continue;
        for (std::size_t at = 1, end = 0; (end = line.find(']', at)) != line.npos; at = end + 2) {
            const std::string name = line.substr(at + 1, end - at);
            EXPECT_EQ(executed.erase(name) == 1, says_yes) << name << " in tests/gpu/status.md";
        }
    }
    EXPECT_TRUE(executed.empty()) << *executed.begin() << " has no row in tests/gpu/status.md";
}

} // namespace
} // namespace assay::contract
