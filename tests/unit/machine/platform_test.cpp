// SPDX-License-Identifier: Apache-2.0
#include "machine/inventory.hpp"
#include "machine/pci.hpp"
#include "machine/system.hpp"
#include "trees.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace assay::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Platform, WhatCannotBeReadIsAbsent) {
    EXPECT_EQ(read_platform(Files{"/no/such/place"}), record::Platform{});
}

TEST(Platform, GarbageHarmsNothing) {
    const Scratch scratch;
    scratch.copy(tree_path("garbage"));
    scratch.write("/sys/firmware/dmi/tables/DMI", std::string(5000, '\x11'));
    EXPECT_THAT(read_platform(scratch.files()).memory_modules, IsEmpty());
}

TEST(Platform, ClocksPowerAndFirmware) {
    const Scratch scratch;
    scratch.write("/sys/class/dmi/id/bios_vendor", "American Megatrends International, LLC.\n");
    scratch.write("/sys/class/dmi/id/bios_version", "2.1\n");
    scratch.write("/sys/class/dmi/id/bios_date", "05/21/2024\n");
    scratch.write("/proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0x2b000590\n");
    const std::string cpu = "/sys/devices/system/cpu/";
    scratch.write(cpu + "cpu0/cpufreq/scaling_driver", "intel_pstate\n");
    scratch.write(cpu + "cpufreq/policy0/scaling_governor", "performance\n");
    scratch.write(cpu + "cpufreq/policy1/scaling_governor", "powersave\n");
    scratch.write(cpu + "cpufreq/policy2/scaling_governor", "performance\n");
    scratch.write(cpu + "intel_pstate/no_turbo", "1\n");
    scratch.write(cpu + "smt/control", "on\n");
    const std::string rapl = "/sys/class/powercap/intel-rapl:0/";
    scratch.write(rapl + "name", "package-0\n");
    scratch.write(rapl + "constraint_0_name", "long_term\n");
    scratch.write(rapl + "constraint_0_power_limit_uw", "350000000\n");
    scratch.write("/sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n"); // the same again
    scratch.write("/sys/class/powercap/intel-rapl-mmio:0/constraint_0_power_limit_uw", "1\n");
    const auto found = read_platform(scratch.files());
    EXPECT_EQ(found.bios_vendor, "American Megatrends International, LLC.");
    EXPECT_EQ(found.bios_version, "2.1");
    EXPECT_EQ(found.bios_date, "05/21/2024");
    EXPECT_EQ(found.microcode, "0x2b000590");
    EXPECT_EQ(found.frequency_driver, "intel_pstate");
    EXPECT_EQ(found.governor, "performance, powersave");
    EXPECT_EQ(found.boost, false);
    EXPECT_EQ(found.smt, "on");
    EXPECT_THAT(found.power_limits, ElementsAre(record::PowerLimit{
                                        .scope = "package-0", .term = "long_term", .watts = 350}));
    scratch.write(cpu + "cpufreq/boost", "1\n");
    EXPECT_EQ(read_platform(scratch.files()).boost, true);
    for (const auto& [policy, limit] :
         {std::pair{"policy0", "2800000"}, {"policy1", "2000000"}, {"policy2", "3500000"}}) {
        scratch.write(cpu + "cpufreq/" + policy + "/cpuinfo_max_freq", "3500000\n");
        scratch.write(cpu + "cpufreq/" + policy + "/scaling_max_freq", limit);
    }
    scratch.write(cpu + "cpufreq/policy3/cpuinfo_max_freq", "0\n"); // garbage
    EXPECT_EQ(read_platform(scratch.files()).clock_limit_hz, 2e9);
    EXPECT_EQ(read_platform(scratch.files()).clock_most_hz, 3.5e9);
}

TEST(Platform, WhyTheHostsEnergyIsNotKnown) {
    const Scratch scratch;
    const auto why = [&] { return read_platform(scratch.files()).energy_unread; };
    scratch.write("/sys/devices/system/cpu/present", "0-71\n");
    EXPECT_EQ(why(), "no_counter") << "as on Arm";
    const std::string zone = "/sys/class/powercap/intel-rapl:0/";
    scratch.write(zone + "enabled", "1\n");
    EXPECT_EQ(why(), "not_permitted") << "a container hides what is behind the name";
    scratch.write(zone + "name", "package-0\n");
    EXPECT_EQ(why(), "not_permitted");
    scratch.write(zone + "energy_uj", "123456789\n");
    EXPECT_EQ(why(), "");
}

TEST(Platform, HowTheKernelIsSet) {
    const Scratch scratch;
    scratch.write("/proc/sys/kernel/numa_balancing", "1\n");
    scratch.write("/proc/meminfo", "MemTotal: 100 kB\nSwapTotal:  8192 kB\nSwapFree:  6144 kB\n");
    const std::string flaws = "/sys/devices/system/cpu/vulnerabilities/";
    scratch.write(flaws + "meltdown", "Not affected\n");
    scratch.write(flaws + "mds", "Vulnerable; SMT vulnerable\n");
    scratch.write(flaws + "spectre_v2", "Mitigation: Enhanced IBRS\n");
    std::filesystem::create_directories(scratch.root() / "sys/class/iommu");
    auto found = read_platform(scratch.files());
    EXPECT_EQ(found.numa_balancing, true);
    EXPECT_EQ(found.swap_bytes, 8192 * 1024);
    EXPECT_EQ(found.swap_used_bytes, 2048 * 1024);
    EXPECT_THAT(found.mitigations, ElementsAre("spectre_v2"));
    EXPECT_EQ(found.iommu, "off");
    scratch.write("/sys/class/iommu/dmar0/name", "");
    const std::string bus = "/sys/bus/pci/devices/";
    scratch.write(bus + "0000:00:01.0/class", "0x060400\n"); // a bridge
    scratch.write(bus + "0000:00:01.0/iommu_group/type", "DMA\n");
    scratch.write(bus + "0000:01:00.0/class", "0x030200\n");
    scratch.write(bus + "0000:01:00.0/iommu_group/type", "identity\n");
    scratch.write("/proc/meminfo", "SwapTotal:  -7 kB\nSwapFree:  99999999999999999999 kB\n");
    found = read_platform(scratch.files());
    EXPECT_EQ(found.iommu, "identity");
    EXPECT_FALSE(found.swap_bytes);
    EXPECT_FALSE(found.swap_used_bytes);
}

// --- memory modules -------------------------------------------------------------------------------

struct Slot {
    std::uint32_t size;
    std::uint32_t extended_size = 0;
    std::string bank = "P0 CHANNEL A";
};

/// One structure of type 17 (SMBIOS 3.2): DDR5-4800 that runs at 4400.
std::string slot_bytes(const Slot& slot) {
    std::string fixed(0x54, '\0');
    const auto put = [&](std::size_t at, std::uint32_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            fixed[at + i] = static_cast<char>((value >> (8 * i)) & 0xffU);
    };
    put(0, 17, 1);
    put(1, static_cast<std::uint32_t>(fixed.size()), 1);
    put(0x0c, slot.size, 2);
    put(0x10, 1, 1);
    put(0x11, 2, 1);
    put(0x12, 34, 1);
    put(0x15, 4800, 2);
    put(0x1c, slot.extended_size, 4);
    put(0x20, 4400, 2);
    return fixed + "DIMM 0" + '\0' + slot.bank + '\0' + '\0';
}
/// A structure of another type without texts.
const std::string other_structure{"\x02\x04\x00\x00\x00\x00", 6};

TEST(Platform, MemoryModulesByTheFirmwaresTable) {
    const Scratch scratch;
    scratch.write("/sys/firmware/dmi/tables/DMI",
                  other_structure + slot_bytes({.size = 0x7fff, .extended_size = 65536}) +
                      slot_bytes({.size = 0x7fff, .extended_size = 65536, .bank = "P0_CHANNEL_B"}) +
                      slot_bytes({.size = 0}) + slot_bytes({.size = 0xffff}) +
                      slot_bytes({.size = 16384, .bank = "P0 CHANNEL A"}));
    const auto found = read_platform(scratch.files());
    EXPECT_EQ(found.memory_slots, 5);
    EXPECT_EQ(found.memory_channels, 2);
    EXPECT_EQ(found.memory_channels_most, 2);
    EXPECT_EQ(found.memory_unread, "");
    EXPECT_THAT(found.memory_modules,
                ElementsAre(record::MemoryModules{.count = 2,
                                                  .bytes = std::int64_t{64} << 30U,
                                                  .type = "DDR5",
                                                  .transfers_per_second = 4400e6,
                                                  .transfers_per_second_most = 4800e6},
                            record::MemoryModules{.count = 1,
                                                  .bytes = std::int64_t{16} << 30U,
                                                  .type = "DDR5",
                                                  .transfers_per_second = 4400e6,
                                                  .transfers_per_second_most = 4800e6}));
}

TEST(Platform, ChannelsWithoutAModule) {
    const Scratch scratch;
    const std::string table = "/sys/firmware/dmi/tables/DMI";
    scratch.write(table,
                  slot_bytes({.size = 16384}) + slot_bytes({.size = 0, .bank = "P0 CHANNEL B"}));
    const auto found = read_platform(scratch.files());
    EXPECT_EQ(found.memory_channels, 1);
    EXPECT_EQ(found.memory_channels_most, 2);
    scratch.write(table, ""); // as who may not read it sees it
    EXPECT_EQ(read_platform(scratch.files()).memory_unread, "not_permitted");
    std::filesystem::remove(scratch.root() / "sys/firmware/dmi/tables/DMI");
    EXPECT_EQ(read_platform(scratch.files()).memory_unread, "no_table");
}

TEST(Platform, ATableThatIsCutEndsThere) {
    const Scratch scratch;
    const auto whole = slot_bytes({.size = 16384, .bank = "BANK 0"});
    for (std::size_t length = 0; length < whole.size(); ++length) {
        scratch.write("/sys/firmware/dmi/tables/DMI", whole + whole.substr(0, length));
        const auto found = read_platform(scratch.files());
        EXPECT_EQ(found.memory_slots, 1) << length;
        EXPECT_FALSE(found.memory_channels); // none is named
    }
}

// --- disks, networks, kernel ----------------------------------------------------------------------

TEST(Platform, Disks) {
    const Scratch scratch;
    scratch.write("/sys/block/nvme0n1/device/model", "SAMSUNG MZQL23T8HCLS-00A07  \n");
    scratch.write("/sys/block/nvme0n1/device/firmware_rev", "GDC5602Q\n");
    scratch.write("/sys/block/nvme0n1/size", "7501476528\n");
    scratch.write("/sys/block/nvme0n1/queue/rotational", "0\n");
    scratch.write("/sys/block/loop0/size", "8\n"); // made of something else
    const auto ata = scratch.root() / "sys/devices/pci0000:00/ata1/host0/block/sda";
    std::filesystem::create_directories(ata / "device");
    std::filesystem::create_directory_symlink(ata, scratch.root() / "sys/block/sda");
    scratch.write("/sys/block/sda/device/model", "ST4000NM0035\n");
    scratch.write("/sys/block/sda/queue/rotational", "1\n");
    EXPECT_THAT(read_platform(scratch.files()).storage,
                ElementsAre(record::StorageDevice{.name = "nvme0n1",
                                                  .model = "SAMSUNG MZQL23T8HCLS-00A07",
                                                  .bytes = 7501476528 * 512,
                                                  .rotational = false,
                                                  .transport = "nvme",
                                                  .firmware = "GDC5602Q"},
                            record::StorageDevice{.name = "sda",
                                                  .model = "ST4000NM0035",
                                                  .rotational = true,
                                                  .transport = "sata"}));
}

TEST(Platform, NetworkCards) {
    const Scratch scratch;
    const auto card = scratch.root() / "sys/devices/pci0000:40/0000:41:00.0";
    std::filesystem::create_directories(card);
    std::filesystem::create_directories(scratch.root() / "sys/bus/pci/drivers/mlx5_core");
    std::filesystem::create_directory_symlink(scratch.root() / "sys/bus/pci/drivers/mlx5_core",
                                              card / "driver");
    scratch.write("/sys/class/net/eth0/speed", "100000\n");
    scratch.write("/sys/class/net/eth0/mtu", "9000\n");
    scratch.write("/sys/class/net/eth0/operstate", "up\n");
    std::filesystem::create_directory_symlink(card, scratch.root() / "sys/class/net/eth0/device");
    scratch.write("/sys/class/net/lo/speed", "1\n"); // software
    scratch.write("/sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
    scratch.write("/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
    scratch.write("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    scratch.write("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
    std::filesystem::create_directory_symlink(card, scratch.root() /
                                                        "sys/class/infiniband/mlx5_0/device");
    const auto ask = [](const std::string& name) { return "of " + name; };
    EXPECT_THAT(read_platform(scratch.files(), ask).network,
                ElementsAre(record::NetworkCard{.name = "eth0",
                                                .address = "0000:41:00.0",
                                                .driver = "mlx5_core",
                                                .firmware = "of eth0",
                                                .bytes_per_second = 12.5e9,
                                                .mtu = 9000,
                                                .state = "up"},
                            record::NetworkCard{.name = "mlx5_0:1",
                                                .address = "0000:41:00.0",
                                                .driver = "mlx5_core",
                                                .firmware = "28.39.1002",
                                                .bytes_per_second = 50e9,
                                                .state = "active",
                                                .link_layer = "InfiniBand"}));
}

TEST(Platform, PartsOfACardStandForItWhereItIsNotShown) {
    const Scratch scratch;
    const auto pci = scratch.root() / "sys/devices/pci0000:40";
    const auto plug = [&](const char* name, const char* address) {
        std::filesystem::create_directories(pci / address);
        std::filesystem::create_directories(scratch.root() / "sys/class/net" / name);
        std::filesystem::create_directory_symlink(pci / address, scratch.root() / "sys/class/net" /
                                                                     name / "device");
    };
    plug("eth0v3", "0000:41:00.3");
    std::filesystem::create_directories(pci / "0000:41:00.0");
    std::filesystem::create_directory_symlink("../0000:41:00.0", pci / "0000:41:00.3/physfn");
    EXPECT_THAT(read_platform(scratch.files()).network,
                ElementsAre(record::NetworkCard{.name = "eth0v3",
                                                .address = "0000:41:00.3",
                                                .physical_function = "0000:41:00.0"}))
        << "in a container";
    plug("eth0", "0000:41:00.0");
    scratch.write("/sys/devices/pci0000:40/0000:41:00.0/net/eth0/mtu", "1500\n");
    scratch.write("/sys/devices/pci0000:40/0000:41:00.0/sriov_numvfs", "8\n");
    const record::NetworkCard whole{
        .name = "eth0", .address = "0000:41:00.0", .virtual_functions = 8};
    EXPECT_THAT(read_platform(scratch.files()).network, ElementsAre(whole));
    for (const char* const text : {"0", "-1", "99999999999", "many"}) {
        scratch.write("/sys/devices/pci0000:40/0000:41:00.0/sriov_numvfs", text);
        EXPECT_EQ(read_platform(scratch.files()).network.at(0).virtual_functions, std::nullopt)
            << text;
    }
}

// --- links ----------------------------------------------------------------------------------------

/// A PCI Express port of this type (6: the lower one of a switch) whose ACS has this control word.
std::string configuration(unsigned type, unsigned control) {
    std::string bytes(512, '\0');
    bytes[0x34] = 0x40;
    bytes[0x40] = 0x10;
    bytes[0x42] = static_cast<char>(type << 4U);
    bytes[0x100] = 0x0d;
    bytes[0x106] = static_cast<char>(control);
    return bytes;
}

TEST(PciLink, WidthGenerationNodeAndWhatBridgesDo) {
    const Scratch scratch;
    const std::string bus = "/sys/bus/pci/devices/";
    const std::string real = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/";
    scratch.write(real + "class", "0x020700\n");
    scratch.write(real + "vendor", "0x15b3\n");
    scratch.write(real + "device", "0x1021\n");
    scratch.write(real + "current_link_width", "8\n");
    scratch.write(real + "max_link_width", "16\n");
    scratch.write(real + "current_link_speed", "16.0 GT/s PCIe\n");
    scratch.write(real + "max_link_speed", "32.0 GT/s PCIe\n");
    scratch.write(real + "numa_node", "1\n");
    std::filesystem::create_directories(scratch.root() / "sys/bus/pci/devices");
    std::filesystem::create_symlink("../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0",
                                    scratch.root() / "sys/bus/pci/devices/0000:01:00.0");
    const auto link = [&] { return read_pci(scratch.files()).at(0).link; };
    record::PciLink expected{.numa_node = 1,
                             .width = 8,
                             .width_max = 16,
                             .generation = 4,
                             .generation_max = 5,
                             .peers_redirected = {}};
    EXPECT_EQ(link(), expected);
    struct Bridge {
        std::string configuration;
        std::optional<bool> redirected;
    };
    for (const auto& [bytes, redirected] :
         {Bridge{configuration(6, 0x1d), true}, Bridge{configuration(6, 0x01), false},
          Bridge{configuration(4, 0x1d), false}, Bridge{configuration(6, 0x1d).substr(0, 64), {}},
          Bridge{std::string(4096, '\xff'), false}, Bridge{std::string(4096, '\x40'), false}}) {
        scratch.write(bus + "0000:00:01.0/config", bytes);
        EXPECT_EQ(link().peers_redirected, redirected) << bytes.size();
    }
    // At rest an accelerator lowers its own; what is not known is absent.
    scratch.write(real + "class", "0x030200\n");
    scratch.write(real + "max_link_width", "255\n");
    scratch.write(real + "max_link_speed", "Unknown\n");
    scratch.write(real + "numa_node", "-1\n");
    EXPECT_FALSE(link().generation);
    EXPECT_FALSE(link().generation_max);
    EXPECT_FALSE(link().width_max);
    EXPECT_FALSE(link().numa_node);
}

TEST(Platform, AnInterfaceThatIsNotThereHasNoFirmware) {
    EXPECT_EQ(ask_network_firmware("no-such-card"), "");
    EXPECT_EQ(ask_network_firmware(std::string(1000, 'x')), "");
}

TEST(Platform, OnlyKernelOptionsThatMatterForSpeed) {
    const Scratch scratch;
    scratch.write("/proc/cmdline",
                  "BOOT_IMAGE=/vmlinuz root=UUID=1-2 mitigations=off isolcpus=2-7 nosmt "
                  "nfsroot=10.0.0.1:/home hugepages=16 -- hugepages=17 secret\n");
    EXPECT_THAT(read_platform(scratch.files()).kernel_options,
                ElementsAre("mitigations=off", "isolcpus=2-7", "nosmt", "hugepages=16"));
}

TEST(Platform, RegionAndZoneOfACloud) {
    EXPECT_EQ(inspect(Sources{.files = tree("azure-hb")}).platform.region, "westeurope");
    const Scratch scratch;
    scratch.write(
        "/run/cloud-init/instance-data.json",
        R"({"v1":{"cloud_name":"aws","region":"eu-central-1","availability_zone":"eu-central-1b"}})");
    const auto found = inspect(Sources{.files = scratch.files()}).platform;
    EXPECT_EQ(found.region, "eu-central-1");
    EXPECT_EQ(found.zone, "eu-central-1b");
}

} // namespace
} // namespace assay::machine
