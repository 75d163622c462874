// SPDX-License-Identifier: Apache-2.0
#include "amd_table.hpp"
#include "scratch.hpp"
#include "support/fake_nvml.hpp"
#include "telemetry/device.hpp"
#include "telemetry/links.hpp"
#include "telemetry/window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace assay::telemetry {
namespace {

using test::FakeNvml;
using test::h200s;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Nobody samples but the test.
DeviceOptions by_hand(const FakeNvml& nvml, std::string name = "GPU-0") {
    return {.name = std::move(name), .library = nvml.library(), .period = {}};
}

/// What a window of that many seconds and samples says. Process 42 is ours.
record::Telemetry watched(const std::string& lines, double seconds = 2.5, int samples = 4,
                          const std::string& name = "GPU-0") {
    const FakeNvml nvml{h200s(1) + lines};
    auto window = DeviceWindow::open(by_hand(nvml, name));
    EXPECT_TRUE(window) << window.error().message;
    window->begin();
    for (int i = 0; i < samples; ++i) window->sample();
    record::Telemetry telemetry;
    window->end(seconds, [](int pid) { return pid == 42; }, telemetry);
    return telemetry;
}

TEST(DeviceWindow, WhatHappenedInIt) {
    const auto telemetry = watched("0 clock 1980,1755,1500,1785\n0 field.186 600000,700000\n"
                                   "0 temperature 58,60,61\n0 reasons 1,4,4,4\n"
                                   "0 processes 42\n");
    ASSERT_TRUE(telemetry.device);
    const record::DeviceTelemetry& device = *telemetry.device;
    EXPECT_EQ(device.samples, 4);
    EXPECT_EQ(device.power_watts, 675);
    EXPECT_EQ(device.power_high_watts, 700);
    EXPECT_EQ(device.clock_hz, 1.755e9);
    EXPECT_EQ(device.clock_low_hz, 1.5e9);
    EXPECT_EQ(device.memory_clock_hz, 3.201e9);
    EXPECT_EQ(device.temperature_celsius, 61);
    EXPECT_EQ(device.memory_temperature_celsius, 72);
    EXPECT_THAT(device.throttles, ElementsAre(record::Throttle{
                                      .reason = "power_cap", .seconds = 1.5, .share = 0.75}));
    EXPECT_EQ(device.ecc_corrected, 0);
    EXPECT_EQ(device.remapping_pending, false);
    EXPECT_EQ(device.pcie_generation, 5);
    EXPECT_EQ(device.pcie_width_max, 16);
    EXPECT_EQ(device.pcie_replays, 0);
    EXPECT_EQ(device.nvlink_sent_bytes, 2000 * 1024);
    EXPECT_EQ(device.nvlink_received_bytes, 200 * 1024);
    EXPECT_EQ(device.other_processes, 0);
    EXPECT_EQ(telemetry.energy_joules, 2500);
    EXPECT_EQ(telemetry.energy_scope, "device");
    // At its limit of power is where a device that works belongs.
    EXPECT_THAT(telemetry.disturbances, IsEmpty());
}

TEST(DeviceWindow, OfAnAmdDeviceIsReadFromTheKernel) {
    const machine::Scratch scratch;
    scratch.write("/sys/class/kfd/kfd/topology/nodes/1/properties",
                  "gfx_target_version 90402\nunique_id 255\nlocation_id 1280\n");
    const std::string sensors = "/sys/bus/pci/devices/0000:05:00.0/hwmon/hwmon5/";
    scratch.write(sensors + "power1_input", "612000000\n");
    scratch.write(sensors + "freq1_input", "1950000000\n");
    DeviceOptions options{
        .name = "GPU-00000000000000ff", .library = "no-such-library.so", .period = {}};
    options.files = scratch.files();
    auto window = DeviceWindow::open(options);
    ASSERT_TRUE(window) << window.error().message;
    window->begin();
    window->sample();
    record::Telemetry telemetry;
    window->end(2.5, [](int /*pid*/) { return true; }, telemetry);
    ASSERT_TRUE(telemetry.device);
    EXPECT_EQ(telemetry.device->power_watts, 612);
    EXPECT_EQ(telemetry.device->clock_hz, 1.95e9);
    EXPECT_FALSE(telemetry.energy_joules);
    EXPECT_THAT(telemetry.energy_note.value_or(""), HasSubstr("no energy counter"));
    EXPECT_THAT(telemetry.disturbances, IsEmpty());

    // With a table of its firmware: 40 J, and a tenth of its looks found the socket too hot.
    const auto table = [&](std::uint64_t joules, std::uint32_t looks, std::uint32_t hot) {
        machine::AmdTable made{2208, 7};
        made.put(24, joules * 65536).put(40, looks).put(52, hot);
        scratch.write("/sys/bus/pci/devices/0000:05:00.0/gpu_metrics", made.bytes());
    };
    table(100, 5000, 7);
    window->begin();
    window->sample();
    table(140, 6000, 107);
    window->end(2.5, [](int /*pid*/) { return true; }, telemetry);
    EXPECT_EQ(telemetry.energy_joules, 40);
    EXPECT_EQ(telemetry.energy_scope, "device");
    EXPECT_THAT(telemetry.device->throttles,
                ElementsAre(record::Throttle{.reason = "thermal", .share = 0.1}));
    EXPECT_THAT(telemetry.disturbances, ElementsAre(HasSubstr("in 10% of the samples")));
    options.name = "GPU-0000000000000000";
    EXPECT_FALSE(DeviceWindow::open(options));
}

TEST(LinkWindow, CountsEachDevice) {
    const FakeNvml nvml{h200s(3) + "1 field.138.all 5,5\n2 field.138.all 0\n2 field.139.all 9,8\n"};
    auto links = LinkWindow::open({"GPU-0", "GPU-1", "GPU-2"}, nvml.library());
    ASSERT_TRUE(links) << links.error().message;
    EXPECT_THAT(links->end(), IsEmpty()) << "it has not begun";
    links->begin();
    const auto counted = links->end();
    ASSERT_EQ(counted.size(), 3U);
    EXPECT_EQ(counted[0].sent, 2000 * 1024);
    EXPECT_EQ(counted[0].received, 200 * 1024);
    EXPECT_EQ(counted[1].sent, 0) << "it stood still";
    EXPECT_EQ(counted[2].sent, std::nullopt) << "it never counted anything";
    EXPECT_EQ(counted[2].received, std::nullopt) << "it ran backwards";
    EXPECT_FALSE(LinkWindow::open({"GPU-0", "GPU-9"}, nvml.library()));
    EXPECT_FALSE(LinkWindow::open({"GPU-0"}, "/nowhere/libnvidia-ml.so.1"));
}

TEST(DeviceWindow, WhyThereIsNoEnergy) {
    const auto note = [](const std::string& lines, double seconds) {
        const auto telemetry = watched(lines, seconds);
        EXPECT_EQ(telemetry.energy_joules, std::nullopt);
        EXPECT_EQ(telemetry.energy_scope, std::nullopt);
        return telemetry.energy_note.value_or("");
    };
    EXPECT_THAT(note("", 1.9), HasSubstr("shorter than 2 s"));
    EXPECT_THAT(note("0 code.energy 3\n", 5), HasSubstr("no energy counter"));
    EXPECT_THAT(note("0 code.energy 0,3\n", 5), HasSubstr("no energy counter"));
    EXPECT_THAT(note("0 energy 9000,10\n", 5), HasSubstr("was reset"));
}

TEST(DeviceWindow, OfAPartThereIsNoPowerAndNoEnergy) {
    const auto telemetry =
        watched("0 parts 1\n0.0 uuid MIG-a\n0.0 name NVIDIA H200 MIG 1g.18gb\n", 5, 2, "MIG-a");
    EXPECT_THAT(telemetry.energy_note.value_or(""), HasSubstr("MIG is enabled"));
    ASSERT_TRUE(telemetry.device);
    EXPECT_EQ(telemetry.device->power_watts, std::nullopt);
    EXPECT_EQ(telemetry.device->nvlink_sent_bytes, std::nullopt);
    EXPECT_EQ(telemetry.device->clock_hz, 1.755e9);
}

TEST(DeviceWindow, WhatIsSaidHasACodeAndValues) {
    const auto said = watched("0 field.251 0,1250000000\n0 replays 7,9\n").disturbed_by;
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(said[0].code, record::DisturbanceCode::device_slowed);
    EXPECT_EQ(record::text(said[0].values, "reason"), "thermal");
    EXPECT_EQ(record::number(said[0].values, "share"), 0.5);
    EXPECT_EQ(said[1].code, record::DisturbanceCode::packets_resent);
    EXPECT_EQ(record::number(said[1].values, "packets"), 2);
}

TEST(DeviceWindow, ADeviceThatSlowedDownIsSaid) {
    EXPECT_THAT(watched("0 field.251 0,1250000000\n").disturbances,
                ElementsAre("The device was throttled for 1.25 s of 2.5 s, because it reached its "
                            "thermal limit: check its cooling."));
    EXPECT_THAT(watched("0 field.252 0,100000000\n").disturbances,
                ElementsAre(HasSubstr("halves the clocks")));
    EXPECT_THAT(watched("0 field.253 5,700000000\n").disturbances,
                ElementsAre(HasSubstr("power supply")));
    // By samples, where nothing is counted; not by one that fell into a change of clocks.
    EXPECT_THAT(watched("0 reasons 8,0,8,0\n").disturbances,
                ElementsAre(HasSubstr("in 50% of the samples")));
    EXPECT_THAT(watched("0 reasons 8,0\n", 2.5, 20).disturbances, IsEmpty());
    // Too short to matter.
    EXPECT_THAT(watched("0 field.251 0,20000000\n").disturbances, IsEmpty());
}

TEST(DeviceWindow, ALimitOfPowerBelowTheUsualOneIsSaid) {
    EXPECT_THAT(watched("0 power_limit 400000\n").disturbances,
                ElementsAre(HasSubstr("limit was 400 of 700 W, which throttled it for 1.5 s")));
    EXPECT_THAT(watched("0 power_limit 400000\n0 field.74 7\n0 reasons 0\n").disturbances,
                IsEmpty()); // it never got there
}

TEST(DeviceWindow, ErrorsThatGrewAreSaid) {
    EXPECT_THAT(watched("0 ecc_corrected 3,5\n").disturbances,
                ElementsAre(HasSubstr("corrected 2 memory errors")));
    EXPECT_THAT(watched("0 ecc_uncorrected 0,1\n").disturbances,
                ElementsAre(HasSubstr("1 uncorrectable memory error")));
    EXPECT_THAT(watched("0 replays 7,9\n").disturbances,
                ElementsAre(HasSubstr("2 PCIe packets had to be retransmitted")));
    EXPECT_THAT(watched("0 remapping_pending 1\n").disturbances,
                ElementsAre(HasSubstr("remap of the device is pending")));
    EXPECT_THAT(watched("0 ecc_corrected 5\n0 replays 9,7\n").disturbances, IsEmpty());
}

TEST(DeviceWindow, ALinkThatIsNarrowOrSlowIsSaid) {
    EXPECT_THAT(watched("0 width 8\n").disturbances, ElementsAre(HasSubstr("8 of 16 lanes")));
    EXPECT_THAT(watched("0 generation 3\n").disturbances,
                ElementsAre(HasSubstr("generation 3 of 5")));
    EXPECT_THAT(watched("0 generation 1,1,5,1\n").disturbances, IsEmpty()); // woke up
    EXPECT_THAT(watched("0 generation 1\n", 2.5, 1).disturbances, IsEmpty());
}

TEST(DeviceWindow, OtherProcessesOnTheDevice) {
    const auto others = [](const std::string& processes) {
        return watched("0 processes " + processes + "\n").device->other_processes;
    };
    EXPECT_EQ(others("42"), 0);
    EXPECT_EQ(others("42 99999999"), 1);
    EXPECT_EQ(others("99999998 99999999"), 1); // none is ours: numbers of another namespace
    EXPECT_EQ(others(""), std::nullopt);       // not even we: the driver does not tell
    EXPECT_EQ(others("42,42 99999999"), 1);    // came later
    EXPECT_THAT(watched("0 processes 42 99999998 99999999\n").disturbances,
                ElementsAre(HasSubstr("2 other processes computed on the device: stop them")));
}

TEST(DeviceWindow, ADeviceLostOnTheWay) {
    const auto telemetry = watched("0 code.clock 0,15\n0 code.energy 0,15\n0 code.fields 0,15\n");
    EXPECT_EQ(telemetry.energy_joules, std::nullopt);
    ASSERT_TRUE(telemetry.device);
    EXPECT_EQ(telemetry.device->clock_hz, 1.755e9); // of the one sample that had it
    EXPECT_THAT(
        telemetry.disturbances,
        ElementsAre(AllOf(HasSubstr("driver failed: GPU is lost (15 of"), HasSubstr("dmesg"))));
}

TEST(DeviceWindow, AnOldLibraryGivesWhatItHas) {
    const FakeNvml nvml{h200s(1), true};
    auto window = DeviceWindow::open(by_hand(nvml));
    ASSERT_TRUE(window);
    window->begin();
    window->sample();
    record::Telemetry telemetry;
    window->end(3, [](int) { return true; }, telemetry);
    EXPECT_EQ(telemetry.device->clock_hz, 1.755e9);
    EXPECT_EQ(telemetry.device->power_watts, 650);
    EXPECT_THAT(telemetry.device->throttles,
                ElementsAre(record::Throttle{.reason = "power_cap", .share = 1}));
    EXPECT_THAT(telemetry.energy_note.value_or(""), HasSubstr("no energy counter"));
    EXPECT_THAT(telemetry.disturbances, IsEmpty());
}

TEST(DeviceWindow, AnotherWindowBeginsAnew) {
    const FakeNvml nvml{h200s(1) + "0 clock 900,1700\n0 energy 0,1000,2000,5000\n"};
    auto window = DeviceWindow::open(by_hand(nvml));
    ASSERT_TRUE(window);
    record::Telemetry first;
    record::Telemetry second;
    for (auto* telemetry : {&first, &second}) {
        window->begin();
        window->sample();
        window->end(3, [](int) { return true; }, *telemetry);
    }
    EXPECT_EQ(first.device->clock_low_hz, 0.9e9);
    EXPECT_EQ(second.device->clock_low_hz, 1.7e9);
    EXPECT_EQ(second.energy_joules, 3);
}

TEST(DeviceWindow, TheThreadThatSamplesEndsWithTheWindow) {
    const FakeNvml nvml{h200s(1)};
    auto options = by_hand(nvml);
    options.period = std::chrono::hours{1}; // asks once and then waits: ended by the window alone
    auto window = DeviceWindow::open(options);
    ASSERT_TRUE(window);
    window->begin();
    record::Telemetry telemetry;
    window->end(3, [](int) { return true; }, telemetry);
    EXPECT_EQ(telemetry.device->samples, 1);
    window->begin(); // and one that is never ended
}

// --- the whole window -----------------------------------------------------------------------------

Options of_host(const machine::Scratch& scratch, double& now) {
    return {.root = scratch.root(), .owner = 1, .core_clock = {}, .cpu_seconds = {}, .now = [&now] {
                return now;
            }};
}

TEST(Window, HasADeviceWhereOneIsAskedFor) {
    const FakeNvml nvml{h200s(1) + "0 replays 7,8\n"};
    const machine::Scratch scratch;
    double now = 10;
    auto options = of_host(scratch, now);
    options.device = by_hand(nvml);
    Window window{options};
    ASSERT_NE(window.device(), nullptr);
    EXPECT_EQ(window.device()->clock_hz(), 1.755e9);
    window.begin();
    window.device()->sample();
    now += 4; // the window's clock
    const auto telemetry = window.end();
    EXPECT_EQ(telemetry.window_seconds, 4);
    EXPECT_EQ(telemetry.energy_joules, 2500);
    EXPECT_EQ(telemetry.device->samples, 1);
    EXPECT_THAT(telemetry.disturbances, ElementsAre(HasSubstr("PCIe packet")));
}

TEST(Window, SaysWhyNothingIsKnownOfTheDevice) {
    const FakeNvml nvml{h200s(1)};
    const machine::Scratch scratch;
    double now = 0;
    auto options = of_host(scratch, now);
    options.device = by_hand(nvml, "GPU-9");
    Window window{options};
    EXPECT_EQ(window.device(), nullptr);
    window.begin();
    now = 3; // the window's clock
    const auto telemetry = window.end();
    EXPECT_EQ(telemetry.device, std::nullopt);
    EXPECT_THAT(telemetry.energy_note.value_or(""), HasSubstr("knows no device GPU-9"));
}

// --- the host -------------------------------------------------------------------------------------

/// A package whose counter begins anew at 100 J, and its memory.
class Powered {
public:
    Powered() {
        zone("intel-rapl:0", "package-0", 99'000'000);
        zone("intel-rapl:0:0", "core", 5);
        zone("intel-rapl:0:1", "dram", 1'000'000);
        zone("intel-rapl-mmio:0", "package-0", 1);
    }
    void zone(const std::string& name, const std::string& what, std::int64_t microjoules) const {
        const std::string folder = "/sys/class/powercap/" + name;
        scratch.write(folder + "/name", what + "\n");
        scratch.write(folder + "/max_energy_range_uj", "100000000\n");
        scratch.write(folder + "/energy_uj", std::to_string(microjoules) + "\n");
    }
    record::Telemetry end(double seconds) {
        now = seconds;
        return window->end();
    }
    void begin() {
        now = 0;
        window.emplace(of_host(scratch, now));
        window->begin();
    }
    machine::Scratch scratch;
    double now = 0;
    std::optional<Window> window;
};

TEST(HostEnergy, OfPackagesAndMemoryAcrossTheEndOfTheCounter) {
    Powered machine;
    machine.begin();
    machine.zone("intel-rapl:0", "package-0", 4'000'000); // 99 -> 104
    machine.zone("intel-rapl:0:0", "core", 90'000'000);   // is in the package's
    machine.zone("intel-rapl:0:1", "dram", 3'000'000);
    const auto telemetry = machine.end(2);
    EXPECT_DOUBLE_EQ(telemetry.energy_joules.value_or(0), 5 + 2);
    EXPECT_EQ(telemetry.energy_scope, "processors and memory");
    EXPECT_EQ(telemetry.energy_note, std::nullopt);
}

TEST(HostEnergy, WhyThereIsNone) {
    Powered machine;
    machine.begin();
    EXPECT_THAT(machine.end(1.5).energy_note.value_or(""), HasSubstr("shorter than 2 s"));
    std::filesystem::remove(machine.scratch.root() / "sys/class/powercap/intel-rapl:0/energy_uj");
    machine.begin();
    EXPECT_THAT(machine.end(5).energy_note.value_or(""), HasSubstr("root"));
    auto options = of_host(machine.scratch, machine.now);
    options.no_energy = "done elsewhere";
    Window elsewhere{options};
    elsewhere.begin();
    EXPECT_EQ(elsewhere.end().energy_note, "done elsewhere");
    std::filesystem::remove_all(machine.scratch.root() / "sys/class/powercap");
    machine.begin();
    const auto telemetry = machine.end(5);
    EXPECT_THAT(telemetry.energy_note.value_or(""), HasSubstr("few virtual machines"));
    EXPECT_EQ(telemetry.energy_joules, std::nullopt);
    EXPECT_EQ(telemetry.temperature_celsius, std::nullopt);
}

TEST(HostTemperature, OfTheHottestSensorOfTheProcessors) {
    const machine::Scratch scratch;
    scratch.write("/sys/class/hwmon/hwmon0/name", "nvme\n");
    scratch.write("/sys/class/hwmon/hwmon0/temp1_input", "99000\n");
    scratch.write("/sys/class/hwmon/hwmon1/name", "coretemp\n");
    scratch.write("/sys/class/hwmon/hwmon1/temp1_input", "61000\n");
    scratch.write("/sys/class/hwmon/hwmon1/temp2_input", "63500\n");
    scratch.write("/sys/class/hwmon/hwmon1/temp2_max", "100000\n");
    double now = 0;
    Window window{of_host(scratch, now)};
    window.begin();
    EXPECT_EQ(window.end().temperature_celsius, 63.5);
}

} // namespace
} // namespace assay::telemetry
