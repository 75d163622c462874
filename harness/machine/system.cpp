// SPDX-License-Identifier: Apache-2.0
#include "machine/system.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

namespace assay::machine {

namespace {

/// Placeholders that vendors leave in fields, in lower case.
constexpr std::array<std::string_view, 15> placeholders = {
    "to be filled by o.e.m.",
    "default string",
    "system product name",
    "system manufacturer",
    "system serial number",
    "base board serial number",
    "chassis serial number",
    "not specified",
    "not applicable",
    "unknown",
    "none",
    "n/a",
    "o.e.m.",
    "empty",
    "invalid",
};

} // namespace

std::string dmi_field(const Files& files, std::string_view name) {
    std::string value = files.line(std::filesystem::path{"/sys/class/dmi/id"} / name);
    if (std::ranges::find(placeholders, lower(value)) != placeholders.end()) return {};
    return value;
}

Firmware read_firmware(const Files& files) {
    Firmware firmware{.vendor = dmi_field(files, "sys_vendor"),
                      .product = dmi_field(files, "product_name"),
                      .bios = fmt::format("{} {}", dmi_field(files, "bios_vendor"),
                                          dmi_field(files, "bios_version")),
                      .chassis_tag = dmi_field(files, "chassis_asset_tag")};
    if (firmware.vendor.empty()) firmware.vendor = dmi_field(files, "board_vendor");
    if (firmware.product.empty()) firmware.product = dmi_field(files, "board_name");
    if (firmware.product.empty()) firmware.product = files.line("/proc/device-tree/model");
    return firmware;
}

std::string system_name(const Firmware& firmware) {
    if (firmware.vendor.empty() || firmware.product.starts_with(firmware.vendor))
        return firmware.product;
    return firmware.product.empty() ? firmware.vendor
                                    : fmt::format("{} {}", firmware.vendor, firmware.product);
}

std::string operating_system(const Files& files) {
    for (const char* const path : {"/etc/os-release", "/usr/lib/os-release"}) {
        const std::string text = files.text(path);
        std::string_view name = value_of(text, "PRETTY_NAME", '=');
        if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
            name.back() == name.front())
            name = name.substr(1, name.size() - 2);
        if (!name.empty()) return tidied(name);
    }
    return {};
}

std::string kernel_release(const Files& files) { return files.line("/proc/sys/kernel/osrelease"); }

std::string architecture() {
    struct utsname names{};
    return ::uname(&names) == 0 ? std::string{names.machine} : std::string{};
}

std::string boot_identity() {
    std::string boot;
    if (std::ifstream file{"/proc/sys/kernel/random/boot_id"}; file) std::getline(file, boot);
    std::error_code error;
    return boot + ' ' + std::filesystem::read_symlink("/proc/self/ns/net", error).string();
}

std::string host_name() {
    std::array<char, 256> name{};
    // The last byte stays zero: a longer name is cut without one.
    return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string{name.data()}
                                                            : std::string{};
}

bool is_node_name(std::string_view text) {
    constexpr std::size_t longest = 253; // of a host, RFC 1035
    return !text.empty() && text.size() <= longest &&
           std::ranges::all_of(text, [](char c) { return is_word(c, "_-.:"); });
}

record::NamedList own_software() {
    record::NamedList software;
#if defined(__GLIBC__)
    software.push_back({.name = "libc", .value = std::string{"glibc "} + ::gnu_get_libc_version()});
#endif
#if defined(__clang__)
    software.push_back({.name = "compiler", .value = std::string{__VERSION__}});
#elif defined(__GNUC__)
    software.push_back({.name = "compiler", .value = std::string{"GCC "} + __VERSION__});
#endif
    return software;
}

} // namespace assay::machine
