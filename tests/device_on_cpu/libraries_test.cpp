// SPDX-License-Identifier: Apache-2.0
//
// Are faults of a library of the device on the CPU noticed by the benchmarks that use it?
#include "noticed.hpp"

#include <cstdlib>
#include <string>
#include <utility>

namespace {

using assay::device_on_cpu::benchmark_of;
using assay::device_on_cpu::Case;
using assay::device_on_cpu::expect_noticed;

/// Before the first call of the runtime.
const bool is_set_up = [] {
    ::setenv("ASSAY_CPU_DEVICES", "2", 1);
    ::setenv("ASSAY_CPU_DEVICE_MIB", "4096", 1);
    ::setenv("ASSAY_CPU_CAPABILITY", "100", 1);
    return ::setenv("ASSAY_HOLD_STREAMS", "0", 1) == 0;
}();

TEST(PlantedFaults, ATransformWithAWrongSign) {
    for (const char* precision : {"fp64", "fp32", "fp16"})
        for (const char* type : {"c2c", "r2c"})
            expect_noticed("cufft", "cufft", "fft.transform",
                           {{"points", "8"}, {"precision", precision}, {"type", type}});
}

TEST(PlantedFaults, SumsWithoutTheirLastProduct) {
    for (const char* precision : {"fp64", "tf32", "bf16", "fp8_e5m2", "int8", "nvfp4"})
        expect_noticed("cublaslt", "cublaslt", "gemm.square",
                       {{"precision", precision}, {"size", "128"}});
    // Several sequences and heads; one token, no whole number of the tiles of attention, more than a block of them; rows that
    // several warps normalise.
    for (const char* precision : {"bf16", "fp16"})
        for (const auto& [sequence, hidden] : {std::pair{"1", "576"}, {"24", "576"}, {"72", "192"}})
            expect_noticed("cublaslt", "cublaslt", "workload.transformer_layer",
                           {{"batch", "2"},
                            {"sequence", sequence},
                            {"hidden", hidden},
                            {"precision", precision}});
}

TEST(PlantedFaults, SumsWithoutTheirLastProductInAWholeModel) {
    for (const char* precision : {"bf16", "fp8"}) {
        // Five sequences: fewer would take our own rows.
        expect_noticed("cublaslt", "cublaslt", "model.llm_decode",
                       {{"model", "tiny"},
                        {"batch", "5"},
                        {"context", "40"},
                        {"layers", "1"},
                        {"precision", precision},
                        {"cache", precision}});
        expect_noticed(
            "cublaslt", "cublaslt", "model.llm_prefill",
            {{"model", "tiny"}, {"tokens", "24"}, {"layers", "1"}, {"precision", precision}});
    }
    expect_noticed("cublaslt", "cublaslt", "model.training_step",
                   {{"model", "tiny"}, {"batch", "2"}, {"sequence", "32"}, {"layers", "1"}});
}

/// The library's GELU is the approximation with tanh, and rough with the fault.
TEST(Libraries, GeluOfTheEpilogueIsUsedWhereItIsTheFunctionThatWasAskedFor) {
    const auto by = [](const char* form, const char* precision, const char* fault) {
        Case one{benchmark_of(ASSAY_MODULES_ON_CPU "/cublaslt.so", "workload.transformer_layer"),
                 {{"batch", "1"},
                  {"sequence", "72"},
                  {"hidden", "128"},
                  {"precision", precision},
                  {"gelu", form}}};
        ::setenv("ASSAY_CPU_FAULT", fault, 1);
        EXPECT_EQ(one.create(), "");
        ::unsetenv("ASSAY_CPU_FAULT");
        EXPECT_EQ(one.sample(1), "");
        EXPECT_EQ(one.verdict(), "");
        return one.texts["gelu_by"];
    };
    for (const char* precision : {"bf16", "fp16"}) {
        EXPECT_EQ(by("erf", precision, ""), "kernel");
        EXPECT_EQ(by("tanh", precision, ""), "epilogue");
        EXPECT_EQ(by("tanh", precision, "cublaslt_gelu"), "kernel");
        expect_noticed("cublaslt_gelu", "cublaslt", "workload.transformer_layer",
                       {{"batch", "8"},
                        {"sequence", "72"},
                        {"hidden", "128"},
                        {"precision", precision},
                        {"gelu", "tanh"}});
    }
}

TEST(PlantedFaults, ScalesOfOtherBlocks) {
    for (const char* precision : {"mxfp8", "nvfp4"})
        expect_noticed("cublaslt_scales", "cublaslt", "gemm.square",
                       {{"precision", precision}, {"size", "128"}});
}

TEST(PlantedFaults, ACollectiveWithoutItsLastRank) {
    for (const char* name : {"allreduce", "reduce_scatter", "allgather", "broadcast"})
        expect_noticed("nccl", "nccl", std::string{"collective."} + name, {{"bytes", "4096"}});
}

} // namespace
