// SPDX-License-Identifier: Apache-2.0
//
// What a network between two machines can carry, from what a case tells.
#include "reference/sheet_bounds.hpp"
#include "run/ceilings.hpp"
#include "support/catalogue_maker.hpp"
#include "support/temporary_folder.hpp"
#include "worker/transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace assay;
using namespace assay::harness;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
        note_network_rate(told, settings, machine::Files{folder_.path()});
        return told;
    }
    record::NamedList for_people(std::string devices) const {
        record::Evidence told{.network_devices = std::move(devices)};
        record::NamedList settings;
        note_network_rate(told, settings, machine::Files{folder_.path()});
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
    harness::made::TemporaryFolder folder_;
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
    return network_limits(BoundBy::network, put(std::move(told)));
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
    const auto undeclared = network_limits(BoundBy::none, put(host.noted("eth0")));
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
    auto catalogue = harness::made::catalogue();
    catalogue.modules.front().benchmarks.front().bound = BoundBy::network;
    assign_ceilings(run, catalogue);
    EXPECT_EQ(run.cases[0].ceiling.value, 3.125e9);
    EXPECT_THAT(run.cases[0].warnings, IsEmpty());
    EXPECT_THAT(run.cases[1].warnings, ElementsAre(HasSubstr("128.0% of its ceiling")));
    EXPECT_EQ(run.cases[2].ceiling.kind, record::CeilingKind::none);
    EXPECT_EQ(run.cases[2].ceiling.source,
              "none is known; the kernel reports no rate for veth1: a virtual device");
}

} // namespace
