// SPDX-License-Identifier: Apache-2.0
//
// The device during a window: counters before and after, and readings ten times a second in between, by a
// separate thread away from the CPUs of the benchmark.

#pragma once

#include "base/result.hpp"
#include "machine/files.hpp"
#include "machine/nvml.hpp"
#include "record/model.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::telemetry {

/// Below it energy is imprecise: counters of devices are updated up to every tenth of a second, those of
/// processors include the work just before.
inline constexpr double shortest_energy_window = 2.0; // seconds

struct DeviceOptions {
    std::string name; ///< UUID or PCI address; empty: no device
    std::filesystem::path library = machine::nvml_library;
    machine::Files files{}; ///< where AMD's are looked for
    /// Zero: only sample() reads, for tests.
    std::chrono::milliseconds period{100};
};

class DeviceWindow {
public:
    /// The error says why there will be no readings.
    static Result<DeviceWindow> open(const DeviceOptions& options);
    ~DeviceWindow();
    DeviceWindow(DeviceWindow&& other) noexcept;
    DeviceWindow& operator=(DeviceWindow&& other) noexcept;
    DeviceWindow(const DeviceWindow&) = delete;
    DeviceWindow& operator=(const DeviceWindow&) = delete;

    void begin();
    void sample();
    /// Fills in energy, device and disturbances of a window of this length. Only after begin().
    void end(double seconds, const std::function<bool(int pid)>& is_ours,
             record::Telemetry& telemetry);
    /// The clock of its multiprocessors now.
    std::optional<double> clock_hz();

private:
    struct State;
    explicit DeviceWindow(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// --- links ---------------------------------------------------------------------------------------
// NVLink traffic of several devices in a window: the driver's counters before and after it.

/// Traffic of one device, all its links together; nothing if it is not counted, or nothing was counted since the
/// driver was loaded.
struct LinkBytes {
    std::optional<std::int64_t> received;
    std::optional<std::int64_t> sent;
};

class LinkWindow {
public:
    /// By UUID. The error says why there are no counters.
    static Result<LinkWindow> open(const std::vector<std::string>& devices,
                                   const std::filesystem::path& library = machine::nvml_library);
    void begin();
    /// In the given order.
    std::vector<LinkBytes> end();

private:
    explicit LinkWindow(std::vector<machine::NvmlDevice> devices) : devices_{std::move(devices)} {}
    std::vector<machine::NvmlDevice> devices_;
    std::vector<machine::DeviceCounters> begun_;
};

} // namespace assay::telemetry
