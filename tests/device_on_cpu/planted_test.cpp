// SPDX-License-Identifier: Apache-2.0
//
// What executing device code on the CPU finds: faults planted in kernels, each caught in some order of threads, and the
// same kernels right in every order.

#include "block.hpp"
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
        "MissingBarrierBeforeReading", "MissingBarrierBeforeWriting", "RaceInSharedMemory",
        "MissingBarrierOfACluster",    "SlotLoadedBeforeItIsStored",  "SlotStoredBeforeItIsLoaded"};
    return names.at(test.index);
}
INSTANTIATE_TEST_SUITE_P(Kernels, Planted,
                         testing::Values(transpose, window, scan, exchange, bulk_store, bulk_load),
                         name_of);

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

/// Text on stderr about a kernel, which must fail.
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
    EXPECT_THAT(complaint(wait_for_nothing), HasSubstr("threads wait for ever at"));
    EXPECT_TRUE(transpose(Fault::none)) << "the next kernel runs";
}

} // namespace
} // namespace assay::device_on_cpu::planted
