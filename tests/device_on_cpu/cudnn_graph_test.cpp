// SPDX-License-Identifier: Apache-2.0
//
// The graphs of module cudnn, offered to NVIDIA's library itself, which needs no device for that: devices are described to it.
// The same program with the library of the device on the CPU (cudnn.cpp) shows that this one refuses what the other refuses.
#include "device/opened.hpp"
#include "workload/cudnn_plans.hpp"
#include "workload/resnet50.hpp"
#include "workload/unet3d.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace assay::workload::cudnn {
namespace {

/// A device as cuDNN writes it down; numbers of an H100, whatever the compute capability.
Descriptor device_of(int capability) {
    const std::string text =
        R"({"deviceVer": )" + std::to_string(10 * capability) +
        R"(, "driverVer": 13000, "cudaDeviceId": 0, "totalGlobalMem": 85000000000,
        "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
        "regsPerBlock": 65536, "multiProcessorCount": 132, "warpSize": 32,
        "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
        "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32,
        "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0,
        "supportCoopLaunch": 1, "smClockRateKHz": 1980000, "memClockRateKHz": 2619000,
        "l2CacheSize": 52428800, "deviceName": "NVIDIA H100 80GB HBM3"})";
    Descriptor made{CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR};
    made.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, std::span<const char>{text});
    made.finalize();
    return made;
}

class CudnnGraphs : public testing::Test {
protected:
    static void SetUpTestSuite() {
        // Kernels that are compiled when they are needed are offered only beside a driver; the toolkit's empty one will do.
        if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr)
            ::dlopen(ASSAY_LIBCUDA, RTLD_NOW | RTLD_GLOBAL);
    }
    void SetUp() override {
        if (!why_no_library().empty()) GTEST_SKIP() << why_no_library();
    }
    template <class Operations>
    static std::size_t engines(const Descriptor& device, const Operations& operations,
                               Precision precision) {
        std::unique_ptr<Graph> graph;
        return engines_for({.properties = &device}, operations, precision, graph).size();
    }
};

TEST_F(CudnnGraphs, EveryLayerHasAnEngineInEveryPrecision) {
    for (const int capability : {80, 90, 100}) {
        const Descriptor device = device_of(capability);
        const auto each = [&](const Layer& layer, std::int64_t batch) {
            for (const Precision precision :
                 {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16})
                EXPECT_GT(
                    engines(device, ConvolutionOperations{layer, batch, precision}, precision), 0U)
                    << layer.name << ", precision " << static_cast<int>(precision) << ", batch "
                    << batch << ", capability " << capability;
        };
        for (const Layer& layer : resnet50) each(layer, 16);
        if (capability == 90) // the library takes its time
            for (const Layer& layer : unet3d(128)) each(layer, 1);
    }
}

/// Of kernels that are compiled when they are needed a plan takes a device; those of convolutions are ready-made.
TEST_F(CudnnGraphs, EveryLayerHasAPlanThatNeedsLittleMemory) {
    const Descriptor device = device_of(90);
    const Target target{.properties = &device};
    const auto each = [&](const Layer& layer, std::int64_t batch, Precision precision) {
        const ConvolutionOperations operations{layer, batch, precision};
        std::unique_ptr<Graph> graph;
        std::string why = "no engine";
        for (const Engine& engine : engines_for(target, operations, precision, graph)) {
            try {
                const Plan plan{target, engine};
                if (std::cmp_less_equal(plan.workspace_bytes(), most_workspace)) return;
                why = "workspace";
            } catch (const LibraryError& e) {
                why = e.what();
            }
        }
        ADD_FAILURE() << layer.name << ", precision " << static_cast<int>(precision) << ", batch "
                      << batch << ": " << why;
    };
    for (const Precision precision :
         {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}) {
        for (const std::int64_t batch : {1, 256})
            for (const Layer& layer : resnet50) each(layer, batch, precision);
        for (const Layer& layer : unet3d(128)) each(layer, 1, precision);
    }
}

TEST_F(CudnnGraphs, AttentionHasAnEngine) {
    for (const int capability : {80, 90, 100}) {
        const Descriptor device = device_of(capability);
        for (const Precision precision : {Precision::fp16, Precision::bf16})
            for (const std::int64_t size : {16, 64, 80, 128, 256})
                for (const std::int64_t group : {1, 8})
                    for (const std::int64_t context : {1, 1001}) {
                        const AttentionShape shape{2, context, 32, size, group};
                        EXPECT_GT(engines(device, AttentionOperations{shape, precision}, precision),
                                  0U)
                            << "head of " << size << ", group of " << group << ", " << context
                            << " tokens, capability " << capability;
                    }
    }
}

Descriptor packed_tensor(std::int64_t uid, std::vector<std::int64_t> dims) {
    return tensor(uid, packed(std::move(dims)), CUDNN_DATA_BFLOAT16);
}
/// Attention to keys of this shape.
void attend(std::vector<std::int64_t> keys, std::int64_t heads) {
    const Descriptor q = packed_tensor(1, {2, heads, 1, 64});
    const Descriptor k = packed_tensor(2, std::move(keys));
    const Descriptor v = packed_tensor(3, {2, 8, 100, 64});
    const Descriptor o = packed_tensor(4, {2, heads, 1, 64});
    Descriptor made{CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR};
    made.set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, q);
    made.set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, k);
    made.set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, v);
    made.set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, o);
    made.finalize();
}

TEST_F(CudnnGraphs, AttentionOfOtherShapesIsRefused) {
    EXPECT_NO_THROW(attend({2, 8, 100, 64}, 16));
    EXPECT_THROW(attend({2, 8, 64, 100}, 16), LibraryError) << "transposed keys";
    EXPECT_THROW(attend({2, 8, 100, 64}, 12), LibraryError) << "heads that no group fits";
    EXPECT_THROW(attend({1, 8, 100, 64}, 16), LibraryError) << "keys of one sequence";
}

/// A convolution of 3 x 3 to a result of this edge.
void convolve(std::int64_t channels, std::int64_t edge, std::int64_t paddings) {
    const Descriptor x = packed_tensor(1, {1, 16, 8, 8});
    const Descriptor w = packed_tensor(2, {32, channels, 3, 3});
    const Descriptor y = packed_tensor(3, {1, 32, edge, edge});
    const std::vector<std::int64_t> ones{1, 1};
    Descriptor how{CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR};
    how.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
    how.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    how.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
    how.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
            std::vector<std::int64_t>(static_cast<std::size_t>(paddings), 1));
    how.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, ones);
    how.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, ones);
    how.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, ones);
    how.finalize();
    Descriptor made{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR};
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how);
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0F);
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0F);
    made.finalize();
}

TEST_F(CudnnGraphs, ConvolutionsOfOtherShapesAreRefused) {
    EXPECT_NO_THROW(convolve(16, 8, 2));
    EXPECT_THROW(convolve(16, 7, 2), LibraryError) << "edge of the result";
    EXPECT_THROW(convolve(15, 8, 2), LibraryError) << "channels";
    EXPECT_THROW(convolve(16, 8, 3), LibraryError) << "three paddings of two edges";
}

TEST_F(CudnnGraphs, WhatIsNotFinalOrOfAnotherTypeIsRefused) {
    Descriptor attention{CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR};
    EXPECT_THROW(attention.finalize(), LibraryError);
    Descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
    EXPECT_THROW(graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, attention), LibraryError);
    Descriptor one{CUDNN_BACKEND_TENSOR_DESCRIPTOR};
    EXPECT_THROW(one.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, 1.0F), LibraryError);
    EXPECT_THROW(one.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD), LibraryError);
    EXPECT_THROW(one.finalize(), LibraryError);
}

TEST(Opened, ALibraryThatIsMissingIsNamed) {
    const device::Opened missing{"cuDNN", {"libno_such_library.so.9", "libnor_this.so.8"}};
    EXPECT_EQ(missing.why_not().find("cuDNN cannot be loaded: libno_such_library.so.9"), 0U);
    EXPECT_NE(missing.why_not().find("libnor_this.so.8"), std::string::npos);
    EXPECT_EQ(missing.function("cudnnCreate"), nullptr);
}

} // namespace
} // namespace assay::workload::cudnn
