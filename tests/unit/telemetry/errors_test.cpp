// SPDX-License-Identifier: Apache-2.0
#include "scratch.hpp"
#include "support/fake_nvml.hpp"
#include "telemetry/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace assay::telemetry {
namespace {

using machine::Scratch;
using record::ErrorCounter;
using testing::ElementsAre;
using testing::IsEmpty;

record::Machine with_card() {
    record::Machine machine;
    machine.pci = {{.address = "0000:41:00.0", .kind = "network"},
                   {.address = "0000:03:00.0", .kind = "display"}};
    return machine;
}
ErrorWatch watch(const Scratch& scratch, const record::Machine& machine = with_card()) {
    return ErrorWatch{machine, {.files = scratch.files(), .nvml = {}, .kernel_log = [] {
                                    return std::vector<std::string>{};
                                }}};
}

TEST(Errors, AMachineWithoutCountersHasNone) {
    const Scratch scratch;
    EXPECT_THAT(watch(scratch).counters(), IsEmpty());
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
    const auto one = [](const char* source, const char* device, const char* counter,
                        std::int64_t before, std::int64_t after) {
        return ErrorCounter{.source = source,
                            .device = device,
                            .counter = counter,
                            .before = before,
                            .after = after};
    };
    EXPECT_THAT(errors.counters(),
                ElementsAre(one("edac", "mc0", "ce_count", 3, 3),
                            one("edac", "mc1", "ce_count", 0, 5),
                            one("infiniband", "mlx5_0:1", "out_of_sequence", 0, 11),
                            one("network", "eth0", "rx_dropped", 7, 7),
                            one("pcie", "0000:41:00.0", "correctable", 2, 3)));
}

TEST(Errors, ACounterThatVanishesIsAbsentAfterwards) {
    const Scratch scratch;
    scratch.write("/sys/devices/system/edac/mc/mc0/ce_count", "3\n");
    auto errors = watch(scratch);
    std::filesystem::remove_all(scratch.root() / "sys");
    ASSERT_EQ(errors.counters().size(), 1U);
    EXPECT_EQ(errors.counters()[0].before, 3);
    EXPECT_FALSE(errors.counters()[0].after);
}

TEST(Errors, XidAndNvlinkOfTheDriver) {
    const Scratch scratch;
    const test::FakeNvml nvml{"- count 1\n0 bus 27\n0 field.38 0\n0 field.214.all 1\n"};
    record::Machine machine;
    machine.devices = {{.kind = "cuda"}};
    std::vector<std::string> log{
        "6,1,10,-;usb 1-1: new device", "4,2,20,-;NVRM: Xid (PCI:0000:1b:00): 31, pid=1, name=x",
        "4,3,30,-;NVRM: Xid (PCI:0000:1B:00): 79", "damaged", "4,x,1,-;NVRM: Xid"};
    ErrorWatch errors{
        machine,
        {.files = scratch.files(), .nvml = nvml.library(), .kernel_log = [&] { return log; }}};
    std::ofstream{nvml.file()} << "- count 1\n0 bus 27\n0 field.38 4\n0 field.214.all 1\n";
    log.erase(log.begin(), log.begin() + 2); // the kernel overwrites the oldest
    log.emplace_back("4,9,90,-;NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.");
    std::string all;
    for (const auto& one : errors.counters())
        all += one.source + ' ' + one.device + ' ' + one.counter + ' ' +
               std::to_string(one.before.value_or(-1)) + ' ' +
               std::to_string(one.after.value_or(-1)) + '\n';
    EXPECT_EQ(all, "driver 0000:1b:00.0 xid_31 1 1\n"
                   "driver 0000:1b:00.0 xid_79 1 2\n"
                   "nvlink 0000:1b:00.0 crc_flit 0 4\n"
                   "nvlink 0000:1b:00.0 recovery_failed 1 1\n");
}

} // namespace
} // namespace assay::telemetry
