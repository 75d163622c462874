// SPDX-License-Identifier: Apache-2.0
//
// The loaded management library and its devices: for nvml*.cpp only.

#pragma once

#include "machine/nvml.hpp"
#include "machine/nvml_abi.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assay::machine {

using nvml::Handle;

/// A function of the library, or none of that name.
template <class... Arguments>
struct Function {
    using Pointer = int (*)(Arguments...);

    Function(void* library, const char* its_name)
        : name{its_name}, pointer{reinterpret_cast<Pointer>(::dlsym(library, its_name))} {}
    int operator()(std::type_identity_t<Arguments>... arguments) const {
        return pointer == nullptr ? nvml::function_not_found : pointer(arguments...);
    }

    const char* name;
    Pointer pointer;
};

using Text = Function<Handle, char*, unsigned>;
using Number = Function<Handle, unsigned*>;

/// Up to its end, printable, one blank between words.
std::string clean_text(std::span<const char> buffer);

/// Shut down when the last of its devices is gone.
struct Nvml::Library {
    explicit Library(void* found) : library{found} {}
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    Library(Library&&) = delete;
    Library& operator=(Library&&) = delete;
    ~Library();

    /// The library's text for a code.
    std::string meaning(int code) const;

    void* library;
    bool started = false;
    int branch = 0; ///< of the driver: 580 of 580.65.06; 0 where it does not say

    Function<> init{library, "nvmlInit_v2"};
    Function<> shutdown{library, "nvmlShutdown"};
    Function<char*, unsigned> driver_version{library, "nvmlSystemGetDriverVersion"};
    Function<int*> cuda_version{library, "nvmlSystemGetCudaDriverVersion_v2"};
    Function<nvml::ConfidentialState*> confidential{library, "nvmlSystemGetConfComputeState"};

    Function<unsigned*> count{library, "nvmlDeviceGetCount_v2"};
    Function<unsigned, Handle*> by_index{library, "nvmlDeviceGetHandleByIndex_v2"};
    Function<const char*, Handle*> by_uuid{library, "nvmlDeviceGetHandleByUUID"};
    Function<const char*, Handle*> by_address{library, "nvmlDeviceGetHandleByPciBusId_v2"};
    Number is_part{library, "nvmlDeviceIsMigDeviceHandle"};
    Function<Handle, Handle*> whole_of{library, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle"};
    Function<Handle, unsigned*, unsigned*> division{library, "nvmlDeviceGetMigMode"};
    Number most_parts{library, "nvmlDeviceGetMaxMigDeviceCount"};
    Function<Handle, unsigned, Handle*> part{library, "nvmlDeviceGetMigDeviceHandleByIndex"};
    Function<Handle, nvml::Attributes*> attributes{library, "nvmlDeviceGetAttributes_v2"};

    Text uuid{library, "nvmlDeviceGetUUID"};
    Text name{library, "nvmlDeviceGetName"};
    Text serial{library, "nvmlDeviceGetSerial"};
    Text vbios{library, "nvmlDeviceGetVbiosVersion"};
    Text inforom{library, "nvmlDeviceGetInforomImageVersion"};
    Number index{library, "nvmlDeviceGetIndex"};
    Function<Handle, nvml::PciInfo*> pci{library, "nvmlDeviceGetPciInfo_v3"};
    Function<Handle, int*, int*> capability{library, "nvmlDeviceGetCudaComputeCapability"};
    Number cores{library, "nvmlDeviceGetNumGpuCores"};
    Function<Handle, nvml::MemoryInfo*> memory{library, "nvmlDeviceGetMemoryInfo_v2"};
    Number bus_width{library, "nvmlDeviceGetMemoryBusWidth"};
    Function<Handle, int, unsigned*> max_clock{library, "nvmlDeviceGetMaxClockInfo"};
    Number power_limit{library, "nvmlDeviceGetEnforcedPowerLimit"};
    Number power_default{library, "nvmlDeviceGetPowerManagementDefaultLimit"};
    Function<Handle, int*, int*> ecc_mode{library, "nvmlDeviceGetEccMode"};
    Function<Handle, int*> virtualization{library, "nvmlDeviceGetVirtualizationMode"};
    Function<Handle, int*> persistence{library, "nvmlDeviceGetPersistenceMode"};

    Function<Handle, int, nvml::FieldValue*> fields{library, "nvmlDeviceGetFieldValues"};
    Number power{library, "nvmlDeviceGetPowerUsage"};
    Function<Handle, int, unsigned*> clock{library, "nvmlDeviceGetClockInfo"};
    Function<Handle, nvml::Temperature*> temperature{library, "nvmlDeviceGetTemperatureV"};
    Function<Handle, int, unsigned*> old_temperature{library, "nvmlDeviceGetTemperature"};
    Function<Handle, unsigned long long*> reasons{library,
                                                  "nvmlDeviceGetCurrentClocksEventReasons"};
    Function<Handle, unsigned long long*> old_reasons{library,
                                                      "nvmlDeviceGetCurrentClocksThrottleReasons"};
    Function<Handle, unsigned long long*> energy{library, "nvmlDeviceGetTotalEnergyConsumption"};
    Function<Handle, int, int, unsigned long long*> ecc_errors{library,
                                                               "nvmlDeviceGetTotalEccErrors"};
    Function<Handle, unsigned*, unsigned*, unsigned*, unsigned*> remapped{
        library, "nvmlDeviceGetRemappedRows"};
    Number pcie_generation{library, "nvmlDeviceGetCurrPcieLinkGeneration"};
    Number pcie_width{library, "nvmlDeviceGetCurrPcieLinkWidth"};
    Number pcie_generation_max{library, "nvmlDeviceGetMaxPcieLinkGeneration"};
    Number pcie_width_max{library, "nvmlDeviceGetMaxPcieLinkWidth"};
    Function<Handle, unsigned, int*> nvlink_state{library, "nvmlDeviceGetNvLinkState"};
    Function<Handle, nvml::FabricInfo*> fabric{library, "nvmlDeviceGetGpuFabricInfoV"};
    Number pcie_replays{library, "nvmlDeviceGetPcieReplayCounter"};
    Function<Handle, unsigned*, nvml::ProcessInfo*> processes{
        library, "nvmlDeviceGetComputeRunningProcesses_v3"};
};

struct NvmlDevice::State {
    /// Did the call succeed? Remembers the first failure.
    bool good(int code, std::string_view function);
    template <class Called, class... Arguments>
    bool call(const Called& function, Arguments... arguments) {
        return good(function(arguments...), function.name);
    }
    std::string text(const Text& function, Handle of) {
        constexpr unsigned longest = 96; // the library's own buffers have no more
        std::array<char, longest> buffer{};
        return call(function, of, buffer.data(), longest) ? clean_text(buffer) : std::string{};
    }
    std::string text(const Text& function) { return text(function, handle); }
    std::optional<double> number(const Number& function, double scale = 1) {
        unsigned value = 0;
        if (!call(function, whole, &value)) return {};
        return value * scale;
    }
    std::optional<int> count(const Number& function) {
        unsigned value = 0;
        if (!call(function, whole, &value) || !std::in_range<int>(value)) return {};
        return static_cast<int>(value);
    }
    template <class Called>
    std::optional<double> hertz(const Called& function, int clock) {
        unsigned megahertz = 0;
        if (!call(function, whole, clock, &megahertz)) return {};
        return megahertz * 1e6;
    }
    std::optional<double> milli(const Number& function) {
        return is_part ? std::nullopt : number(function, 1e-3);
    }
    struct Field {
        std::uint32_t number;
        std::uint32_t scope = 0;
    };
    /// One for each, where there is one.
    std::vector<std::optional<double>> fields(std::span<const Field> wanted);

    std::shared_ptr<const Nvml::Library> library;
    Handle handle = nullptr;
    Handle whole = nullptr; ///< the same unless this is a part
    bool is_part = false;
    int index = 0;
    std::string problem;
    bool is_denied = false;
};

} // namespace assay::machine
