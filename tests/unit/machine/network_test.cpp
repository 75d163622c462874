// SPDX-License-Identifier: Apache-2.0
//
// Rates of network devices, as kernels show them.
#include "machine/network.hpp"
#include "record/hardware_layout.hpp"
#include "scratch.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

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

machine::NetworkRate rate(const Scratch& scratch, std::string_view device) {
    const auto found = network_rate(scratch.files(), device);
    EXPECT_TRUE(found) << device;
    return found.value_or(machine::NetworkRate{});
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

// --- bonds ----------------------------------------------------------------------------------------

void add_bond(const Scratch& scratch, const std::string& mode, const std::string& members) {
    // The speed is the bond's own, not asked.
    scratch.write_lines(
        "/sys/class/net/bond0/",
        {{"bonding/mode", mode.c_str()}, {"bonding/slaves", members.c_str()}, {"speed", "99000"}});
}
void add_member(const Scratch& scratch, const std::string& name, std::string_view megabits) {
    plug_in(scratch, "net/" + name, "pci");
    scratch.write("/sys/class/net/" + name + "/speed", megabits);
    scratch.write("/sys/class/net/" + name + "/bonding_slave/mii_status", "up\n");
}
/// Gbit/s of one stream and of several; 0: not known.
std::pair<double, double> gigabits(const Scratch& scratch) {
    const auto of = [&](machine::Streams streams) {
        const auto found = network_rate(scratch.files(), "bond0", streams);
        return found ? found->bytes_per_second.value_or(0) * 8 / 1e9 : -1;
    };
    return {of(machine::Streams::one), of(machine::Streams::several)};
}
using Pair = std::pair<double, double>;

TEST(Bond, ItsModeSaysWhetherItsMembersAddUp) {
    const Scratch scratch;
    add_member(scratch, "eth0", "25000\n");
    add_member(scratch, "eth1", "100000\n");
    for (const char* const mode :
         {"balance-xor 2", "802.3ad 4", "balance-tlb 5", "balance-alb 6"}) {
        add_bond(scratch, mode, "eth0 eth1");
        EXPECT_EQ(gigabits(scratch), Pair(100, 125)) << mode;
    }
    add_bond(scratch, "balance-rr 0", "eth0 eth1");
    EXPECT_EQ(gigabits(scratch), Pair(125, 125)) << "packets of one stream go over both";
    add_bond(scratch, "balance-rr 0", "eth0 eth1 eth0");
    EXPECT_EQ(gigabits(scratch), Pair(125, 125)) << "none counts twice";
    add_bond(scratch, "broadcast 3", "eth0 eth1");
    EXPECT_EQ(gigabits(scratch), Pair(100, 100)) << "both carry the same";
    add_bond(scratch, "active-backup 1", "eth0 eth1");
    EXPECT_EQ(gigabits(scratch), Pair(0, 0)) << "none is active";
    scratch.write("/sys/class/net/bond0/bonding/active_slave", "eth0\n");
    EXPECT_EQ(gigabits(scratch), Pair(25, 25));
    EXPECT_EQ(rate(scratch, "bond0").source,
              "bond0, active-backup: /sys/class/net/eth0/speed: 25000 Mbit/s");
}

TEST(Bond, WhoseLinkIsDownOrWhoIsLeftOutByTheSwitchCarriesNothing) {
    const Scratch scratch;
    add_member(scratch, "eth0", "25000\n");
    add_member(scratch, "eth1", "25000\n");
    add_bond(scratch, "802.3ad 4", "eth0 eth1");
    scratch.write("/sys/class/net/bond0/bonding/ad_aggregator", "2\n");
    scratch.write("/sys/class/net/eth0/bonding_slave/ad_aggregator_id", "2\n");
    scratch.write("/sys/class/net/eth1/bonding_slave/ad_aggregator_id", "1\n");
    EXPECT_EQ(gigabits(scratch), Pair(25, 25));
    scratch.write("/sys/class/net/eth1/bonding_slave/ad_aggregator_id", "2\n");
    EXPECT_EQ(gigabits(scratch), Pair(25, 50));
    EXPECT_EQ(rate(scratch, "bond0").source,
              "bond0, 802.3ad: /sys/class/net/eth0/speed: 25000 Mbit/s + "
              "/sys/class/net/eth1/speed: 25000 Mbit/s");
    scratch.write("/sys/class/net/eth0/bonding_slave/mii_status", "down\n");
    scratch.write("/sys/class/net/eth0/speed", "-1\n");
    EXPECT_EQ(gigabits(scratch), Pair(25, 25));
    EXPECT_EQ(json::to_line(json::encode(read_bonds(scratch.files()))),
              R"([{"name":"bond0","mode":"802.3ad","members":["eth0","eth1"],"active":["eth1"],)"
              R"("bytes_per_second":3125000000.0}])");
}

TEST(Bond, WhereAMemberDoesNotTellNothingIsKnown) {
    const Scratch scratch;
    add_member(scratch, "eth0", "25000\n");
    const auto why = [&](const std::string& members) {
        add_bond(scratch, "802.3ad 4", members);
        EXPECT_EQ(gigabits(scratch), Pair(0, 0)) << members.substr(0, 40);
        return rate(scratch, "bond0").source;
    };
    EXPECT_THAT(why("eth0 bond0"), HasSubstr("for bond0: a virtual device")) << "itself";
    EXPECT_THAT(why("eth0 eth7"), HasSubstr("its member eth7 is not here"));
    EXPECT_THAT(why("eth0 ../eth0"), HasSubstr("its member ../eth0 is not here"));
    EXPECT_THAT(why("/sys/class/net/eth0"), HasSubstr("is not here"));
    EXPECT_THAT(why("eth0 eth\x01\xff"), HasSubstr("its member eth?? is not here"));
    EXPECT_THAT(why(std::string(5000, 'e')), HasSubstr("is not here"));
    EXPECT_THAT(why(""), HasSubstr("no member of this bond carries data"));
    std::string many;
    for (int i = 0; i < 10'000; ++i) many.append("eth").append(std::to_string(i)) += " ";
    EXPECT_THAT(why(many), HasSubstr("too many members"));
    EXPECT_EQ(read_bonds(scratch.files()).at(0).members.size(), 64U);
    add_member(scratch, "eth1", "-1\n");
    EXPECT_THAT(why("eth0 eth1"), HasSubstr("for eth1: its link is down"));
    for (const char* const mode : {"", "802.3AD", "4", "\xff\xfe"}) {
        add_bond(scratch, mode, "eth0");
        EXPECT_THAT(rate(scratch, "bond0").source, HasSubstr("the mode of this bond is not known"));
    }
    std::filesystem::remove_all(scratch.files().at("/sys/class/net/bond0/bonding"));
    scratch.write("/sys/class/net/bond0/bonding", "no folder");
    EXPECT_THAT(rate(scratch, "bond0").source, HasSubstr("not known"));
}

TEST(Network, WhatIsNoNetworkDeviceHasNothingToSay) {
    const Scratch scratch;
    add_port(scratch, "mlx5_0", "InfiniBand\n", "100 Gb/sec (4X EDR)\n");
    plug_in(scratch, "net/eth0", "pci");
    for (const char* device : {"memory", "", ".", "..", "../net/eth0", "eth0\n", "eth 0", "mlx5_0",
                               "mlx5_0:", ":1", "..:1", "mlx5_0:../1"})
        EXPECT_FALSE(network_rate(scratch.files(), device)) << device;
}

TEST(Network, DriversWithoutAllowancesCountNone) {
    EXPECT_THAT(ask_allowances("lo"), testing::IsEmpty());
    EXPECT_THAT(ask_allowances("no-such-interface-with-a-long-name"), testing::IsEmpty());
}

} // namespace
} // namespace assay::machine
