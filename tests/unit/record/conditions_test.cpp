// SPDX-License-Identifier: Apache-2.0
#include "record/conditions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::record {
namespace {

using testing::IsEmpty;

/// On a device of this description.
struct Sample {
    Sample() {
        c.place = {.kind = "cuda", .uuid = "GPU-1"};
        c.settings = {{"threads", std::int64_t{256}}};
        machine.devices = {{.kind = "cuda", .uuid = "GPU-1"}};
    }
    Device& device() { return machine.devices.front(); }
    std::string of(std::string_view name) const { return text(conditions(c, machine), name); }

    Case c;
    Machine machine;
};

TEST(Conditions, WhatIsNotRecordedIsNotThere) {
    EXPECT_THAT(conditions({}, {}), IsEmpty());
    EXPECT_THAT(conditions({.place = {.kind = "cuda"}}, {}), IsEmpty());
    Sample sample;
    EXPECT_EQ(conditions(sample.c, sample.machine),
              (NamedList{{"executed_on", std::string{"device"}}, {"mode", std::string{"whole"}}}));
}

TEST(Conditions, TheTeamIsReadFromEvidenceAndInOlderFilesFromSettings) {
    Sample sample;
    sample.c.settings.push_back({"ranks", std::int64_t{8}});
    sample.c.settings.push_back({"machines", 2.0}); // as tools rewrite it
    EXPECT_EQ(sample.of("ranks"), "8");
    EXPECT_EQ(sample.of("machines"), "2");
    sample.c.evidence = {.machines = 4, .ranks = 16};
    EXPECT_EQ(sample.of("ranks"), "16");
    EXPECT_EQ(sample.of("machines"), "4");
}

TEST(Conditions, TheStateOfTheDeviceIsThatOfTheCasesOwn) {
    Sample sample;
    sample.machine.devices.push_back({.kind = "cuda", .index = 1, .uuid = "GPU-2", .ecc = true});
    EXPECT_EQ(sample.of("ecc"), "");
    sample.device().ecc = false;
    EXPECT_EQ(sample.of("ecc"), "off");
    sample.device().confidential = true;
    EXPECT_EQ(sample.of("confidential"), "on");
    sample.device().mode = "mig 1g.10gb";
    EXPECT_EQ(sample.of("mode"), "mig 1g.10gb");
}

TEST(Conditions, APowerLimitIsToldApartFromTheDevicesOwn) {
    Sample sample;
    EXPECT_EQ(sample.of("power_limit"), "");
    sample.device().power_limit_watts = 699.99;
    EXPECT_EQ(sample.of("power_limit"), "700 W"); // of a device whose default is not known
    sample.device().power_limit_default_watts = 700;
    EXPECT_EQ(sample.of("power_limit"), "default");
    sample.device().power_limit_watts = 500;
    EXPECT_EQ(sample.of("power_limit"), "500 W");
}

TEST(Conditions, EveryOneOfTheTableCanBeRecorded) {
    Sample sample;
    sample.c.evidence = {.machines = 4, .ranks = 16};
    for (const auto& [name, value] : {std::pair{"path", "tcp"},
                                      {"net_plugin", "IBext v8"},
                                      {"program_version", "3.33"},
                                      {"file_system", "ext4"}})
        sample.c.settings.push_back({name, std::string{value}});
    sample.device().ecc = true;
    sample.device().confidential = false;
    sample.device().power_limit_watts = 700;
    const auto all = conditions(sample.c, sample.machine);
    std::vector<std::string_view> names;
    for (const auto& condition : condition_table()) {
        EXPECT_EQ(find_condition(condition.name), &condition);
        if (condition.name != "energy_scope")
            names.push_back(condition.name); // of metrics, not of a case
    }
    ASSERT_EQ(all.size(), names.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].name, names[i]);
    EXPECT_EQ(find_condition("sparsity"), nullptr);
}

} // namespace
} // namespace assay::record
