// SPDX-License-Identifier: Apache-2.0
#include "decide/expectations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::record {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Expectations, SayWhatWasFound) {
    Machine machine;
    machine.usable_cores = 2;
    machine.memory_bytes = std::int64_t{8} << 30;
    machine.memory_limit_bytes = std::int64_t{4} << 30;
    machine.pci.push_back({.kind = "accelerator"});
    EXPECT_TRUE(check_expectations(machine, {"cores=2", "memory=4GiB", "gpu=1"}));
    const auto gpus = check_expectations(machine, {"cores=2", "gpu=8"});
    ASSERT_FALSE(gpus);
    EXPECT_EQ(gpus.error().fault, Fault::environment);
    EXPECT_THAT(gpus.error().message, AllOf(HasSubstr("gpu=8"), HasSubstr("found gpu=1")));
    // Nine are plugged in and eight answer, one of them divided into two.
    machine.pci.assign(9, {.kind = "accelerator"});
    for (const char* address : {"1", "2", "3", "3", "4", "5", "6", "7", "8"})
        machine.devices.push_back({.kind = "cuda", .pci_address = address});
    EXPECT_TRUE(check_expectations(machine, {"gpu=8"}));
    EXPECT_FALSE(check_expectations(machine, {"gpu=9"}));
    const auto memory = check_expectations(machine, {"memory=8GiB"});
    ASSERT_FALSE(memory);
    EXPECT_THAT(memory.error().message, HasSubstr("4 GiB"));
    machine.memory_limit_bytes.reset();
    machine.memory_bytes = std::int64_t{1007} << 30; // of a machine with 1 TiB
    EXPECT_TRUE(check_expectations(machine, {"memory=1TiB", "memory>=1000Gi", "cores>=1"}));
    EXPECT_FALSE(check_expectations(machine, {"memory>=1TiB"}));
    EXPECT_FALSE(check_expectations(machine, {"memory=1100GiB"}));
    EXPECT_FALSE(check_expectations(machine, {"cores>=3"}));
    machine.platform.network = {{.name = "eth0", .address = "0000:01:00.0"},
                                {.name = "mlx5_0:1", .address = "0000:01:00.0"},
                                {.name = "eth1", .address = "0000:02:00.0"}};
    EXPECT_TRUE(check_expectations(machine, {"nics=2"}));
    for (const char* text :
         {"memory=1Tx", "memory>=", "memory>1TiB", "memory=>1TiB", ">=2", "nics=2.5", "cors=2",
          "cores", "cores=", "cores=two", "cores=-1", "=2", ""}) {
        const auto wrong = check_expectations(machine, {text});
        ASSERT_FALSE(wrong) << text;
        EXPECT_EQ(wrong.error().fault, Fault::usage) << text;
    }
}

TEST(Expectations, VersionsWordsAndNetworks) {
    Machine machine;
    machine.kernel = "6.1.0-18-amd64";
    machine.software = {{"nvidia.driver", std::string{"580.65.06"}}};
    machine.platform.iommu = "off";
    machine.devices = {{.kind = "cuda", .ecc = true}, {.kind = "cuda", .ecc = true}};
    // The interface for administration is slower, and one of the fast ones is not plugged in.
    machine.platform.network = {
        {.name = "eth0", .bytes_per_second = 125e6, .mtu = 1500, .state = "up"},
        {.name = "eth1", .bytes_per_second = 50e9, .mtu = 9000, .state = "up"},
        {.name = "eth2", .mtu = 1500, .state = "down"}};
    EXPECT_TRUE(check_expectations(machine, {"driver>=580", "driver=580", "driver>=580.65.06",
                                             "driver>=79", "kernel>=5.15", "iommu=off", "ecc=on",
                                             "mtu=9000", "mtu>=4200", "nic=3"}));
    for (const char* text : {"driver>=580.65.7", "driver>=581", "driver=58", "cuda>=12", "ecc=off",
                             "iommu=identity", "kernel=6.2", "mtu=1500", "governor=performance"}) {
        const auto unmet = check_expectations(machine, {text});
        ASSERT_FALSE(unmet) << text;
        EXPECT_EQ(unmet.error().fault, Fault::environment) << text;
    }
    for (const char* text : {"driver>=", "driver=new", "driver=580.", "driver>=580-1", "ecc>=on",
                             "ecc", "iommu=", "driver=99999999999999999999"}) {
        const auto wrong = check_expectations(machine, {text});
        ASSERT_FALSE(wrong) << text;
        EXPECT_EQ(wrong.error().fault, Fault::usage) << text;
    }
    EXPECT_THAT(check_expectations(machine, {"gpu_clock>=1980M"}).error().message,
                HasSubstr("gpu_clock=not known"));
    machine.platform.clock_limit_hz = 2.6e9;
    for (auto& device : machine.devices) {
        device.clock_max_hz = 1.98e9;
        device.power_limit_watts = 700;
    }
    EXPECT_TRUE(check_expectations(
        machine, {"clock>=2600M", "gpu_clock>=1980M", "gpu_clock=1980M", "gpu_power=700"}));
    EXPECT_FALSE(check_expectations(machine, {"clock>=2601M"}));
    machine.devices.front().power_limit_watts = 500; // one of two
    EXPECT_THAT(check_expectations(machine, {"gpu_power=700"}).error().message,
                HasSubstr("gpu_power=500"));
    machine.devices.back().clock_max_hz = 1.2e9;
    EXPECT_THAT(check_expectations(machine, {"gpu_clock>=1980M"}).error().message,
                HasSubstr("1.20 GHz"));
    machine.devices.back().ecc = false;
    EXPECT_THAT(check_expectations(machine, {"ecc=on"}).error().message, HasSubstr("off, on"));
}

TEST(Expectations, TellTheSetUpFromParts) {
    for (const char* text : {"driver>=580", "ecc=on", "governor=performance", "mtu=9000",
                             "clock>=2600M", "gpu_clock=1980M", "gpu_power=700"})
        EXPECT_TRUE(is_setup(text)) << text;
    for (const char* text :
         {"gpu=8", "cores>=64", "memory=1TiB", "channels=12", "nics=2", "other=1"})
        EXPECT_FALSE(is_setup(text)) << text;
}

} // namespace
} // namespace assay::record
