// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "reference/advice.hpp"
#include "reference/compatibility.hpp"
#include "reference/versions.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace assay::reference {
namespace {

using namespace testing;
using namespace assay::reference;
using record::Severity;

/// Two sockets, two GPUs with a switch each, an adapter; nothing to say about it.
record::Machine good() {
    record::Machine m;
    m.numa_nodes = 2;
    m.cores = m.usable_cores = m.threads = m.usable_threads = 64;
    m.memory_bytes = std::int64_t{1} << 40U;
    m.huge_pages = "madvise";
    m.virtualization = "none";
    m.platform.governor = "performance";
    m.platform.boost = true;
    m.platform.iommu = "identity";
    m.platform.numa_balancing = false;
    const record::PciLink link{.numa_node = 0,
                               .width = 16,
                               .width_max = 16,
                               .generation_max = 5,
                               .peers_redirected = false};
    for (const char* address : {"0000:01:00.0", "0000:02:00.0"}) {
        m.pci.push_back({.address = address, .kind = "accelerator", .link = link});
        m.devices.push_back(
            {.kind = "cuda", .pci_address = address, .name = "H200", .nvlinks = 18});
    }
    m.devices[1].index = 1;
    m.pci.push_back({.address = "0000:03:00.0", .kind = "infiniband", .link = link});
    m.pci[2].link.generation = 5;
    m.platform.network = {{.name = "mlx5_0:1",
                           .address = "0000:03:00.0",
                           .driver = "mlx5_core",
                           .bytes_per_second = 50e9,
                           .state = "active",
                           .link_layer = "Ethernet"},
                          {.name = "eth0",
                           .address = "0000:03:00.0",
                           .driver = "mlx5_core",
                           .bytes_per_second = 50e9,
                           .mtu = 9000,
                           .state = "up"}};
    return m;
}

const machine::Files nothing{"/no/such/place"};

TEST(Advice, NothingOnAMachineThatIsWell) {
    EXPECT_THAT(advise(good(), nothing), IsEmpty());
    EXPECT_THAT(advise({}, nothing), IsEmpty()) << "unknown facts give no finding";
}

TEST(Advice, EachFactHasItsCodeAndAction) {
    struct Case {
        const char* code;
        std::function<void(record::Machine&)> spoil;
        std::size_t findings = 1;
    };
    auto link = [](auto change) { return [=](record::Machine& m) { change(m.pci[2].link); }; };
    auto set = [](auto change) { return [=](record::Machine& m) { change(m.platform); }; };
    const std::vector<Case> cases{
        {"governor", set([](auto& p) { p.governor = "powersave"; })},
        {"boost_off", set([](auto& p) { p.boost = false; })},
        {"clock_limited", set([](auto& p) { p.clock_limit_hz = 2e9, p.clock_most_hz = 3e9; })},
        {"energy_absent", set([](auto& p) { p.energy_unread = "no_counter"; })},
        {"energy_unread", set([](auto& p) { p.energy_unread = "not_permitted"; })},
        {"huge_pages_off", [](auto& m) { m.huge_pages = "never"; }},
        {"numa_balancing", set([](auto& p) { p.numa_balancing = true; })},
        {"swap_used", set([](auto& p) { p.swap_used_bytes = std::int64_t{1} << 36U; })},
        {"results_full", set([](auto& p) { p.results_free_bytes = 1000; })},
        {"mitigations", set([](auto& p) { p.mitigations = {"mds", "spectre_v2"}; })},
        {"channels_empty",
         set([](auto& p) { p.memory_channels = 8, p.memory_channels_most = 12; })},
        {"memory_slow", set([](auto& p) {
             p.memory_modules = {
                 {.count = 1, .transfers_per_second = 4e9, .transfers_per_second_most = 4.8e9}};
         })},
        {"memory_unread", set([](auto& p) { p.memory_unread = "not_permitted"; })},
        {"iommu_translates", set([](auto& p) { p.iommu = "DMA-FQ"; })},
        {"peers_redirected",
         [](auto& m) {
             for (auto& device : m.pci) device.link.peers_redirected = true;
         }},
        {"link_narrow", link([](auto& l) { l.width = 8; })},
        {"link_slow", link([](auto& l) { l.generation = 3; })},
        {"node_unknown", link([](auto& l) { l.numa_node.reset(); })},
        {"nvlink_missing", [](auto& m) { m.devices[1].nvlinks = 17; }},
        {"nvlink_unknown", [](auto& m) { m.devices[0].nvlinks.reset(); }},
        {"fabric_unready", [](auto& m) { m.devices[0].fabric.state = "in_progress"; }},
        {"fabric_degraded",
         [](auto& m) {
             m.devices[0].fabric = {.state = "completed", .health = {"degraded_bandwidth"}};
         }},
        {"node_memoryless", set([](auto& p) { p.memoryless_nodes = {"0", "3"}; })},
        {"burstable", set([](auto& p) { p.burstable = true; })},
        {"port_down", set([](auto& p) { p.network[0].state = "down"; })},
        {"port_slow",
         [](auto& m) {
             auto rail = m.platform.network[0];
             rail.address = "0000:04:00.0";
             rail.bytes_per_second = 25e9;
             m.platform.network.push_back(rail);
             m.pci.push_back(m.pci[2]);
             m.pci.back().address = rail.address;
         }},
        {"mtu_small", set([](auto& p) { p.network[1].mtu = 1500; })},
        {"bond_degraded", set([](auto& p) {
             p.bonds = {{.mode = "802.3ad", .members = {"eth0", "eth1"}, .active = {"eth0"}},
                        {.mode = "active-backup", .members = {"a", "b"}, .active = {"a"}}};
         })},
        {"bond_degraded",
         set([](auto& p) { p.bonds = {{.mode = "active-backup", .members = {"a", "b"}}}; })},
        {"virtual_machine", [](auto& m) { m.virtualization = "kvm"; }},
        {"threads_share_cores", [](auto& m) { m.usable_threads = 128; }},
        {"few_cores", [](auto& m) { m.usable_cores = m.usable_threads = 32; }},
    };
    for (const auto& [code, spoil, findings] : cases) {
        auto machine = good();
        spoil(machine);
        const auto found = advise(machine, nothing);
        ASSERT_EQ(found.size(), findings) << code;
        EXPECT_EQ(found.front().code, code);
        EXPECT_TRUE(!found.front().action.empty() || found.front().code == "few_cores") << code;
    }
}

TEST(Advice, RanksNarrowLinkOfMeasuredDeviceAsSerious) {
    auto machine = good();
    machine.pci[0].link.width = 8;
    const auto severity = [&] { return advise(machine, nothing).at(0).severity; };
    EXPECT_EQ(severity(), Severity::serious);
    machine.devices.clear(); // without a driver
    EXPECT_EQ(severity(), Severity::caution);
}

TEST(Advice, ErrorsTheMostSeriousFirst) {
    const auto counter = [](const char* source, const char* device, const char* name, int count) {
        return record::ErrorCounter{
            .source = source, .device = device, .counter = name, .before = count, .after = count};
    };
    const auto found =
        advise(good(), nothing,
               {counter("driver", "0000:01:00.0", "xid_31", 2),
                counter("driver", "0000:01:00.0", "xid_79", 1),
                counter("driver", "0000:02:00.0", "xid_999", 1),
                counter("edac", "mc0", "ce_count", 7), counter("edac", "mc1", "ue_count", 1),
                counter("infiniband", "mlx5_0:1", "symbol_error", 3),
                counter("infiniband", "mlx5_0:1", "link_downed", 1),
                counter("network", "eth0", "rx_dropped", 9000),
                counter("allowance", "eth0", "pps_allowance_exceeded", 5),
                counter("pcie", "0000:03:00.0", "fatal", 1)});
    std::vector<std::string> said;
    for (const auto& finding : found)
        said.push_back(finding.code + " " + std::string{to_string(finding.severity)});
    EXPECT_THAT(said, ElementsAre("xid serious", "memory_uncorrected serious",
                                  "pcie_uncorrected serious", "xid caution", "port_errors caution",
                                  "xid note", "memory_corrected note", "allowance_exceeded note"));
    EXPECT_THAT(sentence(found[0]),
                HasSubstr("0000:01:00.0: the driver logged Xid 79 (1 time): it fell off the bus"));
    EXPECT_THAT(found[4].what, HasSubstr("4 errors of the port since boot"));
    EXPECT_THAT(on_errors({counter("driver", "", "xid_", 1), counter("driver", "", "xid_-1", 1),
                           counter("", "", "", 1)}),
                Each(Field(&record::Finding::severity, Severity::caution)));
}

// --- versions ----------------------------------------------------------------------------------------

const reference::Compatibility table{
    .toolkits = {{.toolkit = {13}, .driver = {580, 65, 6}, .source = "s"},
                 {.toolkit = {12}, .driver = {525, 60, 13}, .source = "s"}},
    .chips = {{.compute_capability = "7.0",
               .first_toolkit = {9, 0},
               .last_toolkit = {12, 9},
               .last_driver = {580},
               .source = "s"},
              {.compute_capability = "10.3", .first_toolkit = {12, 9}, .source = "s"}}};

std::vector<std::string> codes(const std::string& driver, const std::string& chip,
                               const std::string& runtime) {
    record::Machine machine;
    machine.devices = {{.kind = "cuda", .compute_capability = chip},
                       {.kind = "cuda", .compute_capability = chip}};
    machine.software = {{"nvidia.driver", driver}};
    std::vector<std::string> found;
    for (const auto& finding : on_versions(machine, runtime, table)) {
        EXPECT_EQ(finding.severity, record::Severity::serious);
        EXPECT_FALSE(finding.action.empty());
        found.push_back(finding.code);
    }
    return found;
}

TEST(Versions, DriverToolkitAndChipMustGoTogether) {
    EXPECT_THAT(codes("580.65.06", "9.0", "13.0"), IsEmpty());
    EXPECT_THAT(codes("580.65.05", "9.0", "13.2"), ElementsAre("driver_too_old"));
    EXPECT_THAT(codes("570.124.06", "9.0", "12.9"), IsEmpty());
    EXPECT_THAT(codes("580.95", "10.3", "12.8"), ElementsAre("toolkit_too_old"));
    EXPECT_THAT(codes("580.95", "7.0", "13.0"), ElementsAre("toolkit_too_new"));
    EXPECT_THAT(codes("580.95", "7.0", "12.9"), IsEmpty());
    EXPECT_THAT(codes("590.48", "7.0", "12.9"), ElementsAre("driver_too_new"));
    EXPECT_THAT(codes("590.48", "7.0", ""), ElementsAre("driver_too_new"));
    // Unknown versions are not reported.
    EXPECT_THAT(codes("", "", ""), IsEmpty());
    EXPECT_THAT(codes("unknown", "12.1", "14.0"), IsEmpty());
    EXPECT_THAT(on_versions({}, "13.0", table), IsEmpty());
}

// --- the table ---------------------------------------------------------------------------------------

Result<Compatibility> parse(const std::string& text) {
    const auto schema = json::read_file(layout().share / "schema" / "compatibility.json");
    return parse_compatibility(text, "table", schema.value());
}

TEST(Compatibility, TheInstalledTableIsReadWhole) {
    const auto known = read_compatibility();
    ASSERT_TRUE(known) << known.error().message;
    const auto cuda13 = std::ranges::find(known->toolkits, Version{13}, &ToolkitRow::toolkit);
    ASSERT_NE(cuda13, known->toolkits.end());
    EXPECT_EQ(cuda13->driver, (Version{580, 65, 6}));
    for (const auto& chip : known->chips) {
        EXPECT_FALSE(chip.first_toolkit.empty()) << chip.compute_capability;
        EXPECT_TRUE(chip.last_toolkit.empty() || chip.last_toolkit > chip.first_toolkit);
        EXPECT_FALSE(chip.source.empty());
    }
}

TEST(Compatibility, SaysWhatIsWrongWithAFile) {
    const std::string begin = R"({"schema": "assay.compatibility/1", "sources": {}, "chips": [], )";
    EXPECT_TRUE(parse(begin + R"("toolkits": []})"));
    const auto row = [&](const std::string& driver) {
        return parse(begin + R"("toolkits": [{"toolkit": "13", "source": "s", "driver": )" +
                     driver + "}]}");
    };
    EXPECT_TRUE(row(R"("580.65.06")"));
    EXPECT_THAT(row(R"("new")").error().message, HasSubstr("driver"));
    for (const auto* driver : {"580", "null", R"("")", R"("1.")"})
        EXPECT_FALSE(row(driver)) << driver;
    EXPECT_FALSE(parse(""));
    EXPECT_FALSE(parse("[]"));
    EXPECT_FALSE(parse(begin + R"("toolkits": [{}]})"));
}

} // namespace
} // namespace assay::reference
