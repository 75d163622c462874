// SPDX-License-Identifier: Apache-2.0
#include "record/same_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace assay::record {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Machine machine(std::string id, std::vector<std::string> aliases = {}) {
    return {.id = std::move(id), .identity = {.by = "machine_id", .aliases = std::move(aliases)}};
}
std::map<std::string, std::string> common(const std::vector<Machine>& machines) {
    return common_ids(machines);
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

TEST(SameMachine, ItsAliasesAreItsIds) {
    EXPECT_TRUE(is_id_of(machine("new", {"old"}), "new"));
    EXPECT_TRUE(is_id_of(machine("new", {"old"}), "old"));
    EXPECT_FALSE(is_id_of(machine("new", {"old"}), "other"));
}

TEST(SameMachine, PartsAreComparedWhereTheyCanBe) {
    auto before = machine("a");
    before.identity.parts = {{.kind = "device", .where = "0000:1b:00.0", .id = "1"}};
    auto now = before;
    now.identity.parts[0].id = "2";
    EXPECT_THAT(changed_parts(before, now), testing::ElementsAre("device 0000:1b:00.0"));
    auto as_root = now;
    as_root.identity.by = "product_uuid"; // other secrets, other hashes
    EXPECT_THAT(changed_parts(before, as_root), IsEmpty());
    EXPECT_THAT(changed_parts(machine("a"), now), IsEmpty());
}

} // namespace
} // namespace assay::record
