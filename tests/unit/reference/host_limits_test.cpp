// SPDX-License-Identifier: Apache-2.0
//
// Bounds of hosts by data sheets, on machines that were never seen.

#include "reference/sheet_bounds.hpp"
#include "run/ceilings.hpp"
#include "support/catalogue_maker.hpp"
#include "support/temporary_folder.hpp"
#include "worker/transport.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace assay;
using namespace assay::reference;
using namespace testing;

const Result<reference::Hardware>& shipped() {
    static const auto hardware = reference::read_hardware();
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
DeviceLimits limits(plan::BoundBy by, const record::Case& c,
                    const record::Machine& machine = genoa()) {
    return host_limits(by, c, machine, shipped());
}

TEST(HostLimits, ArithmeticIsCoresTimesRateTimesTheClockOfTheWindow) {
    auto c = product("fp64");
    c.replicas.resize(2);
    c.replicas[0].telemetry.core_clock_hz = 3.55e9;
    c.replicas[1].telemetry.core_clock_hz = 3.6e9; // the value is of the fast replicas
    const auto found = limits(plan::BoundBy::vector_units, c);
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
        return *limits(plan::BoundBy::vector_units, product("fp64", threads), machine)
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
    const auto value = [](const record::Case& c, plan::BoundBy by = plan::BoundBy::matrix_units) {
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
    EXPECT_DOUBLE_EQ(value(isa("best"), plan::BoundBy::vector_units), 16);
    EXPECT_DOUBLE_EQ(value(isa("sse4"), plan::BoundBy::vector_units), 0);
    EXPECT_THAT(limits(plan::BoundBy::matrix_units, product("fp16")).reason,
                HasSubstr("no fp16 rate of AMD EPYC 9R14"));
}

TEST(HostLimits, WithoutAClockThereIsThatOfTheIdleMachineOrTheSheet) {
    auto c = product("fp64");
    c.telemetry.core_clock_hz.reset();
    EXPECT_DOUBLE_EQ(*limits(plan::BoundBy::vector_units, c).ceilings.at(0).value,
                     192 * 16 * 3.7e9);
    auto machine = genoa();
    machine.core_clock_hz = 3e9;
    EXPECT_DOUBLE_EQ(*limits(plan::BoundBy::vector_units, c, machine).ceilings.at(0).value,
                     192 * 16 * 3e9);
    machine.core_clock_hz.reset();
    machine.cpu_model = "AMD EPYC 9654";
    EXPECT_THAT(limits(plan::BoundBy::vector_units, c, machine).reason, HasSubstr("clock"));
    c.settings.clear();
    EXPECT_THAT(limits(plan::BoundBy::vector_units, c).reason, HasSubstr("threads"));
}

TEST(HostLimits, MemoryIsSocketsTimesChannelsTimesRate) {
    const auto found = limits(plan::BoundBy::memory, stream());
    ASSERT_THAT(found.ceilings, SizeIs(1));
    EXPECT_DOUBLE_EQ(*found.ceilings[0].value, 2 * 12 * 4800e6 * 8);
    EXPECT_THAT(found.ceilings[0].source,
                AllOf(HasSubstr("24 x 4800 MT/s x 8 B"), HasSubstr("hardware_readout"),
                      Not(HasSubstr("guest"))));
    EXPECT_DOUBLE_EQ(*limits(plan::BoundBy::memory, stream(16e9, 1)).ceilings.at(0).value,
                     12 * 4800e6 * 8);
    EXPECT_THAT(limits(plan::BoundBy::memory, stream(1e9)).reason, HasSubstr("768 MiB"));
    EXPECT_THAT(limits(plan::BoundBy::memory, stream(1e9)).ceilings, IsEmpty());
}

TEST(HostLimits, ModulesOfTheMachinePrecedeTheCatalogue) {
    auto machine = genoa();
    auto& modules = machine.platform.memory_modules;
    const auto value = [&] {
        return *limits(plan::BoundBy::memory, stream(), machine).ceilings.at(0).value;
    };
    modules = {{.count = 24, .type = "DDR5", .transfers_per_second = 4.4e9}};
    EXPECT_DOUBLE_EQ(value(), 24 * 4400e6 * 8);
    modules[0].count = 48; // two in each channel
    EXPECT_DOUBLE_EQ(value(), 24 * 4400e6 * 8);
    modules[0].count = 16; // eight channels are empty
    EXPECT_DOUBLE_EQ(value(), 16 * 4400e6 * 8);
    modules[0].transfers_per_second.reset();
    EXPECT_DOUBLE_EQ(value(), 24 * 4800e6 * 8);
    // Memory shown by a hypervisor is not modules.
    modules = {{.count = 1, .type = "DDR5", .transfers_per_second = 4.4e9}};
    machine.virtualization = "kvm";
    EXPECT_DOUBLE_EQ(value(), 24 * 4800e6 * 8);
    machine.virtualization = "none";
    machine.cpu_model = "Arm Neoverse V2";
    machine.cpu_vendor = "Arm";
    EXPECT_THAT(limits(plan::BoundBy::memory, stream(), machine).reason,
                HasSubstr("no memory bandwidth"));
    modules[0].count = 12;
    machine.platform.memory_channels = 12;
    EXPECT_DOUBLE_EQ(value(), 12 * 4400e6 * 8);
}

TEST(HostLimits, AGuestMaySharePartOfASocket) {
    auto machine = genoa();
    machine.virtualization = "kvm";
    EXPECT_THAT(limits(plan::BoundBy::memory, stream(), machine).ceilings.at(0).source,
                Not(HasSubstr("guest"))); // all cores of both
    machine.cores = machine.usable_cores = 8;
    machine.sockets = 8; // one of each core
    const auto found = limits(plan::BoundBy::memory, stream(), machine).ceilings.at(0);
    EXPECT_DOUBLE_EQ(*found.value, 12 * 4800e6 * 8);
    EXPECT_THAT(found.source, AllOf(HasSubstr("in use: 12 x"), HasSubstr("this guest may share")));
}

TEST(HostLimits, AnUnknownProcessorHasNone) {
    auto machine = genoa();
    machine.cpu_model = "Example 9000";
    const auto found = limits(plan::BoundBy::memory, stream(), machine);
    EXPECT_THAT(found.ceilings, IsEmpty());
    EXPECT_THAT(found.warnings, IsEmpty());
    EXPECT_EQ(found.reason, "configs/hardware has no \"Example 9000\"");
    EXPECT_THAT(limits(plan::BoundBy::none, stream(), machine).reason, IsEmpty());
    EXPECT_THAT(host_limits(plan::BoundBy::memory, stream(), genoa(), fail("no file")).reason,
                HasSubstr("no file"));
}

/// peak.fma and gemm.square of a host with their bounds, as assign_ceilings() leaves them.
std::vector<record::Case> judged(double peak, double value, std::string model) {
    auto catalogue = made::catalogue();
    for (auto& module : catalogue.modules)
        for (auto& benchmark : module.benchmarks) benchmark.bound = plan::BoundBy::vector_units;
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
    run::assign_ceilings(run, catalogue, shipped());
    return run.cases;
}

constexpr double bound = 192 * 16 * 3.5e9;

TEST(HostLimits, MoreThanTheBoundIsAWarningAboutIt) {
    const auto cases = judged(1.2 * bound, 2 * bound, "AMD EPYC 9R14");
    EXPECT_THAT(cases[0].warnings, ElementsAre(HasSubstr("120.0% of its ceiling")));
    EXPECT_THAT(cases[1].warnings, Contains(HasSubstr("200.0% of its data-sheet bound")));
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

// --- networks ----------------------------------------------------------------------------------------

// Rate of a network between two machines, from what a case tells.

/// Twice 25 Gbit/s, as one too, two ports of 100, and a device of software alone.
class Host {
public:
    Host() {
        add("net/eth0", "speed", "25000");
        add("infiniband/mlx5_0", "ports/1/rate", "100 Gb/sec (4X EDR)");
        add("infiniband/mlx5_1", "ports/1/rate", "100 Gb/sec (4X EDR)");
        add("net/veth1", "speed", "10000");
        std::filesystem::remove_all(path("net/veth1") / "device");
        add("net/eth1", "speed", "25000");
        add("net/bond0", "bonding/mode", "802.3ad 4");
        add("net/bond0", "bonding/slaves", "eth0 eth1");
    }
    record::Evidence noted(std::string devices, std::int64_t machines = 2,
                           std::int64_t ranks = 2) const {
        record::Evidence told{
            .machines = machines, .ranks = ranks, .network_devices = std::move(devices)};
        record::NamedList settings;
        worker::note_network_rate(told, settings, machine::Files{folder_.path()});
        return told;
    }
    record::NamedList for_people(std::string devices) const {
        record::Evidence told{.network_devices = std::move(devices)};
        record::NamedList settings;
        worker::note_network_rate(told, settings, machine::Files{folder_.path()});
        return settings;
    }

private:
    std::filesystem::path path(const std::string& device) const {
        return folder_.path() / "sys/class" / device;
    }
    void add(const std::string& device, const std::string& file, std::string_view text) const {
        std::filesystem::create_directories(path(device) / "device");
        std::filesystem::create_directories((path(device) / file).parent_path());
        std::ofstream{path(device) / file} << text << '\n';
    }
    made::TemporaryFolder folder_;
};

record::Case put(record::Evidence told, double value = 2e9) {
    record::Case c{.benchmark = "memory.copy",
                   .place = {.kind = "host"},
                   .library = "host",
                   .evidence = std::move(told),
                   .headline = "bandwidth",
                   .status = record::Status::ok};
    c.metrics.push_back({.name = "bandwidth", .unit = "B/s", .value = value});
    return c;
}
DeviceLimits limits(record::Evidence told) {
    return network_limits(plan::BoundBy::network, put(std::move(told)));
}

TEST(NetworkLimits, OneCardCarriesItsRateEachWay) {
    const Host host;
    const auto one = limits(host.noted("eth0"));
    ASSERT_THAT(one.ceilings, SizeIs(1));
    EXPECT_EQ(one.ceilings[0].value, 3.125e9);
    EXPECT_EQ(one.ceilings[0].kind, record::CeilingKind::datasheet);
    EXPECT_EQ(one.ceilings[0].source, "/sys/class/net/eth0/speed: 25000 Mbit/s");
    const auto both = [&] {
        auto told = host.noted("mlx5_0:1");
        told.directions = 2;
        return limits(told);
    }();
    ASSERT_THAT(both.ceilings, SizeIs(1));
    EXPECT_EQ(both.ceilings[0].value, 25e9);
    EXPECT_THAT(both.ceilings[0].source, HasSubstr("(4X EDR), both directions at once"));
}

TEST(NetworkLimits, SeveralDevicesAddUpAndAllMustBeKnown) {
    const Host host;
    const auto rails = limits(host.noted("mlx5_0:1, mlx5_1:1"));
    ASSERT_THAT(rails.ceilings, SizeIs(1));
    EXPECT_EQ(rails.ceilings[0].value, 25e9);
    EXPECT_THAT(rails.ceilings[0].source, HasSubstr("EDR); /sys/class/infiniband/mlx5_1"));
    const auto mixed = limits(host.noted("eth0, veth1"));
    EXPECT_THAT(mixed.ceilings, IsEmpty());
    EXPECT_EQ(mixed.reason, "the kernel reports no rate for veth1: a virtual device");
}

TEST(NetworkLimits, APairOverABondHasOneMember) {
    const Host host;
    const auto pair = limits(host.noted("bond0"));
    ASSERT_THAT(pair.ceilings, SizeIs(1));
    EXPECT_EQ(pair.ceilings[0].value, 3.125e9);
    EXPECT_THAT(pair.ceilings[0].source, HasSubstr("bond0, 802.3ad, one member: "));
    EXPECT_EQ(host.noted("bond0", 2, 8).network_bytes_per_second, 6.25e9) << "several pairs";
}

TEST(NetworkLimits, OtherJobsHaveNoneAndSayWhy) {
    const Host host;
    EXPECT_THAT(limits(host.noted("eth0", 1)).reason, HasSubstr("on one machine"));
    EXPECT_THAT(limits(host.noted("eth0", 2, 4)).reason, HasSubstr("several pairs"));
    EXPECT_THAT(limits(host.noted("eth0", 3, 4)).reason, HasSubstr("several pairs"));
    auto silent = host.noted("eth0");
    silent.machines.reset();
    EXPECT_THAT(limits(silent).reason, HasSubstr("number of machines is unknown"));
}

TEST(NetworkLimits, NothingIsSaidOfMemoryAndOfOtherBenchmarks) {
    const Host host;
    EXPECT_THAT(host.for_people("memory"), IsEmpty());
    EXPECT_THAT(host.for_people(""), IsEmpty());
    EXPECT_THAT(limits(host.noted("memory", 1)).reason, IsEmpty());
    const auto undeclared = network_limits(plan::BoundBy::none, put(host.noted("eth0")));
    EXPECT_THAT(undeclared.ceilings, IsEmpty());
    EXPECT_THAT(undeclared.reason, IsEmpty());
}

TEST(NetworkLimits, PeopleSeeTheRateAsSettings) {
    const auto settings = Host{}.for_people("eth0");
    EXPECT_EQ(record::number(settings, "network_bytes_per_second"), 3.125e9);
    EXPECT_EQ(record::text(settings, "network_rate_source"),
              "/sys/class/net/eth0/speed: 25000 Mbit/s");
}

TEST(NetworkLimits, ARateFromAFileMayBeAnything) {
    for (const double value : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
        const auto found = limits({.machines = 2,
                                   .ranks = 2,
                                   .network_bytes_per_second = value,
                                   .network_rate_source = "a file"});
        EXPECT_THAT(found.ceilings, IsEmpty()) << value;
        EXPECT_THAT(found.reason, HasSubstr("not a positive number"));
    }
}

TEST(NetworkLimits, ACaseIsHeldAgainstItAndFasterIsAWarning) {
    const Host host;
    record::Run run;
    run.cases = {put(host.noted("eth0")), put(host.noted("eth0"), 4e9), put(host.noted("veth1"))};
    auto catalogue = made::catalogue();
    catalogue.modules.front().benchmarks.front().bound = plan::BoundBy::network;
    run::assign_ceilings(run, catalogue);
    EXPECT_EQ(run.cases[0].ceiling.value, 3.125e9);
    EXPECT_THAT(run.cases[0].warnings, IsEmpty());
    EXPECT_THAT(run.cases[1].warnings, ElementsAre(HasSubstr("128.0% of its ceiling")));
    EXPECT_EQ(run.cases[2].ceiling.kind, record::CeilingKind::none);
    EXPECT_EQ(run.cases[2].ceiling.source,
              "none is known; the kernel reports no rate for veth1: a virtual device");
}

} // namespace
