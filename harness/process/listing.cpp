// SPDX-License-Identifier: Apache-2.0
#include "process/listing.hpp"

#include "base/file.hpp"
#include "process/start.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <thread>

namespace assay::process {
namespace {

/// The first entry of the environment of which this is true.
std::string entry_of(pid_t pid, const std::function<bool(std::string_view)>& wanted) {
    std::ifstream file{fmt::format("/proc/{}/environ", pid), std::ios::binary};
    for (std::string entry; std::getline(file, entry, '\0');)
        if (wanted(entry)) return entry;
    return {};
}

/// Prefix that makes process numbers of two listings the same: "<boot>-<namespace>-".
std::string scope() {
    std::string boot;
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
    std::error_code error;
    const auto numbers = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
    std::string scope = boot.substr(0, boot.find('-')) + '-';
    for (const char c : numbers) // "pid:[4026531836]"
        if (c >= '0' && c <= '9') scope += c;
    return scope + '-';
}

/// The identity of the run that a process belongs to, or "".
std::string run_of(pid_t pid) {
    const auto name = run_entry("");
    const auto entry = entry_of(pid, [&](std::string_view text) { return text.starts_with(name); });
    return entry.substr(std::min(name.size(), entry.size()));
}

} // namespace

std::optional<Stat> stat_of(pid_t pid) {
    // Without streams: every process of the machine is read, several times for each step.
    const Descriptor file{::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC)};
    std::array<char, 1024> line{}; // a name of at most 64 characters, and 21 numbers that matter
    const auto got = file ? ::read(file.get(), line.data(), line.size()) : 0; // it may end before
    std::string_view text{line.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    // "pid (name) state ppid pgrp session ..."; the name may contain blanks, brackets and line ends.
    const auto end = text.rfind(") ");
    if (end == std::string_view::npos || end + 4 > text.size()) return std::nullopt;
    const char state = text[end + 2];
    if (state == 'Z' || state == 'X') return std::nullopt;
    text.remove_prefix(end + 3);
    std::array<std::int64_t, 19> fields{}; // 4 to 22
    for (auto& field : fields) {
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), field);
        if (error != std::errc{}) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    }
    return Stat{.parent = static_cast<pid_t>(fields[0]),
                .group = static_cast<pid_t>(fields[1]),
                .session = static_cast<pid_t>(fields[2]),
                .born = fields[18]};
}

std::vector<pid_t> find_processes(const std::function<bool(pid_t, const Stat&)>& wanted) {
    std::vector<pid_t> found;
    // Not by the iterator of libstdc++, which ends the process where it gets no memory.
    struct Close {
        void operator()(DIR* folder) const { ::closedir(folder); }
    };
    const std::unique_ptr<DIR, Close> folder{::opendir("/proc")};
    while (const auto* entry = folder ? ::readdir(folder.get()) : nullptr) {
        const std::string_view name{entry->d_name};
        pid_t pid = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (parsed.ec != std::errc{} || pid == ::getpid()) continue;
        if (const auto stat = stat_of(pid); stat && wanted(pid, *stat)) found.push_back(pid);
    }
    return found;
}

std::vector<pid_t> children_of(pid_t parent) {
    return find_processes([&](pid_t, const Stat& stat) { return stat.parent == parent; });
}

std::vector<pid_t> processes_of(pid_t session, std::string_view mark, std::int64_t born,
                                const std::function<bool(pid_t, const Stat&)>& also) {
    const auto carries = [&](pid_t pid) {
        return !mark.empty() &&
               !entry_of(pid, [&](std::string_view entry) { return entry == mark; }).empty();
    };
    return find_processes([&](pid_t pid, const Stat& stat) {
        return stat.born >= born &&
               ((also && also(pid, stat)) || stat.session == session || carries(pid));
    });
}

std::string name_of(pid_t pid) {
    std::ifstream file{fmt::format("/proc/{}/comm", pid)};
    std::string name;
    return std::getline(file, name) ? fmt::format("{} ({})", name, pid) : std::string{};
}

void kill_with_group(pid_t pid) {
    const auto stat = stat_of(pid);
    if (!stat) return;
    ::kill(pid, SIGKILL);
    if (stat->group > 1 && stat->group != ::getpgrp()) ::kill(-stat->group, SIGKILL);
}

void wait_for_the_killed(int round) {
    std::this_thread::sleep_for(std::chrono::milliseconds{round == 0 ? 1 : 5});
}

std::string own_identity() {
    return fmt::format("{}{}-{}", scope(), ::getpid(), stat_of(::getpid()).value_or(Stat{}).born);
}

std::optional<pid_t> living(std::string_view identity) {
    const auto here = scope();
    if (!identity.starts_with(here)) return std::nullopt;
    identity.remove_prefix(here.size());
    pid_t pid = 0;
    std::int64_t born = 0;
    const char* const end = identity.data() + identity.size();
    const auto [dash, fault] = std::from_chars(identity.data(), end, pid);
    if (fault != std::errc{} || dash == end || *dash != '-') return std::nullopt;
    const auto [rest, other_fault] = std::from_chars(dash + 1, end, born);
    const auto stat = stat_of(pid);
    if (other_fault != std::errc{} || rest != end || !stat || stat->born != born)
        return std::nullopt;
    return pid;
}

bool is_of_the_dead(std::string_view identity) {
    return identity.starts_with(scope()) && !living(identity);
}

std::vector<std::string> end_leftovers() {
    std::vector<std::string> names;
    for (int round = 0; round < most_kill_rounds; ++round) {
        const auto left = find_processes([&](pid_t pid, const Stat&) {
            const auto run = run_of(pid);
            return !run.empty() && is_of_the_dead(run);
        });
        if (left.empty()) break;
        for (const pid_t pid : left) {
            if (auto name = name_of(pid); round == 0 && !name.empty())
                names.push_back(std::move(name));
            kill_with_group(pid);
        }
        wait_for_the_killed(round);
    }
    return names;
}

} // namespace assay::process
