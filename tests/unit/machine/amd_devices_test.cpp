// SPDX-License-Identifier: Apache-2.0
#include "machine/amd_devices.hpp"
#include "machine/devices.hpp"
#include "machine/inventory.hpp"
#include "record/hardware_layout.hpp"
#include "scratch.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace assay;
using namespace assay::machine;
using namespace testing;

TEST(AmdDevices, AreDescribedByTheKernel) {
    const auto files = tree("mi300x");
    const auto found = read_amd_devices(files, read_pci(files));
    ASSERT_THAT(found.devices, SizeIs(2));
    // Sorted by address, not by node; SPX is the whole device, which has no mode.
    EXPECT_EQ(json::to_line(json::encode(found.devices[0])),
              R"({"kind":"hip","index":0,"uuid":"GPU-a1b2c3d4e5f60718","whole_uuid":null,)"
              R"("pci_address":"0000:05:00.0","name":"AMD Instinct MI300X OAM",)"
              R"("compute_capability":"gfx942","multiprocessors":304,"memory_bytes":206141652992,)"
              R"("clock_max_hz":2100000000.0,"memory_clock_max_hz":1300000000.0,)"
              R"("memory_bus_bits":8192,"power_limit_watts":750.0,)"
              R"("power_limit_default_watts":750.0,"mode":"","ecc":null,"confidential":null,)"
              R"("numa_node":0,"nvlinks":null,"firmware":{"vbios":"113-M3000100-103"}})");
    EXPECT_EQ(found.devices[1].numa_node, 1);
    EXPECT_EQ(found.driver, "6.10.5");
    EXPECT_THAT(found.serials, SizeIs(3));
    EXPECT_THAT(found.problems, ElementsAre(HasSubstr("0000:26:00.0")));
}

TEST(AmdDevices, ArePlacesBesideThoseOfOthers) {
    const auto files = tree("mi300x");
    const auto found = read_devices(files, read_pci(files), "no-such-library.so");
    EXPECT_THAT(found.devices, SizeIs(2));
    ASSERT_THAT(found.software, SizeIs(1));
    EXPECT_EQ(found.software[0].name, "amd.driver");
}

TEST(AmdDevices, APartIsNoWholeDevice) {
    const Scratch scratch{tree_path("mi300x")};
    scratch.write("/sys/bus/pci/devices/0000:05:00.0/current_compute_partition", "CPX\n");
    const auto found = read_amd_devices(scratch.files(), {});
    ASSERT_THAT(found.devices, SizeIs(2));
    EXPECT_EQ(found.devices[0].mode, "cpx");
}

TEST(AmdDevices, WithoutANameTheTargetIsOne) {
    const Scratch scratch{tree_path("mi300x")};
    scratch.write("/sys/class/kfd/kfd/topology/nodes/2/properties",
                  "gfx_target_version 90010\nsimd_count 99999999999999999999\n"
                  "simd_per_cu 0\nunique_id 255\nlocation_id\n\n");
    const auto found = read_amd_devices(scratch.files(), {});
    ASSERT_THAT(found.devices, SizeIs(2));
    EXPECT_EQ(found.devices[0].compute_capability, "gfx90a");
    EXPECT_EQ(found.devices[0].name, "AMD gfx90a");
    EXPECT_EQ(found.devices[0].uuid, "GPU-00000000000000ff");
    EXPECT_FALSE(found.devices[0].multiprocessors);
    EXPECT_FALSE(found.devices[0].clock_max_hz);
}

TEST(AmdDevices, WithoutAnIdItCannotBeChosen) {
    const Scratch scratch{tree_path("mi300x")};
    scratch.write("/sys/class/kfd/kfd/topology/nodes/2/properties",
                  "gfx_target_version 110000\nunique_id 0\n");
    const auto found = read_amd_devices(scratch.files(), {});
    EXPECT_THAT(found.devices, SizeIs(1));
    EXPECT_THAT(found.problems, ElementsAre(HasSubstr("no unique id")));
}

TEST(AmdDevices, AreReadInAWindow) {
    const Scratch scratch{tree_path("mi300x")};
    const std::string pci = "/sys/bus/pci/devices/0000:05:00.0/";
    scratch.write_lines(
        pci + "hwmon/hwmon5/",
        {{"power1_input", "612000000"}, {"freq1_input", "1950000000"}, {"temp2_input", "71000"}});
    scratch.write(pci + "ras/umc_err_count", "ue: 0\nce: 3\n");
    scratch.write_lines("/sys/class/kfd/kfd/", {{"topology/nodes/3/gpu_id", "51042"},
                                                {"proc/4711/vram_51042", "1048576"},
                                                {"proc/4712/vram_51042", "0"}});
    const auto device = find_amd_device(scratch.files(), "GPU-a1b2c3d4e5f60718");
    ASSERT_TRUE(device);
    EXPECT_EQ(device->describe().index, 0);
    const auto now = device->readings();
    EXPECT_EQ(now.power_watts, 612);
    EXPECT_EQ(now.clock_hz, 1.95e9);
    EXPECT_EQ(now.temperature_celsius, 71);
    EXPECT_FALSE(now.memory_clock_hz);
    EXPECT_FALSE(now.throttles) << "not known is not none";
    EXPECT_EQ(device->counters().ecc_uncorrected, 0);
    EXPECT_EQ(device->counters().ecc_corrected, 3);
    EXPECT_FALSE(device->counters().energy_joules);
    AmdTable table{2208, 7};
    table.put<std::uint64_t>(24, 65536 * 3).put<std::uint32_t>(40, 500).put<std::uint32_t>(48, 50);
    scratch.write(pci + "gpu_metrics", table.bytes());
    EXPECT_EQ(device->counters().energy_joules, 3);
    EXPECT_EQ(device->counters().throttled_looks.at("power_cap"), 50);
    EXPECT_EQ(device->processes(), std::vector{4711});
    EXPECT_FALSE(find_amd_device(scratch.files(), "GPU-0000000000000001"));
}

TEST(AmdDevices, TheirTableSaysEnergyAndWhyClocksAreLow) {
    AmdTable mi200{120, 3};
    mi200.put<std::uint64_t>(24, 65536 * 5).put<std::uint16_t>(74, 16).put<std::uint16_t>(76, 160);
    mi200.put<std::uint64_t>(112, 1U | std::uint64_t{1} << 36U);
    const auto now = machine::read_amd_metrics(mi200.bytes());
    EXPECT_EQ(now.energy_joules, 5);
    EXPECT_EQ(now.pcie_width, 16);
    EXPECT_EQ(now.pcie_generation, 4);
    EXPECT_THAT(now.throttles.value(), ElementsAre("power_cap", "thermal"));
    EXPECT_FALSE(now.looks);
    mi200.put<std::uint64_t>(112, 0);
    EXPECT_THAT(machine::read_amd_metrics(mi200.bytes()).throttles.value(), IsEmpty());

    for (const auto& [revision, size, energy, looks, pcie] :
         {std::tuple{6, 1664, 16U, 32U, 60U}, std::tuple{7, 2208, 24U, 40U, 68U},
          std::tuple{8, 3360, 24U, 40U, 68U}}) {
        AmdTable mi300{static_cast<std::uint16_t>(size), static_cast<std::uint8_t>(revision)};
        mi300.put<std::uint64_t>(energy, 65536).put<std::uint16_t>(pcie + 2, 320);
        for (std::uint32_t i = 0; i < 6; ++i)
            mi300.put<std::uint32_t>(looks + 4 * i, i == 0 ? 1000 : 10 * i);
        const auto later = machine::read_amd_metrics(mi300.bytes());
        EXPECT_EQ(later.energy_joules, 1) << revision;
        EXPECT_EQ(later.pcie_generation, 5);
        EXPECT_FALSE(later.pcie_width) << "all bits are set: not known";
        EXPECT_FALSE(later.throttles);
        EXPECT_EQ(later.looks, 1000);
        EXPECT_EQ(later.throttled_looks,
                  (std::map<std::string, double>{
                      {"hardware_thermal", 10}, {"power_cap", 20}, {"thermal", 30 + 40 + 50}}));
    }
}

TEST(AmdDevices, ATableOfAnotherLayoutSaysNothing) {
    const AmdTable known{120, 3};
    for (const auto& bytes :
         {std::string{}, std::string{"x"}, known.bytes().substr(0, 119), AmdTable{120, 4}.bytes(),
          AmdTable{104, 3}.bytes(), AmdTable{328, 5}.bytes()}) {
        const auto now = machine::read_amd_metrics(bytes);
        EXPECT_FALSE(now.energy_joules || now.pcie_width || now.throttles || now.looks);
    }
}

TEST(AmdDevices, AreNoneOnOtherMachines) {
    for (const char* name : {"gcp-a2", "garbage"}) {
        const auto files = tree(name);
        EXPECT_THAT(read_amd_devices(files, read_pci(files)).devices, IsEmpty()) << name;
    }
}

} // namespace
