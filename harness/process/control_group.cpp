// SPDX-License-Identifier: Apache-2.0
#include "process/control_group.hpp"

#include "process/listing.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

namespace assay::process {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "assay-";

Descriptor open_to_write(const fs::path& file) {
    return Descriptor{::open(file.c_str(), O_WRONLY | O_CLOEXEC)};
}

bool write_to(const Descriptor& file, std::string_view text) {
    return file &&
           ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void limit(const fs::path& file, std::int64_t most) {
    if (most > 0)
        write_to(open_to_write(file), std::to_string(most)); // not where there is no such file
}

std::vector<pid_t> members_of(const fs::path& group) {
    std::vector<pid_t> members;
    std::ifstream file{group / "cgroup.procs"};
    for (pid_t pid = 0; file >> pid;) members.push_back(pid);
    return members;
}

bool has_this_process(const fs::path& group) {
    const auto members = members_of(group);
    return std::ranges::find(members, ::getpid()) != members.end();
}

/// The group that this process moves into.
fs::path leaf_of(const fs::path& own) {
    return own / fmt::format("{}{}.0", prefix, own_identity());
}

void pass_controllers_on(const fs::path& own) {
    const auto leaf = leaf_of(own);
    if (::mkdir(leaf.c_str(), 0755) != 0) return;
    if (!write_to(open_to_write(leaf / "cgroup.procs"), "0")) {
        ::rmdir(leaf.c_str());
        return;
    }
    for (const auto* controller : {"+pids", "+memory"}) // each by itself: one may be missing
        write_to(open_to_write(own / "cgroup.subtree_control"), controller);
}

/// A group cannot be removed before the last process inside has quite ended.
void end_and_remove(const fs::path& group) {
    write_to(open_to_write(group / "cgroup.kill"), "1");
    for (int round = 0; round < most_kill_rounds; ++round) {
        if (::rmdir(group.c_str()) == 0 || errno != EBUSY) return;
        wait_for_the_killed(round);
    }
}

} // namespace

std::optional<ControlGroup> ControlGroup::make(const fs::path& own, GroupLimits limits) {
    static int made = 0;
    if (!has_this_process(own) && !has_this_process(leaf_of(own))) return std::nullopt;
    const auto folder = own / fmt::format("{}{}.{}", prefix, own_identity(), ++made);
    if (::mkdir(folder.c_str(), 0755) != 0) return std::nullopt;
    limit(folder / "pids.max", limits.processes);
    limit(folder / "memory.max", limits.bytes);
    ControlGroup group{folder, open_to_write(folder / "cgroup.procs"),
                       open_to_write(folder / "cgroup.kill")}; // Linux 5.14
    if (group.entrance_ && group.end_) return group;
    return std::nullopt;
}

ControlGroup& ControlGroup::operator=(ControlGroup&& other) noexcept {
    std::swap(folder_, other.folder_);
    std::swap(entrance_, other.entrance_);
    std::swap(end_, other.end_);
    return *this;
}

void ControlGroup::remove() noexcept {
    if (!folder_.empty()) end_and_remove(folder_);
}

fs::path group_to_use(const fs::path& own) {
    static const fs::path decided = [&own] {
        if (members_of(own) == std::vector{::getpid()}) pass_controllers_on(own);
        return own;
    }();
    return decided;
}

std::vector<std::string> end_left_groups(const fs::path& own) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{own, error}) {
        const auto name = entry.path().filename().string();
        const auto identity = std::string_view{name}.substr(0, name.rfind('.'));
        if (!identity.starts_with(prefix) || !is_of_the_dead(identity.substr(prefix.size())))
            continue;
        for (const pid_t pid : members_of(entry.path()))
            if (auto member = name_of(pid); !member.empty()) names.push_back(std::move(member));
        end_and_remove(entry.path());
    }
    return names;
}

} // namespace assay::process
