// SPDX-License-Identifier: Apache-2.0
#include "machine/inventory.hpp"
#include "machine/system.hpp"
#include "record/hardware_layout.hpp"
#include "scratch.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace assay::machine {
namespace {

using namespace testing;

template <class T>
std::string shown(const T& value) {
    return json::to_line(json::encode(value));
}

TEST(Platform, GarbageHarmsNothing) {
    const Scratch scratch{tree_path("garbage")};
    scratch.write("/sys/firmware/dmi/tables/DMI", std::string(5000, '\x11'));
    EXPECT_THAT(read_platform(scratch.files()).memory_modules, IsEmpty());
}

TEST(Platform, ClocksPowerAndFirmware) {
    const Scratch scratch;
    scratch.write_lines("/sys/class/dmi/id/", {{"bios_vendor", "American Megatrends"},
                                               {"bios_version", "2.1"},
                                               {"bios_date", "05/21/2024"}});
    scratch.write("/proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0x2b000590\n");
    const std::string cpu = "/sys/devices/system/cpu/";
    scratch.write_lines(cpu, {{"cpu0/cpufreq/scaling_driver", "intel_pstate"},
                              {"cpufreq/policy0/scaling_governor", "performance"},
                              {"cpufreq/policy1/scaling_governor", "powersave"},
                              {"cpufreq/policy2/scaling_governor", "performance"},
                              {"intel_pstate/no_turbo", "1"},
                              {"smt/control", "on"}});
    // The second is the first again.
    scratch.write_lines("/sys/class/powercap/",
                        {{"intel-rapl:0/name", "package-0"},
                         {"intel-rapl:0/constraint_0_name", "long_term"},
                         {"intel-rapl:0/constraint_0_power_limit_uw", "350000000"},
                         {"intel-rapl-mmio:0/name", "package-0"},
                         {"intel-rapl-mmio:0/constraint_0_power_limit_uw", "1"}});
    const auto found = read_platform(scratch.files());
    EXPECT_EQ(found.bios_vendor, "American Megatrends");
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
    scratch.write_lines("/sys/devices/system/cpu/vulnerabilities/",
                        {{"meltdown", "Not affected"},
                         {"mds", "Vulnerable; SMT vulnerable"},
                         {"spectre_v2", "Mitigation: Enhanced IBRS"}});
    std::filesystem::create_directories(scratch.root() / "sys/class/iommu");
    auto found = read_platform(scratch.files());
    EXPECT_EQ(found.numa_balancing, true);
    EXPECT_EQ(found.swap_bytes, 8192 * 1024);
    EXPECT_EQ(found.swap_used_bytes, 2048 * 1024);
    EXPECT_THAT(found.mitigations, ElementsAre("spectre_v2"));
    EXPECT_EQ(found.iommu, "off");
    scratch.write("/sys/class/iommu/dmar0/name", "");
    // The first is a bridge.
    scratch.write_lines("/sys/bus/pci/devices/0000:00:01.0/",
                        {{"class", "0x060400"}, {"iommu_group/type", "DMA"}});
    scratch.write_lines("/sys/bus/pci/devices/0000:01:00.0/",
                        {{"class", "0x030200"}, {"iommu_group/type", "identity"}});
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
    EXPECT_EQ(
        shown(found.memory_modules),
        R"([{"count":2,"bytes":68719476736,"type":"DDR5","transfers_per_second":4400000000.0,)"
        R"("transfers_per_second_most":4800000000.0},{"count":1,"bytes":17179869184,)"
        R"("type":"DDR5","transfers_per_second":4400000000.0,)"
        R"("transfers_per_second_most":4800000000.0}])");
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
    const auto ata = scratch.root() / "sys/devices/pci0000:00/ata1/host0/block/sda";
    std::filesystem::create_directories(ata / "device");
    scratch.link(ata, "/sys/block/sda");
    // The devices that loop0 is made of are listed too.
    scratch.write_lines("/sys/block/", {{"nvme0n1/device/model", "SAMSUNG MZQL23T8HCLS-00A07  "},
                                        {"nvme0n1/device/firmware_rev", "GDC5602Q"},
                                        {"nvme0n1/size", "7501476528"},
                                        {"nvme0n1/queue/rotational", "0"},
                                        {"loop0/size", "8"},
                                        {"sda/device/model", "ST4000NM0035"},
                                        {"sda/queue/rotational", "1"}});
    EXPECT_EQ(shown(read_platform(scratch.files()).storage),
              R"([{"name":"nvme0n1","model":"SAMSUNG MZQL23T8HCLS-00A07","bytes":3840755982336,)"
              R"("rotational":false,"transport":"nvme","firmware":"GDC5602Q"},)"
              R"({"name":"sda","model":"ST4000NM0035","rotational":true,"transport":"sata"}])");
}

TEST(Platform, NetworkCards) {
    const Scratch scratch;
    const auto card = scratch.root() / "sys/devices/pci0000:40/0000:41:00.0";
    std::filesystem::create_directories(card);
    std::filesystem::create_directories(scratch.root() / "sys/bus/pci/drivers/mlx5_core");
    std::filesystem::create_directory_symlink(scratch.root() / "sys/bus/pci/drivers/mlx5_core",
                                              card / "driver");
    scratch.link(card, "/sys/class/net/eth0/device");
    scratch.link(card, "/sys/class/infiniband/mlx5_0/device");
    // lo is software.
    scratch.write_lines("/sys/class/net/", {{"eth0/speed", "100000"},
                                            {"eth0/mtu", "9000"},
                                            {"eth0/operstate", "up"},
                                            {"lo/speed", "1"}});
    scratch.write_lines("/sys/class/infiniband/mlx5_0/", {{"fw_ver", "28.39.1002"},
                                                          {"ports/1/rate", "400 Gb/sec (4X NDR)"},
                                                          {"ports/1/state", "4: ACTIVE"},
                                                          {"ports/1/link_layer", "InfiniBand"}});
    const auto ask = [](const std::string& name) { return "of " + name; };
    EXPECT_EQ(shown(read_platform(scratch.files(), ask).network),
              R"([{"name":"eth0","address":"0000:41:00.0","driver":"mlx5_core",)"
              R"("firmware":"of eth0","bytes_per_second":12500000000.0,"mtu":9000,"state":"up"},)"
              R"({"name":"mlx5_0:1","address":"0000:41:00.0","driver":"mlx5_core",)"
              R"("firmware":"28.39.1002","bytes_per_second":50000000000.0,"state":"active",)"
              R"("link_layer":"InfiniBand"}])");
}

TEST(Platform, PartsOfACardStandForItWhereItIsNotShown) {
    const Scratch scratch;
    const auto pci = scratch.root() / "sys/devices/pci0000:40";
    const auto plug = [&](const char* name, const char* address) {
        std::filesystem::create_directories(pci / address);
        scratch.link(pci / address, std::filesystem::path{"/sys/class/net"} / name / "device");
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
    scratch.write_lines(real, {{"class", "0x020700"},
                               {"vendor", "0x15b3"},
                               {"device", "0x1021"},
                               {"current_link_width", "8"},
                               {"max_link_width", "16"},
                               {"current_link_speed", "16.0 GT/s PCIe"},
                               {"max_link_speed", "32.0 GT/s PCIe"},
                               {"numa_node", "1"}});
    scratch.link("../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0", bus + "0000:01:00.0");
    const auto link = [&] { return read_pci(scratch.files()).at(0).link; };
    record::PciLink expected{
        .numa_node = 1, .width = 8, .width_max = 16, .generation = 4, .generation_max = 5};
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
    scratch.write_lines(real, {{"class", "0x030200"},
                               {"max_link_width", "255"},
                               {"max_link_speed", "Unknown"},
                               {"numa_node", "-1"}});
    expected = {.width = 8, .peers_redirected = false};
    EXPECT_EQ(link(), expected);
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
    EXPECT_EQ(inspect(machine::Sources{.files = tree("azure-hb")}).platform.region, "westeurope");
    const Scratch scratch;
    scratch.write(
        "/run/cloud-init/instance-data.json",
        R"({"v1":{"cloud_name":"aws","region":"eu-central-1","availability_zone":"eu-central-1b"}})");
    const auto found = inspect(machine::Sources{.files = scratch.files()}).platform;
    EXPECT_EQ(found.region, "eu-central-1");
    EXPECT_EQ(found.zone, "eu-central-1b");
}

} // namespace
} // namespace assay::machine
