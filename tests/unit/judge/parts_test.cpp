// SPDX-License-Identifier: Apache-2.0
//
// Findings on a node beside its values: missing parts, compared with data sheets (they must not lower the limit
// unseen), and soaks.

#include "judge/parts.hpp"
#include "judge/words.hpp"
#include "measured_node.hpp"
#include "support/made_soak.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <optional>

namespace assay::judge {
namespace {

using namespace testing;
using record::Soak;
using test::check_of;
using test::flip_in;
using test::made_soak;

reference::Hardware sheets() {
    reference::Hardware all;
    all.entries.resize(2);
    auto& board = all.entries[0];
    board.id = "made-sxm";
    board.names = {"Made SXM"};
    board.nvlink_bandwidth = 450e9;
    board.nvlink_rate = 25e9;
    auto& bridged = all.entries[1];
    bridged = board;
    bridged.id = "made-nvl";
    bridged.names = {"Made NVL"};
    bridged.nvlink_bridge = true;
    all.processors.resize(1);
    all.processors[0].id = "made-cpu";
    all.processors[0].names = {"Made CPU*"};
    all.processors[0].boost_clock_hz = 4e9;
    all.providers = {{.id = "cloud", .name = "Cloud"}};
    all.instances = {{.provider = "cloud", .type = "big", .gpu = "made-sxm", .gpus = 8},
                     {.provider = "cloud", .type = "slice", .gpu = "made-sxm", .gpus = 0.5},
                     {.provider = "cloud", .type = "plain"}};
    return all;
}
record::Machine bare(int devices = 1, const std::string& name = "Made SXM") {
    record::Machine machine{.virtualization = "none"};
    for (int i = 0; i < devices; ++i)
        machine.devices.push_back({.kind = "cuda", .index = i, .name = name, .nvlinks = 18});
    return machine;
}
std::vector<std::string> found(const record::Machine& machine,
                               std::optional<double> clock_hz = {}) {
    const auto hardware = sheets();
    std::vector<std::string> texts;
    for (const auto& one : findings_of_parts(machine, clock_hz, &hardware))
        texts.push_back(std::string{to_string(one.cause)} + " " + one.detail);
    return texts;
}

TEST(Parts, LinksBetweenDevicesThatAreDown) {
    auto machine = bare(2);
    EXPECT_THAT(found(machine), IsEmpty());
    machine.devices[1].nvlinks = 17;
    EXPECT_THAT(found(machine), ElementsAre("links_missing cuda:1: 17 / 18"));
    machine.devices[1].nvlinks = 0;
    EXPECT_THAT(found(machine), ElementsAre("links_missing cuda:1: 0 / 18"));
    auto one = bare(1);
    one.devices[0].nvlinks = 0; // nothing to be linked to
    EXPECT_THAT(found(one), IsEmpty());
    machine.virtualization = "kvm"; // may have been given a device alone, but no broken one
    EXPECT_THAT(found(machine), IsEmpty());
    machine.devices[1].nvlinks = 9;
    EXPECT_THAT(found(machine), ElementsAre("links_missing cuda:1: 9 / 18"));
    machine.devices[1].mode = "mig 1g.10gb";
    EXPECT_THAT(found(machine), IsEmpty());
    machine.devices[1].mode = "";
    machine.devices[1].nvlinks.reset(); // not reported
    EXPECT_THAT(found(machine), ElementsAre("links_unknown cuda:1"));
    machine.devices[0].nvlinks.reset();
    EXPECT_THAT(found(machine), IsEmpty()) << "a guest may have been given devices without";
    machine.virtualization = "none";
    EXPECT_THAT(found(machine), SizeIs(2));
    machine.virtualization = "kvm";
    machine.devices[0].nvlinks = 18;
    machine.devices[1].nvlinks = 9;
    machine.devices[1].name = "Made NVL"; // as many as its bridge
    EXPECT_THAT(found(machine), IsEmpty());
    machine.devices[1].name = "Unknown";
    EXPECT_THAT(found(machine), IsEmpty());
    machine.devices[1].name = "Made SXM";
    EXPECT_THAT(findings_of_parts(machine, {}, nullptr), IsEmpty()); // no data sheets
}

TEST(Parts, ExpectsLinksToForeignDevicesToBeDownInGuests) {
    auto machine = bare(4);
    machine.virtualization = "kvm";
    for (auto& device : machine.devices) device.compute_capability = "7.0", device.nvlinks = 12;
    EXPECT_THAT(found(machine), IsEmpty());
    machine.devices[2].nvlinks = 6;
    EXPECT_THAT(found(machine), ElementsAre("links_missing cuda:2: 6 / 18"));
    machine.virtualization = "none";
    EXPECT_THAT(found(machine), SizeIs(4));
}

TEST(Parts, ADeviceThatIsMeasuredNeedsItsLanes) {
    auto machine = bare();
    machine.devices[0].pci_address = "0000:41:00.0";
    machine.pci = {{.address = "0000:41:00.0", .link = {.width = 8, .width_max = 16}}};
    EXPECT_THAT(found(machine), ElementsAre("link_narrow 0000:41:00.0: x8, x16"));
    machine.pci[0].address = "0000:42:00.0";
    EXPECT_THAT(found(machine), ElementsAre("slot_narrow 0000:42:00.0: x8, x16"));
}

/// A node with this many cards of one chip, all of 400 Gb/s.
record::Machine with_rails(int count) {
    auto machine = bare(0);
    for (int i = 0; i < count; ++i) {
        const auto address = fmt::format("0000:{}1:00.0", i);
        machine.pci.push_back(
            {.address = address, .vendor_id = "15b3", .device_id = "1021", .kind = "infiniband"});
        machine.platform.network.push_back({.name = fmt::format("mlx5_{}:1", i),
                                            .address = address,
                                            .driver = "mlx5_core",
                                            .bytes_per_second = 50e9,
                                            .state = "active",
                                            .link_layer = "InfiniBand"});
    }
    return machine;
}

TEST(Parts, ComparesPortsOfTheSameUse) {
    auto machine = with_rails(4);
    auto& cards = machine.platform.network;
    cards.push_back({.name = "eth0", .address = "0000:01:00.0", .bytes_per_second = 1e9});
    EXPECT_THAT(found(machine), IsEmpty());
    cards[1].bytes_per_second = 25e9;
    EXPECT_THAT(found(machine), ElementsAre("port_slow mlx5_1:1: 200 / 400 Gb/s"));
    cards[1].state = "down"; // keeps the rate it had
    EXPECT_THAT(found(machine), IsEmpty());
    cards[1].state = "active";
    cards[1].link_layer = "Ethernet"; // of another network
    EXPECT_THAT(found(machine), IsEmpty());
    cards[1].link_layer = "InfiniBand";
    machine.pci[1].link.width_max = 8; // another card
    EXPECT_THAT(found(machine), IsEmpty());
}

TEST(Parts, IgnoresSlowerPortForManagement) {
    // The second port of each of two cards.
    auto machine = with_rails(2);
    for (int i = 0; i < 2; ++i) {
        auto second = machine.platform.network[i];
        second.name = fmt::format("mlx5_{}:1", i + 2);
        second.address.back() = '1';
        second.bytes_per_second = 12.5e9;
        machine.platform.network.push_back(second);
    }
    EXPECT_THAT(found(machine), IsEmpty());
    machine.platform.network[3].bytes_per_second = 3.125e9;
    EXPECT_THAT(found(machine), ElementsAre("port_slow mlx5_3:1: 25 / 100 Gb/s"));
    // One more card of the same kind than devices.
    machine = with_rails(5);
    machine.platform.network[4].bytes_per_second = 25e9;
    EXPECT_THAT(found(machine), SizeIs(1));
    for (int i = 0; i < 4; ++i) machine.pci.push_back({.kind = "accelerator"});
    EXPECT_THAT(found(machine), IsEmpty());
    machine.platform.network[3].bytes_per_second = 25e9;
    EXPECT_THAT(found(machine), SizeIs(2));
}

TEST(Parts, NamesFabricThatIsNotReadyOrDegraded) {
    auto machine = bare(2);
    for (auto& device : machine.devices)
        device.fabric = {.state = "completed", .status = 0, .clique = 4};
    EXPECT_THAT(found(machine), IsEmpty());
    auto& fabric = machine.devices[1].fabric;
    fabric.health = {"route_unhealthy"};
    EXPECT_THAT(found(machine), ElementsAre("fabric_degraded cuda:1: route_unhealthy"));
    fabric.health = {"route_recovery"};
    EXPECT_THAT(found(machine), ElementsAre("fabric_unready cuda:1: route_recovery"));
    fabric = {.state = "completed", .status = 999, .clique = 4};
    EXPECT_THAT(found(machine), ElementsAre("fabric_degraded cuda:1: error 999"));
    fabric = {.state = "completed", .status = 0, .clique = 5};
    EXPECT_THAT(found(machine), ElementsAre("fabric_unready cuda: cliques 4, 5"));
    fabric = {.state = "in_progress"};
    EXPECT_THAT(found(machine), ElementsAre("fabric_unready cuda:1: in_progress"));
    machine.devices.erase(machine.devices.begin()); // alone in a guest
    EXPECT_THAT(found(machine), IsEmpty());
}

TEST(Parts, NamesBurstableTypeAndNodesWithoutMemory) {
    auto machine = bare(0);
    machine.instance = "t3.large";
    machine.platform.burstable = true;
    machine.platform.memoryless_nodes = {"1"};
    EXPECT_THAT(found(machine), ElementsAre("channels_empty NUMA 1", "burstable t3.large"));
    machine.virtualization = "kvm"; // its nodes are made up
    EXPECT_THAT(found(machine), ElementsAre("burstable t3.large"));
}

TEST(Parts, AnOddNumberOfModulesIsAFault) {
    auto machine = bare(0);
    auto& platform = machine.platform;
    platform.memory_channels_most = 12;
    for (const auto& [channels, text] :
         {std::pair{12, ""}, std::pair{11, "module_missing 11 / 12"},
          std::pair{10, "channels_empty 10 / 12"}, std::pair{1, "channels_empty 1 / 12"}}) {
        platform.memory_channels = channels;
        EXPECT_EQ(found(machine), std::string{text}.empty() ? std::vector<std::string>{}
                                                            : std::vector<std::string>{text});
    }
    platform.memory_channels = 11;
    machine.virtualization = "kvm"; // its tables are made up
    EXPECT_THAT(found(machine), ElementsAre("channels_empty 11 / 12"));
}

TEST(Parts, ACoreThatIsHeldBack) {
    auto machine = bare(0);
    machine.cpu_model = "Made CPU 1";
    EXPECT_THAT(found(machine, 2.4e9), IsEmpty());
    EXPECT_THAT(found(machine, 2.39e9), ElementsAre("clock_held 2.39 / 4.00 GHz"));
    EXPECT_THAT(found(machine), IsEmpty());
    machine.virtualization = "kvm"; // its clock is that of its host
    EXPECT_THAT(found(machine, 2e9), IsEmpty());
    machine.virtualization = "none";
    machine.cpu_model = "Unknown";
    EXPECT_THAT(found(machine, 2e9), IsEmpty());
}

TEST(Parts, DevicesOfTheTypeThatIsRented) {
    const auto hardware = sheets();
    auto machine = bare(7);
    machine.provider = "cloud";
    const auto count = [&](const char* type) {
        machine.instance = type;
        return devices_of_type(machine, &hardware);
    };
    EXPECT_EQ(count("big"), 8);
    EXPECT_EQ(count("slice"), 0);
    EXPECT_EQ(count("plain"), 0);
    EXPECT_EQ(count("unknown"), 0);
    machine.container = "docker"; // may have been given some of them
    EXPECT_EQ(count("big"), 0);
    machine.container.clear();
    EXPECT_EQ(devices_of_type(machine, nullptr), 0);
    // Without a driver there are none to count.
    machine.devices.clear();
    EXPECT_EQ(count("big"), 8);
    EXPECT_THAT(found(machine), ElementsAre("driver_silent 0 / 8"));
    auto silent = sheets();
    silent.entries[0].names.clear(); // no driver of ours reports it
    EXPECT_EQ(devices_of_type(machine, &silent), 0);
}

Cause worst_of(const Judgement& all) { return all.nodes.at(0).checks.at(0).cause; }

TEST(Parts, TheJudgeAsksForTheDevicesOfTheType) {
    test::MeasuredNode node;
    node.add(test::triad(), 110e9);
    auto& machine = node.machine();
    machine.provider = "aws";
    machine.instance = "p5.48xlarge";
    const auto plug_in = [&](int i) {
        node.machine().devices.push_back(
            {.kind = "cuda", .index = i, .pci_address = fmt::format("0000:{}1:00.0", i)});
    };
    for (int i = 0; i < 7; ++i) plug_in(i);
    const Limit limit{
        .id = "triad", .cases = {{"benchmark", "memory.stream"}}, .unit = "B/s", .at_least = 100e9};
    const auto seven = node.judged(limit);
    EXPECT_EQ(seven.outcome, Outcome::fail);
    EXPECT_EQ(test::check_of(seven, "setup:devices").cause, Cause::part_missing);
    EXPECT_EQ(test::check_of(seven, "setup:devices").detail, "7 / 8");
    // All are on the bus: a batch system gave seven of them.
    for (int i = 0; i < 8; ++i) node.machine().pci.push_back({.kind = "accelerator"});
    EXPECT_EQ(node.judged(limit).outcome, Outcome::inconclusive);
    EXPECT_EQ(worst_of(node.judged(limit)), Cause::setup_differs);
    node.machine().pci.pop_back();
    EXPECT_EQ(node.judged(limit).outcome, Outcome::fail);
    plug_in(7);
    EXPECT_EQ(node.judged(limit).outcome, Outcome::pass);
    node.machine().devices.clear();
    const auto silent = node.judged(limit);
    EXPECT_EQ(silent.outcome, Outcome::inconclusive);
    EXPECT_EQ(test::check_of(silent, "setup:devices").cause, Cause::driver_silent);
}

/// Its words about one of them: "corrupted 1: gemm, ...".
std::vector<std::string> said(const Soak& soak) {
    std::vector<std::string> all;
    for (const auto& found : findings_of(soak)) {
        auto text = found.id + " " + std::string{to_string(found.cause)};
        for (const auto& more : {found.of, found.detail})
            if (!more.empty()) text += " " + more;
        all.push_back(std::move(text));
    }
    return all;
}
/// Judgement of the whole node, whose only run it is.
Judgement judged(const Soak& soak) {
    test::MeasuredNode node;
    node.add(test::triad(), 110e9); // no limit is of it
    node.run().soak = soak;
    return node.judged(Limits{});
}

TEST(PartFindings, AllIsRight) {
    EXPECT_THAT(said(made_soak("gemm")), ElementsAre("soak:results none", "soak:speed none gemm"));
    auto by_check = made_soak("gemm");
    by_check.phases[0].checked = std::exchange(by_check.phases[0].compared, 0);
    EXPECT_EQ(findings_of(by_check)[0].cause, Cause::none) << "its check saw them";
    const auto all = judged(made_soak("gemm"));
    EXPECT_EQ(all.outcome, Outcome::pass) << "no limit is needed for that";
    EXPECT_EQ(all.nodes.at(0).required, 2U);
}

TEST(PartFindings, AreNamedByTheCaseOfTheSoak) {
    auto soak = made_soak(decide::name_of(test::triad()));
    soak.phases[0].points.resize(5);
    const auto all = judged(soak);
    const auto& check = check_of(all, "soak:speed");
    EXPECT_EQ(check.cause, Cause::too_few_replicas);
    EXPECT_EQ(check.detail, "5 / 8");
    EXPECT_THAT(name_of(all, check), StartsWith("Speed of memory.stream, loop triad (host)"));
    EXPECT_EQ(name_of(all, check_of(all, "soak:results")), "Results of the soak");
    EXPECT_THAT(answer_of(all).next, EndsWith("--check --for 96m")) << "an hour had five visits";
    EXPECT_EQ(answer_of(all).takes, "about 1 h 36 min");
}

TEST(PartFindings, OneWrongResultIsAFaultOfTheNode) {
    auto soak = made_soak("gemm");
    flip_in(soak);
    soak.seconds = 1200; // it stopped there
    EXPECT_THAT(
        said(soak),
        ElementsAre("soak:results corrupted 1: gemm, array 1, element 12345, 0x0000000000020000",
                    "soak:speed none gemm"))
        << "its length is not worth saying";
    const auto all = judged(soak);
    EXPECT_EQ(all.outcome, Outcome::fail);
    const auto& check = check_of(all, "soak:results");
    EXPECT_EQ(check.action, Action::isolate);
    EXPECT_TRUE(check.required);

    soak.corruptions[0].element.reset();
    soak.corruptions[0].bits.clear();
    EXPECT_EQ(findings_of(soak)[0].detail, "1: gemm, block 2");
    soak.corruptions[0].block.reset();
    EXPECT_EQ(findings_of(soak)[0].detail, "1: gemm, unknown");
    soak.corruptions.clear();
    EXPECT_EQ(findings_of(soak)[0].detail, "1");
}

TEST(PartFindings, WhatNobodyLookedAtIsNotRight) {
    auto soak = made_soak("gemm");
    soak.phases.push_back(made_soak("stream").phases[0]);
    soak.phases[1].compared = 0;
    EXPECT_EQ(said(soak)[0], "soak:results not_compared stream");
    EXPECT_EQ(judged(soak).outcome, Outcome::inconclusive);
    soak.phases.clear();
    EXPECT_THAT(said(soak), ElementsAre("soak:results not_compared"));
}

TEST(PartFindings, LessTimeThanWasAskedForIsOpen) {
    auto soak = made_soak("gemm");
    soak.asked_seconds = 86'400;
    EXPECT_THAT(said(soak), ElementsAre("soak:results none", "soak:time soak_short 1 h / 24 h",
                                        "soak:speed none gemm"));
    EXPECT_EQ(judged(soak).outcome, Outcome::inconclusive);
}

TEST(PartFindings, SpeedThatIsLostIsAWarningOrAFault) {
    struct Case {
        std::function<double(int)> factor; ///< of the time of a call
        Cause cause;
        Outcome outcome;
    };
    const Case cases[] = {
        {[](int i) { return i < 30 ? 1.0 : 1.02; }, Cause::none, Outcome::pass},
        {[](int i) { return i < 30 ? 1.0 : 1.06; }, Cause::slowing_down, Outcome::warn},
        {[](int i) { return i < 20 || i > 35 ? 1.0 : 1.25; }, Cause::slowed_down, Outcome::fail},
        {[](int i) { return 1 + (0.0025 * i); }, Cause::slowed_down, Outcome::fail},
    };
    for (const auto& [factor, cause, outcome] : cases) {
        const auto all = judged(made_soak("gemm", factor));
        const auto& check = check_of(all, "soak:speed");
        EXPECT_EQ(check.cause, cause) << check.detail;
        EXPECT_EQ(all.outcome, outcome) << check.detail;
        EXPECT_EQ(check.detail != "gemm", cause != Cause::none) << check.detail; // it has no series
    }
    EXPECT_THAT(findings_of(made_soak("gemm", [](int i) { return i < 30 ? 1.0 : 1.25; }))[1].detail,
                MatchesRegex("-(19|20)\\.[0-9]%"));
}

TEST(PartFindings, OfTooFewVisitsNoSpeedIsSaid) {
    auto soak = made_soak("gemm");
    soak.phases[0].points.resize(record::fewest_points - 1);
    EXPECT_THAT(findings_of(soak),
                ElementsAre(Field(&PartFinding::cause, Cause::none),
                            AllOf(Field(&PartFinding::id, "soak:speed"),
                                  Field(&PartFinding::cause, Cause::too_few_replicas),
                                  Field(&PartFinding::detail, "7 / 8"))));
    EXPECT_EQ(judged(soak).outcome, Outcome::inconclusive);
}

} // namespace
} // namespace assay::judge
