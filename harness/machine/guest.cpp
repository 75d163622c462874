// SPDX-License-Identifier: Apache-2.0
#include "machine/guest.hpp"

#include "base/text.hpp"
#include "json/json.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::machine {

namespace {

struct Sign {
    std::string_view text;
    std::string_view name;
};
// CPUID leaf 0x40000000, as systemd and the kernel know them. KVM with its Hyper-V features on calls
// itself "Linux KVM Hv".
constexpr std::array signatures = {
    Sign{.text = "KVMKVMKVM", .name = "kvm"},
    Sign{.text = "Linux KVM Hv", .name = "kvm"},
    Sign{.text = "XenVMMXenVMM", .name = "xen"},
    Sign{.text = "Microsoft Hv", .name = "hyperv"},
    Sign{.text = "VMwareVMware", .name = "vmware"},
    Sign{.text = "TCGTCGTCGTCG", .name = "qemu"},
    Sign{.text = "VBoxVBoxVBox", .name = "virtualbox"},
    Sign{.text = "bhyve bhyve", .name = "bhyve"},
    Sign{.text = "ACRNACRNACRN", .name = "acrn"},
    Sign{.text = "lrpepyh vr", .name = "parallels"},
};
// Beginnings of DMI's vendor or product, in lower case.
constexpr std::array firmware_signs = {
    Sign{.text = "kvm", .name = "kvm"},
    Sign{.text = "qemu", .name = "qemu"},
    Sign{.text = "amazon ec2", .name = "kvm"},
    Sign{.text = "google compute engine", .name = "kvm"},
    Sign{.text = "vmware", .name = "vmware"},
    Sign{.text = "virtualbox", .name = "virtualbox"},
    Sign{.text = "innotek", .name = "virtualbox"},
    Sign{.text = "xen", .name = "xen"},
    Sign{.text = "bochs", .name = "bochs"},
    Sign{.text = "parallels", .name = "parallels"},
    Sign{.text = "bhyve", .name = "bhyve"},
    Sign{.text = "hyper-v", .name = "hyperv"},
    Sign{.text = "virtual machine", .name = "hyperv"},
    Sign{.text = "openstack", .name = "kvm"},
    Sign{.text = "alibaba cloud", .name = "kvm"},
    Sign{.text = "apple virtualization", .name = "apple"},
};

template <std::size_t N>
std::string_view look_up(const std::array<Sign, N>& signs, std::string_view text) {
    for (const Sign& sign : signs)
        if (text.starts_with(sign.text)) return sign.name;
    return {};
}

std::string_view by_firmware(const Firmware& firmware) {
    const std::string product = lower(firmware.product);
    // Amazon's and Alibaba's bare-metal machines have the clouds' names too: "c7g.metal".
    if (contains(product, ".metal") || contains(product, "ebm")) return "none";
    const std::string vendor = lower(firmware.vendor);
    const auto name = look_up(firmware_signs, product);
    return name.empty() ? look_up(firmware_signs, vendor) : name;
}

/// Xen's first domain sees the real hardware.
bool is_first_domain(const Files& files) {
    return contains(files.line("/proc/xen/capabilities"), "control_d");
}

} // namespace

std::string ask_hypervisor() {
#if defined(__x86_64__)
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    // Leaf 1, ECX bit 31: a hypervisor is present; the other leaf means nothing without it.
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || ((ecx >> 31U) & 1U) == 0) return {};
    __cpuid(0x40000000U, eax, ebx, ecx, edx);
    std::array<char, 12> letters{};
    std::memcpy(letters.data(), &ebx, 4);
    std::memcpy(letters.data() + 4, &ecx, 4);
    std::memcpy(letters.data() + 8, &edx, 4);
    std::string text{letters.data(), letters.size()};
    return std::string{trim(text.substr(0, text.find('\0')))};
#else
    return {};
#endif
}

std::string virtualization(const Files& files, const Firmware& firmware, std::string_view signature,
                           std::optional<bool> is_guest) {
    if (is_first_domain(files)) return "none";
    if (const auto name = look_up(signatures, signature); !name.empty()) return std::string{name};
    if (const std::string type = files.line("/sys/hypervisor/type"); !type.empty()) return type;
    const std::string tree = files.line("/proc/device-tree/hypervisor/compatible");
    if (contains(tree, "kvm")) return "kvm";
    if (contains(tree, "xen")) return "xen";
    if (const auto name = by_firmware(firmware); !name.empty()) return std::string{name};
    if (is_guest.value_or(false) || !signature.empty()) return "other";
    // A vendor that is neither cloud nor hypervisor sells hardware.
    return is_guest || !firmware.vendor.empty() ? "none" : "";
}

std::string container(const Files& files) {
    if (files.exists("/var/run/secrets/kubernetes.io")) return "kubernetes";
    if (std::string name = files.line("/run/systemd/container"); !name.empty()) return name;
    if (files.exists("/.dockerenv")) return "docker";
    if (files.exists("/run/.containerenv")) return "podman";
    if (files.exists("/.singularity.d")) return "apptainer";
    const std::string groups = files.text("/proc/self/cgroup") + files.text("/proc/1/cgroup");
    constexpr std::array signs = {
        Sign{.text = "kubepods", .name = "kubernetes"}, Sign{.text = "/docker", .name = "docker"},
        Sign{.text = "libpod", .name = "podman"}, Sign{.text = "/lxc", .name = "lxc"},
        Sign{.text = "containerd", .name = "containerd"}};
    for (const Sign& sign : signs)
        if (contains(groups, sign.text)) return std::string{sign.name};
    if (contains(lower(files.line("/proc/sys/kernel/osrelease")), "microsoft")) return "wsl";
    return {};
}

namespace {

struct ProviderSign {
    std::string Firmware::* field;
    std::string_view begins; ///< in lower case
    std::string_view provider;
};
// Marks that each provider sets in its machines' firmware, as cloud-init's ds-identify and systemd's detect-virt
// look for it. OpenStack last: many providers are built on it.
constexpr std::array signs = {
    ProviderSign{.field = &Firmware::vendor, .begins = "amazon ec2", .provider = "aws"},
    ProviderSign{.field = &Firmware::product, .begins = "google compute engine", .provider = "gcp"},
    ProviderSign{.field = &Firmware::chassis_tag,
                 .begins = "7783-7084-3265-9085-8269-3286-77",
                 .provider = "azure"},
    ProviderSign{.field = &Firmware::chassis_tag, .begins = "oraclecloud.com", .provider = "oci"},
    ProviderSign{.field = &Firmware::vendor, .begins = "alibaba cloud", .provider = "alibaba"},
    ProviderSign{.field = &Firmware::vendor, .begins = "tencent cloud", .provider = "tencent"},
    ProviderSign{.field = &Firmware::vendor, .begins = "digitalocean", .provider = "digitalocean"},
    ProviderSign{.field = &Firmware::vendor, .begins = "hetzner", .provider = "hetzner"},
    ProviderSign{.field = &Firmware::vendor, .begins = "upcloud", .provider = "upcloud"},
    ProviderSign{.field = &Firmware::vendor, .begins = "vultr", .provider = "vultr"},
    ProviderSign{.field = &Firmware::vendor, .begins = "scaleway", .provider = "scaleway"},
    ProviderSign{.field = &Firmware::vendor, .begins = "linode", .provider = "linode"},
    ProviderSign{.field = &Firmware::vendor, .begins = "exoscale", .provider = "exoscale"},
    ProviderSign{.field = &Firmware::chassis_tag, .begins = "huaweicloud", .provider = "huawei"},
    ProviderSign{.field = &Firmware::chassis_tag, .begins = "opentelekomcloud", .provider = "otc"},
    ProviderSign{.field = &Firmware::product, .begins = "openstack", .provider = "openstack"},
    ProviderSign{.field = &Firmware::vendor, .begins = "openstack", .provider = "openstack"},
};

std::string_view provider_by_firmware(const Firmware& firmware) {
    for (const ProviderSign& sign : signs)
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
    // 64: names of instance types are short; longer text is something else.
    const bool is_name =
        text.size() <= 64 && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
    return is_name ? text : std::string{};
}

/// The first of these that is there.
template <std::size_t N>
std::string text_at(const json::Value& value, const std::array<std::string_view, N>& paths) {
    for (const std::string_view path : paths)
        if (std::string name = text_at(value, path); !name.empty()) return name;
    return {};
}

/// The world-readable data of cloud-init.
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
    return text_at(data, paths);
}

std::string region_by_cloud_init(const json::Value& data) {
    constexpr std::array<std::string_view, 3> paths = {
        "v1/region", "ds/meta_data/placement/region",
        "ds/meta_data/imds/compute/location", // Azure
    };
    return text_at(data, paths);
}

std::string zone_by_cloud_init(const json::Value& data) {
    constexpr std::array<std::string_view, 4> paths = {
        "v1/availability_zone", "ds/meta_data/placement/availability-zone",
        "ds/meta_data/availability-zone",
        "ds/meta_data/imds/compute/zone", // Azure
    };
    return text_at(data, paths);
}

/// Ids that cloud-init gives to instances without a cloud, and examples of its manual.
constexpr std::array<std::string_view, 5> no_instances = {"iid-datasource-none", "nocloud",
                                                          "iid-local01", "i-00000000", "unknown"};

std::string instance_id(const Files& files, const std::optional<json::Value>& data) {
    constexpr std::array<std::string_view, 3> paths = {"v1/instance_id", "v1/instance-id",
                                                       "ds/meta_data/instance-id"};
    std::string id = data ? text_at(*data, paths) : std::string{};
    // On disk: of this boot only if cloud-init ran since then, otherwise it may be of the image.
    if (id.empty() && files.exists("/run/cloud-init"))
        id = files.line("/var/lib/cloud/data/instance-id");
    id = lower(id);
    // 6: shorter ones are numbers that people gave.
    const bool is_usable =
        id.size() >= 6 && std::ranges::find(no_instances, id) == no_instances.end();
    return is_usable ? id : std::string{};
}

/// Only Amazon names the instance's type in the firmware.
std::string instance_by_firmware(std::string_view provider, const Firmware& firmware) {
    const bool is_type = provider == "aws" && contains(firmware.product, ".");
    return is_type ? firmware.product : std::string{};
}

std::string provider_by_cloud_init(const json::Value& data) {
    std::string name = lower(text_at(data, "v1/cloud_name"));
    if (name == "gce") return "gcp";
    if (name == "oracle") return "oci";
    if (name == "aliyun") return "alibaba";
    // Not clouds: where cloud-init found its data.
    if (name == "nocloud" || name == "none" || name == "configdrive") return {};
    return name;
}

struct Burstable {
    std::string_view provider;
    std::string_view begins; ///< in lower case
};
// The providers' descriptions of these families: Amazon "Burstable performance instances", Azure "B family", Google
// "Shared-core machine types", Alibaba "Burstable instances", Oracle "Micro".
constexpr std::array burstables = {
    Burstable{.provider = "aws", .begins = "t1."},
    Burstable{.provider = "aws", .begins = "t2."},
    Burstable{.provider = "aws", .begins = "t3."},
    Burstable{.provider = "aws", .begins = "t3a."},
    Burstable{.provider = "aws", .begins = "t4g."},
    Burstable{.provider = "azure", .begins = "standard_b"},
    Burstable{.provider = "gcp", .begins = "e2-micro"},
    Burstable{.provider = "gcp", .begins = "e2-small"},
    Burstable{.provider = "gcp", .begins = "e2-medium"},
    Burstable{.provider = "gcp", .begins = "f1-micro"},
    Burstable{.provider = "gcp", .begins = "g1-small"},
    Burstable{.provider = "alibaba", .begins = "ecs.t5-"},
    Burstable{.provider = "alibaba", .begins = "ecs.t6-"},
    Burstable{.provider = "oci", .begins = "vm.standard.e2.1.micro"},
};
bool is_burstable(std::string_view provider, const std::string& instance) {
    return std::ranges::any_of(burstables, [&](const Burstable& one) {
        return provider == one.provider && lower(instance).starts_with(one.begins);
    });
}

} // namespace

Cloud read_cloud(const Files& files, const Firmware& firmware) {
    Cloud cloud;
    cloud.provider = provider_by_firmware(firmware);
    cloud.instance = instance_by_firmware(cloud.provider, firmware);
    const auto data = read_cloud_init(files);
    if (data) {
        if (cloud.provider.empty()) cloud.provider = provider_by_cloud_init(*data);
        if (cloud.instance.empty()) cloud.instance = instance_by_cloud_init(*data);
        cloud.region = region_by_cloud_init(*data);
        cloud.zone = zone_by_cloud_init(*data);
    }
    cloud.burstable = is_burstable(cloud.provider, cloud.instance);
    // Two providers, or two machines without one, may use the same ids.
    if (!cloud.provider.empty()) cloud.instance_id = instance_id(files, data);
    if (cloud.provider.empty()) cloud.provider = "unknown";
    if (cloud.instance.empty()) cloud.instance = firmware.product;
    if (cloud.instance.empty()) cloud.instance = "unknown";
    return cloud;
}

} // namespace assay::machine
