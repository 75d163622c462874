// SPDX-License-Identifier: Apache-2.0
#include "telemetry/window.hpp"

#include "telemetry/compare.hpp"
#include "telemetry/host_sensors.hpp"
#include "telemetry/snapshot.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace assay::telemetry {
namespace {

/// Process 1 only adopts orphans: it counts as nobody's parent.
int default_owner() {
    const int parent = ::getppid();
    return parent > 1 ? parent : ::getpid();
}

} // namespace

std::optional<double> cpu_seconds(int pid) {
    clockid_t clock{};
    struct timespec time{};
    if (pid <= 0 || ::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
        return std::nullopt;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

struct Window::State {
    explicit State(Options chosen)
        : options{std::move(chosen)}, files{options.root},
          owner{options.owner > 0 ? options.owner : default_owner()},
          throttle{throttle_files(files)}, sensors{files} {
        if (options.device.name.empty()) return;
        auto opened = DeviceWindow::open(options.device);
        if (opened)
            device.emplace(std::move(*opened));
        else
            no_device = opened.error().message;
    }

    std::optional<double> clock() const {
        return options.core_clock ? std::optional{options.core_clock()} : std::nullopt;
    }

    Processes own(const Processes& known) const {
        auto found = read_processes(files, owner, known, options.cpu_seconds);
        // The owner has died or is hidden: at least this process is ours.
        return found.empty() ? read_processes(files, ::getpid(), {}, options.cpu_seconds) : found;
    }

    Options options;
    machine::Files files;
    int owner;
    std::vector<std::filesystem::path> throttle;
    HostSensors sensors;
    std::optional<DeviceWindow> device;
    std::string no_device; ///< why there is none, if one was requested
    std::optional<Snapshot> begun;
    HostSensors::Energy energy; ///< as the window began
};

Window::Window(Options options) : state_{std::make_unique<State>(std::move(options))} {}
Window::~Window() = default;
Window::Window(Window&& other) noexcept = default;
Window& Window::operator=(Window&& other) noexcept = default;

DeviceWindow* Window::device() { return state_->device ? &*state_->device : nullptr; }

// Counters in ticks of CPU time are read last here and first in end(): closest to the window. The thread
// that samples a device has ended before the waiting times of threads are read.
void Window::begin() {
    Snapshot now;
    now.all = read_all_processes(state_->files); // the clock, measured next, wakes the core again
    now.core_clock_hz = state_->clock();
    now.own = state_->own({});
    read_counters(state_->files, state_->throttle, now);
    if (state_->device) state_->device->begin();
    state_->energy = state_->sensors.energy(state_->files);
    read_cpu_time(state_->files, now);
    now.time = state_->options.now();
    state_->begun = std::move(now);
}

record::Telemetry Window::end() {
    const auto begun = std::exchange(state_->begun, std::nullopt);
    if (!begun) return {};
    State& s = *state_;
    Snapshot now;
    now.time = s.options.now();
    read_cpu_time(s.files, now);
    const auto energy = s.sensors.energy(s.files);
    now.own = s.own(begun->own);
    record::Telemetry watched;
    const double seconds = std::max(0.0, now.time - begun->time);
    if (s.device)
        s.device->end(seconds, [&](int pid) { return now.own.contains(pid); }, watched);
    else if (!s.no_device.empty())
        watched.energy_note = "no telemetry of the device: " + s.no_device;
    else if (!s.options.no_energy.empty())
        watched.energy_note = s.options.no_energy;
    else
        s.sensors.add_energy(s.energy, energy, seconds, watched);
    watched.temperature_celsius = s.sensors.temperature_celsius(s.files);
    read_counters(s.files, s.throttle, now);
    now.all = read_all_processes(s.files);
    now.core_clock_hz = s.clock();
    std::set<int> cpus;
    if (s.options.own_cpus) {
        cpus = std::move(now.allowed);
        cpus.insert(begun->allowed.begin(), begun->allowed.end());
    }
    compare(*begun, now, cpus, watched);
    return watched;
}

} // namespace assay::telemetry
