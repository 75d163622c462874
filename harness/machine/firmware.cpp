// SPDX-License-Identifier: Apache-2.0
#include "machine/firmware.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::machine {
namespace {

/// What vendors leave in a field that they should have filled in, in lower case.
constexpr std::array<std::string_view, 12> placeholders = {
    "to be filled by o.e.m.",
    "default string",
    "system product name",
    "system manufacturer",
    "not specified",
    "not applicable",
    "unknown",
    "none",
    "n/a",
    "o.e.m.",
    "empty",
    "invalid",
};

std::string field(const Files& files, std::string_view name) {
    std::string value = files.line(std::filesystem::path{"/sys/class/dmi/id"} / name);
    const std::string plain = lower(value);
    if (std::ranges::find(placeholders, plain) != placeholders.end()) return {};
    return value;
}

} // namespace

Firmware read_firmware(const Files& files) {
    Firmware firmware{
        .vendor = field(files, "sys_vendor"),
        .product = field(files, "product_name"),
        .bios = fmt::format("{} {}", field(files, "bios_vendor"), field(files, "bios_version")),
        .chassis_tag = field(files, "chassis_asset_tag")};
    if (firmware.vendor.empty()) firmware.vendor = field(files, "board_vendor");
    if (firmware.product.empty()) firmware.product = field(files, "board_name");
    if (firmware.product.empty()) firmware.product = files.line("/proc/device-tree/model");
    return firmware;
}

std::string system_name(const Firmware& firmware) {
    if (firmware.vendor.empty() || firmware.product.starts_with(firmware.vendor))
        return firmware.product;
    return firmware.product.empty() ? firmware.vendor
                                    : fmt::format("{} {}", firmware.vendor, firmware.product);
}

} // namespace assay::machine
