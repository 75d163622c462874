// SPDX-License-Identifier: Apache-2.0
#include "machine/cgroup.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <ranges>
#include <string>

namespace assay::machine {
namespace {

struct Mount {
    std::filesystem::path root; ///< which part of the hierarchy is mounted
    std::filesystem::path point;
};

/// Does a comma-separated list ("rw,cpu,cpuacct") hold this name?
bool lists(std::string_view list, std::string_view name) {
    const auto names = split(list, ',');
    return std::ranges::find(names, name) != names.end();
}

/// A line of mountinfo: "32 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu".
std::optional<Mount> find_mount(std::string_view mounts, std::string_view controller) {
    for (const std::string_view line : split(mounts, '\n')) {
        const auto parts = words(line);
        const auto dash = std::ranges::find(parts, "-");
        if (parts.size() < 6 || parts.end() - dash < 4) continue;
        const std::string_view type = *(dash + 1);
        const bool wanted = controller.empty() ? type == "cgroup2"
                                               : type == "cgroup" && lists(*(dash + 3), controller);
        if (wanted) return Mount{.root = parts[3], .point = parts[4]};
    }
    return std::nullopt;
}

/// A line of /proc/self/cgroup: "4:memory:/batch/job7", or "0::/batch/job7" for version 2.
std::optional<std::string_view> find_group(std::string_view groups, std::string_view controller) {
    for (const std::string_view line : split(groups, '\n')) {
        const auto first = line.find(':');
        if (first == std::string_view::npos) continue;
        const auto second = line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const auto names = line.substr(first + 1, second - first - 1);
        if (controller.empty() ? names.empty() : lists(names, controller))
            return line.substr(second + 1);
    }
    return std::nullopt;
}

/// Our group's folder and those above it, up to the mount point. A group outside of what is mounted
/// ("/..", another root), as in a container, is only visible at the mount point.
std::vector<std::filesystem::path> levels(const Mount& mount, std::string_view group) {
    std::filesystem::path inside;
    const auto relative = std::filesystem::path{group}.lexically_relative(mount.root);
    for (const auto& part : relative) {
        if (part == "..") {
            inside.clear();
            break;
        }
        if (part != ".") inside /= part;
    }
    std::vector<std::filesystem::path> folders;
    // 64: deeper than any group; the kernel's own default limit is far beyond use.
    while (!inside.empty() && folders.size() < 64) {
        folders.push_back(mount.point / inside);
        inside = inside.parent_path();
    }
    folders.push_back(mount.point);
    return folders;
}

std::optional<double> quota_at(const Files& files, const std::filesystem::path& folder,
                               bool unified) {
    std::optional<std::int64_t> quota;
    std::optional<std::int64_t> period;
    if (unified) {
        const std::string text = files.line(folder / "cpu.max"); // "150000 100000", "max 100000"
        const auto parts = words(text);
        if (parts.size() == 2) {
            quota = to_number(parts[0]);
            period = to_number(parts[1]);
        }
    } else {
        quota = files.number(folder / "cpu.cfs_quota_us"); // -1: none
        period = files.number(folder / "cpu.cfs_period_us");
    }
    if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<MemoryLimit> limit_at(const Files& files, const std::filesystem::path& folder,
                                    bool unified) {
    auto limit = files.number(folder / (unified ? "memory.max" : "memory.limit_in_bytes"));
    if (unified) {
        // Beyond memory.high the kernel stalls a process until it has given memory back.
        const auto high = files.number(folder / "memory.high");
        if (high && (!limit || *high < *limit)) limit = high;
    }
    // 2^60 bytes: version 1 says "no limit" with a number near 2^63.
    if (!limit || *limit <= 0 || *limit >= std::int64_t{1} << 60U) return std::nullopt;
    const auto used = files.number(folder / (unified ? "memory.current" : "memory.usage_in_bytes"));
    const std::string stat = files.text(folder / "memory.stat");
    const auto cached =
        to_number(value_of(stat, unified ? "inactive_file" : "total_inactive_file", ' '));
    return MemoryLimit{.limit = *limit,
                       .used = std::max<std::int64_t>(0, used.value_or(0) - cached.value_or(0))};
}

} // namespace

Hierarchy hierarchy(const Files& files, std::string_view controller) {
    const std::string groups = files.text("/proc/self/cgroup");
    const std::string mounts = files.text("/proc/self/mountinfo");
    // A controller is in version 1 or in version 2, never in both.
    for (const bool unified : {false, true}) {
        const auto name = unified ? std::string_view{} : controller;
        const auto mount = find_mount(mounts, name);
        const auto group = find_group(groups, name);
        if (mount && group) return {.unified = unified, .folders = levels(*mount, *group)};
    }
    return {};
}

std::filesystem::path own_group(const Files& files) {
    const auto folders = hierarchy(files, {}).folders;
    return folders.empty() ? std::filesystem::path{} : folders.front();
}

std::optional<double> cpu_quota(const Files& files) {
    const Hierarchy cpu = hierarchy(files, "cpu");
    std::optional<double> lowest;
    for (const auto& folder : cpu.folders) {
        const auto quota = quota_at(files, folder, cpu.unified);
        if (quota && (!lowest || *quota < *lowest)) lowest = quota;
    }
    return lowest;
}

std::vector<MemoryLimit> memory_limits(const Files& files) {
    const Hierarchy memory = hierarchy(files, "memory");
    std::vector<MemoryLimit> found;
    for (const auto& folder : memory.folders)
        if (const auto limit = limit_at(files, folder, memory.unified)) found.push_back(*limit);
    return found;
}

std::optional<double> throttled_seconds(const Files& files) {
    const Hierarchy cpu = hierarchy(files, "cpu");
    std::optional<double> most;
    for (const auto& folder : cpu.folders) {
        const std::string stat = files.text(folder / "cpu.stat");
        const auto microseconds = to_number(value_of(stat, "throttled_usec", ' '));
        const auto nanoseconds = to_number(value_of(stat, "throttled_time", ' '));
        const double seconds = microseconds  ? static_cast<double>(*microseconds) * 1e-6
                               : nanoseconds ? static_cast<double>(*nanoseconds) * 1e-9
                                             : -1;
        if (seconds >= 0) most = std::max(most.value_or(0), seconds);
    }
    return most;
}

} // namespace assay::machine
