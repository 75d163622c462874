// SPDX-License-Identifier: Apache-2.0
#include "telemetry/links.hpp"

#include "telemetry/device_samples.hpp"

#include <cstddef>
#include <utility>

namespace assay::telemetry {
namespace {

using Count = std::optional<std::int64_t>;

/// A counter that is still zero since the driver was loaded may not count at all.
Count moved(const Count& begun, const Count& ended) {
    return ended == Count{0} ? std::nullopt : grown(begun, ended);
}

} // namespace

Result<LinkWindow> LinkWindow::open(const std::vector<std::string>& devices,
                                    const std::filesystem::path& library) {
    const auto driver = driver::Nvml::open(library);
    if (!driver) return tl::unexpected{driver.error()};
    std::vector<driver::NvmlDevice> found;
    for (const auto& name : devices) {
        ASSAY_TRY(auto device, driver->find(name));
        found.push_back(std::move(device));
    }
    return LinkWindow{std::move(found)};
}

void LinkWindow::begin() {
    begun_.clear();
    for (auto& device : devices_) begun_.push_back(device.counters());
}

std::vector<LinkBytes> LinkWindow::end() {
    std::vector<LinkBytes> counted;
    for (std::size_t i = 0; i < begun_.size(); ++i) {
        const auto ended = devices_[i].counters();
        counted.push_back(
            {.received = moved(begun_[i].nvlink_received_bytes, ended.nvlink_received_bytes),
             .sent = moved(begun_[i].nvlink_sent_bytes, ended.nvlink_sent_bytes)});
    }
    return counted;
}

} // namespace assay::telemetry
