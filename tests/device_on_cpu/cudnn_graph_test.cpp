// SPDX-License-Identifier: Apache-2.0
//
// The graphs of module cudnn, offered to NVIDIA's library itself, which needs no device for that: devices are described
// to it. The same program with the library of the device on the CPU (cudnn.cpp) shows that this one refuses what the
// other refuses.
#include "device/opened.hpp"
#include "model/resnet.hpp"
#include "workload/cudnn_plans.hpp"
#include "workload/cudnn_prefill.hpp"
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
        // Kernels that are compiled when they are needed are offered only
        // beside a driver; the toolkit's empty one will do.
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

/// A plan of kernels that are compiled when needed takes a device; those of convolutions are ready-made.
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

/// What the trial looks at beyond the library's lists: other engines by their number, and settings.
TEST_F(CudnnGraphs, OtherEnginesAndSettingsHavePlans) {
    const Descriptor device = device_of(90);
    const Target target{.properties = &device};
    const auto has_plan = [&](const Graph& graph, const PlanPoint& point) {
        const auto engine = graph.engine(point.engine, point.knobs);
        if (!engine) return false;
        EXPECT_EQ(engine->point(), point);
        try {
            const Plan plan{target, *engine};
            return true;
        } catch (const LibraryError&) {
            return false;
        }
    };
    for (const Precision precision : {Precision::bf16, Precision::tf32}) {
        const ConvolutionOperations operations{
            resnet50[static_cast<std::size_t>(OfResNet50::res4_3x3)], 64, precision};
        std::unique_ptr<Graph> graph;
        const auto listed = engines_for(target, operations, precision, graph);
        const auto others = other_engines(*graph, precision, listed);
        EXPECT_FALSE(others.empty());
        std::size_t plans = 0;
        for (const PlanPoint& point : others)
            if (!graph->engine(point.engine)->compiles && has_plan(*graph, point)) ++plans;
        EXPECT_GT(plans, 0U);
        const auto varied = std::ranges::find_if(listed, [&](const Engine& engine) {
            return !knobs_to_vary(*graph, engine.index).empty();
        });
        ASSERT_NE(varied, listed.end());
        EXPECT_NE(varied->name().find(", TILE_SIZE "), std::string::npos) << varied->name();
        std::size_t settings = 0;
        for (const KnobRange& range : knobs_to_vary(*graph, varied->index))
            for (const std::int64_t value : range.values(32))
                if (has_plan(*graph, varied->point().with({range.type, value}))) ++settings;
        EXPECT_GT(settings, 1U) << varied->name();
        EXPECT_FALSE(has_plan(*graph, varied->point().with({CUDNN_KNOB_TYPE_TILE_SIZE, 99})));
        EXPECT_FALSE(graph->engine(99999));
    }
}

/// The residual, too, is added by ready-made kernels; scores and shortcuts have no ReLU.
TEST_F(CudnnGraphs, EveryStepOfAWholeNetworkHasAnEngine) {
    for (const auto size : {model::ResNetSize::resnet50, model::ResNetSize::tiny}) {
        const model::ResNet net{size};
        for (const int capability : {80, 90, 100}) {
            const Descriptor device = device_of(capability);
            for (const model::ResNetNode& n : net.nodes()) {
                if (!n.has_weights() || (n.has_relu && !n.adds())) continue;
                const auto ask = [&](const auto& operations) {
                    return engines(device, operations, Precision::bf16);
                };
                EXPECT_GT(n.adds()
                              ? ask(FusedConvolution<true>{n.layer, 64, Precision::bf16})
                              : ask(FusedConvolution<false>{n.layer, 64, Precision::bf16, false}),
                          0U)
                    << n.name << ", capability " << capability;
            }
        }
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

TEST_F(CudnnGraphs, AttentionOfPromptHasAnEngine) {
    for (const int capability : {80, 90, 100}) {
        const Descriptor device = device_of(capability);
        for (const Precision precision : {Precision::fp16, Precision::bf16})
            for (const std::int64_t size : {64, 128})
                for (const std::int64_t group : {1, 8})
                    for (const std::int64_t tokens : {64, 1001, 4096}) {
                        const PrefillShape shape{2, 32, group, tokens, size, true};
                        const auto ask = [&](const auto& operations) {
                            return engines(device, operations, precision);
                        };
                        EXPECT_GT(ask(PrefillOperations<false>{shape, precision}), 0U)
                            << "all keys, " << tokens << " tokens, capability " << capability;
                        EXPECT_GT(ask(PrefillOperations<true>{shape, precision}), 0U)
                            << "causal, head of " << size << ", group of " << group << ", "
                            << tokens << " tokens, capability " << capability;
                    }
    }
}

TEST(Opened, ALibraryThatIsMissingIsNamed) {
    const device::Opened missing{"cuDNN", {"libno_such_library.so.9", "libnor_this.so.8"}};
    EXPECT_EQ(missing.why_not().find("cuDNN cannot be loaded: libno_such_library.so.9"), 0U);
    EXPECT_NE(missing.why_not().find("libnor_this.so.8"), std::string::npos);
    EXPECT_EQ(missing.function("cudnnCreate"), nullptr);
}

} // namespace
} // namespace assay::workload::cudnn
