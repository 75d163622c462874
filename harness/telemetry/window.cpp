// SPDX-License-Identifier: Apache-2.0
#include "telemetry/window.hpp"

#include "machine/files.hpp"
#include "telemetry/snapshot.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::telemetry {
namespace {

// --- host sensors --------------------------------------------------------------------------------

// Sensors of the host: energy of its processors and their memory (RAPL, by the kernel's powercap files) and
// their temperature (hwmon). Most virtual machines have neither, Arm processors no counter of energy.

const std::filesystem::path powercap = "/sys/class/powercap";
const std::filesystem::path monitors = "/sys/class/hwmon";
constexpr double micro = 1e-6;
constexpr double milli = 1e-3;

/// Drivers of sensors inside of processors: Intel, AMD, the latter's out-of-tree one, Arm.
constexpr std::array<std::string_view, 4> processors{"coretemp", "k10temp", "zenpower",
                                                     "cpu_thermal"};

/// Found once, read at both ends of a window.
class HostSensors {
public:
    explicit HostSensors(const machine::Files& files) {
        for (const std::string& name : files.names(powercap)) {
            // "intel-rapl:0" is a package (AMD's too), "intel-rapl:0:1" a part of it. Cores are within
            // their package; the memory is not. "intel-rapl-mmio" counts the same energy again.
            if (!name.starts_with("intel-rapl:")) continue;
            const auto folder = powercap / name;
            const std::string zone = files.line(folder / "name");
            const bool is_memory = zone == "dram";
            if (!is_memory && !zone.starts_with("package")) continue;
            const auto range = files.number(folder / "max_energy_range_uj").value_or(0);
            zones_.push_back({.counter = folder / "energy_uj",
                              .range = static_cast<double>(range) * micro,
                              .is_memory = is_memory});
        }
        for (const std::string& name : files.names(monitors)) {
            const auto folder = monitors / name;
            if (std::ranges::find(processors, files.line(folder / "name")) == processors.end())
                continue;
            for (const std::string& file : files.names(folder))
                if (file.starts_with("temp") && file.ends_with("_input"))
                    temperatures_.push_back(folder / file);
        }
    }

    /// Joules by zone since any origin; nothing if a zone may not be read.
    using Energy = std::vector<std::optional<double>>;
    Energy energy(const machine::Files& files) const {
        Energy now;
        for (const Zone& zone : zones_) {
            const auto count = files.number(zone.counter);
            now.push_back(count && *count >= 0 ? std::optional{static_cast<double>(*count) * micro}
                                               : std::nullopt);
        }
        return now;
    }
    /// Fills in the energy of a window of this length, or why it is missing.
    void add_energy(const Energy& begun, const Energy& ended, double seconds,
                    record::Telemetry& telemetry) const {
        if (zones_.empty()) {
            telemetry.energy_note = "this machine does not expose processor energy (RAPL): "
                                    "Arm processors have no counter, few virtual machines do";
            return;
        }
        double joules = 0;
        bool has_memory = false;
        for (std::size_t i = 0; i < zones_.size(); ++i) {
            if (i >= begun.size() || i >= ended.size() || !begun[i] || !ended[i]) {
                telemetry.energy_note = "only root may read processor energy (/sys/class/powercap)";
                return;
            }
            double used = *ended[i] - *begun[i];
            if (used < 0) used += zones_[i].range;
            if (used < 0) {
                telemetry.energy_note =
                    "a processor energy counter wrapped more than once or was reset";
                return;
            }
            joules += used;
            has_memory = has_memory || zones_[i].is_memory;
        }
        if (seconds < shortest_energy_window) {
            telemetry.energy_note =
                fmt::format("the window was shorter than {} s", shortest_energy_window);
            return;
        }
        telemetry.energy_joules = joules;
        telemetry.energy_scope = has_memory ? "processors and memory" : "processors";
    }
    /// The hottest sensor of the processors.
    std::optional<double> temperature_celsius(const machine::Files& files) const {
        std::optional<double> hottest;
        for (const auto& path : temperatures_)
            if (const auto value = files.number(path))
                hottest = std::max(hottest.value_or(-1e9), static_cast<double>(*value) * milli);
        return hottest;
    }

private:
    struct Zone {
        std::filesystem::path counter;
        double range = 0; ///< joules at which the counter wraps; 0: unknown
        bool is_memory = false;
    };

    std::vector<Zone> zones_;
    std::vector<std::filesystem::path> temperatures_;
};

// --- compare -------------------------------------------------------------------------------------

// Differences between two snapshots, with warnings. Every warning has a value and says what to do
// about it.

// The kernel counts CPU time in ticks of 10 ms: below five of them a share means nothing.
constexpr double shortest_seconds = 0.05;

// Disturbances that may change a value by more than the target (protocol: 1%) in the worst case, when
// all of it affects our own cores.
constexpr double foreign_limit = 0.02;
constexpr double steal_limit = 0.01;
constexpr double wait_limit = 0.02;
constexpr double quota_limit = 0.01;
constexpr double clock_limit = 0.03;

using Code = record::DisturbanceCode;

/// The increase of a counter; absent if one end is, or if it ran backwards.
std::optional<double> difference(const std::optional<double>& begin,
                                 const std::optional<double>& end) {
    if (!begin || !end || *end < *begin) return std::nullopt;
    return *end - *begin;
}

/// Those of the machine that time was counted of in both snapshots.
struct Cpus {
    std::set<int> numbers; ///< empty: all
    int count = 0;
    CpuTime begin{};
    CpuTime end{};
};

/// Did it run on other CPUs than these, at both ends as far as is known?
bool is_elsewhere(const Process& process, const Process* before, const Cpus& cpus) {
    const auto is = [&](const Process& at) {
        return at.cpu >= 0 && !cpus.numbers.empty() && !cpus.numbers.contains(at.cpu);
    };
    return is(process) && (before == nullptr || is(*before));
}

/// The same process at the begin; null where it is new.
const Process* same_before(const Processes& begin, int pid, const Process& process) {
    const auto found = begin.find(pid);
    return found != begin.end() && found->second.started == process.started ? &found->second
                                                                            : nullptr;
}

/// CPU time of our processes on these CPUs: siblings that measure at the same time have their own. One that ended
/// inside the window counts where one of ours waited for it, without what it had used before.
double own_seconds(const Processes& begin, const Processes& end, const Cpus& cpus) {
    double seconds = 0;
    double reaped = 0;
    for (const auto& [pid, process] : end) {
        const auto* const before = same_before(begin, pid, process);
        if (is_elsewhere(process, before, cpus)) continue;
        seconds += std::max(0.0, process.seconds - (before == nullptr ? 0.0 : before->seconds));
        reaped += std::max(0.0, process.reaped - (before == nullptr ? 0.0 : before->reaped));
    }
    for (const auto& [pid, process] : begin)
        if (same_before(end, pid, process) == nullptr) reaped -= process.seconds + process.reaped;
    return seconds + std::max(0.0, reaped);
}

void add(std::optional<double>& sum, const std::optional<double>& next) {
    if (next) sum = sum.value_or(0) + *next;
}

Cpus choose(const Snapshot& begin, const Snapshot& end, const std::set<int>& wanted) {
    Cpus chosen;
    for (const auto& [cpu, time] : end.cpus) {
        const auto before = begin.cpus.find(cpu);
        if (!wanted.contains(cpu) || before == begin.cpus.end()) continue;
        chosen.numbers.insert(cpu);
        add(chosen.begin.busy_seconds, before->second.busy_seconds);
        add(chosen.begin.steal_seconds, before->second.steal_seconds);
        add(chosen.end.busy_seconds, time.busy_seconds);
        add(chosen.end.steal_seconds, time.steal_seconds);
    }
    chosen.count = static_cast<int>(chosen.numbers.size());
    const bool is_part = chosen.count > 0 && chosen.numbers.size() < end.cpus.size();
    if (is_part && chosen.end.busy_seconds) return chosen;
    return {.numbers = {},
            .count = static_cast<int>(end.cpus.size()),
            .begin = begin.all_cpus,
            .end = end.all_cpus};
}

/// The names of at most three foreign programs that used most CPU time: "chromium, cc1plus". Programs that began and
/// ended within the window are not seen.
std::string name_programs(const Snapshot& begin, const Snapshot& end, const Cpus& cpus) {
    std::map<std::string, double> used; // by name: a build has many compilers
    double most = 0;
    for (const auto& [pid, process] : end.all) {
        if (begin.own.contains(pid) || end.own.contains(pid)) continue;
        const auto* const before = same_before(begin.all, pid, process);
        if (is_elsewhere(process, before, cpus)) continue;
        double& seconds = used[process.name];
        seconds += std::max(0.0, process.seconds - (before == nullptr ? 0 : before->seconds));
        most = std::max(most, seconds);
    }
    std::vector<std::pair<double, std::string>> ranked;
    // A tenth of the first one disturbs no more than any machine does.
    for (const auto& [name, seconds] : used)
        if (seconds > 0.1 * most) ranked.emplace_back(-seconds, name);
    std::ranges::sort(ranked);
    constexpr std::size_t named = 3;
    std::string names;
    for (std::size_t i = 0; i < std::min(ranked.size(), named); ++i)
        names += (i == 0 ? "" : ", ") + ranked[i].second;
    return names;
}

double longest_wait(const Snapshot& begin, const Snapshot& end) {
    double longest = 0;
    if (begin.waited.empty()) return longest; // not counted
    for (const auto& [thread, waited] : end.waited) {
        const auto before = begin.waited.find(thread);
        longest = std::max(longest, waited - (before == begin.waited.end() ? 0 : before->second));
    }
    return longest;
}

/// Each of n busy CPUs is counted to the tick at both ends: an error with a standard deviation of
/// 0.41 ticks, so 0.41 sqrt(n) for all. Twice that is not yet a foreign process.
double counting_error(int cpus, double capacity_seconds) {
    const double tick = 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    return 0.82 * std::sqrt(cpus) * tick / capacity_seconds;
}

void add_foreign(double share, const std::string& programs, bool is_part,
                 record::Telemetry& telemetry) {
    record::Values values{{"share", share}};
    if (!programs.empty()) values.push_back({"programs", programs});
    disturb(telemetry, Code::foreign_cpu, std::move(values),
            fmt::format("Other programs{} used {:.1f}% of the {} CPU time: stop them (`top` shows "
                        "which) and measure again.",
                        programs.empty() ? "" : " (" + programs + ")", 100 * share,
                        is_part ? "case's" : "machine's"));
}

void add_shares(const Snapshot& begin, const Snapshot& end, const Cpus& cpus, double seconds,
                record::Telemetry& telemetry) {
    const double capacity = seconds * cpus.count;
    if (seconds < shortest_seconds || cpus.count < 1) return;
    if (const auto busy = difference(cpus.begin.busy_seconds, cpus.end.busy_seconds)) {
        const double foreign =
            std::clamp((*busy - own_seconds(begin.own, end.own, cpus)) / capacity, 0.0, 1.0);
        telemetry.foreign_cpu = foreign;
        if (foreign > foreign_limit + counting_error(cpus.count, capacity))
            add_foreign(foreign, name_programs(begin, end, cpus), !cpus.numbers.empty(), telemetry);
    }
    if (const auto steal = difference(cpus.begin.steal_seconds, cpus.end.steal_seconds)) {
        telemetry.steal = std::clamp(*steal / capacity, 0.0, 1.0);
        if (*telemetry.steal > steal_limit)
            disturb(telemetry, Code::steal, {{"share", *telemetry.steal}},
                    fmt::format("The hypervisor took {:.1f}% of the CPU time for other "
                                "machines: measure again at another time, or on an instance "
                                "with CPUs of its own.",
                                100 * *telemetry.steal));
    }
}

void add_waits(const Snapshot& begin, const Snapshot& end, double seconds,
               record::Telemetry& telemetry) {
    const auto stopped = difference(begin.quota_seconds, end.quota_seconds);
    // A thread that the quota stopped has waited as well.
    const double waited = longest_wait(begin, end) - stopped.value_or(0);
    if (seconds >= shortest_seconds && waited > wait_limit * seconds)
        disturb(telemetry, Code::waiting, {{"share", std::min(1.0, waited / seconds)}},
                fmt::format("A thread of this benchmark waited {:.1f}% of the time for its CPU: "
                            "something else runs there, or there are more threads than CPUs.",
                            100 * std::min(1.0, waited / seconds)));
    if (stopped && *stopped > quota_limit * seconds)
        disturb(telemetry, Code::quota,
                {{"stopped_seconds", *stopped}, {"window_seconds", seconds}},
                fmt::format("The container's CPU quota stopped this benchmark for {:.3g} s of "
                            "{:.3g} s: raise the quota (cpu.max, or "
                            "cpu.cfs_quota_us) or use fewer threads.",
                            *stopped, seconds));
}

void add_clock(const Snapshot& begin, const Snapshot& end, record::Telemetry& telemetry) {
    if (!begin.core_clock_hz || !end.core_clock_hz) return;
    const double before = *begin.core_clock_hz;
    const double after = *end.core_clock_hz;
    // Not numbers: a clock that could not be measured.
    if (!std::isfinite(before) || !std::isfinite(after) || before <= 0 || after <= 0) return;
    telemetry.core_clock_hz = (before + after) / 2;
    const double change = after / before - 1;
    if (std::abs(change) <= clock_limit) return;
    disturb(telemetry, change < 0 ? Code::clock_fell : Code::clock_rose,
            {{"from_hz", before}, {"to_hz", after}, {"change_share", change}},
            fmt::format("The core clock {} from {:.2f} to {:.2f} GHz ({:+.1f}%): {}.",
                        change < 0 ? "fell" : "rose", before * 1e-9, after * 1e-9, 100 * change,
                        change < 0
                            ? "check temperature, power limits and busy neighbours"
                            : "fix the clock (governor `performance`) or lengthen the warm-up"));
}

/// Fills in all but energy, temperature and device; disturbances are put before existing ones. Shares of CPU time are
/// those of `cpus`; empty: of the whole machine.
void compare(const Snapshot& begin, const Snapshot& end, const std::set<int>& cpus,
             record::Telemetry& telemetry) {
    const auto others = std::exchange(telemetry.disturbances, {});
    const auto other_codes = std::exchange(telemetry.disturbed_by, {});
    const double seconds = std::max(0.0, end.time - begin.time);
    telemetry.window_seconds = seconds;
    add_shares(begin, end, choose(begin, end, cpus), seconds, telemetry);
    add_waits(begin, end, seconds, telemetry);
    telemetry.throttle_events = difference(begin.throttle_events, end.throttle_events);
    if (const double events = telemetry.throttle_events.value_or(0); events > 0)
        disturb(telemetry, Code::too_hot, {{"events", events}},
                fmt::format("The processor throttled {:.0f} times at its thermal limit: "
                            "check its cooling.",
                            events));
    telemetry.page_migrations = difference(begin.page_migrations, end.page_migrations);
    add_clock(begin, end, telemetry);
    telemetry.disturbances.insert(telemetry.disturbances.end(), others.begin(), others.end());
    telemetry.disturbed_by.insert(telemetry.disturbed_by.end(), other_codes.begin(),
                                  other_codes.end());
}

// -------------------------------------------------------------------------------------------------

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
    std::string no_device; ///< why it is missing, if one was requested
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
