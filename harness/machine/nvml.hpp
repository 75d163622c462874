// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA devices as their driver's management library (NVML) describes them. The library is loaded
// if it exists; each of its functions may be missing, and each reading may be absent: the device has no
// sensor, the driver is older, the user lacks permission. That is not an error. Other failures (the device
// fell off the bus) leave readings absent too, and `problem()` has the reason.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::machine {

/// Found in the system's folders for libraries.
inline constexpr std::string_view nvml_library = "libnvidia-ml.so.1";

/// The present readings of a device.
struct DeviceReadings {
    std::optional<double> power_watts;
    std::optional<double> clock_hz; ///< of the multiprocessors
    std::optional<double> memory_clock_hz;
    std::optional<double> temperature_celsius;
    std::optional<double> memory_temperature_celsius;
    std::optional<int> pcie_generation; ///< of the link now: it slows down when idle
    std::optional<int> pcie_width;
    /// Reasons for reduced clocks: "power_cap", "thermal", "hardware_thermal",
    /// "power_brake", "hardware_slowdown", "sync_boost", "clock_setting", "display".
    std::optional<std::vector<std::string>> throttles;
};

/// Counters of a device, for differences between two moments.
struct DeviceCounters {
    std::optional<double> energy_joules;     ///< since the driver was loaded
    std::map<std::string, double> throttled; ///< seconds by reason, for the counted ones
    /// Where the firmware counts its looks instead of seconds: all, and those that found the reason.
    std::optional<double> looks;
    std::map<std::string, double> throttled_looks;
    std::optional<std::int64_t> ecc_corrected;
    std::optional<std::int64_t> ecc_uncorrected;
    std::optional<std::int64_t> pcie_replays;
    std::optional<std::int64_t> nvlink_received_bytes;
    std::optional<std::int64_t> nvlink_sent_bytes;
};

/// Slowly changing readings of a device's health.
struct DeviceHealth {
    std::optional<std::int64_t> remapped_rows_corrected;
    std::optional<std::int64_t> remapped_rows_uncorrected;
    std::optional<bool> remapping_pending;
    std::optional<bool> remapping_failed;
    std::optional<int> pcie_generation_max;
    std::optional<int> pcie_width_max;
    std::optional<bool> persistence; ///< the driver keeps it initialised without users
};

/// A device or, if it is divided (MIG), a part of one. A part has no sensors or counters of its own:
/// readings are those of the whole device, except for power, energy and NVLink, which parts share and
/// which are therefore absent.
class NvmlDevice {
public:
    NvmlDevice(NvmlDevice&& other) noexcept;
    NvmlDevice& operator=(NvmlDevice&& other) noexcept;
    NvmlDevice(const NvmlDevice&) = delete;
    NvmlDevice& operator=(const NvmlDevice&) = delete;
    ~NvmlDevice();

    record::Device describe();
    std::string serial(); ///< the UUID if it tells none
    std::string pci_address();
    /// Errors of its NVLinks since the driver was loaded, all links together, by name.
    std::map<std::string, std::int64_t> link_errors();
    DeviceReadings readings();
    DeviceCounters counters();
    DeviceHealth health();
    std::optional<double> clock_hz(); ///< that of readings()
    /// The processes that use it, by the driver's ids: in a container they may differ from the
    /// process's own.
    std::optional<std::vector<int>> processes();
    /// Empty unless it is divided.
    std::vector<NvmlDevice> parts();
    bool is_part() const;
    /// The first failure, as a sentence; empty: none.
    const std::string& problem() const;
    /// Did the driver refuse this user a reading?
    bool is_denied() const;

private:
    friend class Nvml;
    struct State; // nvml_library.hpp
    explicit NvmlDevice(std::unique_ptr<State> state);
    void describe_part(record::Device& device);
    void count_nvlink(DeviceCounters& now);
    std::optional<int> nvlinks();
    record::DeviceFabric fabric();
    std::unique_ptr<State> state_;
};

class Nvml {
public:
    /// The error says why it failed: no driver, or one that does not work.
    static Result<Nvml> open(const std::filesystem::path& library = nvml_library);

    std::string driver_version() const; ///< "580.65.06"; empty when not known
    std::string cuda_version() const;   ///< "13.0": the newest that the driver runs
    std::optional<bool> confidential() const;

    struct Devices {
        std::vector<NvmlDevice> whole;     ///< in the order of their PCI addresses
        std::vector<std::string> problems; ///< of devices that do not answer
    };
    Devices devices() const;
    /// By UUID ("GPU-...", "MIG-...") or PCI address.
    Result<NvmlDevice> find(const std::string& name) const;

    struct Library; ///< nvml_library.hpp

private:
    explicit Nvml(std::shared_ptr<const Library> library);
    std::shared_ptr<const Library> library_;
};

/// The number of multiprocessors with this many cores; nothing for unknown compute capabilities.
std::optional<int> multiprocessors(int cores, int major, int minor);

// The makers' own programs, for what a user does about a device. `kind` is record::Device::kind.

/// Raises a power limit, as root.
constexpr std::string_view power_limit_command(std::string_view kind) {
    return kind == "hip" ? "amd-smi set --power-cap" : "nvidia-smi -pl";
}
/// Shows who computes on a device.
constexpr std::string_view processes_command(std::string_view kind) {
    return kind == "hip" ? "amd-smi process" : "nvidia-smi";
}

} // namespace assay::machine
