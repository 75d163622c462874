// SPDX-License-Identifier: Apache-2.0
//
// What bounds each benchmark on a host or device, and in each of its choices.

#include "plan/manifest.hpp"
#include "reference/device_limits.hpp"
#include "reference/sheet_bounds.hpp"
#include "run/ceilings.hpp"
#include "support/catalogue_maker.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace assay;
using namespace assay::reference;
using namespace testing;
using plan::BoundBy;
using record::Links;

/// Devices need compilers that may not be here, so the sources are read.
TEST(Bounds, AreDeclaredByTheBenchmarks) {
    const std::regex bound{R"re(\.bound = Bound::([a-z_]+))re"};
    std::map<std::string, std::string> found;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator{ASSAY_SOURCE_BENCHMARKS}) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file{entry.path()};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        for (std::sregex_iterator at{text.begin(), text.end(), bound}, end; at != end; ++at) {
            const auto position = static_cast<std::size_t>(at->position());
            const auto start = text.rfind(".id = ", position) + 6;
            const auto body = text.substr(start, position - start); // place comes before bound
            const auto id = body[0] == '"' ? body.substr(1, body.find('"', 1) - 1) : "collective.*";
            const bool on_device = body.find(R"(.place = "cuda")") != std::string::npos ||
                                   body.find(".place = device::") != std::string::npos;
            found[id + (on_device ? " cuda" : "")] = (*at)[1];
        }
    }
    ASSERT_GT(found.size(), 20U);
    std::size_t known = 0;
    for (const auto& [name, by] : found) {
        const bool on_device = name.ends_with(" cuda");
        const auto id = name.substr(0, name.find(' '));
        EXPECT_EQ(to_string(declared_bound(id == "collective.*" ? "collective.allreduce" : id,
                                           !on_device)),
                  by)
            << name;
    }
    for (const auto& one : declared_bounds())
        known +=
            std::size_t{one.on_host != BoundBy::none} + std::size_t{one.on_device != BoundBy::none};
    EXPECT_EQ(found.size(), known);
}

struct Choice {
    BoundBy by;
    std::string precision;
    record::Evidence told;
    Limit limit = Limit::none;
    int ways = 1;
    bool several = false;
    bool matrices = false;
    std::string reason{};
};

constexpr double gib = 1 << 30U;
constexpr double l2 = 60.0 * (1 << 20U);

const std::vector<Choice> choices{
    // collective.*: the links that NCCL's log shows.
    {BoundBy::device_links, "", {.links = Links::nvlink, .machines = 1}, Limit::nvlink, 1, true},
    {BoundBy::device_links, "", {.links = Links::host, .machines = 1}, Limit::link, 1, true},
    {.by = BoundBy::device_links, .told = {.links = Links::other}, .reason = "no data sheet"},
    {.by = BoundBy::device_links, .told = {.machines = 1}, .reason = "transport is unknown"},
    {.by = BoundBy::device_links,
     .told = {.links = Links::nvlink, .machines = 2},
     .reason = "several machines"},
    {.by = BoundBy::device_links,
     .told = {.links = Links::nvlink, .machines = 1, .switch_work = "NVLS"},
     .reason = "\"NVLS\" uses in-switch reduction"},
    // transfer.peer: one_way and both_ways, by peer access and through the host.
    {BoundBy::device_links, "", {.links = Links::peer, .directions = 1}, Limit::peer, 1, true},
    {BoundBy::device_links, "", {.links = Links::peer, .directions = 2}, Limit::peer, 2, true},
    {BoundBy::device_links, "", {.links = Links::host, .directions = 1}, Limit::link, 1, true},
    {BoundBy::device_links, "", {.links = Links::host, .directions = 2}, Limit::link, 2, true},
    // transfer.host: one direction, both, and one while the other is busy.
    {BoundBy::host_link, "", {.directions = 1}, Limit::link, 1},
    {BoundBy::host_link, "", {.directions = 2}, Limit::link, 2},
    // memory.* and transfer.device: four times the cache is beyond it, by the device's own word first.
    {BoundBy::memory, "", {.footprint_bytes = gib}, Limit::memory},
    {BoundBy::memory, "", {.footprint_bytes = gib, .cache_bytes = gib / 4}, Limit::memory},
    {.by = BoundBy::memory,
     .told = {.footprint_bytes = gib, .cache_bytes = gib / 3},
     .reason = "may stay in the device's last cache (341 MiB)"},
    {.by = BoundBy::memory, .told = {.footprint_bytes = 3 * l2}, .reason = "180 MiB may stay"},
    {.by = BoundBy::memory, .told = {}, .reason = "footprint is unknown"},
    // gemm.*, peak.tensor and peak.fma: by precision, where a data sheet has a figure.
    {BoundBy::matrix_units, "fp8_e4m3", {}, Limit::arithmetic, 1, false, true},
    {BoundBy::matrix_units, "fp64", {}, Limit::arithmetic, 1, false, true},
    {BoundBy::vector_units, "fp64", {}, Limit::arithmetic},
    {.by = BoundBy::matrix_units,
     .precision = "fp64_emulated",
     .told = {},
     .reason = "no data sheet has a value for precision \"fp64_emulated\""},
    {.by = BoundBy::vector_units, .told = {}},
    // network.*: between machines, no limit of a device.
    {.by = BoundBy::network, .told = {.machines = 2, .network_devices = "mlx5_0:1"}},
    {.by = BoundBy::none, .told = {.links = Links::nvlink, .footprint_bytes = gib}},
};

TEST(Bounds, FollowFromWhatACaseTells) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const auto& choice = choices[i];
        record::Case c{.evidence = choice.told};
        if (!choice.precision.empty()) c.parameters = {{"precision", choice.precision}};
        const auto bound = bound_of(choice.by, c, l2);
        EXPECT_EQ(bound.limit, choice.limit) << i;
        EXPECT_EQ(bound.ways, choice.ways) << i;
        EXPECT_EQ(bound.several, choice.several) << i;
        EXPECT_EQ(bound.matrices, choice.matrices) << i;
        EXPECT_THAT(bound.reason, HasSubstr(choice.reason)) << i;
        EXPECT_EQ(bound.reason.empty(), choice.reason.empty()) << i;
    }
}

// --- ceilings of devices -----------------------------------------------------------------------------

// Ceilings of devices, on machines that were never seen: the files are the ones that are installed.

const Result<reference::Hardware>& shipped() {
    static const auto hardware = reference::read_hardware();
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

BoundBy by_of(const record::Case& c) { return declared_bound(c.benchmark, false); }

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
    EXPECT_THAT(limits(gemm("bf16")).ceilings, SizeIs(2)) << "none of the window";
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
    const record::NamedList sparse{{"precision", "bf16"}, {"sparsity", "2:4"}};
    EXPECT_EQ(value(measured("peak.tensor", "flop_rate", "FLOP/s", sparse)), 132 * 8192 * 1.83e9);
    EXPECT_DOUBLE_EQ(
        value(measured("gemm.square", "operation_rate", "OP/s", {{"precision", "int8"}})),
        132 * 8192 * 1.83e9);
}

TEST(DeviceLimits, EveryPrecisionHasARateAndEveryRateAPrecision) {
    std::set<std::string> rates;
    for (const auto& entry : shipped()->entries)
        for (const auto engine : {reference::Engine::vector, reference::Engine::tensor})
            for (const auto& [precision, rate] : entry.rates.of(engine)) rates.insert(precision);
    std::set<std::string> named;
    for (const auto& name : reference::precision_names) named.emplace(name.hardware);
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

TEST(DeviceLimits, BoundARateOfItemsByItsBytesOrItsFlop) {
    auto step = told(measured("model.some", "item_rate", "1/s", {{"precision", "bf16"}}, 200),
                     {.footprint_bytes = 16 * gibibyte});
    step.work = {{"items", 1.0}, {"bytes", 15e9}, {"flops", 15e9}};
    const auto by = [&](BoundBy bound) {
        return sheet_limits(bound, step, machine_with(h200()), shipped());
    };
    EXPECT_THAT(by(BoundBy::memory).ceilings, IsEmpty()) << "it has no bandwidth";
    step.metrics.push_back({.name = "bandwidth", .unit = "B/s", .value = 3e12});
    step.metrics.push_back({.name = "flop_rate", .unit = "FLOP/s", .value = 3e12});
    const auto memory = by(BoundBy::memory);
    ASSERT_THAT(memory.ceilings, SizeIs(2));
    EXPECT_DOUBLE_EQ(*memory.ceilings[1].value, 4.8e12 / 15e9); // tokens a second
    EXPECT_THAT(memory.ceilings[1].source,
                AllOf(HasSubstr("printed for NVIDIA H200"),
                      HasSubstr("; times the work per byte of this case")));
    const auto units = by(BoundBy::matrix_units);
    ASSERT_THAT(units.ceilings, Not(IsEmpty()));
    EXPECT_NEAR(*units.ceilings.back().value, 989e12 / 15e9, 100);
    EXPECT_THAT(units.ceilings.back().source, HasSubstr("; times the work per FLOP of this case"));
    EXPECT_THAT(by(BoundBy::host_link).ceilings, IsEmpty());
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
    EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("uncertain by 5.6%"))) << "a link is missing";
    const auto staged = limits_of_eight(reduced({.links = Links::host}));
    EXPECT_NEAR(*staged.ceilings.at(0).value, 63.0e9, 0.1e9);
    EXPECT_THAT(staged.ceilings, SizeIs(1));
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
                                  HasSubstr("uncertain by 9.1%"))));
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

plan::Catalogue device_catalogue() {
    auto peak = made::benchmark("peak.tensor", "flop_rate",
                                {made::choice("precision", {"bf16"}, {"bf16"})});
    peak.is_ceiling = true;
    peak.bound = BoundBy::matrix_units;
    auto product = made::benchmark("gemm.square", "flop_rate",
                                   {made::choice("precision", {"bf16"}, {"bf16"})});
    product.ceiling = "peak.tensor";
    product.bound = BoundBy::matrix_units;
    plan::Catalogue all;
    all.modules = {made::manifest("cublaslt", {peak, product})};
    return all;
}

/// A peak and a product with these values on that device, as assign_ceilings() leaves them, however often.
std::vector<record::Case> judged(double peak, double product, record::Device device = h200(),
                                 const char* peak_on = "GPU-1") {
    const record::NamedList bf16{{"precision", "bf16"}};
    record::Run run;
    run.machine = machine_with(std::move(device));
    run.cases = {measured("peak.tensor", "flop_rate", "FLOP/s", bf16, peak),
                 measured("gemm.square", "flop_rate", "FLOP/s", bf16, product)};
    run.cases[0].place.uuid = peak_on;
    for (int i = 0; i < 2; ++i) run::assign_ceilings(run, device_catalogue(), shipped());
    return run.cases;
}

TEST(DeviceLimits, WhatWasMeasuredComesFirstAndTheSheetBesideIt) {
    const auto cases = judged(900e12, 800e12);
    EXPECT_EQ(cases[1].ceiling.kind, record::CeilingKind::measured);
    EXPECT_EQ(cases[1].ceiling.value, 900e12);
    EXPECT_THAT(cases[1].other_ceilings, SizeIs(2)) << "nothing is added twice";
    // The peak itself is compared with the sheet.
    EXPECT_EQ(cases[0].ceiling.kind, record::CeilingKind::datasheet);
    EXPECT_THAT(cases[0].other_ceilings, SizeIs(1));
}

TEST(DeviceLimits, WhatNoHardwareCanDoIsIncorrect) {
    for (const auto& [value, status] :
         {std::pair{9e12, record::Status::incorrect}, {5e12, record::Status::ok}}) {
        record::Run run;
        run.machine = machine_with(h200());
        auto all = made::catalogue();
        auto benchmark = made::benchmark("memory.stream", "bandwidth", {});
        benchmark.bound = BoundBy::memory;
        all.modules.push_back(made::manifest("cublaslt", {benchmark}));
        run.cases.push_back(stream());
        run.cases[0].metrics.front().value = value;
        run::assign_ceilings(run, all, shipped());
        EXPECT_EQ(run.cases[0].status, status) << run.cases[0].ceiling.source;
        EXPECT_EQ(run.cases[0].metrics.empty(), status == record::Status::incorrect);
    }
}

TEST(DeviceLimits, WhatWasExceededIsNoLimit) {
    const auto product = judged(600e12, 800e12)[1];
    EXPECT_EQ(product.ceiling.kind, record::CeilingKind::datasheet);
    ASSERT_THAT(product.other_ceilings, SizeIs(2));
    EXPECT_EQ(product.other_ceilings[0].kind, record::CeilingKind::measured);
    EXPECT_THAT(product.warnings, IsEmpty());
}

TEST(DeviceLimits, APartIsHeldAgainstWhatItMeasuredAndTheReasonStandsBeside) {
    auto slice = h200();
    slice.mode = "mig 1g.18gb";
    const auto cases = judged(100e12, 80e12, slice);
    EXPECT_EQ(cases[1].ceiling.value, 100e12);
    ASSERT_THAT(cases[1].other_ceilings, SizeIs(1));
    EXPECT_EQ(cases[1].other_ceilings[0].kind, record::CeilingKind::none);
    EXPECT_THAT(cases[0].ceiling.source,
                HasSubstr("it is a roofline bound itself; not a whole device"));
}

TEST(DeviceLimits, AnotherDeviceIsNoLimit) {
    EXPECT_EQ(judged(900e12, 800e12, h200(), "GPU-2")[1].ceiling.kind,
              record::CeilingKind::datasheet);
}

} // namespace
