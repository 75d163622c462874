// SPDX-License-Identifier: Apache-2.0
//
// What else happened on the machine during the window: foreign CPU use, steal, throttling, page
// migrations, the core clock, energy. A disturbed window is flagged, never deleted. All of it is read
// before the window begins and after it has ended, so that reading disturbs nothing; only a device is
// sampled in between (device.hpp), because its readings are momentary.

#pragma once

#include "machine/system.hpp"
#include "record/model.hpp"
#include "telemetry/device.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace assay::telemetry {

/// CPU time of a process, all threads together, in seconds; nothing if it has ended.
std::optional<double> cpu_seconds(int pid);
/// Seconds since any origin.
double steady_seconds();

/// The defaults are for a worker in a window of its own; tests replace all of them.
struct Options {
    std::filesystem::path root = "/";
    /// CPU time used by this process and everything below it is ours, not foreign. 0: the parent of
    /// this process, which is `assay run`, or the launcher that started all ranks of a team.
    int owner = 0;
    /// Shares of CPU time are those of the CPUs that threads of this process may run on; false: of the whole machine, for
    /// a team, whose ranks have CPUs of their own.
    bool own_cpus = false;
    /// Measures the clock before and after the window; empty: the clock is not measured.
    std::function<double()> core_clock = machine::measure_core_clock;
    std::function<std::optional<double>(int pid)> cpu_seconds = telemetry::cpu_seconds;
    std::function<double()> now = steady_seconds;
    DeviceOptions device{}; ///< where the work is done on one
    /// Why the host's energy is not the benchmark's; empty: it is.
    std::string no_energy{};
};

class Window {
public:
    explicit Window(Options options = {});
    ~Window();
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    Window(Window&& other) noexcept;
    Window& operator=(Window&& other) noexcept;

    void begin();
    /// The telemetry since begin(); empty without one.
    record::Telemetry end();
    /// The window on the requested device; null without one, or if it has no readings.
    DeviceWindow* device();

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace assay::telemetry
