// SPDX-License-Identifier: Apache-2.0

#include "machine/nvml.hpp"

#include "base/text.hpp"
#include "machine/nvml_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace assay::machine {
namespace {

/// The code of a missing reading.
bool is_absent(int code) {
    constexpr std::array absent{nvml::not_supported,
                                nvml::no_permission,
                                nvml::function_not_found,
                                nvml::no_data,
                                nvml::argument_version_mismatch,
                                nvml::deprecated};
    return std::ranges::find(absent, code) != absent.end();
}

double number_in(const nvml::FieldValue& field) {
    const auto as = [&]<class T>(T value) {
        std::memcpy(&value, field.value.data(), sizeof value);
        return static_cast<double>(value);
    };
    switch (field.type) {
    case nvml::type_double:
        return as(double{});
    case nvml::type_uint:
        return as(std::uint32_t{});
    case nvml::type_longlong:
        return as(std::int64_t{});
    case nvml::type_int:
        return as(std::int32_t{});
    case nvml::type_ushort:
        return as(std::uint16_t{});
    default: // unsigned long (64 bits on Linux) and unsigned long long
        return as(std::uint64_t{});
    }
}

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10); // 12040 is 12.4
}

tl::unexpected<Error> no_library(std::string text) {
    return fail("NVIDIA's management library " + std::move(text), Fault::environment);
}

std::string why_not_started(const Nvml::Library& library, int code) {
    switch (code) {
    case nvml::function_not_found:
        return "has no nvmlInit_v2: it is another library, or older than any driver assay knows";
    case nvml::driver_not_loaded:
        return "does not start, because the driver is not loaded: `modprobe nvidia` as root, or "
               "install it for this kernel";
    case nvml::version_mismatch:
        return "does not start, because it is of another version than the driver that is loaded: "
               "restart the machine after an update of the driver";
    case nvml::no_permission:
        return "does not start, because this user may not open /dev/nvidiactl";
    default:
        return fmt::format("does not start: {} ({} of {})", library.meaning(code), code,
                           library.init.name);
    }
}

} // namespace

std::string clean_text(std::span<const char> buffer) {
    std::string text{buffer.begin(), std::ranges::find(buffer, '\0')};
    std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
    return tidied(text);
}

// --- the library ----------------------------------------------------------------------------------

Nvml::Library::~Library() {
    if (started) shutdown();
    ::dlclose(library);
}

std::string Nvml::Library::meaning(int code) const {
    const auto describe =
        reinterpret_cast<const char* (*)(int)>(::dlsym(library, "nvmlErrorString"));
    const char* text = describe == nullptr ? nullptr : describe(code);
    constexpr std::size_t longest = 200;
    return text == nullptr ? "unknown error" : clean_text({text, ::strnlen(text, longest)});
}

Result<Nvml> Nvml::open(const std::filesystem::path& library) {
    // Never unloaded: driver libraries do not support it.
    void* found = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (found == nullptr) return no_library(fmt::format("cannot be loaded: {}", ::dlerror()));
    const auto loaded = std::make_shared<Library>(found);
    const int code = loaded->init();
    if (code != nvml::success) return no_library(why_not_started(*loaded, code));
    loaded->started = true;
    Nvml opened{loaded};
    const std::string driver = opened.driver_version();
    std::from_chars(driver.data(), driver.data() + driver.size(), loaded->branch);
    return opened;
}

Nvml::Nvml(std::shared_ptr<const Library> library) : library_{std::move(library)} {}

std::string Nvml::driver_version() const {
    std::array<char, 96> buffer{};
    return library_->driver_version(buffer.data(), buffer.size()) == nvml::success
               ? clean_text(buffer)
               : std::string{};
}

std::string Nvml::cuda_version() const {
    int version = 0;
    return library_->cuda_version(&version) == nvml::success && version > 0 ? version_text(version)
                                                                            : std::string{};
}

std::optional<bool> Nvml::confidential() const {
    nvml::ConfidentialState state{};
    if (library_->confidential(&state) != nvml::success) return {};
    return state.feature == 1;
}

Nvml::Devices Nvml::devices() const {
    Devices found;
    unsigned count = 0;
    if (const int code = library_->count(&count); code != nvml::success) {
        found.problems.push_back(fmt::format("the devices cannot be counted: {} ({} of {})",
                                             library_->meaning(code), code, library_->count.name));
        return found;
    }
    constexpr unsigned most = 1024; // more than any machine has: a guard against nonsense
    for (unsigned i = 0; i < std::min(count, most); ++i) {
        Handle handle = nullptr;
        const int code = library_->by_index(i, &handle);
        if (code == nvml::success)
            found.whole.push_back(NvmlDevice{std::make_unique<NvmlDevice::State>(
                NvmlDevice::State{.library = library_,
                                  .handle = handle,
                                  .whole = handle,
                                  .index = static_cast<int>(i)})});
        else
            found.problems.push_back(fmt::format("device {} does not answer: {} ({} of {})", i,
                                                 library_->meaning(code), code,
                                                 library_->by_index.name));
    }
    return found;
}

Result<NvmlDevice> Nvml::find(const std::string& name) const {
    const bool is_address = name.find(':') != std::string::npos;
    NvmlDevice::State state{.library = library_};
    const auto& lookup = is_address ? library_->by_address : library_->by_uuid;
    const int code = lookup(name.c_str(), &state.handle);
    if (code != nvml::success)
        return fail(fmt::format("the driver knows no device {}: {} ({} of {})", name,
                                library_->meaning(code), code, lookup.name),
                    Fault::environment);
    state.whole = state.handle;
    unsigned part = 0;
    state.is_part = library_->is_part(state.handle, &part) == nvml::success && part != 0 &&
                    library_->whole_of(state.handle, &state.whole) == nvml::success;
    unsigned index = 0;
    if (library_->index(state.whole, &index) == nvml::success && std::in_range<int>(index))
        state.index = static_cast<int>(index);
    return NvmlDevice{std::make_unique<NvmlDevice::State>(std::move(state))};
}

// --- a device -------------------------------------------------------------------------------------

NvmlDevice::NvmlDevice(std::unique_ptr<State> state) : state_{std::move(state)} {}
NvmlDevice::NvmlDevice(NvmlDevice&& other) noexcept = default;
NvmlDevice& NvmlDevice::operator=(NvmlDevice&& other) noexcept = default;
NvmlDevice::~NvmlDevice() = default;

bool NvmlDevice::is_part() const { return state_->is_part; }
const std::string& NvmlDevice::problem() const { return state_->problem; }
bool NvmlDevice::is_denied() const { return state_->is_denied; }

bool NvmlDevice::State::good(int code, std::string_view function) {
    if (code == nvml::success) return true;
    is_denied |= code == nvml::no_permission;
    if (!is_absent(code) && problem.empty())
        problem = fmt::format("{} ({} of {})", library->meaning(code), code, function);
    return false;
}

std::vector<std::optional<double>> NvmlDevice::State::fields(std::span<const Field> wanted) {
    std::vector<nvml::FieldValue> values;
    values.reserve(wanted.size());
    for (const auto& [number, scope] : wanted)
        values.push_back({.field = number, .scope = scope, .result = nvml::no_data});
    std::vector<std::optional<double>> found(wanted.size());
    if (!call(library->fields, whole, static_cast<int>(values.size()), values.data())) return found;
    for (std::size_t i = 0; i < values.size(); ++i) {
        // A driver answers unknown readings with one of several codes: only a lost device is
        // reported.
        if (values[i].result == nvml::success) found[i] = number_in(values[i]);
        if (values[i].result == nvml::gpu_is_lost) good(nvml::gpu_is_lost, library->fields.name);
    }
    return found;
}

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
        const int code = state_->library->nvlink_state(state_->whole, link, &is_up);
        if (code == nvml::no_permission) { // more may be up than are shown
            state_->is_denied = true;
            return {};
        }
        // Missing links are answered with an error, which says nothing about the device's health.
        if (code == nvml::success) up = up.value_or(0) + (is_up != 0 ? 1 : 0);
    }
    return up;
}

record::DeviceFabric NvmlDevice::fabric() {
    nvml::FabricInfo info{.version = nvml::fabric_version};
    if (!state_->call(state_->library->fabric, state_->whole, &info) || info.state == 0 ||
        info.state >= nvml::fabric_states.size())
        return {};
    record::DeviceFabric found{.state = nvml::fabric_states.at(info.state)};
    if (found.state != "completed") return found;
    found.status = info.status;
    found.clique = static_cast<int>(info.clique);
    for (std::size_t i = 0; i < nvml::fabric_faults.size(); ++i)
        if (((info.health >> (2 * i)) & 3U) == 1)
            found.health.emplace_back(nvml::fabric_faults.at(i));
    return found;
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
        device.multiprocessors = machine::multiprocessors(*cores, major, minor);
    device.memory_bus_bits = s.count(nvml.bus_width);
    device.nvlinks = nvlinks();
    device.fabric = fabric();
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

} // namespace assay::machine
