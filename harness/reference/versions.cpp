// SPDX-License-Identifier: Apache-2.0
#include "reference/versions.hpp"

#include "base/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

namespace assay::reference {
namespace {

using record::Finding;
using record::Severity;
using reference::Version;

std::string version_words(const Version& version) {
    return fmt::format("{}", fmt::join(version, "."));
}

std::vector<Finding> on_chip(const reference::ChipRow& chip, const Version& driver,
                             const Version& runtime) {
    std::vector<Finding> found;
    const auto where = "compute capability " + chip.compute_capability;
    if (!runtime.empty() && runtime < chip.first_toolkit)
        found.push_back({"toolkit_too_old", Severity::serious,
                         fmt::format("it needs CUDA {}, this build has {}",
                                     version_words(chip.first_toolkit), version_words(runtime)),
                         "build with a newer toolkit", where});
    if (!runtime.empty() && !chip.last_toolkit.empty() && runtime > chip.last_toolkit)
        found.push_back({"toolkit_too_new", Severity::serious,
                         fmt::format("CUDA {} is the newest that supports it, this build has {}",
                                     version_words(chip.last_toolkit), version_words(runtime)),
                         fmt::format("build with CUDA {}", version_words(chip.last_toolkit)),
                         where});
    if (!driver.empty() && !chip.last_driver.empty() && driver.front() > chip.last_driver.front())
        found.push_back(
            {"driver_too_new", Severity::serious,
             fmt::format("driver branch {} is the newest that supports it, this driver is {}",
                         version_words(chip.last_driver), version_words(driver)),
             fmt::format("install a driver of branch {}", version_words(chip.last_driver)), where});
    return found;
}

} // namespace

std::vector<Finding> on_versions(const record::Machine& machine, std::string_view runtime,
                                 const reference::Compatibility& known) {
    std::vector<Finding> found;
    const auto driver =
        parse_version(record::text(machine.software, "nvidia.driver")).value_or(Version{});
    const auto toolkit = parse_version(runtime).value_or(Version{});
    for (const auto& row : known.toolkits)
        if (!driver.empty() && !toolkit.empty() && toolkit.front() == row.toolkit.front() &&
            driver < row.driver)
            found.push_back(
                {"driver_too_old", Severity::serious,
                 fmt::format("driver {} is too old for CUDA {}",
                             record::text(machine.software, "nvidia.driver"),
                             version_words(toolkit)),
                 fmt::format("install driver {} or newer, or use a build with an older toolkit",
                             version_words(row.driver))});
    std::set<std::string> chips;
    for (const auto& device : machine.devices) chips.insert(device.compute_capability);
    for (const auto& chip : known.chips)
        if (chips.contains(chip.compute_capability))
            for (auto& finding : on_chip(chip, driver, toolkit)) found.push_back(finding);
    return found;
}

} // namespace assay::reference
