// SPDX-License-Identifier: Apache-2.0
#include "machine/guest.hpp"

#include "base/text.hpp"

#include <array>
#include <cstring>

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
    // Amazon's and Alibaba's whole machines bear the names of the clouds too: "c7g.metal".
    if (contains(product, ".metal") || contains(product, "ebm")) return "none";
    const std::string vendor = lower(firmware.vendor);
    const auto name = look_up(firmware_signs, product);
    return name.empty() ? look_up(firmware_signs, vendor) : name;
}

/// Xen's first domain sees the hardware as it is.
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
    // A vendor who is no cloud and no hypervisor sells hardware.
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

} // namespace assay::machine
