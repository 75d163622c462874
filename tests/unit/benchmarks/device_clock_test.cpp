// SPDX-License-Identifier: Apache-2.0
//
// What the clock of a device decides on the host.
#include "device/holding.hpp"

#include <gtest/gtest.h>

#include <map>
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

} // namespace
} // namespace assay::device
