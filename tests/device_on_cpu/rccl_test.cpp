// SPDX-License-Identifier: Apache-2.0
//
// Module `rccl` with the library that the loader finds (ASSAY_RCCL_FOUND): one that does what RCCL does, one that lacks
// functions, and a file that is not a library.
#include "case.hpp"
#include "runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using assay::device_on_cpu::Case;
using ::testing::HasSubstr;

const std::string found = std::getenv("ASSAY_RCCL_FOUND"); // NOLINT(concurrency-mt-unsafe)

/// Before the first call of the runtime.
const bool is_set_up = [] {
    ::setenv("ASSAY_CPU_DEVICES", "2", 1);
    ::setenv("ASSAY_CPU_DEVICE_MIB", "4096", 1);
    return ::setenv("ASSAY_HOLD_STREAMS", "0", 1) == 0;
}();

const assay_benchmark& allreduce() {
    return assay::device_on_cpu::benchmark_of(ASSAY_MODULES_ON_CPU "/rccl.so",
                                              "collective.allreduce");
}

TEST(Rccl, MeasuresOrSaysWhyNot) {
    Case one{allreduce(), {{"bytes", "65536"}}};
    if (found == "none") {
        EXPECT_THAT(one.misfit(), HasSubstr("not applicable: RCCL cannot be loaded: "));
    } else if (found == "old") {
        EXPECT_EQ(one.misfit(),
                  "not applicable: RCCL has no ncclGetErrorString: it is older than ROCm 5.0");
    } else {
        ASSERT_EQ(one.misfit(), "");
        ASSERT_EQ(one.create(), "");
        EXPECT_EQ(one.sample(3), "");
        EXPECT_EQ(one.verdict(), "");
        EXPECT_EQ(one.texts["path"], "xgmi");
        EXPECT_EQ(one.texts["nccl.algorithm"], "RING");
        EXPECT_FALSE(one.numbers.contains("nvlink.devices")) << "nothing counts on such links";
        EXPECT_EQ(one.spoil(), "");
        EXPECT_NE(one.verdict(), "");
    }
}

TEST(Rccl, HasNothingOfNvidiasLinks) {
    if (found != "whole") GTEST_SKIP() << "asked of the whole library";
    const auto misfit = [](const assay::device_on_cpu::Given& given) {
        return Case{allreduce(), given}.misfit();
    };
    for (const auto& [name, value] : {std::pair{"transport", "nvlink_ring"}, {"algorithm", "nvls"}})
        EXPECT_THAT(misfit({{name, value}}), HasSubstr("have no NVLink")) << value;
    EXPECT_THAT(misfit({{"type", "fp8_e4m3"}}), HasSubstr("other codes on each chip"));
    EXPECT_THAT(misfit({{"buffers", "symmetric"}}), HasSubstr("symmetric windows"));
    EXPECT_EQ(misfit({{"buffers", "registered"}}), "");
}

} // namespace
