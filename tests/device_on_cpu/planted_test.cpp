// SPDX-License-Identifier: Apache-2.0
//
// What executing device code on the CPU finds: faults planted in kernels, each caught in some order of threads, and the
// same kernels right in every order; and calls that CUDA would refuse.

#include "block.hpp"
#include "device/graph.hpp"
#include "device/handles.hpp"
#include "planted.hpp"
#include "runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::device_on_cpu::planted {
namespace {

using testing::Each;
using testing::HasSubstr;

const std::vector<std::string> schedules{"sequence", "reversed", "1", "2", "3", "4", "5"};

/// In how many of the orders are the results right?
std::size_t right(bool (*run)(Fault), Fault fault) {
    std::size_t count = 0;
    for (const auto& schedule : schedules) {
        set_schedule(schedule);
        count += run(fault) ? 1 : 0;
    }
    set_schedule("sequence");
    return count;
}

class Planted : public testing::TestWithParam<bool (*)(Fault)> {};

TEST_P(Planted, FaultIsCaught) {
    EXPECT_EQ(right(GetParam(), Fault::none), schedules.size());
    EXPECT_LT(right(GetParam(), Fault::planted), schedules.size());
}

std::string name_of(const testing::TestParamInfo<bool (*)(Fault)>& test) {
    static const std::vector<std::string> names{
        "MissingBarrierBeforeReading", "MissingBarrierBeforeWriting", "WrongLaneOfAShuffle",
        "RaceInSharedMemory", "WrongMatrixFragment"};
    return names.at(test.index);
}
INSTANTIATE_TEST_SUITE_P(Kernels, Planted,
                         testing::Values(transpose, window, warp_sum, scan, matrix_product),
                         name_of);

TEST(PlantedFaults, AMissingBarrierBeforeWritingShowsInRandomOrders) {
    std::size_t caught = 0;
    for (const char* seed : {"1", "2", "3", "4", "5"}) {
        set_schedule(seed);
        caught += window(Fault::planted) ? 0U : 1U;
    }
    set_schedule("sequence");
    EXPECT_GE(caught, 3U) << "of five seeds";
}

TEST(PlantedFaults, IndexesOf32BitsOverflow) {
    constexpr std::uint64_t count = (std::uint64_t{1} << 33U) + 512; // beyond 2^31 and 2^32
    EXPECT_EQ(last_indices(count, Fault::none).back(), count - 1);
    EXPECT_NE(last_indices(count, Fault::planted).back(), count - 1);
    EXPECT_EQ(last_of_each(count - 512), count - 513);
}

#if !defined(__SANITIZE_ADDRESS__) // which ends the program at the write
TEST(PlantedFaults, AWriteBehindAnArrayIsNamed) {
    EXPECT_TRUE(copy(Fault::none));
    testing::internal::CaptureStderr();
    EXPECT_THROW(copy(Fault::planted), device::Error);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("a write behind the 1024 bytes"));
}

TEST(DeviceOnCpu, FillsNewMemoryWithGarbage) {
    for (int launch = 0; launch < 2; ++launch) EXPECT_EQ(fresh_shared(), 0xdbdbdbdbU);
    const device::Stream stream;
    const device::Buffer<unsigned char> fresh{1000};
    EXPECT_THAT(device::to_host(fresh, stream), Each(0xdb));
}
#endif

/// What stderr says of a kernel, which must fail.
std::string complaint(void (*run)()) {
    testing::internal::CaptureStderr();
    run();
    EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "it is said once";
    return testing::internal::GetCapturedStderr();
}

TEST(DeviceOnCpu, NamesBarriersThatNotEverybodyReaches) {
    EXPECT_THAT(complaint(wait_for_the_ended), HasSubstr("barrier with exited threads: 128 of 256 "
                                                         "threads wait at planted.cu:"));
    EXPECT_THAT(complaint(wait_apart), HasSubstr("divergent barrier"));
    EXPECT_THAT(complaint(shuffle_apart), HasSubstr("divergent barrier"));
    EXPECT_TRUE(transpose(Fault::none)) << "the next kernel runs";
}

TEST(DeviceOnCpu, RefusesWhatCudaRefuses) {
    std::vector<char> host(100);
    const device::Stream stream;
    const device::Buffer<char> there{100};
    char* const at = there.data();
    EXPECT_EQ(cudaFree(host.data()), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(at + 1), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpyAsync(at + 1, host.data(), 100, cudaMemcpyHostToDevice, stream.get()),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpyAsync(host.data(), at, 100, cudaMemcpyHostToDevice, stream.get()),
              cudaErrorInvalidValue)
        << "the other way round";
    EXPECT_EQ(cudaMemsetAsync(at, 0, 101, stream.get()), cudaErrorInvalidValue);
    EXPECT_EQ(cudaSetDevice(device_count()), cudaErrorInvalidDevice);
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, std::size_t{1} << 50U), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    cudaEvent_t never = nullptr;
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, never, never), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

TEST(DeviceOnCpu, CapturesWhatAGraphRunsLater) {
    const device::Stream stream;
    const device::Buffer<char> there{4};
    device::set_bytes(there, 1, stream);
    const device::Graph graph{
        stream, [&] {
            device::check(cudaMemsetAsync(there.data(), 2, there.bytes(), stream.get()));
            void* memory = nullptr;
            EXPECT_EQ(cudaMalloc(&memory, 1), cudaErrorStreamCaptureUnsupported);
            EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaErrorStreamCaptureUnsupported);
        }};
    EXPECT_EQ(graph.operations(), 1U);
    EXPECT_THAT(device::to_host(there, stream), Each(1));
    graph.launch(stream);
    EXPECT_THAT(device::to_host(there, stream), Each(2));
    cudaGetLastError();
}

TEST(DeviceOnCpu, DevicesHaveTheirOwnMemoryAndReachEachOther) {
    ASSERT_EQ(device_count(), 2);
    const device::Buffer<char> first{10};
    device::check(cudaSetDevice(1));
    const device::Stream stream;
    const device::Buffer<char> second{10};
    EXPECT_EQ(device_of(first.data()), 0);
    EXPECT_EQ(device_of(second.data()), 1);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaSuccess);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
    EXPECT_EQ(cudaDeviceDisablePeerAccess(0), cudaSuccess);
    EXPECT_EQ(cudaMemcpyPeerAsync(first.data(), 0, second.data(), 1, 10, stream.get()),
              cudaSuccess);
    EXPECT_EQ(cudaMemcpyPeerAsync(first.data(), 1, second.data(), 0, 10, stream.get()),
              cudaErrorInvalidValue);
    device::check(cudaSetDevice(0));
    cudaGetLastError();
}

} // namespace
} // namespace assay::device_on_cpu::planted
