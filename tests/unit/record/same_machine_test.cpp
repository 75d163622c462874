// SPDX-License-Identifier: Apache-2.0
#include "record/same_machine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::record {
namespace {

using namespace testing;

record::Machine machine(std::string id, std::vector<std::string> aliases = {}) {
    const char* const by = aliases.empty() ? "machine_id" : "product_uuid";
    return {.id = std::move(id), .identity = {.by = by, .aliases = std::move(aliases)}};
}
std::map<std::string, std::string> common(std::vector<record::Machine> machines) {
    std::map<std::string, std::string> ids;
    const auto before = machines;
    std::vector<record::Sighting> sightings;
    for (auto& one : machines) sightings.push_back({.machine = &one});
    resolve_ids(sightings);
    for (std::size_t i = 0; i < before.size(); ++i) ids[before[i].id] = machines[i].id;
    return ids;
}

TEST(SameMachine, GoesByTheIdOfTheOneThatHasTheOtherAsAnAlias) {
    EXPECT_THAT(
        common({machine("old"), machine("new", {"old"}), machine("other")}),
        UnorderedElementsAre(Pair("old", "new"), Pair("new", "new"), Pair("other", "other")));
    // Three states of what could be read.
    EXPECT_THAT(common({machine("a"), machine("b", {"a"}), machine("c", {"b", "a"})}),
                UnorderedElementsAre(Pair("a", "c"), Pair("b", "c"), Pair("c", "c")));
    // A reinstalled machine had two.
    EXPECT_THAT(common({machine("x"), machine("y"), machine("new", {"x"}), machine("new", {"y"})}),
                UnorderedElementsAre(Pair("x", "new"), Pair("y", "new"), Pair("new", "new")));
}

TEST(SameMachine, AnIdThatSeveralHadIsNobodys) {
    EXPECT_THAT(
        common({machine("image"), machine("one", {"image"}), machine("two", {"image"})}),
        UnorderedElementsAre(Pair("image", "image"), Pair("one", "one"), Pair("two", "two")));
}

TEST(SameMachine, DamagedRecordsEnd) {
    EXPECT_EQ(common({machine("a", {"b"}), machine("b", {"a"})}).size(), 2U);
    EXPECT_THAT(common({machine("", {""}), machine("a", {"", "a"})}),
                UnorderedElementsAre(Pair("", ""), Pair("a", "a")));
}

// --- without strong facts ---------------------------------------------------------------------------

struct Seen {
    std::vector<std::string> devices;
    std::string node;
    std::string campaign;
    std::string id = "921623bb792934c7";
    std::string by = "hardware";
    std::string board;
};

record::Machine machine_of(const Seen& seen) {
    record::Machine machine{.id = seen.id, .identity = {.by = seen.by}};
    machine.identity.node = seen.node;
    for (const auto& uuid : seen.devices)
        machine.devices.push_back({.kind = "cuda", .uuid = uuid, .pci_address = "0000:06:00.0"});
    if (!seen.board.empty())
        machine.identity.parts = {{.kind = "board", .where = "", .id = seen.board}};
    return machine;
}
std::vector<record::Machine> resolved(const std::vector<Seen>& seen) {
    std::vector<record::Machine> machines;
    for (const auto& one : seen) machines.push_back(machine_of(one));
    std::vector<record::Sighting> sightings;
    for (std::size_t i = 0; i < seen.size(); ++i)
        sightings.push_back(
            {.machine = &machines[i], .campaign = seen[i].campaign, .node = seen[i].node});
    resolve_ids(sightings);
    return machines;
}
/// A letter for each, the same for the same machine: "aab". Checks that their order does not matter.
std::string groups(std::vector<Seen> seen) {
    std::string text;
    const auto machines = resolved(seen);
    std::vector<std::string> ids;
    for (const auto& one : machines) {
        auto found = std::ranges::find(ids, one.id);
        if (found == ids.end()) found = ids.insert(ids.end(), one.id);
        text += static_cast<char>('a' + (found - ids.begin()));
    }
    std::ranges::reverse(seen);
    auto backwards = resolved(seen);
    std::ranges::reverse(backwards);
    for (std::size_t i = 0; i < machines.size(); ++i) EXPECT_EQ(backwards[i].id, machines[i].id);
    return text;
}

TEST(WeakIdentity, TellsMachinesWithOtherDevicesApart) {
    EXPECT_EQ(groups({{.devices = {"GPU-1"}}, {.devices = {"GPU-2"}}, {.devices = {"GPU-1"}}}),
              "aba");
    const auto machines = resolved({{.devices = {"GPU-1"}}, {.devices = {"GPU-2"}}});
    EXPECT_FALSE(is_id_of(machines[0], "921623bb792934c7")); // it is of both
    EXPECT_TRUE(is_id_of(resolved({{.devices = {"GPU-1"}}})[0], "921623bb792934c7"));
    // A clone of an image has its machine-id.
    EXPECT_EQ(groups({{.devices = {"GPU-1"}, .by = "machine_id"},
                      {.devices = {"GPU-2"}, .by = "machine_id"}}),
              "ab");
}

TEST(WeakIdentity, JoinsOverlappingSetsOfDevices) {
    EXPECT_EQ(groups({{.devices = {"GPU-1"}},
                      {.devices = {"GPU-1", "GPU-2"}},
                      {.devices = {"GPU-2", "GPU-3"}},
                      {.devices = {"GPU-4"}}}),
              "aaab");
    // The same devices with another machine-id: a container may bring its own.
    EXPECT_EQ(groups({{.devices = {"GPU-1"}}, {.devices = {"GPU-1"}, .id = "other"}}), "ab");
}

TEST(WeakIdentity, SlicesAreOfTheirDevice) {
    record::Device slice{.uuid = "MIG-5c89a2b4", .whole_uuid = "GPU-1", .mode = "mig 1g.10gb"};
    EXPECT_EQ(part_id(slice), "GPU-1");
    slice.whole_uuid.reset();
    EXPECT_EQ(part_id(slice), "");
    slice.uuid = "MIG-GPU-5c89a2b4-1111-2222-3333-444455556666/1/0";
    EXPECT_EQ(part_id(slice), "GPU-5c89a2b4-1111-2222-3333-444455556666");
    EXPECT_EQ(part_id({.uuid = "GPU-1"}), "GPU-1");
    EXPECT_EQ(part_id({.uuid = "GPU-1", .mode = "vgpu"}), "");
    EXPECT_EQ(part_id({.uuid = "redacted:sha256:00"}), "");
}

TEST(WeakIdentity, ARecordWithoutDevicesIsOfTheOnlyMachine) {
    EXPECT_EQ(groups({{.devices = {"GPU-1"}}, {}}), "aa");
    EXPECT_EQ(groups({{.devices = {"GPU-1"}}, {.devices = {"GPU-2"}}, {}}), "abc");
    EXPECT_EQ(groups({{}, {}}), "aa");
}

TEST(WeakIdentity, JoinsByNameWithinACampaign) {
    // The device was replaced.
    EXPECT_EQ(groups({{.devices = {"GPU-1"}, .node = "n1", .campaign = "2026Q4"},
                      {.devices = {"GPU-2"}, .node = "n1", .campaign = "2026Q4"}}),
              "aa");
    // Another cluster may have a node of this name.
    EXPECT_EQ(groups({{.devices = {"GPU-1"}, .node = "n1", .campaign = "vendor-a"},
                      {.devices = {"GPU-2"}, .node = "n1", .campaign = "vendor-b"}}),
              "ab");
    EXPECT_EQ(groups({{.node = "n1", .campaign = "vendor-a", .id = "1"},
                      {.node = "n1", .campaign = "vendor-b", .id = "2"}}),
              "ab");
    EXPECT_EQ(groups({{.node = "n1", .campaign = "2026Q3"}, {.node = "n1", .campaign = "2026Q4"}}),
              "aa");
    EXPECT_EQ(groups({{.node = "n1"}, {.node = "n2"}, {}}), "abc");
    // Containers with a machine-id of their own.
    EXPECT_EQ(groups({{.node = "n1", .id = "1", .by = "machine_id"},
                      {.node = "n1", .id = "2", .by = "machine_id"}}),
              "aa");
}

TEST(WeakIdentity, NamesOutweighADeviceThatMoved) {
    EXPECT_EQ(groups({{.devices = {"GPU-1"}, .node = "n1"},
                      {.devices = {"GPU-1"}, .node = "n2"},
                      {.devices = {"GPU-2"}, .node = "n1"}}),
              "aba");
}

TEST(WeakIdentity, SeveralBoardsAreSeveralMachines) {
    EXPECT_EQ(groups({{.by = "machine_id", .board = "1"}, {.by = "machine_id", .board = "2"}}),
              "ab");
    EXPECT_EQ(groups({{.devices = {"GPU-1"}, .by = "machine_id", .board = "1"},
                      {.devices = {"GPU-2"}, .by = "machine_id", .board = "1"}}),
              "aa");
    EXPECT_EQ(groups({{.by = "product_uuid", .board = "1"}, {.by = "product_uuid", .board = "2"}}),
              "ab");
}

TEST(SameMachine, StrongFactsOutweighAnotherDevice) {
    EXPECT_EQ(groups({{.devices = {"GPU-1"}, .by = "product_uuid"},
                      {.devices = {"GPU-2"}, .by = "product_uuid"}}),
              "aa");
    EXPECT_EQ(groups({{.devices = {"GPU-1"}, .id = "1", .by = "cloud_instance"},
                      {.devices = {"GPU-1"}, .id = "2", .by = "cloud_instance"}}),
              "ab");
}

TEST(SameMachine, RunsWithoutRootAreOfTheOneWithTheirDevices) {
    auto one = machine_of({.devices = {"GPU-1"}, .id = "one", .by = "product_uuid"});
    auto two = machine_of({.devices = {"GPU-2"}, .id = "two", .by = "product_uuid"});
    auto user = machine_of({.devices = {"GPU-2"}, .id = "image", .by = "machine_id"});
    one.identity.aliases = two.identity.aliases = {"image"};
    const std::vector<record::Sighting> all{
        {.machine = &one}, {.machine = &two}, {.machine = &user}};
    resolve_ids(all);
    EXPECT_EQ(one.id, "one");
    EXPECT_EQ(two.id, "two");
    EXPECT_EQ(user.id, "two");
    EXPECT_FALSE(is_id_of(two, "image"));
}

TEST(SameMachine, ImportsKeepTheirIds) {
    EXPECT_EQ(groups({{.devices = {"GPU-1"}, .by = ""}, {.devices = {"GPU-2"}, .by = ""}}), "aa");
    EXPECT_EQ(own_id(machine_of({.devices = {"GPU-1"}, .by = ""})), "921623bb792934c7");
}

TEST(SameMachine, RedactedFactsContradictNothing) {
    EXPECT_EQ(groups({{.by = "product_uuid", .board = "redacted:sha256:1"},
                      {.by = "product_uuid", .board = "redacted:sha256:2"}}),
              "aa");
    auto hidden = machine_of({.node = "redacted:sha256:1"});
    EXPECT_EQ(node_name(hidden), "");
    EXPECT_EQ(node_name(hidden, {{"node", std::string{"n1"}}}), "n1");
}

TEST(SameMachine, PartsAreComparedWhereTheyCanBe) {
    auto before = machine("a");
    before.identity.parts = {{.kind = "device", .where = "0000:1b:00.0", .id = "1"}};
    auto now = before;
    now.identity.parts[0].id = "2";
    EXPECT_THAT(changed_parts(before, now), ElementsAre("device 0000:1b:00.0"));
    auto as_root = now;
    as_root.identity.by = "product_uuid"; // other secrets, other hashes
    EXPECT_THAT(changed_parts(before, as_root), IsEmpty());
    EXPECT_THAT(changed_parts(machine("a"), now), IsEmpty());
}

TEST(SameMachine, AnotherDeviceOfANamedNodeWasReplaced) {
    const auto machines = resolved({{.devices = {"GPU-1"}, .node = "n1", .by = "node"},
                                    {.devices = {"GPU-2"}, .node = "n1", .by = "node"}});
    EXPECT_THAT(changed_parts(machines[0], machines[1]), ElementsAre("device 0000:06:00.0"));
}

} // namespace
} // namespace assay::record
