// SPDX-License-Identifier: Apache-2.0
#include "telemetry/snapshot.hpp"

#include "base/text.hpp"
#include "machine/cpu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>

namespace assay::telemetry {
namespace {

using machine::Files;

double seconds_per_tick() {
    const long rate = ::sysconf(_SC_CLK_TCK);
    return 1.0 / static_cast<double>(rate > 0 ? rate : 100);
}

void read_migrations(const Files& files, Snapshot& snapshot) {
    const std::string vmstat = files.text("/proc/vmstat");
    // The second also counts moves for other reasons, and exists without NUMA balancing.
    for (const char* const name : {"numa_pages_migrated", "pgmigrate_success"})
        if (const auto count = to_number(value_of(vmstat, name, ' '))) {
            snapshot.page_migrations = static_cast<double>(*count);
            return;
        }
}

/// "0-3,8", as the kernel writes it.
void add_cpus(std::string_view list, std::set<int>& cpus) {
    for (const std::string_view range : split(list, ',')) {
        const auto ends = split(range, '-');
        const auto first = to_number(trim(ends.front()));
        const auto last = to_number(trim(ends.back()));
        constexpr std::int64_t most = 65536; // more than any kernel is built for
        if (!first || !last || *first < 0 || *last >= most) continue;
        for (auto cpu = *first; cpu <= *last; ++cpu) cpus.insert(static_cast<int>(cpu));
    }
}

void read_threads(const Files& files, Snapshot& snapshot) {
    const std::filesystem::path tasks = "/proc/self/task";
    for (const std::string& name : files.names(tasks)) {
        const std::string status = files.text(tasks / name / "status");
        add_cpus(value_of(status, "Cpus_allowed_list", ':'), snapshot.allowed);
        const std::string line =
            files.line(tasks / name / "schedstat"); // "ran waited slices", in ns
        const auto numbers = words(line);
        const auto thread = to_number(name);
        const auto waited = numbers.size() == 3 ? to_number(numbers[1]) : std::nullopt;
        if (thread && waited)
            snapshot.waited[static_cast<int>(*thread)] = static_cast<double>(*waited) * 1e-9;
    }
}

/// Anything may be a name: here it stands in a list with commas.
std::string listable(std::string_view name) {
    std::string text = tidied(name);
    std::ranges::replace(text, ',', '?');
    return text.empty() ? "?" : text;
}

/// A line of /proc/<pid>/stat. The name in parentheses may contain anything, even parentheses.
struct Line {
    int parent = 0;
    Process process;
};
std::optional<Line> parse(std::string_view stat) {
    const auto name_begin = stat.find('(');
    const auto name_end = stat.rfind(')');
    if (name_begin >= name_end || name_end == std::string_view::npos) return std::nullopt;
    // proc(5) counts from 1; the state, field 3, is the first after the name.
    const auto fields = words(stat.substr(name_end + 1));
    const auto field = [&](std::size_t number) { return to_number(fields[number - 3]); };
    if (fields.size() < 20) return std::nullopt;
    const auto parent = field(4);
    const auto user = field(14);
    const auto system = field(15);
    const auto reaped_user = field(16);
    const auto reaped_system = field(17);
    const auto started = field(22);
    if (!parent || !user || !system || !started) return std::nullopt;
    const auto cpu = fields.size() > 36 ? field(39) : std::nullopt;
    return Line{
        .parent = static_cast<int>(*parent),
        .process = {.started = *started,
                    .seconds = seconds_per_tick() *
                               (static_cast<double>(*user) + static_cast<double>(*system)),
                    .reaped = seconds_per_tick() * static_cast<double>(reaped_user.value_or(0) +
                                                                       reaped_system.value_or(0)),
                    .name = listable(stat.substr(name_begin + 1, name_end - name_begin - 1)),
                    .cpu = static_cast<int>(cpu.value_or(-1))}};
}

std::optional<Line> read_line(const Files& files, int pid) {
    // 1 KiB: a line has some 300 characters.
    return parse(files.text(fmt::format("/proc/{}/stat", pid), 1024));
}

bool is_below(const std::map<int, int>& parents, int pid, int owner) {
    // 1000: processes come and go while we read, so parents could even form a ring.
    for (int step = 0; step < 1000 && pid > 0; ++step) {
        if (pid == owner) return true;
        const auto found = parents.find(pid);
        if (found == parents.end()) return false;
        pid = found->second;
    }
    return false;
}

template <class Take>
void each_process(const Files& files, Take&& take) {
    for (const std::string& name : files.names("/proc")) {
        const int pid = static_cast<int>(to_number(name).value_or(0));
        if (pid <= 0) continue;
        if (auto line = read_line(files, pid)) take(pid, *line);
    }
}

/// By the parents of all processes.
std::set<int> scan_tree(const Files& files, int owner) {
    std::map<int, int> parents;
    each_process(files, [&](int pid, const Line& line) { parents.emplace(pid, line.parent); });
    std::set<int> tree;
    for (const auto& [pid, parent] : parents)
        if (is_below(parents, pid, owner)) tree.insert(pid);
    return tree;
}

/// From the owner down, by the children of each thread. Nothing if the kernel does not list them
/// (CONFIG_PROC_CHILDREN).
std::set<int> descend_tree(const Files& files, int owner) {
    std::set<int> tree;
    std::vector<int> next = {owner};
    if (!files.exists(fmt::format("/proc/{0}/task/{0}/children", owner))) return tree;
    while (!next.empty()) {
        const int pid = next.back();
        next.pop_back();
        if (!tree.insert(pid).second) continue;
        const std::filesystem::path tasks = fmt::format("/proc/{}/task", pid);
        for (const std::string& thread : files.names(tasks)) {
            const std::string children = files.text(tasks / thread / "children");
            for (const std::string_view child : words(children))
                next.push_back(static_cast<int>(to_number(child).value_or(owner)));
        }
    }
    return tree;
}

} // namespace

std::vector<std::filesystem::path> throttle_files(const Files& files) {
    const std::filesystem::path folder = "/sys/devices/system/cpu";
    std::vector<std::filesystem::path> found;
    std::set<std::pair<std::string, std::string>> seen;
    for (const std::string& name : files.names(folder)) {
        if (!name.starts_with("cpu") || !to_number(std::string_view{name}.substr(3))) continue;
        const auto cpu = folder / name;
        if (!files.exists(cpu / "thermal_throttle")) continue;
        const std::string package = files.line(cpu / "topology/physical_package_id");
        const std::string core = files.line(cpu / "topology/core_id");
        // The threads of a core, and the cores of a package, all show the same counter.
        if (seen.emplace(package, "").second)
            found.push_back(cpu / "thermal_throttle/package_throttle_count");
        if (seen.emplace(package, "core " + core).second)
            found.push_back(cpu / "thermal_throttle/core_throttle_count");
    }
    return found;
}

/// The first lines of /proc/stat: "cpu" and then user, nice, system, idle, iowait, irq, softirq, steal
/// for all CPUs together; then a line "cpu0", "cpu1" for each.
void read_cpu_time(const Files& files, Snapshot& snapshot) {
    // 128 KiB: the lines of 1500 CPUs. The long lists of interrupts behind them are not needed.
    const std::string stat = files.text("/proc/stat", std::size_t{128} << 10U);
    for (const std::string_view line : split(stat, '\n')) {
        if (!line.starts_with("cpu")) break;
        const auto fields = words(line);
        const auto number = to_number(fields.front().substr(3));
        if (!number && fields.front() != "cpu") continue;
        CpuTime& time = number ? snapshot.cpus[static_cast<int>(*number)] : snapshot.all_cpus;
        const auto ticks = [&](std::size_t column) {
            return static_cast<double>(to_number(fields[column]).value_or(0));
        };
        const double tick = seconds_per_tick();
        // Without interrupts: they belong to no process, and many are of our own messages.
        if (fields.size() >= 4) time.busy_seconds = tick * (ticks(1) + ticks(2) + ticks(3));
        if (fields.size() >= 9) time.steal_seconds = tick * ticks(8);
    }
}

void read_counters(const Files& files, const std::vector<std::filesystem::path>& throttle,
                   Snapshot& snapshot) {
    for (const auto& path : throttle)
        if (const auto count = files.number(path))
            snapshot.throttle_events =
                snapshot.throttle_events.value_or(0) + static_cast<double>(*count);
    read_migrations(files, snapshot);
    snapshot.quota_seconds = machine::throttled_seconds(files);
    read_threads(files, snapshot);
}

Processes read_all_processes(const Files& files) {
    Processes all;
    each_process(files, [&](int pid, Line& line) { all.emplace(pid, std::move(line.process)); });
    return all;
}

Processes read_processes(const Files& files, int owner, const Processes& known,
                         const std::function<std::optional<double>(int)>& cpu_seconds) {
    std::set<int> pids = descend_tree(files, owner);
    if (pids.empty()) pids = scan_tree(files, owner);
    Processes own;
    const auto add = [&](int pid, const Process& process) {
        own[pid] = process;
        if (cpu_seconds) own[pid].seconds = cpu_seconds(pid).value_or(process.seconds);
    };
    for (const int pid : pids)
        if (const auto line = read_line(files, pid)) add(pid, line->process);
    // Once ours, always ours: its parent may have died, and the lists of children may miss one while
    // another ends. The start time distinguishes it from a later process of the same number.
    for (const auto& [pid, process] : known) {
        const auto line = own.contains(pid) ? std::nullopt : read_line(files, pid);
        if (line && line->process.started == process.started) add(pid, line->process);
    }
    return own;
}

} // namespace assay::telemetry
