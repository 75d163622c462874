// SPDX-License-Identifier: Apache-2.0
#include "machine/devices.hpp"
#include "machine/inventory.hpp"
#include "machine/nvml.hpp"
#include "record/hardware_layout.hpp"
#include "record/same_machine.hpp"
#include "scratch.hpp"
#include "support/fake_nvml.hpp"
#include "support/results.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace assay::machine {
namespace {

using namespace std::chrono_literals;
using machine::Nvml;
using machine::NvmlDevice;
using test::FakeNvml;
using test::h200s;
using namespace testing;

/// NVIDIA devices as PCI shows them.
std::vector<record::PciDevice> plugged_in(std::size_t count) {
    return {count, {.vendor_id = "10de", .kind = "accelerator"}};
}

machine::DeviceInventory inventory(const FakeNvml& nvml) {
    return read_devices(machine::Files{"/no/such/place"}, {}, nvml.library());
}

NvmlDevice opened(const FakeNvml& nvml, const std::string& name = "GPU-0") {
    const auto library = Nvml::open(nvml.library());
    EXPECT_TRUE(library) << library.error().message;
    auto device = library->find(name);
    EXPECT_TRUE(device) << device.error().message;
    return std::move(*device);
}

TEST(Nvml, AMachineWithoutTheLibraryHasNoDevices) {
    const auto none = read_devices(machine::Files{}, {}, "libassay-no-such-library.so.1");
    EXPECT_THAT(none.devices, IsEmpty());
    EXPECT_THAT(none.problems, IsEmpty());
    const auto plugged =
        read_devices(machine::Files{}, plugged_in(2), "libassay-no-such-library.so.1");
    ASSERT_THAT(plugged.problems, SizeIs(1));
    EXPECT_THAT(plugged.problems[0],
                AllOf(HasSubstr("2 NVIDIA devices cannot be used"),
                      HasSubstr("cannot be loaded: libassay-no-such-library.so.1")));
}

TEST(Nvml, WhyTheLibraryDoesNotStart) {
    const auto why = [](const char* lines) {
        const FakeNvml nvml{lines};
        const auto found = read_devices(machine::Files{}, plugged_in(1), nvml.library());
        EXPECT_THAT(found.devices, IsEmpty());
        return found.problems.empty() ? "" : found.problems[0];
    };
    EXPECT_THAT(why("- code.init 9\n"), HasSubstr("1 NVIDIA device cannot be used: NVIDIA's "
                                                  "management library does not start, because the "
                                                  "driver is not loaded"));
    EXPECT_THAT(why("- code.init 18\n"), HasSubstr("another version than the driver"));
    EXPECT_THAT(why("- code.init 4\n"), HasSubstr("/dev/nvidiactl"));
    EXPECT_THAT(why("- code.init 999\n"), HasSubstr("Some error (999 of nvmlInit_v2)"));
    // It starts, but cannot count: no devices, and a reason.
    EXPECT_THAT(why("- code.count 15\n"), HasSubstr("GPU is lost (15 of nvmlDeviceGetCount_v2)"));
}

TEST(Nvml, LinksThatAreUpAreCounted) {
    const FakeNvml nvml{h200s(3) + "0 nvlinks 18 17\n1 nvlinks 0\n2 nvlinks 4 0\n"};
    EXPECT_EQ(opened(nvml).describe().nvlinks, 17);
    EXPECT_EQ(opened(nvml, "GPU-1").describe().nvlinks, std::nullopt) << "it has none";
    EXPECT_EQ(opened(nvml, "GPU-2").describe().nvlinks, 0);
    const FakeNvml old{h200s(1), true};
    EXPECT_EQ(opened(old).describe().nvlinks, std::nullopt);
    EXPECT_EQ(opened(old).problem(), "");
}

TEST(Nvml, DoesNotCountLinksItMayNotSee) {
    const FakeNvml nvml{h200s(1) + "0 code.nvlinks 0,0,4\n"};
    EXPECT_EQ(opened(nvml).describe().nvlinks, std::nullopt);
}

TEST(Nvml, ReadsPlaceInFabric) {
    const FakeNvml nvml{h200s(4) + "0 fabric 3 0 7 170\n1 fabric 3 999 0 25\n2 fabric 2\n"};
    using record::DeviceFabric;
    EXPECT_EQ(opened(nvml).describe().fabric,
              (DeviceFabric{.state = "completed", .status = 0, .clique = 7}));
    EXPECT_EQ(opened(nvml, "GPU-1").describe().fabric,
              (DeviceFabric{.state = "completed",
                            .status = 999,
                            .clique = 0,
                            .health = {"degraded_bandwidth", "route_unhealthy"}}));
    EXPECT_EQ(opened(nvml, "GPU-2").describe().fabric, (DeviceFabric{.state = "in_progress"}));
    EXPECT_EQ(opened(nvml, "GPU-3").describe().fabric, DeviceFabric{});
}

TEST(Nvml, ALibraryOfAnotherKindIsNone) {
    EXPECT_THAT(Nvml::open("libm.so.6"),
                Fails(Fault::environment, HasSubstr("has no nvmlInit_v2")));
}

TEST(Nvml, EightDevices) {
    const FakeNvml nvml{h200s(8)};
    const auto found = inventory(nvml);
    EXPECT_THAT(found.problems, IsEmpty());
    ASSERT_THAT(found.devices, SizeIs(8));
    EXPECT_EQ(json::to_line(json::encode(found.devices[7])),
              R"({"kind":"cuda","index":7,"uuid":"GPU-7","whole_uuid":null,)"
              R"("pci_address":"0000:17:00.0","name":"NVIDIA H200","compute_capability":"9.0",)"
              R"("multiprocessors":132,"memory_bytes":150754820096,"clock_max_hz":1980000000.0,)"
              R"("memory_clock_max_hz":3201000000.0,"memory_bus_bits":6144,)"
              R"("power_limit_watts":700.0,"power_limit_default_watts":700.0,"mode":"","ecc":true,)"
              R"("confidential":false,"numa_node":null,"nvlinks":18})");
    EXPECT_EQ(found.software, (record::NamedList{{"nvidia.driver", std::string{"580.65.06"}},
                                                 {"nvidia.cuda", std::string{"13.0"}}}));
}

TEST(Nvml, TheHostSaysWhichNumaNodeIsNear) {
    const FakeNvml nvml{h200s(2)};
    const Scratch scratch;
    scratch.write("/sys/bus/pci/devices/0000:10:00.0/numa_node", "-1\n");
    scratch.write("/sys/bus/pci/devices/0000:11:00.0/numa_node", "1\n");
    const auto found = read_devices(scratch.files(), {}, nvml.library());
    ASSERT_THAT(found.devices, SizeIs(2));
    EXPECT_EQ(found.devices[0].numa_node, std::nullopt); // the kernel does not know
    EXPECT_EQ(found.devices[1].numa_node, 1);
}

TEST(Nvml, OneDeviceThatIsLostLeavesTheOthers) {
    const FakeNvml nvml{h200s(3) + "1 code.handle 15\n"};
    const auto found = inventory(nvml);
    EXPECT_THAT(found.devices,
                ElementsAre(Field(&record::Device::index, 0), Field(&record::Device::index, 2)));
    EXPECT_THAT(found.problems, ElementsAre("device 1 does not answer: GPU is lost (15 of "
                                            "nvmlDeviceGetHandleByIndex_v2)"));
}

TEST(Nvml, PartsOfADeviceAreDevices) {
    const FakeNvml nvml{h200s(3) + "1 parts 2\n1.0 uuid MIG-a\n1.1 uuid MIG-b\n"
                                   "1.0 name NVIDIA H200 MIG 1g.18gb\n1.1 name NVIDIA H200\n"
                                   "1.0 multiprocessors 16\n1.1 multiprocessors 32\n"
                                   "1.1 part_mebibytes 17900\n1.0 memory 19000000000\n"};
    const auto found = inventory(nvml);
    ASSERT_THAT(found.devices, SizeIs(4)); // without the whole of which they are parts
    EXPECT_EQ(found.devices[1].mode, "mig 1g.18gb");
    EXPECT_EQ(found.devices[1].uuid, "MIG-a");
    EXPECT_EQ(found.devices[1].whole_uuid, "GPU-1");
    EXPECT_EQ(found.devices[1].index, 1);
    EXPECT_EQ(found.devices[1].pci_address, "0000:11:00.0");
    EXPECT_EQ(found.devices[1].multiprocessors, 16);
    EXPECT_EQ(found.devices[1].memory_bytes, 19'000'000'000);
    EXPECT_EQ(found.devices[1].power_limit_watts, std::nullopt); // of all parts together
    EXPECT_EQ(found.devices[2].mode, "mig 1g.18gb"); // by its slices, where the name is silent
    EXPECT_EQ(found.devices[2].index, 2);
    EXPECT_EQ(found.devices[3].uuid, "GPU-2");
    EXPECT_EQ(found.devices[3].index, 3); // no number twice

    const auto states = read_device_states(machine::Files{"/none"}, {}, nvml.library()).devices;
    ASSERT_THAT(states, SizeIs(5));
    EXPECT_EQ(states[1].device.uuid, "GPU-1");
    const auto said = complaints(states[1]);
    ASSERT_THAT(said, SizeIs(1));
    EXPECT_EQ(said.front().code, "mig");

    EXPECT_TRUE(opened(nvml, "MIG-b").is_part());
    EXPECT_EQ(opened(nvml, "MIG-b").counters().pcie_replays, 7);
}

TEST(Nvml, VirtualAndConfidentialDevices) {
    const FakeNvml nvml{h200s(2) + "0 virtualization 2\n1 virtualization 1\n- confidential 1\n"};
    const auto found = inventory(nvml);
    ASSERT_THAT(found.devices, SizeIs(2));
    EXPECT_EQ(found.devices[0].mode, "vgpu");
    EXPECT_EQ(found.devices[1].mode, ""); // passed through whole
    EXPECT_EQ(found.devices[1].confidential, true);
}

TEST(Nvml, Readings) {
    const FakeNvml nvml{h200s(1) + "0 reasons 76\n"};
    NvmlDevice device = opened(nvml);
    const auto now = device.readings();
    EXPECT_EQ(now.power_watts, 640); // of this moment, not the mean of a second
    // 4 + 8 + 64: the slowdown by hardware is explained by the heat.
    EXPECT_THAT(*now.throttles, ElementsAre("power_cap", "hardware_thermal"));
    EXPECT_EQ(device.problem(), "");
}

TEST(Nvml, CountersOfBothKindsOfLinks) {
    const FakeNvml nvml{h200s(2) + "0 ecc_corrected 3\n1 field.138.all x\n1 code.field.138.all 3\n"
                                   "1 code.field.139.all 3\n1 field.202 100\n1 field.202.1 50\n"
                                   "1 field.204.35 7\n1 field.251 0\n1 code.field.251 2\n"
                                   "1 field.75 2000000000\n"};
    const auto older = opened(nvml, "GPU-0").counters();
    EXPECT_EQ(older.energy_joules, 1000);
    EXPECT_EQ(older.ecc_corrected, 3);
    EXPECT_EQ(older.ecc_uncorrected, 0);
    EXPECT_EQ(older.pcie_replays, 7);
    EXPECT_EQ(older.nvlink_sent_bytes, 1000 * 1024);
    EXPECT_EQ(older.nvlink_received_bytes, 500 * 1024);
    EXPECT_DOUBLE_EQ(older.throttled.at("power_cap"), 1);
    EXPECT_EQ(older.throttled.at("thermal"), 0);

    const auto nvlink5 = opened(nvml, "GPU-1").counters();
    EXPECT_EQ(nvlink5.nvlink_sent_bytes, 150);
    EXPECT_EQ(nvlink5.nvlink_received_bytes, 7);
    EXPECT_DOUBLE_EQ(nvlink5.throttled.at("thermal"), 2); // by the field of older drivers
}

/// A driver that counts in 251 to 253 says other things in 269 to 271, and the other way round.
TEST(Nvml, CountersOfSlowdownsMovedWithTheDriver) {
    const auto throttled = [](const std::string& driver, unsigned first) {
        std::string lines = h200s(1) + "- driver " + driver + "\n0 field.75 9000000000\n";
        for (const unsigned other : {251U, 252U, 253U, 269U, 270U, 271U})
            lines += "0 field." + std::to_string(other) + " 77000000000\n";
        for (unsigned i = 0; i < 3 && first > 0; ++i)
            lines += "0 field." + std::to_string(first + i) + ' ' + std::to_string(i + 1) +
                     "000000000\n";
        return opened(FakeNvml{lines}).counters().throttled;
    };
    const std::map<std::string, double> counted{
        {"power_cap", 1}, {"thermal", 1}, {"hardware_thermal", 2}, {"power_brake", 3}};
    for (const char* driver : {"575.51.03", "580.65.06", "580.105.08"})
        EXPECT_EQ(throttled(driver, 251), counted) << driver;
    for (const char* driver : {"590.44.01", "610.10"})
        EXPECT_EQ(throttled(driver, 269), counted) << driver;
    const std::map<std::string, double> older{{"power_cap", 1}, {"thermal", 9}};
    for (const char* driver : {"535.183.01", "570.124.06", "unknown"})
        EXPECT_EQ(throttled(driver, 0), older) << driver;
}

TEST(Nvml, AnOldLibraryGivesWhatItHas) {
    const FakeNvml nvml{h200s(1), true};
    const auto found = inventory(nvml);
    ASSERT_THAT(found.devices, SizeIs(1));
    EXPECT_THAT(found.problems, IsEmpty());
    EXPECT_EQ(found.devices[0].uuid, "GPU-0");
    EXPECT_EQ(found.devices[0].multiprocessors, std::nullopt);
    EXPECT_EQ(found.devices[0].ecc, std::nullopt);
    EXPECT_EQ(found.software.size(), 1U); // the driver's version
    NvmlDevice device = opened(nvml);
    const auto now = device.readings();
    EXPECT_EQ(now.power_watts, 650);
    EXPECT_THAT(*now.throttles, ElementsAre("power_cap"));
    EXPECT_EQ(now.pcie_width, std::nullopt);
    EXPECT_EQ(device.counters().energy_joules, std::nullopt);
    EXPECT_EQ(device.processes(), std::nullopt);
    EXPECT_EQ(device.health().persistence, std::nullopt);
    EXPECT_EQ(device.problem(), ""); // a missing function is not a problem
}

TEST(Nvml, WhatIsNotSupportedOrAllowedIsAbsentWithoutAWord) {
    for (const char* code : {"3", "4", "13", "21", "25", "26"}) {
        const FakeNvml nvml{h200s(1) + "0 code.clock " + code + "\n0 code.energy " + code +
                            "\n0 code.processes " + code + "\n"};
        NvmlDevice device = opened(nvml);
        EXPECT_EQ(device.readings().clock_hz, std::nullopt) << code;
        EXPECT_EQ(device.counters().energy_joules, std::nullopt) << code;
        EXPECT_EQ(device.processes(), std::nullopt) << code;
        EXPECT_EQ(device.problem(), "") << code;
    }
}

TEST(Nvml, EveryOtherCodeIsAProblem) {
    for (const char* code : {"1", "2", "7", "10", "12", "15", "16", "17", "20", "999", "-5"}) {
        const FakeNvml nvml{h200s(1) + "0 code.clock " + code + "\n"};
        NvmlDevice device = opened(nvml);
        EXPECT_EQ(device.readings().clock_hz, std::nullopt) << code;
        EXPECT_THAT(device.problem(),
                    HasSubstr(std::string{"("} + code + " of nvmlDeviceGetClockInfo)"));
    }
}

TEST(Nvml, DevicesAreFoundByUuidAndByAddress) {
    const FakeNvml nvml{h200s(3)};
    EXPECT_EQ(opened(nvml, "0000:12:00.0").describe().uuid, "GPU-2");
    EXPECT_EQ(opened(nvml, "GPU-1").describe().index, 1);
    EXPECT_THAT(Nvml::open(nvml.library())->find("GPU-9"),
                Fails(HasSubstr("knows no device GPU-9")));
}

TEST(Nvml, Processes) {
    const FakeNvml nvml{h200s(3) +
                        "0 processes 300 100 100\n1 processes x200\n2 processes x5000\n"};
    EXPECT_EQ(opened(nvml, "GPU-0").processes(), (std::vector<int>{100, 300}));
    EXPECT_THAT(*opened(nvml, "GPU-1").processes(), SizeIs(200)); // more than there was room for
    EXPECT_EQ(opened(nvml, "GPU-2").processes(), std::nullopt);   // more than is believed
}

TEST(Nvml, TextsOfTheDriverArePrintable) {
    const FakeNvml nvml{h200s(1) + "0 name \x1b[31mH200   \x07x\n0 uuid " + std::string(200, 'u') +
                        "\n"};
    const auto found = inventory(nvml);
    ASSERT_THAT(found.devices, SizeIs(1));
    EXPECT_EQ(found.devices[0].name, "?[31mH200 ?x");
    EXPECT_EQ(found.devices[0].uuid, ""); // longer than any: not believed
    EXPECT_THAT(found.problems, ElementsAre(HasSubstr("nvmlDeviceGetUUID")));
}

TEST(Nvml, MultiprocessorsFollowFromCores) {
    using machine::multiprocessors;
    EXPECT_EQ(multiprocessors(6912, 8, 0), 108);   // A100
    EXPECT_EQ(multiprocessors(16896, 9, 0), 132);  // H100 SXM, H200
    EXPECT_EQ(multiprocessors(18176, 8, 9), 142);  // L40S
    EXPECT_EQ(multiprocessors(2560, 7, 5), 40);    // T4
    EXPECT_EQ(multiprocessors(18944, 10, 0), 148); // B200
    for (const auto& [cores, major, minor] :
         {std::tuple{1000, 9, 0}, {1024, 5, 2}, {1024, 99, 0}, {0, 9, 0}})
        EXPECT_EQ(multiprocessors(cores, major, minor), std::nullopt) << cores;
}

// --- what is wrong --------------------------------------------------------------------------------

std::vector<std::string> complaints_of(const std::string& lines) {
    const FakeNvml nvml{h200s(1) + lines};
    const auto states = read_device_states(machine::Files{"/none"}, {}, nvml.library());
    EXPECT_THAT(states.problems, IsEmpty());
    EXPECT_THAT(states.devices, SizeIs(1));
    std::vector<std::string> sentences;
    for (const auto& finding : complaints(states.devices.at(0))) {
        EXPECT_EQ(finding.where, "cuda 0");
        EXPECT_FALSE(finding.code.empty());
        sentences.push_back(sentence(finding));
    }
    return sentences;
}

TEST(DeviceState, ADeviceThatIsWell) {
    EXPECT_THAT(complaints_of("* reasons 1\n"), IsEmpty()); // has no work
    EXPECT_THAT(complaints_of("* reasons 4\n* generation 1\n"), IsEmpty());
}

TEST(DeviceState, WhatIsWrongIsSaid) {
    for (const auto& [lines, says] : {std::pair{"reasons 32", "thermal limit"},
                                      {"reasons 2", "a setting holds"},
                                      {"reasons 136", "power supply"},
                                      {"ecc 0", "nvidia-smi -e 1"},
                                      {"remapped_uncorrected 2", "2 memory rows were remapped"},
                                      {"remapping_pending 1", "reset"},
                                      {"remapping_failed 1", "replace the device"},
                                      {"replays 300", "300 PCIe packets were sent"},
                                      {"ecc_uncorrected 1", "1 uncorrectable memory error"},
                                      {"ecc_corrected 5", "5 memory errors"},
                                      {"power_limit 400000", "400 of 700 W"},
                                      {"processes 17 42", "compute on it now: 17, 42"},
                                      {"persistence 0", "nvidia-persistenced"},
                                      {"virtualization 2", "vGPU"},
                                      {"code.power_limit 15", "GPU is lost"},
                                      {"code.ecc_corrected 4", "not show this user"},
                                      {"code.nvlinks 4", "not show this user"}})
        EXPECT_THAT(complaints_of(std::string{"* "} + lines + '\n'), ElementsAre(HasSubstr(says)));
}

// Whoever asks a driver that hangs gets no answer, and goes on.
TEST(Patience, EndsWhereNothingAnswers) {
    std::promise<void> never;
    auto hung = never.get_future().share();
    const auto answer = machine::answer_within(0ms, [hung] {
        hung.wait();
        return 1;
    });
    EXPECT_EQ(answer, std::nullopt);
    never.set_value();
}

TEST(Patience, PassesOnWhatCame) {
    EXPECT_EQ(machine::answer_within(1min, [] { return 7; }), 7);
    EXPECT_THROW(machine::answer_within(1min, []() -> int { throw std::runtime_error{"no"}; }),
                 std::runtime_error);
}

} // namespace
} // namespace assay::machine
