// SPDX-License-Identifier: Apache-2.0
#include "driver/nvml.hpp"
#include "driver/nvml_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::driver {
namespace {

struct Architecture {
    int major;
    int minor; ///< from this one on
    int cores; ///< FP32 cores of a multiprocessor
};
// From NVIDIA's white papers of each architecture, newest first.
constexpr std::array architectures{
    Architecture{.major = 12, .minor = 0, .cores = 128}, // Blackwell: graphics
    Architecture{.major = 11, .minor = 0, .cores = 128}, // Blackwell: Thor
    Architecture{.major = 10, .minor = 0, .cores = 128}, // Blackwell: data centre
    Architecture{.major = 9, .minor = 0, .cores = 128},  // Hopper
    Architecture{.major = 8, .minor = 6, .cores = 128},  // Ampere: graphics; Ada
    Architecture{.major = 8, .minor = 0, .cores = 64},   // Ampere: A100
    Architecture{.major = 7, .minor = 0, .cores = 64},   // Volta, Turing
    Architecture{.major = 6, .minor = 1, .cores = 128},  // Pascal: graphics
    Architecture{.major = 6, .minor = 0, .cores = 64},   // Pascal: P100
};

/// "NVIDIA A100-SXM4-80GB MIG 1g.10gb" -> "mig 1g.10gb"
std::string mode_of_part(const std::string& name, const nvml::Attributes& attributes) {
    constexpr std::string_view mark = " MIG ";
    const auto at = name.find(mark);
    if (at != std::string::npos) return "mig " + name.substr(at + mark.size());
    if (attributes.gpu_slices == 0) return "mig";
    // Names are rounded up to whole GiB.
    return fmt::format("mig {}g.{}gb", attributes.gpu_slices,
                       (attributes.memory_mebibytes + 1023) / 1024);
}

} // namespace

std::optional<int> multiprocessors(int cores, int major, int minor) {
    const auto known = std::ranges::find_if(architectures, [&](const Architecture& one) {
        return one.major == major && one.minor <= minor;
    });
    if (known == architectures.end() || cores <= 0 || cores % known->cores != 0) return {};
    return cores / known->cores;
}

std::optional<int> NvmlDevice::nvlinks() {
    std::optional<int> up;
    for (unsigned link = 0; link < nvml::most_links; ++link) {
        int is_up = 0;
        // Missing links are answered with an error, which says nothing about the device's health.
        if (state_->library->nvlink_state(state_->whole, link, &is_up) != nvml::success) break;
        up = up.value_or(0) + (is_up != 0 ? 1 : 0);
    }
    return up;
}

record::Device NvmlDevice::describe() {
    State& s = *state_;
    const Nvml::Library& nvml = *s.library;
    record::Device device{.kind = "cuda", .index = s.index, .uuid = s.text(nvml.uuid)};
    device.name = s.text(nvml.name);
    device.pci_address = pci_address();
    int major = 0;
    int minor = 0;
    if (s.call(nvml.capability, s.whole, &major, &minor))
        device.compute_capability = fmt::format("{}.{}", major, minor);
    nvml::MemoryInfo memory{.version = nvml::memory_version};
    if (s.call(nvml.memory, s.handle, &memory) && std::in_range<std::int64_t>(memory.total))
        device.memory_bytes = static_cast<std::int64_t>(memory.total);
    device.clock_max_hz = s.hertz(nvml.max_clock, nvml::clock_sm);
    device.memory_clock_max_hz = s.hertz(nvml.max_clock, nvml::clock_memory);
    device.firmware = {.vbios = s.text(nvml.vbios, s.whole),
                       .inforom = s.text(nvml.inforom, s.whole)};
    int ecc = 0;
    int ecc_after_restart = 0;
    if (s.call(nvml.ecc_mode, s.whole, &ecc, &ecc_after_restart)) device.ecc = ecc != 0;
    if (s.is_part) {
        describe_part(device);
        return device;
    }
    if (const auto cores = s.count(nvml.cores))
        device.multiprocessors = driver::multiprocessors(*cores, major, minor);
    device.memory_bus_bits = s.count(nvml.bus_width);
    device.nvlinks = nvlinks();
    device.power_limit_watts = s.milli(nvml.power_limit);
    device.power_limit_default_watts = s.milli(nvml.power_default);
    int virtualization = 0;
    unsigned divided = 0;
    unsigned divided_after_restart = 0;
    if (s.call(nvml.virtualization, s.whole, &virtualization) &&
        virtualization == nvml::virtual_gpu)
        device.mode = "vgpu";
    if (s.call(nvml.division, s.whole, &divided, &divided_after_restart) && divided != 0)
        device.mode = "mig";
    return device;
}

std::string NvmlDevice::pci_address() {
    State& s = *state_;
    nvml::PciInfo pci{};
    return s.call(s.library->pci, s.whole, &pci)
               ? fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device)
               : std::string{};
}

std::string NvmlDevice::serial() {
    State& s = *state_;
    auto serial = s.text(s.library->serial);
    return serial.empty() ? s.text(s.library->uuid) : serial;
}

void NvmlDevice::describe_part(record::Device& device) {
    State& s = *state_;
    nvml::Attributes attributes{};
    if (s.call(s.library->attributes, s.handle, &attributes) && attributes.multiprocessors > 0)
        device.multiprocessors = static_cast<int>(attributes.multiprocessors);
    device.mode = mode_of_part(device.name, attributes);
}

std::vector<NvmlDevice> NvmlDevice::parts() {
    State& s = *state_;
    std::vector<NvmlDevice> found;
    unsigned divided = 0;
    unsigned divided_after_restart = 0;
    unsigned most = 0;
    if (s.is_part || !s.call(s.library->division, s.whole, &divided, &divided_after_restart) ||
        divided == 0 || !s.call(s.library->most_parts, s.whole, &most))
        return found;
    constexpr unsigned sensible = 64; // seven is the most that any device has
    for (unsigned i = 0; i < std::min(most, sensible); ++i) {
        Handle part = nullptr;
        // Empty slots are answered with "not found".
        if (s.library->part(s.whole, i, &part) != nvml::success) continue;
        found.push_back(NvmlDevice{std::make_unique<State>(State{.library = s.library,
                                                                 .handle = part,
                                                                 .whole = s.whole,
                                                                 .is_part = true,
                                                                 .index = s.index})});
    }
    return found;
}

} // namespace assay::driver
