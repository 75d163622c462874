// SPDX-License-Identifier: Apache-2.0
//
// Rates of network devices, as kernels show them.
#include "machine/network.hpp"
#include "scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::machine {
namespace {

using ::testing::HasSubstr;

/// A device on this bus below /sys/class/`folder`.
void plug_in(const Scratch& scratch, const std::string& folder, const std::string& bus) {
    const auto device = "/sys/class/" + folder + "/device/";
    scratch.write(device + "vendor", "0x15b3\n");
    std::filesystem::create_symlink("../../../bus/" + bus,
                                    scratch.files().at(device + "subsystem"));
}

void add_port(const Scratch& scratch, const std::string& device, std::string_view layer,
              std::string_view rate) {
    plug_in(scratch, "infiniband/" + device, "pci");
    const auto port = "/sys/class/infiniband/" + device + "/ports/1/";
    scratch.write(port + "link_layer", layer);
    scratch.write(port + "rate", rate);
}

NetworkRate rate(const Scratch& scratch, std::string_view device) {
    const auto found = network_rate(scratch.files(), device);
    EXPECT_TRUE(found) << device;
    return found.value_or(NetworkRate{});
}

TEST(Network, TheRateOfACardIsWhatTheKernelSays) {
    const Scratch scratch;
    plug_in(scratch, "net/eth0", "pci");
    scratch.write("/sys/class/net/eth0/speed", "25000\n");
    EXPECT_EQ(rate(scratch, "eth0").bytes_per_second, 3.125e9);
    EXPECT_EQ(rate(scratch, "eth0").source, "/sys/class/net/eth0/speed: 25000 Mbit/s");
}

TEST(Network, WhatAVirtualDeviceSaysIsNoRate) {
    const Scratch scratch;
    scratch.write("/sys/class/net/veth1/speed", "10000\n");
    for (const char* bus : {"virtio", "xen", "vmbus"}) {
        plug_in(scratch, std::string{"net/"} + bus, bus);
        scratch.write(std::string{"/sys/class/net/"} + bus + "/speed", "10000\n");
        EXPECT_FALSE(rate(scratch, bus).bytes_per_second) << bus;
    }
    EXPECT_FALSE(rate(scratch, "veth1").bytes_per_second);
    EXPECT_EQ(rate(scratch, "veth1").source,
              "the kernel reports no rate for veth1: a virtual device");
}

TEST(Network, ACardThatDoesNotTellHasNone) {
    const Scratch scratch;
    plug_in(scratch, "net/eth0", "pci"); // without a file: reading it fails while the link is down
    EXPECT_FALSE(rate(scratch, "eth0").bytes_per_second);
    for (const char* text : {"-1", "0", "4294967295", "9e9", "fast", "99999999999999999999"}) {
        scratch.write("/sys/class/net/eth0/speed", text);
        EXPECT_FALSE(rate(scratch, "eth0").bytes_per_second) << text;
    }
    EXPECT_THAT(rate(scratch, "eth0").source, HasSubstr("does not report a rate"));
}

TEST(Network, APortOfInfiniBandLosesItsLineCoding) {
    const Scratch scratch;
    add_port(scratch, "mlx5_0", "InfiniBand\n", "100 Gb/sec (4X EDR)\n");
    add_port(scratch, "mlx4_0", "InfiniBand\n", "40 Gb/sec (4X QDR)\n");
    add_port(scratch, "mlx4_1", "InfiniBand\n", "56 Gb/sec (4X FDR)\n");
    add_port(scratch, "roce", "Ethernet\n", "40 Gb/sec (4X QDR)\n");
    add_port(scratch, "slow", "InfiniBand\n", "2.5 Gb/sec (1X SDR)\n");
    EXPECT_EQ(rate(scratch, "mlx5_0:1").bytes_per_second, 12.5e9);
    EXPECT_EQ(rate(scratch, "mlx5_0:1").source,
              "/sys/class/infiniband/mlx5_0/ports/1/rate: 100 Gb/sec (4X EDR)");
    EXPECT_DOUBLE_EQ(rate(scratch, "mlx4_0:1").bytes_per_second.value_or(0), 4e9);
    EXPECT_THAT(rate(scratch, "mlx4_0:1").source, HasSubstr("less line coding"));
    EXPECT_NEAR(rate(scratch, "mlx4_1:1").bytes_per_second.value_or(0), 6.818e9, 1e6);
    EXPECT_EQ(rate(scratch, "roce:1").bytes_per_second, 5e9);
    EXPECT_DOUBLE_EQ(rate(scratch, "slow:1").bytes_per_second.value_or(0), 0.25e9);
    EXPECT_FALSE(rate(scratch, "mlx5_0:2").bytes_per_second) << "no such port";
}

TEST(Network, APortThatTellsNonsenseHasNone) {
    const Scratch scratch;
    plug_in(scratch, "infiniband/mlx5_0", "pci");
    for (const char* text : {"", "100", "100 Mb/sec", "nan Gb/sec", "-1 Gb/sec", "inf Gb/sec (X)",
                             "1e9 Gb/sec (4X EDR)", "100x Gb/sec"}) {
        scratch.write("/sys/class/infiniband/mlx5_0/ports/1/rate", text);
        EXPECT_FALSE(rate(scratch, "mlx5_0:1").bytes_per_second) << text;
    }
    scratch.write("/sys/class/infiniband/siw0/ports/1/rate", "10 Gb/sec (4X SDR)");
    EXPECT_THAT(rate(scratch, "siw0:1").source, HasSubstr("a virtual device"));
}

TEST(Network, WhatIsNoNetworkDeviceHasNothingToSay) {
    const Scratch scratch;
    add_port(scratch, "mlx5_0", "InfiniBand\n", "100 Gb/sec (4X EDR)\n");
    plug_in(scratch, "net/eth0", "pci");
    for (const char* device : {"memory", "", ".", "..", "../net/eth0", "eth0\n", "eth 0", "mlx5_0",
                               "mlx5_0:", ":1", "..:1", "mlx5_0:../1"})
        EXPECT_FALSE(network_rate(scratch.files(), device)) << device;
}

} // namespace
} // namespace assay::machine
