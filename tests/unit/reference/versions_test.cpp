// SPDX-License-Identifier: Apache-2.0
#include "reference/versions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const datasheet::Compatibility table{
    .toolkits = {{.toolkit = {13}, .driver = {580, 65, 6}, .source = "s"},
                 {.toolkit = {12}, .driver = {525, 60, 13}, .source = "s"}},
    .chips = {{.compute_capability = "7.0",
               .first_toolkit = {9, 0},
               .last_toolkit = {12, 9},
               .last_driver = {580},
               .source = "s"},
              {.compute_capability = "10.3",
               .first_toolkit = {12, 9},
               .last_toolkit = {},
               .last_driver = {},
               .source = "s"}}};

std::vector<std::string> codes(const std::string& driver, const std::string& chip,
                               const std::string& runtime) {
    record::Machine machine;
    machine.devices = {{.kind = "cuda", .compute_capability = chip},
                       {.kind = "cuda", .compute_capability = chip}};
    machine.software = {{"nvidia.driver", driver}};
    std::vector<std::string> found;
    for (const auto& finding : on_versions(machine, runtime, table)) {
        EXPECT_EQ(finding.severity, machine::Severity::serious);
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
    // What is not known is no finding.
    EXPECT_THAT(codes("", "", ""), IsEmpty());
    EXPECT_THAT(codes("unknown", "12.1", "14.0"), IsEmpty());
    EXPECT_THAT(on_versions({}, "13.0", table), IsEmpty());
}

} // namespace
} // namespace assay::harness
