// SPDX-License-Identifier: Apache-2.0
//
// Module cudnn with faults of its library, and what it records.
#include "noticed.hpp"

#include <set>
#include <string>

namespace {

using namespace assay::device_on_cpu;

/// Before the first call of the runtime.
const bool is_set_up = [] {
    ::setenv("ASSAY_CPU_DEVICE_MIB", "2048", 1);
    ::setenv("OMP_WAIT_POLICY", "passive", 0); // tests share the machine
    return ::setenv("ASSAY_HOLD_STREAMS", "0", 1) == 0;
}();

TEST(CudnnOnCpu, ConvolutionsWithoutTheirLastChannelAreNoticed) {
    for (const char* precision : {"fp32", "tf32", "fp16", "bf16"}) {
        expect_noticed("cudnn", "cudnn", "workload.convolution",
                       {{"layer", "res5_3x3"}, {"batch", "1"}, {"precision", precision}});
        expect_noticed("cudnn", "cudnn", "workload.convolution3d",
                       {{"layer", "enc4"}, {"patch", "32"}, {"precision", precision}});
    }
}

TEST(CudnnOnCpu, NoticesLostChannelsAndResidualsOfANetwork) {
    for (const char* fault : {"cudnn", "cudnn_residual", "cudnn_slice"})
        for (const char* precision : {"bf16", "fp16"})
            expect_noticed(fault, "cudnn", "model.image_classification",
                           {{"model", "tiny"}, {"batch", "2"}, {"precision", precision}});
}

TEST(CudnnOnCpu, AttentionWithoutTheLastKeyIsNoticed) {
    for (const char* precision : {"bf16", "fp16"})
        for (const char* group : {"1", "4"})
            expect_noticed(
                "cudnn", "cudnn", "workload.attention",
                {{"context", "64"}, {"heads", "8"}, {"precision", precision}, {"group", group}});
}

TEST(CudnnOnCpu, NoticesLostKeysOfPrompts) {
    for (const char* precision : {"bf16", "fp16"})
        for (const char* causal : {"true", "false"})
            expect_noticed("cudnn", "cudnn", "workload.prefill_attention",
                           {{"batch", "1"},
                            {"heads", "4"},
                            {"group", "2"},
                            {"tokens", "65"},
                            {"precision", precision},
                            {"causal", causal}});
}

/// In the library's list Winograd comes first, 41 has no plan and 51 cannot be launched. 10 has a setting with two values
/// that work.
TEST(CudnnOnCpu, TheEngineIsOneThatServesAndWorks) {
    const auto engine_of = [](const std::string& id, const Given& given) {
        Case one{benchmark_of(ASSAY_MODULES_ON_CPU "/cudnn.so", id), given};
        EXPECT_EQ(one.create(), "");
        return one.texts["implementation"];
    };
    const auto of = [&](const char* precision) {
        return engine_of("workload.convolution",
                         {{"layer", "res5_3x3"}, {"batch", "1"}, {"precision", precision}});
    };
    for (const char* precision : {"tf32", "bf16"})
        EXPECT_TRUE((std::set<std::string>{"engine 10, TILE_SIZE 0", "engine 10, TILE_SIZE 1"})
                        .contains(of(precision)))
            << of(precision);
    EXPECT_EQ(of("fp32"), "engine 44");
    // For volumes only those that work for nearly everything do without matrix units: 11 and 0.
    EXPECT_TRUE(
        (std::set<std::string>{"engine 11", "engine 0"})
            .contains(engine_of("workload.convolution3d",
                                {{"layer", "enc4"}, {"patch", "32"}, {"precision", "fp32"}})));
    EXPECT_EQ(engine_of("workload.attention", {{"context", "64"}}), "engine 8");
}

TEST(CudnnOnCpu, WhatIsNotPossibleIsSaid) {
    const auto misfit = [](const std::string& id, const Given& given) {
        return Case{benchmark_of(ASSAY_MODULES_ON_CPU "/cudnn.so", id), given}.misfit();
    };
    EXPECT_NE(misfit("workload.attention", {{"head_size", "20"}}).find("multiple of 8"),
              std::string::npos);
    EXPECT_NE(misfit("workload.attention", {{"group", "5"}}).find("multiple of their group"),
              std::string::npos);
    EXPECT_NE(misfit("workload.convolution3d", {{"patch", "33"}}).find("multiple of 32"),
              std::string::npos);
    for (const char* id : {"workload.convolution", "model.image_classification"})
        EXPECT_NE(misfit(id, {{"batch", "4096"}}).find("bytes of free memory"), std::string::npos);
}

} // namespace
