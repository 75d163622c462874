// SPDX-License-Identifier: Apache-2.0
#include "telemetry/device.hpp"

#include "machine/amd_devices.hpp"
#include "telemetry/device_samples.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>

namespace assay::telemetry {
namespace {

/// Moves this thread off the CPUs it started on, which the benchmark uses. Without others it
/// stays.
void step_aside() {
    cpu_set_t own;
    if (::sched_getaffinity(0, sizeof own, &own) != 0) return;
    cpu_set_t others;
    CPU_ZERO(&others);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (!CPU_ISSET(cpu, &own)) CPU_SET(cpu, &others);
    ::sched_setaffinity(0, sizeof others, &others);
}

/// A server that runs the work of others on the device, and ours, is not counted itself.
bool is_service(int pid) {
    return machine::Files{}
        .line(std::filesystem::path{"/proc"} / std::to_string(pid) / "comm")
        .starts_with("nvidia-cuda-mps");
}

/// The number that are not ours. If none is ours, the driver uses other process ids (a container): then one
/// of them must be us. If the list is empty, the driver does not report them.
std::optional<int> others(const std::set<int>& pids, const std::function<bool(int)>& is_ours) {
    if (pids.empty()) return std::nullopt;
    const auto ours = std::ranges::count_if(pids, is_ours);
    const auto services =
        std::ranges::count_if(pids, [&](int pid) { return !is_ours(pid) && is_service(pid); });
    const auto count = static_cast<int>(pids.size()) - static_cast<int>(services);
    return std::max(0, count - std::max(1, static_cast<int>(ours)));
}

/// A device of either maker: both answer the same questions.
using Watched = std::variant<machine::NvmlDevice, machine::AmdDevice>;
template <class Question>
auto ask(Watched& device, const Question& question) {
    return std::visit([&](auto& one) { return question(one); }, device);
}

Result<Watched> watched(const DeviceOptions& options) {
    if (auto amd = machine::find_amd_device(options.files, options.name))
        return Watched{std::move(*amd)};
    ASSAY_TRY(const auto library, machine::Nvml::open(options.library));
    ASSAY_TRY(auto device, library.find(options.name));
    return Watched{std::move(device)};
}

machine::DeviceCounters counters_of(Watched& device) {
    return ask(device, [](auto& one) { return one.counters(); });
}

} // namespace

struct DeviceWindow::State {
    explicit State(Watched opened, std::chrono::milliseconds every)
        : device{std::move(opened)},
          described{ask(device, [](auto& one) -> record::Device { return one.describe(); })},
          period{every} {}

    void note_processes() {
        if (const auto now = ask(device, [](auto& one) { return one.processes(); }))
            processes.insert(now->begin(), now->end());
    }
    void sample() {
        const auto now = ask(device, [](auto& one) { return one.readings(); });
        const std::scoped_lock lock{mutex};
        samples.add(now);
    }
    void run(const std::stop_token& stop) {
        step_aside();
        std::unique_lock lock{sleep_mutex};
        while (!stop.stop_requested()) {
            sample();
            sleep.wait_for(lock, stop, period, [] { return false; });
        }
    }
    void add_energy(const machine::DeviceCounters& ended, double seconds,
                    record::Telemetry& telemetry);

    Watched device; ///< used by one thread at a time: the sampler, or else the owner
    record::Device described;
    std::chrono::milliseconds period;
    machine::DeviceCounters begun;
    std::set<int> processes;
    std::mutex mutex; ///< of samples
    DeviceSamples samples;
    std::mutex sleep_mutex;
    std::condition_variable_any sleep;
    std::jthread sampler; ///< last: stops before the rest is destroyed
};

void DeviceWindow::State::add_energy(const machine::DeviceCounters& ended, double seconds,
                                     record::Telemetry& telemetry) {
    if (ask(device, [](auto& one) { return one.is_part(); }))
        telemetry.energy_note = "MIG is enabled: the energy counter covers all instances";
    else if (!begun.energy_joules || !ended.energy_joules)
        telemetry.energy_note = "the device has no energy counter";
    else if (*ended.energy_joules < *begun.energy_joules)
        telemetry.energy_note = "the device's energy counter was reset";
    else if (seconds < shortest_energy_window)
        telemetry.energy_note = fmt::format("the window was shorter than {} s, too short for the "
                                            "device's energy counter",
                                            shortest_energy_window);
    else {
        telemetry.energy_joules = *ended.energy_joules - *begun.energy_joules;
        telemetry.energy_scope = "device";
    }
}

Result<DeviceWindow> DeviceWindow::open(const DeviceOptions& options) {
    ASSAY_TRY(auto device, watched(options));
    return DeviceWindow{std::make_unique<State>(std::move(device), options.period)};
}

DeviceWindow::DeviceWindow(std::unique_ptr<State> state) : state_{std::move(state)} {}
DeviceWindow::~DeviceWindow() = default;
DeviceWindow::DeviceWindow(DeviceWindow&& other) noexcept = default;
DeviceWindow& DeviceWindow::operator=(DeviceWindow&& other) noexcept = default;

void DeviceWindow::begin() {
    State& s = *state_;
    s.samples = {};
    s.processes.clear();
    s.note_processes();
    s.begun = counters_of(s.device);
    if (s.period.count() > 0)
        s.sampler = std::jthread{[&s](const std::stop_token& stop) { s.run(stop); }};
}

void DeviceWindow::sample() { state_->sample(); }

void DeviceWindow::end(double seconds, const std::function<bool(int pid)>& is_ours,
                       record::Telemetry& telemetry) {
    State& s = *state_;
    s.sampler = {};                    // stopped and joined
    if (s.samples.empty()) s.sample(); // the window ended before the thread started
    const auto ended = counters_of(s.device);
    s.note_processes();
    telemetry.device =
        s.samples.summary(s.begun, ended, ask(s.device, [](auto& one) { return one.health(); }));
    telemetry.device->other_processes = others(s.processes, is_ours);
    s.add_energy(ended, seconds, telemetry);
    add_disturbances(s.described, seconds, telemetry);
    const std::string problem =
        ask(s.device, [](auto& one) -> std::string { return one.problem(); });
    if (!problem.empty())
        disturb(telemetry, record::DisturbanceCode::driver_silent, {{"problem", problem}},
                fmt::format("Some queries to the device's driver failed: {}. Look at "
                            "`dmesg` and reset the device.",
                            problem));
}

std::optional<double> DeviceWindow::clock_hz() {
    return ask(state_->device, [](auto& one) { return one.clock_hz(); });
}

// --- links ---------------------------------------------------------------------------------------

namespace {

using Count = std::optional<std::int64_t>;

/// A counter that is still zero since the driver was loaded may not count at all.
Count moved(const Count& begun, const Count& ended) {
    return ended == Count{0} ? std::nullopt : grown(begun, ended);
}

} // namespace

Result<LinkWindow> LinkWindow::open(const std::vector<std::string>& devices,
                                    const std::filesystem::path& library) {
    const auto driver = machine::Nvml::open(library);
    if (!driver) return tl::unexpected{driver.error()};
    std::vector<machine::NvmlDevice> found;
    for (const auto& name : devices) {
        ASSAY_TRY(auto device, driver->find(name));
        found.push_back(std::move(device));
    }
    return LinkWindow{std::move(found)};
}

void LinkWindow::begin() {
    begun_.clear();
    for (auto& device : devices_) begun_.push_back(device.counters());
}

std::vector<LinkBytes> LinkWindow::end() {
    std::vector<LinkBytes> counted;
    for (std::size_t i = 0; i < begun_.size(); ++i) {
        const auto ended = devices_[i].counters();
        counted.push_back(
            {.received = moved(begun_[i].nvlink_received_bytes, ended.nvlink_received_bytes),
             .sent = moved(begun_[i].nvlink_sent_bytes, ended.nvlink_sent_bytes)});
    }
    return counted;
}

} // namespace assay::telemetry
