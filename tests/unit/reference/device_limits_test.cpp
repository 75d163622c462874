// SPDX-License-Identifier: Apache-2.0
//
// Ceilings of devices, on machines that were never seen: the files are the ones that are installed.
#include "plan/manifest.hpp"
#include "reference/bound.hpp"
#include "reference/device_limits.hpp"
#include "run/ceilings.hpp"
#include "support/catalogue_maker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using record::Links;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Result<datasheet::Hardware>& shipped() {
    static const auto hardware = datasheet::read_hardware();
    return hardware;
}

record::Device h200() {
    return {.kind = "cuda",
            .uuid = "GPU-1",
            .name = "NVIDIA H200",
            .compute_capability = "9.0",
            .multiprocessors = 132,
            .memory_bytes = 150'754'820'096,
            .clock_max_hz = 1.98e9,
            .memory_clock_max_hz = 3.201e9,
            .memory_bus_bits = 6144};
}

record::Machine machine_with(record::Device device) {
    record::Machine machine;
    machine.devices.push_back(std::move(device));
    return machine;
}

record::Case measured(std::string benchmark, std::string metric, std::string unit,
                      record::NamedList parameters, double value = 1) {
    record::Case c{.benchmark = std::move(benchmark),
                   .place = {.kind = "cuda", .uuid = "GPU-1"},
                   .library = "cublaslt",
                   .parameters = std::move(parameters),
                   .headline = metric,
                   .status = record::Status::ok};
    c.metrics.push_back({.name = std::move(metric), .unit = std::move(unit), .value = value});
    return c;
}

record::Case gemm(const std::string& precision) {
    return measured("gemm.square", "flop_rate", "FLOP/s", {{"precision", precision}});
}
record::Case told(record::Case c, record::Evidence evidence) {
    c.evidence = std::move(evidence);
    return c;
}
constexpr double gibibyte = 1 << 30U;
record::Case stream(std::optional<double> footprint = gibibyte) {
    return told(measured("memory.stream", "bandwidth", "B/s", {}), {.footprint_bytes = footprint});
}
record::Case transfer(int directions = 1) {
    return told(measured("transfer.host", "bandwidth", "B/s", {}), {.directions = directions});
}

/// As the benchmarks declare, see bounds_test.cpp.
BoundBy by_of(const record::Case& c) {
    static const std::map<std::string, BoundBy> declared{
        {"gemm.square", BoundBy::matrix_units},   {"peak.tensor", BoundBy::matrix_units},
        {"peak.fma", BoundBy::vector_units},      {"memory.stream", BoundBy::memory},
        {"transfer.device", BoundBy::memory},     {"transfer.host", BoundBy::host_link},
        {"transfer.peer", BoundBy::device_links}, {"collective.allreduce", BoundBy::device_links},
        {"latency.kernel", BoundBy::none},
    };
    return declared.at(c.benchmark);
}

record::Case at_clock(record::Case c, double hertz) {
    c.telemetry.device = record::DeviceTelemetry{.clock_hz = hertz};
    return c;
}

DeviceLimits limits(const record::Case& c, const record::Device& device = h200()) {
    return limits_of(by_of(c), c, machine_with(device), shipped());
}

TEST(DeviceLimits, ArithmeticHoldsAtTheMakersClockAndAtTheWindows) {
    const auto found = limits(at_clock(gemm("bf16"), 1.6e9));
    ASSERT_THAT(found.ceilings, SizeIs(3));
    EXPECT_DOUBLE_EQ(*found.ceilings[0].value, 132 * 4096 * 1.83e9); // not 1.98e9
    EXPECT_THAT(found.ceilings[0].source,
                HasSubstr("132 multiprocessors x 4096 FLOP per clock of 1.83 GHz"));
    EXPECT_DOUBLE_EQ(*found.ceilings[1].value, 132 * 4096 * 1.6e9);
    EXPECT_THAT(found.ceilings[1].source, HasSubstr("of this window"));
    EXPECT_DOUBLE_EQ(*found.ceilings[2].value, 989.4e12);
    EXPECT_THAT(found.ceilings[2].source, HasSubstr("NVIDIA H200 SXM 141GB (retrieved: "));
    EXPECT_THAT(found.warnings, IsEmpty());
    for (const auto& ceiling : found.ceilings)
        EXPECT_EQ(ceiling.kind, record::CeilingKind::datasheet);
}

TEST(DeviceLimits, WithoutAClockInTheTelemetryThereIsNoneOfTheWindow) {
    EXPECT_THAT(limits(gemm("bf16")).ceilings, SizeIs(2));
    EXPECT_THAT(limits(at_clock(gemm("bf16"), 0)).ceilings, SizeIs(2));
}

TEST(DeviceLimits, ProductsOfMatricesMayUseTensorEnginesAndNothingElseDoes) {
    const auto value = [](const record::Case& c) { return *limits(c).ceilings.at(0).value; };
    EXPECT_DOUBLE_EQ(value(gemm("fp64")), 132 * 256 * 1.98e9);
    EXPECT_DOUBLE_EQ(value(gemm("fp32")), 132 * 256 * 1.98e9);
    const record::NamedList fp64{{"precision", "fp64"}};
    EXPECT_DOUBLE_EQ(value(measured("peak.fma", "flop_rate", "FLOP/s", fp64)), 132 * 128 * 1.98e9);
    EXPECT_DOUBLE_EQ(value(measured("peak.tensor", "flop_rate", "FLOP/s", fp64)),
                     132 * 256 * 1.98e9);
    EXPECT_DOUBLE_EQ(
        value(measured("gemm.square", "operation_rate", "OP/s", {{"precision", "int8"}})),
        132 * 8192 * 1.83e9);
}

TEST(DeviceLimits, EveryPrecisionHasARateAndEveryRateAPrecision) {
    std::set<std::string> rates;
    for (const auto& entry : shipped()->entries)
        for (const auto engine : {datasheet::Engine::vector, datasheet::Engine::tensor})
            for (const auto& [precision, rate] : entry.rates.of(engine)) rates.insert(precision);
    std::set<std::string> named;
    for (const auto& name : datasheet::precision_names) named.emplace(name.hardware);
    EXPECT_EQ(named, rates);
    for (const char* precision :
         {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2", "int8", "mxfp8", "nvfp4"})
        EXPECT_EQ(bound_of(BoundBy::matrix_units, gemm(precision), {}).limit, Limit::arithmetic)
            << precision;
}

TEST(DeviceLimits, WhatNoSheetHasIsSaidByName) {
    EXPECT_THAT(limits(gemm("fp64_emulated")).reason, HasSubstr("\"fp64_emulated\""));
    EXPECT_THAT(limits(gemm("nvfp4")).reason, HasSubstr("no fp4 rate of NVIDIA H200 SXM 141GB"));
    EXPECT_THAT(limits(measured("peak.fma", "flop_rate", "FLOP/s", {{"precision", "tf32"}})).reason,
                HasSubstr("outside its tensor engines"));
    // Where no limit is looked for, nothing is said either.
    EXPECT_THAT(limits(measured("latency.kernel", "latency", "s", {})).reason, IsEmpty());
    EXPECT_THAT(limits(measured("gemm.square", "flop_rate", "FLOP/s", {})).reason, IsEmpty());
}

TEST(DeviceLimits, WhatTheDeviceSaysOfItsCacheCountsAndTheSheetIsHeldAgainstIt) {
    constexpr double mebibyte = 1 << 20U;
    const auto of = [&](double footprint, double l2_mebibytes) {
        auto c = stream(footprint * mebibyte);
        c.evidence.cache_bytes = l2_mebibytes * mebibyte;
        return limits(c);
    };
    EXPECT_THAT(of(240, 60).ceilings, SizeIs(2)); // as an H200 says, and its sheet
    EXPECT_THAT(of(240, 60).warnings, IsEmpty());
    EXPECT_THAT(of(239, 60).reason, HasSubstr("may stay in the device's last cache (60 MiB)"));
    EXPECT_THAT(of(200, 50).ceilings, SizeIs(2));
    EXPECT_THAT(of(200, 50).warnings,
                ElementsAre(HasSubstr("an L2 cache of 50 MiB, configs/hardware has 60")));
}

TEST(DeviceLimits, MemoryIsBusTimesClock) {
    const auto found = limits(stream());
    ASSERT_THAT(found.ceilings, SizeIs(2));
    EXPECT_DOUBLE_EQ(*found.ceilings[0].value, 6144 * 3.201e9 * 2 / 8);
    EXPECT_DOUBLE_EQ(*found.ceilings[1].value, 4.8e12); // 2.4% less: within the tolerance
    EXPECT_THAT(found.warnings, IsEmpty());
    auto slow = stream();
    slow.telemetry.device = record::DeviceTelemetry{.memory_clock_hz = 2.6e9};
    EXPECT_DOUBLE_EQ(*limits(slow).ceilings.at(1).value, 6144 * 2.6e9 * 2 / 8);
}

TEST(DeviceLimits, WhatMayStayInACacheIsNotHeldAgainstMemory) {
    EXPECT_THAT(limits(stream(gibibyte / 16)).reason, HasSubstr("64 MiB may stay"));
    EXPECT_THAT(limits(stream(gibibyte)).ceilings, SizeIs(2));
    EXPECT_THAT(limits(stream(std::nullopt)).reason, HasSubstr("footprint is unknown"));
}

TEST(DeviceLimits, ATransferIsHeldAgainstTheLinkItWasSeenOn) {
    auto c = transfer();
    EXPECT_NEAR(*limits(c).ceilings.at(0).value, 63.0e9, 0.1e9);
    EXPECT_THAT(limits(c).ceilings.at(0).source, HasSubstr("not seen under load"));
    c.telemetry.device = record::DeviceTelemetry{.pcie_generation = 4, .pcie_width = 8};
    EXPECT_NEAR(*limits(c).ceilings.at(0).value, 15.75e9, 0.01e9);
    EXPECT_THAT(limits(c).ceilings.at(0).source, HasSubstr("PCIe 4.0 x8, one direction, as seen"));
    c.evidence.directions = 2;
    EXPECT_NEAR(*limits(c).ceilings.at(0).value, 31.5e9, 0.01e9);
    c.telemetry.device->pcie_generation = 99;
    EXPECT_THAT(limits(c).reason, HasSubstr("PCIe"));
    auto superchip = h200();
    superchip.name = "NVIDIA GH200 480GB";
    EXPECT_DOUBLE_EQ(*limits(transfer(), superchip).ceilings.at(0).value, 450e9);
}

/// Eight devices, of which one has lost a link.
record::Machine eight() {
    record::Machine machine;
    for (int i = 0; i < 8; ++i) {
        auto device = h200();
        device.index = i;
        device.uuid = "GPU-" + std::to_string(i);
        device.nvlinks = i == 5 ? 17 : 18;
        machine.devices.push_back(std::move(device));
    }
    return machine;
}

record::Case reduced(record::Evidence evidence) {
    auto c =
        told(measured("collective.allreduce", "bus_bandwidth", "B/s", {}), std::move(evidence));
    c.place.uuid.clear();
    return c;
}

DeviceLimits limits_of_eight(const record::Case& c) {
    return limits_of(by_of(c), c, eight(), shipped());
}

TEST(DeviceLimits, ACollectiveIsHeldAgainstTheLinksOfTheSlowestDevice) {
    const auto found = limits_of_eight(reduced({.links = Links::nvlink}));
    ASSERT_THAT(found.ceilings, SizeIs(2));
    EXPECT_DOUBLE_EQ(*found.ceilings[0].value, 17 * 25e9);
    EXPECT_EQ(found.ceilings[0].source, "17 NVLinks of 25.0 GB/s, one direction");
    EXPECT_DOUBLE_EQ(*found.ceilings[1].value, 450e9);
    EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("differ by 5.6%"))) << "a link is missing";
    const auto staged = limits_of_eight(reduced({.links = Links::host}));
    EXPECT_NEAR(*staged.ceilings.at(0).value, 63.0e9, 0.1e9);
    EXPECT_THAT(staged.ceilings, SizeIs(1));
}

TEST(DeviceLimits, WhereTheSwitchAddsUpNoLinkIsALimit) {
    const auto summed = reduced({.links = Links::nvlink, .switch_work = "NVLS"});
    EXPECT_THAT(limits_of_eight(summed).ceilings, IsEmpty());
    EXPECT_THAT(limits_of_eight(summed).reason, HasSubstr("\"NVLS\" uses in-switch reduction"));
    EXPECT_THAT(limits_of_eight(reduced({})).reason, HasSubstr("transport is unknown"));
    EXPECT_THAT(limits_of_eight(reduced({.links = Links::other})).reason,
                HasSubstr("no data sheet"));
    EXPECT_THAT(limits_of_eight(reduced({.links = Links::nvlink, .machines = 2})).reason,
                HasSubstr("several machines"));
}

TEST(DeviceLimits, CopiesBetweenDevicesTakeNvlinkWhereItIsUp) {
    auto c = told(measured("transfer.peer", "bandwidth", "B/s", {}),
                  {.links = Links::peer, .directions = 2});
    c.place.uuid.clear();
    EXPECT_DOUBLE_EQ(*limits_of_eight(c).ceilings.at(0).value, 2 * 17 * 25e9);
    auto pcie = h200();
    pcie.nvlinks = 0;
    EXPECT_NEAR(*limits(c, pcie).ceilings.at(0).value, 126.0e9, 0.1e9);
    EXPECT_THAT(limits(c).reason, HasSubstr("two devices")) << "the driver does not tell";
    auto bridged = h200();
    bridged.name = "NVIDIA H100 NVL";
    bridged.nvlinks = 0;
    EXPECT_THAT(limits(reduced({.links = Links::nvlink}), bridged).reason,
                HasSubstr("no active NVLink"));
    c.evidence = {.links = Links::host, .directions = 1};
    EXPECT_NEAR(*limits_of_eight(c).ceilings.at(0).value, 63.0e9, 0.1e9);
}

TEST(DeviceLimits, OfAPartOfADeviceNoSheetSaysAnything) {
    auto slice = h200();
    slice.mode = "mig 1g.18gb";
    slice.multiprocessors = 16;
    EXPECT_THAT(limits(gemm("bf16"), slice).ceilings, IsEmpty());
    EXPECT_THAT(limits(gemm("bf16"), slice).reason,
                HasSubstr("not a whole device (\"mig 1g.18gb\")"));
    auto confidential = h200();
    confidential.confidential = true;
    EXPECT_THAT(limits(gemm("bf16"), confidential).reason, HasSubstr("confidential computing"));
}

TEST(DeviceLimits, AnUnknownDeviceHasNone) {
    auto device = h200();
    device.name = "NVIDIA H222";
    EXPECT_THAT(limits(gemm("bf16"), device).reason,
                HasSubstr("configs/hardware has no \"NVIDIA H222\"; nearest is"));
    device.uuid = "GPU-2";
    EXPECT_THAT(limits(gemm("bf16"), device).reason, HasSubstr("no driver reported"));
    EXPECT_EQ(
        limits_of(BoundBy::matrix_units, gemm("bf16"), machine_with(h200()), fail("x.json: torn"))
            .reason,
        "x.json: torn");
}

TEST(DeviceLimits, FiguresThatDisagreeAreNamed) {
    auto fewer = h200();
    fewer.multiprocessors = 120;
    EXPECT_THAT(limits(gemm("bf16"), fewer).warnings,
                ElementsAre(AllOf(HasSubstr("899 TFLOP/s"), HasSubstr("989 TFLOP/s"),
                                  HasSubstr("differ by 9.1%"))));
    // No clock of B200's tensor figures is published: what is printed comes first.
    auto b200 = h200();
    b200.name = "NVIDIA B200";
    b200.multiprocessors = 148;
    const auto found = limits(at_clock(gemm("bf16"), 1.7e9), b200);
    ASSERT_THAT(found.ceilings, SizeIs(2));
    EXPECT_DOUBLE_EQ(*found.ceilings[0].value, 2250e12);
    EXPECT_DOUBLE_EQ(*found.ceilings[1].value, 148 * 8192 * 1.7e9);
}

// --- beside what was measured ------------------------------------------------------------------------

Catalogue device_catalogue() {
    auto peak = harness::made::benchmark("peak.tensor", "flop_rate",
                                         {harness::made::choice("precision", {"bf16"}, {"bf16"})});
    peak.is_ceiling = true;
    peak.bound = BoundBy::matrix_units;
    auto product = harness::made::benchmark(
        "gemm.square", "flop_rate", {harness::made::choice("precision", {"bf16"}, {"bf16"})});
    product.ceiling = "peak.tensor";
    product.bound = BoundBy::matrix_units;
    Catalogue all;
    all.modules = {harness::made::manifest("cublaslt", {peak, product})};
    return all;
}

record::Run run_of(std::vector<record::Case> cases, record::Device device = h200()) {
    record::Run run;
    run.machine = machine_with(std::move(device));
    run.cases = std::move(cases);
    return run;
}

record::Case at(record::Case c, const char* uuid, double value) {
    c.place.uuid = uuid;
    c.metrics.front().value = value;
    return c;
}

record::Case peak() {
    return measured("peak.tensor", "flop_rate", "FLOP/s", {{"precision", "bf16"}});
}

TEST(DeviceLimits, WhatWasMeasuredComesFirstAndTheSheetBesideIt) {
    auto run = run_of({at(peak(), "GPU-1", 900e12), at(gemm("bf16"), "GPU-1", 800e12)});
    assign_ceilings(run, device_catalogue(), shipped());
    const auto& product = run.cases[1];
    EXPECT_EQ(product.ceiling.kind, record::CeilingKind::measured);
    EXPECT_EQ(product.ceiling.value, 900e12);
    EXPECT_THAT(product.other_ceilings, SizeIs(2));
    // The peak itself is held against the sheet.
    EXPECT_EQ(run.cases[0].ceiling.kind, record::CeilingKind::datasheet);
    EXPECT_THAT(run.cases[0].other_ceilings, SizeIs(1));
    // Again: nothing is added twice.
    assign_ceilings(run, device_catalogue(), shipped());
    EXPECT_THAT(run.cases[1].other_ceilings, SizeIs(2));
}

TEST(DeviceLimits, WhatNoHardwareCanDoIsIncorrect) {
    for (const auto& [value, status] :
         {std::pair{9e12, record::Status::incorrect}, {5e12, record::Status::ok}}) {
        record::Run run;
        run.machine = machine_with(h200());
        auto all = harness::made::catalogue();
        auto benchmark = harness::made::benchmark("memory.stream", "bandwidth", {});
        benchmark.bound = BoundBy::memory;
        all.modules.push_back(harness::made::manifest("cublaslt", {benchmark}));
        run.cases.push_back(stream());
        run.cases[0].metrics.front().value = value;
        assign_ceilings(run, all, shipped());
        EXPECT_EQ(run.cases[0].status, status) << run.cases[0].ceiling.source;
        EXPECT_EQ(run.cases[0].metrics.empty(), status == record::Status::incorrect);
    }
}

TEST(DeviceLimits, WhatWasExceededIsNoLimit) {
    auto run = run_of({at(peak(), "GPU-1", 600e12), at(gemm("bf16"), "GPU-1", 800e12)});
    assign_ceilings(run, device_catalogue(), shipped());
    const auto& product = run.cases[1];
    EXPECT_EQ(product.ceiling.kind, record::CeilingKind::datasheet);
    ASSERT_THAT(product.other_ceilings, SizeIs(2));
    EXPECT_EQ(product.other_ceilings[0].kind, record::CeilingKind::measured);
    EXPECT_THAT(product.warnings, IsEmpty());
}

TEST(DeviceLimits, APartIsHeldAgainstWhatItMeasuredAndTheReasonStandsBeside) {
    auto slice = h200();
    slice.mode = "mig 1g.18gb";
    auto run = run_of({at(peak(), "GPU-1", 100e12), at(gemm("bf16"), "GPU-1", 80e12)}, slice);
    assign_ceilings(run, device_catalogue(), shipped());
    EXPECT_EQ(run.cases[1].ceiling.value, 100e12);
    ASSERT_THAT(run.cases[1].other_ceilings, SizeIs(1));
    EXPECT_EQ(run.cases[1].other_ceilings[0].kind, record::CeilingKind::none);
    EXPECT_THAT(run.cases[0].ceiling.source,
                HasSubstr("it is a roofline bound itself; not a whole device"));
}

TEST(DeviceLimits, AnotherDeviceIsNoLimit) {
    auto run = run_of({at(peak(), "GPU-2", 900e12), at(gemm("bf16"), "GPU-1", 800e12)});
    assign_ceilings(run, device_catalogue(), shipped());
    EXPECT_EQ(run.cases[1].ceiling.kind, record::CeilingKind::datasheet);
}

} // namespace
