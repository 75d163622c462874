// SPDX-License-Identifier: Apache-2.0

#include "record/layout.hpp"
#include "scratch.hpp"
#include "support/fake_nvml.hpp"
#include "support/results.hpp"
#include "telemetry/device.hpp"
#include "telemetry/errors.hpp"
#include "telemetry/window.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace assay::telemetry {
namespace {

using namespace testing;
using machine::Scratch;
using record::ErrorCounter;
using test::FakeNvml;
using test::h200s;

/// Nobody samples but the test.
telemetry::DeviceOptions by_hand(const FakeNvml& nvml, std::string name = "GPU-0") {
    return {.name = std::move(name), .library = nvml.library(), .period = {}};
}

/// Begins it, samples once and ends it.
record::Telemetry sampled(telemetry::DeviceWindow& window, double seconds = 3) {
    window.begin();
    window.sample();
    record::Telemetry telemetry;
    window.end(seconds, [](int /*pid*/) { return true; }, telemetry);
    return telemetry;
}

/// Summary of a window of that many seconds and samples. Process 42 is ours.
record::Telemetry watched(const std::string& lines, double seconds = 2.5, int samples = 4,
                          const std::string& name = "GPU-0") {
    const FakeNvml nvml{h200s(1) + lines};
    auto window = telemetry::DeviceWindow::open(by_hand(nvml, name));
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
    EXPECT_EQ(
        json::to_line(json::encode(*telemetry.device)),
        R"({"samples":4,"power_watts":675.0,"power_high_watts":700.0,"clock_hz":1755000000.0,)"
        R"("clock_low_hz":1500000000.0,"memory_clock_hz":3201000000.0,)"
        R"("temperature_celsius":61.0,"memory_temperature_celsius":72.0,)"
        R"("throttles":[{"reason":"power_cap","seconds":1.5,"share":0.75}],)"
        R"("ecc_corrected":0,"ecc_uncorrected":0,"remapped_rows_corrected":0,)"
        R"("remapped_rows_uncorrected":0,"remapping_pending":false,"remapping_failed":false,)"
        R"("pcie_generation":5,"pcie_width":16,"pcie_generation_max":5,"pcie_width_max":16,)"
        R"("pcie_replays":0,"nvlink_received_bytes":204800,"nvlink_sent_bytes":2048000,)"
        R"("other_processes":0})");
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
    telemetry::DeviceOptions options{
        .name = "GPU-00000000000000ff", .library = "no-such-library.so", .period = {}};
    options.files = scratch.files();
    auto window = valid(telemetry::DeviceWindow::open(options));
    auto telemetry = sampled(*window);
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
    EXPECT_FALSE(telemetry::DeviceWindow::open(options));
}

TEST(LinkWindow, CountsEachDevice) {
    const FakeNvml nvml{h200s(3) + "1 field.138.all 5,5\n2 field.138.all 0\n2 field.139.all 9,8\n"};
    auto links = valid(telemetry::LinkWindow::open({"GPU-0", "GPU-1", "GPU-2"}, nvml.library()));
    EXPECT_THAT(links->end(), IsEmpty()) << "it has not begun";
    links->begin();
    const auto counted = links->end();
    ASSERT_EQ(counted.size(), 3U);
    EXPECT_EQ(counted[0].sent, 2000 * 1024);
    EXPECT_EQ(counted[0].received, 200 * 1024);
    EXPECT_EQ(counted[1].sent, 0) << "it stood still";
    EXPECT_EQ(counted[2].sent, std::nullopt) << "it never counted anything";
    EXPECT_EQ(counted[2].received, std::nullopt) << "it ran backwards";
    EXPECT_FALSE(telemetry::LinkWindow::open({"GPU-0", "GPU-9"}, nvml.library()));
    EXPECT_FALSE(telemetry::LinkWindow::open({"GPU-0"}, "/nowhere/libnvidia-ml.so.1"));
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

TEST(DeviceWindow, WhatIsWrongIsSaid) {
    const struct {
        const char* lines;
        const char* says; ///< nullptr: nothing
        int samples = 4;
    } cases[] = {
        {"0 field.251 0,1250000000",
         "throttled for 1.25 s of 2.5 s, because it reached its thermal"},
        {"0 field.252 0,100000000", "halves the clocks"},
        {"0 field.253 5,700000000", "power supply"},
        // By samples, where nothing is counted; not by one that fell into a change of clocks.
        {"0 reasons 8,0,8,0", "in 50% of the samples"},
        {"0 reasons 8,0", nullptr, 20},
        {"0 field.251 0,20000000", nullptr}, // too short to matter
        {"0 power_limit 400000", "limit was 400 of 700 W, which throttled it for 1.5 s"},
        {"0 power_limit 400000\n0 field.74 7\n0 reasons 0", nullptr}, // it never got there
        {"0 ecc_corrected 3,5", "corrected 2 memory errors"},
        {"0 ecc_uncorrected 0,1", "1 uncorrectable memory error"},
        {"0 replays 7,9", "2 PCIe packets had to be retransmitted"},
        {"0 remapping_pending 1", "waits to be remapped"},
        {"0 ecc_corrected 5\n0 replays 9,7", nullptr}, // of before, and backwards
        {"0 width 8", "8 of 16 lanes"},
        {"0 generation 3", "generation 3 of 5"},
        {"0 generation 1,1,5,1", nullptr}, // woke up
        {"0 generation 1", nullptr, 1},
        {"0 processes 42 99999998 99999999", "2 other processes computed on the device: stop them"},
    };
    for (const auto& [lines, says, samples] : cases) {
        const auto said = watched(std::string{lines} + '\n', 2.5, samples).disturbances;
        if (says == nullptr)
            EXPECT_THAT(said, IsEmpty()) << lines;
        else
            EXPECT_THAT(said, ElementsAre(HasSubstr(says))) << lines;
    }
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

TEST(DeviceWindow, AnotherWindowBeginsAnew) {
    const FakeNvml nvml{h200s(1) + "0 clock 900,1700\n0 energy 0,1000,2000,5000\n"};
    auto window = valid(telemetry::DeviceWindow::open(by_hand(nvml)));
    const auto first = sampled(*window);
    const auto second = sampled(*window);
    EXPECT_EQ(first.device->clock_low_hz, 0.9e9);
    EXPECT_EQ(second.device->clock_low_hz, 1.7e9);
    EXPECT_EQ(second.energy_joules, 3);
}

TEST(DeviceWindow, TheThreadThatSamplesEndsWithTheWindow) {
    const FakeNvml nvml{h200s(1)};
    auto options = by_hand(nvml);
    options.period = std::chrono::hours{1}; // asks once and then waits: ended by the window alone
    auto window = valid(telemetry::DeviceWindow::open(options));
    window->begin();
    record::Telemetry telemetry;
    window->end(3, [](int) { return true; }, telemetry);
    EXPECT_EQ(telemetry.device->samples, 1);
    window->begin(); // and one that is never ended
}

// --- the whole window -----------------------------------------------------------------------------

telemetry::Options of_host(const machine::Scratch& scratch, double& now) {
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
    telemetry::Window window{options};
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
    telemetry::Window window{options};
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
    std::optional<telemetry::Window> window;
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
    telemetry::Window elsewhere{options};
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
    scratch.write_lines("/sys/class/hwmon/hwmon0/", {{"name", "nvme"}, {"temp1_input", "99000"}});
    scratch.write_lines("/sys/class/hwmon/hwmon1/", {{"name", "coretemp"},
                                                     {"temp1_input", "61000"},
                                                     {"temp2_input", "63500"},
                                                     {"temp2_max", "100000"}});
    double now = 0;
    telemetry::Window window{of_host(scratch, now)};
    window.begin();
    EXPECT_EQ(window.end().temperature_celsius, 63.5);
}

// --- errors that devices count -----------------------------------------------------------------------

record::Machine with_card() {
    record::Machine machine;
    machine.pci = {{.address = "0000:41:00.0", .kind = "network"},
                   {.address = "0000:03:00.0", .kind = "display"}};
    return machine;
}
telemetry::ErrorWatch watch(const Scratch& scratch, const record::Machine& machine = with_card()) {
    return telemetry::ErrorWatch{machine, {.files = scratch.files(), .nvml = {}, .kernel_log = [] {
                                               return std::vector<std::string>{};
                                           }}};
}

/// "edac mc0 ce_count 3 5": before and after, -1 where it is not known.
std::string shown(const std::vector<ErrorCounter>& counters) {
    std::string all;
    for (const auto& one : counters)
        all += fmt::format("{} {} {} {} {}\n", one.source, one.device, one.counter,
                           one.before.value_or(-1), one.after.value_or(-1));
    return all;
}

TEST(Errors, OnlyThoseThatAreNotZeroOrChanged) {
    const Scratch scratch;
    const std::string memory = "/sys/devices/system/edac/mc/";
    scratch.write(memory + "mc0/ce_count", "3\n");
    scratch.write(memory + "mc0/ue_count", "0\n");
    scratch.write(memory + "mc1/ce_count", "0\n");
    const std::string aer = "/sys/bus/pci/devices/0000:41:00.0/aer_dev_";
    scratch.write(aer + "correctable", "RxErr 1\nBadTLP 1\nTOTAL_ERR_COR 2\n");
    scratch.write(aer + "fatal", "DLP 0\nTOTAL_ERR_FATAL 0\n");
    scratch.write("/sys/bus/pci/devices/0000:03:00.0/aer_dev_fatal", "TOTAL_ERR_FATAL 9\n");
    const std::string port = "/sys/class/infiniband/mlx5_0/ports/1/";
    scratch.write(port + "counters/symbol_error", "0\n");
    scratch.write(port + "counters/port_xmit_data", "123456\n"); // traffic
    scratch.write(port + "hw_counters/out_of_sequence", "0\n");
    scratch.write("/sys/class/net/eth0/device/vendor", "0x15b3\n");
    scratch.write("/sys/class/net/eth0/statistics/rx_dropped", "7\n");
    scratch.write("/sys/class/net/lo/statistics/rx_dropped", "8\n"); // software
    auto errors = watch(scratch);
    scratch.write(memory + "mc1/ce_count", "5\n");
    scratch.write(aer + "correctable", "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n");
    scratch.write(port + "hw_counters/out_of_sequence", "11\n");
    EXPECT_EQ(shown(errors.counters()), "edac mc0 ce_count 3 3\n"
                                        "edac mc1 ce_count 0 5\n"
                                        "infiniband mlx5_0:1 out_of_sequence 0 11\n"
                                        "network eth0 rx_dropped 7 7\n"
                                        "pcie 0000:41:00.0 correctable 2 3\n");
}

TEST(Errors, CountsPacketsBeyondAllowanceOfInterfaces) {
    const Scratch scratch;
    scratch.write("/sys/class/net/eth0/device/vendor", "0x1d0f\n");
    scratch.write("/sys/class/net/lo/mtu", "65536\n"); // software
    std::int64_t count = 40;
    telemetry::ErrorWatch errors{{},
                                 {.files = scratch.files(),
                                  .nvml = {},
                                  .kernel_log = [] { return std::vector<std::string>{}; },
                                  .allowances =
                                      [&](const std::string& interface) {
                                          return std::map<std::string, std::int64_t>{
                                              {"bw_in_allowance_exceeded", 0},
                                              {interface + "_allowance_exceeded", count}};
                                      }}};
    count = 47;
    EXPECT_EQ(shown(errors.counters()), "allowance eth0 eth0_allowance_exceeded 40 47\n");
}

TEST(Errors, ACounterThatVanishesIsAbsentAfterwards) {
    const Scratch scratch;
    scratch.write("/sys/devices/system/edac/mc/mc0/ce_count", "3\n");
    auto errors = watch(scratch);
    std::filesystem::remove_all(scratch.root() / "sys");
    EXPECT_EQ(shown(errors.counters()), "edac mc0 ce_count 3 -1\n");
}

TEST(Errors, XidAndNvlinkOfTheDriver) {
    const Scratch scratch;
    const test::FakeNvml nvml{"- count 1\n0 bus 27\n0 field.38 0\n0 field.214.all 1\n"};
    record::Machine machine;
    machine.devices = {{.kind = "cuda"}};
    std::vector<std::string> log{
        "6,1,10,-;usb 1-1: new device", "4,2,20,-;NVRM: Xid (PCI:0000:1b:00): 31, pid=1, name=x",
        "4,3,30,-;NVRM: Xid (PCI:0000:1B:00): 79", "damaged", "4,x,1,-;NVRM: Xid"};
    telemetry::ErrorWatch errors{
        machine,
        {.files = scratch.files(), .nvml = nvml.library(), .kernel_log = [&] { return log; }}};
    std::ofstream{nvml.file()} << "- count 1\n0 bus 27\n0 field.38 4\n0 field.214.all 1\n";
    log.erase(log.begin(), log.begin() + 2); // the kernel overwrites the oldest
    log.emplace_back("4,9,90,-;NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.");
    EXPECT_EQ(shown(errors.counters()), "driver 0000:1b:00.0 xid_31 1 1\n"
                                        "driver 0000:1b:00.0 xid_79 1 2\n"
                                        "nvlink 0000:1b:00.0 crc_flit 0 4\n"
                                        "nvlink 0000:1b:00.0 recovery_failed 1 1\n");
}

} // namespace
} // namespace assay::telemetry
