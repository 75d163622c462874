// SPDX-License-Identifier: Apache-2.0
#include "machine/cloud.hpp"

#include "base/text.hpp"
#include "json/json.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace assay::machine {
namespace {

struct Sign {
    std::string Firmware::* field;
    std::string_view begins; ///< in lower case
    std::string_view provider;
};
// What each provider sets in its machines' firmware; as cloud-init's ds-identify and systemd's
// detect-virt look for it. OpenStack last: many providers are built on it.
constexpr std::array signs = {
    Sign{.field = &Firmware::vendor, .begins = "amazon ec2", .provider = "aws"},
    Sign{.field = &Firmware::product, .begins = "google compute engine", .provider = "gcp"},
    Sign{.field = &Firmware::chassis_tag,
         .begins = "7783-7084-3265-9085-8269-3286-77",
         .provider = "azure"},
    Sign{.field = &Firmware::chassis_tag, .begins = "oraclecloud.com", .provider = "oci"},
    Sign{.field = &Firmware::vendor, .begins = "alibaba cloud", .provider = "alibaba"},
    Sign{.field = &Firmware::vendor, .begins = "tencent cloud", .provider = "tencent"},
    Sign{.field = &Firmware::vendor, .begins = "digitalocean", .provider = "digitalocean"},
    Sign{.field = &Firmware::vendor, .begins = "hetzner", .provider = "hetzner"},
    Sign{.field = &Firmware::vendor, .begins = "upcloud", .provider = "upcloud"},
    Sign{.field = &Firmware::vendor, .begins = "vultr", .provider = "vultr"},
    Sign{.field = &Firmware::vendor, .begins = "scaleway", .provider = "scaleway"},
    Sign{.field = &Firmware::vendor, .begins = "linode", .provider = "linode"},
    Sign{.field = &Firmware::vendor, .begins = "exoscale", .provider = "exoscale"},
    Sign{.field = &Firmware::chassis_tag, .begins = "huaweicloud", .provider = "huawei"},
    Sign{.field = &Firmware::chassis_tag, .begins = "opentelekomcloud", .provider = "otc"},
    Sign{.field = &Firmware::product, .begins = "openstack", .provider = "openstack"},
    Sign{.field = &Firmware::vendor, .begins = "openstack", .provider = "openstack"},
};

std::string_view provider_by_firmware(const Firmware& firmware) {
    for (const Sign& sign : signs)
        if (lower(firmware.*sign.field).starts_with(sign.begins)) return sign.provider;
    // Amazon's Xen machines say "Xen" everywhere but in the BIOS version: "4.11.amazon".
    if (contains(lower(firmware.bios), "amazon")) return "aws";
    return {};
}

/// The text at "ds/meta_data/instance-type", or nothing.
std::string text_at(const json::Value& value, std::string_view path) {
    const json::Value* here = &value;
    for (const std::string_view key : split(path, '/')) {
        if (!here->is_object()) return {};
        const auto found = here->find(key);
        if (found == here->end()) return {};
        here = &*found;
    }
    const std::string text = here->is_string() ? here->get<std::string>() : std::string{};
    // 64: names of instance types are short; what is not one is left alone.
    const bool is_name =
        text.size() <= 64 && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
    return is_name ? text : std::string{};
}

/// What cloud-init wrote for everybody to read. Only names of kinds are taken from it.
std::optional<json::Value> read_cloud_init(const Files& files) {
    // 1 MiB: such files have some 10 kB.
    const json::Limits limits{.bytes = std::size_t{1} << 20U};
    auto read = json::read_file(files.at("/run/cloud-init/instance-data.json"), limits);
    if (!read) return std::nullopt;
    return std::move(*read);
}

std::string instance_by_cloud_init(const json::Value& data) {
    constexpr std::array<std::string_view, 4> paths = {
        "ds/meta_data/instance-type", "ds/meta_data/instance_type",
        "ds/meta_data/instance/instance-type",
        "ds/meta_data/imds/compute/vmSize", // Azure
    };
    for (const std::string_view path : paths)
        if (std::string name = text_at(data, path); !name.empty()) return name;
    return {};
}

/// Only Amazon names the instance's type in the firmware.
std::string instance_by_firmware(std::string_view provider, const Firmware& firmware) {
    const bool is_type = provider == "aws" && contains(firmware.product, ".");
    return is_type ? firmware.product : std::string{};
}

std::string provider_by_cloud_init(const json::Value& data) {
    const std::string name = lower(text_at(data, "v1/cloud_name"));
    if (name == "gce") return "gcp";
    if (name == "oracle") return "oci";
    if (name == "aliyun") return "alibaba";
    // Not clouds: where cloud-init found its data.
    if (name == "nocloud" || name == "none" || name == "configdrive") return {};
    return name;
}

} // namespace

Cloud read_cloud(const Files& files, const Firmware& firmware) {
    Cloud cloud{.provider = std::string{provider_by_firmware(firmware)}, .instance = {}};
    cloud.instance = instance_by_firmware(cloud.provider, firmware);
    if (cloud.provider.empty() || cloud.instance.empty()) {
        if (const auto data = read_cloud_init(files)) {
            if (cloud.provider.empty()) cloud.provider = provider_by_cloud_init(*data);
            if (cloud.instance.empty()) cloud.instance = instance_by_cloud_init(*data);
        }
    }
    if (cloud.provider.empty()) cloud.provider = "unknown";
    if (cloud.instance.empty()) cloud.instance = firmware.product;
    if (cloud.instance.empty()) cloud.instance = "unknown";
    return cloud;
}

} // namespace assay::machine
