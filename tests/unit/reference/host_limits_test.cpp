// SPDX-License-Identifier: Apache-2.0
//
// Bounds of hosts by data sheets, on machines that were never seen.
#include "reference/host_limits.hpp"
#include "run/ceilings.hpp"
#include "support/catalogue_maker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace {

using namespace assay;
using namespace assay::harness;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const Result<datasheet::Hardware>& shipped() {
    static const auto hardware = datasheet::read_hardware();
    return hardware;
}

/// Two sockets of 96 cores, as in a metal instance.
record::Machine genoa() {
    record::Machine machine;
    machine.cpu_model = "AMD EPYC 9R14 96-Core Processor";
    machine.cpu_vendor = "AuthenticAMD";
    machine.sockets = 2;
    machine.cores = 192;
    machine.usable_cores = 192;
    machine.isa = {"avx2", "avx512f", "avx512_bf16", "avx512_vnni"};
    machine.caches = {{.level = 2, .type = "unified", .bytes = 1 << 20, .count = 192},
                      {.level = 3, .type = "unified", .bytes = 32 << 20, .count = 24}};
    machine.virtualization = "none";
    return machine;
}

record::Case measured(std::string metric, std::string unit, record::NamedList parameters,
                      std::int64_t threads, double value = 1) {
    record::Case c;
    c.benchmark = "any.one";
    c.library = "host";
    c.place.kind = "host";
    c.parameters = std::move(parameters);
    c.settings = {{"threads", threads}};
    c.headline = metric;
    c.status = record::Status::ok;
    c.metrics.push_back({.name = std::move(metric), .unit = std::move(unit), .value = value});
    c.telemetry.core_clock_hz = 3.5e9;
    return c;
}
record::Case product(const std::string& precision, std::int64_t threads = 192) {
    return measured("flop_rate", "FLOP/s", {{"precision", precision}}, threads);
}
record::Case stream(double bytes = 16e9, std::int64_t threads = 192) {
    auto c = measured("bandwidth", "B/s", {}, threads);
    c.evidence.footprint_bytes = bytes;
    return c;
}
DeviceLimits limits(BoundBy by, const record::Case& c, const record::Machine& machine = genoa()) {
    return host_limits(by, c, machine, shipped());
}

TEST(HostLimits, ArithmeticIsCoresTimesRateTimesTheClockOfTheWindow) {
    auto c = product("fp64");
    c.replicas.resize(2);
    c.replicas[0].telemetry.core_clock_hz = 3.55e9;
    c.replicas[1].telemetry.core_clock_hz = 3.6e9; // the value is of the fast replicas
    const auto found = limits(BoundBy::vector_units, c);
    ASSERT_THAT(found.ceilings, SizeIs(2));
    EXPECT_EQ(found.ceilings[0].kind, record::CeilingKind::datasheet);
    EXPECT_DOUBLE_EQ(*found.ceilings[0].value, 192 * 16 * 3.6e9);
    EXPECT_THAT(found.ceilings[0].source,
                AllOf(HasSubstr("cores in use: 192 x 16 FLOP per clock (avx2) of 3.60 GHz"),
                      HasSubstr("AMD EPYC 9R14 (derived: https://")));
    EXPECT_DOUBLE_EQ(*found.ceilings[1].value, 192 * 16 * 3.7e9);
    EXPECT_THAT(found.ceilings[1].source, HasSubstr("the highest clock of its data sheet"));
}

TEST(HostLimits, OneThreadIsOneCoreAndNoMoreThanMayBeUsed) {
    const auto value = [](std::int64_t threads, const record::Machine& machine = genoa()) {
        return *limits(BoundBy::vector_units, product("fp64", threads), machine)
                    .ceilings.at(0)
                    .value;
    };
    EXPECT_DOUBLE_EQ(value(1), 16 * 3.5e9);
    EXPECT_DOUBLE_EQ(value(384), 192 * 16 * 3.5e9); // two threads on each core
    auto part = genoa();
    part.usable_cores = 4;
    EXPECT_DOUBLE_EQ(value(192, part), 4 * 16 * 3.5e9);
}

TEST(HostLimits, ThePrecisionAndTheInstructionsDecide) {
    const auto value = [](const record::Case& c, BoundBy by = BoundBy::matrix_units) {
        const auto found = limits(by, c);
        return found.ceilings.empty() ? 0 : *found.ceilings[0].value / (192 * 3.5e9);
    };
    EXPECT_DOUBLE_EQ(value(product("fp32")), 32);
    EXPECT_DOUBLE_EQ(value(product("bf16")), 64);
    EXPECT_DOUBLE_EQ(
        value(measured("operation_rate", "OP/s", {{"precision", std::string{"int8"}}}, 192)), 128);
    const auto isa = [](const std::string& name) {
        return measured("flop_rate", "FLOP/s", {{"precision", std::string{"fp64"}}, {"isa", name}},
                        192);
    };
    EXPECT_DOUBLE_EQ(value(isa("best"), BoundBy::vector_units), 16);
    EXPECT_DOUBLE_EQ(value(isa("sse4"), BoundBy::vector_units), 0);
    EXPECT_THAT(limits(BoundBy::matrix_units, product("fp16")).reason,
                HasSubstr("no fp16 rate of AMD EPYC 9R14"));
}

TEST(HostLimits, WithoutAClockThereIsThatOfTheIdleMachineOrTheSheet) {
    auto c = product("fp64");
    c.telemetry.core_clock_hz.reset();
    EXPECT_DOUBLE_EQ(*limits(BoundBy::vector_units, c).ceilings.at(0).value, 192 * 16 * 3.7e9);
    auto machine = genoa();
    machine.core_clock_hz = 3e9;
    EXPECT_DOUBLE_EQ(*limits(BoundBy::vector_units, c, machine).ceilings.at(0).value,
                     192 * 16 * 3e9);
    machine.core_clock_hz.reset();
    machine.cpu_model = "AMD EPYC 9654";
    EXPECT_THAT(limits(BoundBy::vector_units, c, machine).reason, HasSubstr("clock"));
    c.settings.clear();
    EXPECT_THAT(limits(BoundBy::vector_units, c).reason, HasSubstr("threads"));
}

TEST(HostLimits, MemoryIsSocketsTimesChannelsTimesRate) {
    const auto found = limits(BoundBy::memory, stream());
    ASSERT_THAT(found.ceilings, SizeIs(1));
    EXPECT_DOUBLE_EQ(*found.ceilings[0].value, 2 * 12 * 4800e6 * 8);
    EXPECT_THAT(found.ceilings[0].source,
                AllOf(HasSubstr("24 x 4800 MT/s x 8 B"), HasSubstr("hardware_readout"),
                      Not(HasSubstr("guest"))));
    EXPECT_DOUBLE_EQ(*limits(BoundBy::memory, stream(16e9, 1)).ceilings.at(0).value,
                     12 * 4800e6 * 8);
    EXPECT_THAT(limits(BoundBy::memory, stream(1e9)).reason, HasSubstr("768 MiB"));
    EXPECT_THAT(limits(BoundBy::memory, stream(1e9)).ceilings, IsEmpty());
}

TEST(HostLimits, ModulesOfTheMachinePrecedeTheCatalogue) {
    auto machine = genoa();
    auto& modules = machine.platform.memory_modules;
    const auto value = [&] {
        return *limits(BoundBy::memory, stream(), machine).ceilings.at(0).value;
    };
    modules = {{.count = 24, .type = "DDR5", .transfers_per_second = 4.4e9}};
    EXPECT_DOUBLE_EQ(value(), 24 * 4400e6 * 8);
    modules[0].count = 48; // two in each channel
    EXPECT_DOUBLE_EQ(value(), 24 * 4400e6 * 8);
    modules[0].count = 16; // eight channels are empty
    EXPECT_DOUBLE_EQ(value(), 16 * 4400e6 * 8);
    modules[0].transfers_per_second.reset();
    EXPECT_DOUBLE_EQ(value(), 24 * 4800e6 * 8);
    // What a hypervisor shows are no modules.
    modules = {{.count = 1, .type = "DDR5", .transfers_per_second = 4.4e9}};
    machine.virtualization = "kvm";
    EXPECT_DOUBLE_EQ(value(), 24 * 4800e6 * 8);
    machine.virtualization = "none";
    machine.cpu_model = "Arm Neoverse V2";
    machine.cpu_vendor = "Arm";
    EXPECT_THAT(limits(BoundBy::memory, stream(), machine).reason,
                HasSubstr("no memory bandwidth"));
    modules[0].count = 12;
    machine.platform.memory_channels = 12;
    EXPECT_DOUBLE_EQ(value(), 12 * 4400e6 * 8);
}

TEST(HostLimits, AGuestMaySharePartOfASocket) {
    auto machine = genoa();
    machine.virtualization = "kvm";
    EXPECT_THAT(limits(BoundBy::memory, stream(), machine).ceilings.at(0).source,
                Not(HasSubstr("guest"))); // all cores of both
    machine.cores = machine.usable_cores = 8;
    machine.sockets = 8; // one of each core
    const auto found = limits(BoundBy::memory, stream(), machine).ceilings.at(0);
    EXPECT_DOUBLE_EQ(*found.value, 12 * 4800e6 * 8);
    EXPECT_THAT(found.source, AllOf(HasSubstr("in use: 12 x"), HasSubstr("this guest may share")));
}

TEST(HostLimits, AnUnknownProcessorHasNone) {
    auto machine = genoa();
    machine.cpu_model = "Example 9000";
    const auto found = limits(BoundBy::memory, stream(), machine);
    EXPECT_THAT(found.ceilings, IsEmpty());
    EXPECT_THAT(found.warnings, IsEmpty());
    EXPECT_EQ(found.reason, "configs/hardware has no \"Example 9000\"");
    EXPECT_THAT(limits(BoundBy::none, stream(), machine).reason, IsEmpty());
    EXPECT_THAT(host_limits(BoundBy::memory, stream(), genoa(), fail("no file")).reason,
                HasSubstr("no file"));
}

/// peak.fma and gemm.square of a host with their bounds, as assign_ceilings() leaves them.
std::vector<record::Case> judged(double peak, double value, std::string model) {
    auto catalogue = harness::made::catalogue();
    for (auto& module : catalogue.modules)
        for (auto& benchmark : module.benchmarks) benchmark.bound = BoundBy::vector_units;
    record::Run run;
    run.machine = genoa();
    run.machine.cpu_model = std::move(model);
    const auto add = [&](const char* benchmark, const char* library, double rate) {
        auto c = product("fp64");
        c.benchmark = benchmark;
        c.library = library;
        c.metrics.front().value = rate;
        run.cases.push_back(std::move(c));
    };
    add("peak.fma", "host", peak);
    add("gemm.square", "openblas", value);
    assign_ceilings(run, catalogue, shipped());
    return run.cases;
}

constexpr double bound = 192 * 16 * 3.5e9;

TEST(HostLimits, TheMeasuredBoundStaysFirst) {
    const auto cases = judged(0.9 * bound, 0.95 * bound, "AMD EPYC 9R14");
    EXPECT_EQ(cases[0].ceiling.kind, record::CeilingKind::datasheet);
    EXPECT_EQ(cases[1].ceiling.kind, record::CeilingKind::measured);
    ASSERT_THAT(cases[1].other_ceilings, SizeIs(2));
    EXPECT_DOUBLE_EQ(*cases[1].other_ceilings[0].value, bound);
}

TEST(HostLimits, MoreThanTheBoundIsAWarningAboutIt) {
    const auto cases = judged(1.2 * bound, 2 * bound, "AMD EPYC 9R14");
    EXPECT_THAT(cases[0].warnings, ElementsAre(HasSubstr("120.0% of its ceiling")));
    EXPECT_THAT(cases[1].warnings, Contains(HasSubstr("200.0% of its bound by data sheets")));
    EXPECT_EQ(cases[1].status, record::Status::ok);
    for (const auto& c : judged(bound, bound, "AMD EPYC 9R14")) EXPECT_THAT(c.warnings, IsEmpty());
}

TEST(HostLimits, AnUnknownProcessorIsSaidWhereNoOtherBoundIs) {
    const auto cases = judged(bound, bound, "Example 9000");
    EXPECT_THAT(cases[0].ceiling.source, HasSubstr("no \"Example 9000\""));
    EXPECT_EQ(cases[1].ceiling.kind, record::CeilingKind::measured);
    EXPECT_THAT(cases[1].other_ceilings, IsEmpty());
    EXPECT_THAT(cases[1].warnings, IsEmpty());
}

} // namespace
