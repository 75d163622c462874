// SPDX-License-Identifier: Apache-2.0
//
// A control group (version 2) for a program and all that it starts: the kernel ends it as a whole, however fast its
// processes fork and wherever they moved their sessions. Unavailable if the user may not make one.

#pragma once

#include "base/file.hpp"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::process {

struct GroupLimits {
    std::int64_t processes = 0; ///< and threads; 0: no limit
    std::int64_t bytes = 0;     ///< of memory; 0: no limit
};

class ControlGroup {
public:
    /// A new one below `own`, if that is the group of this process (see group_to_use). Limits are set where the
    /// kernel gives the controllers to groups below.
    static std::optional<ControlGroup> make(const std::filesystem::path& own, GroupLimits limits);
    ControlGroup(ControlGroup&& other) noexcept
        : folder_{std::exchange(other.folder_, {})}, entrance_{std::move(other.entrance_)},
          end_{std::move(other.end_)} {}
    ControlGroup& operator=(ControlGroup&& other) noexcept;
    ControlGroup(const ControlGroup&) = delete;
    ControlGroup& operator=(const ControlGroup&) = delete;
    ~ControlGroup() { remove(); }

    /// A process that writes "0" to it is inside.
    int entrance() const { return entrance_.get(); }
    /// "1", written to it, ends all that is inside.
    int end() const { return end_.get(); }

private:
    ControlGroup(std::filesystem::path folder, Descriptor entrance, Descriptor end)
        : folder_{std::move(folder)}, entrance_{std::move(entrance)}, end_{std::move(end)} {}
    void remove() noexcept;

    std::filesystem::path folder_;
    Descriptor entrance_;
    Descriptor end_;
};

/// One character to a file of a group, also between fork() and exec.
inline void write_word(int file, char word) {
    [[maybe_unused]] const auto written = ::write(file, &word, 1);
}

/// Where this process makes groups: `own`, the group that it is in. The kernel gives controllers to groups below only
/// while no process is in the group above. So where this process is alone in a group that was delegated to it
/// (`systemd-run --scope -p Delegate=yes`, a container's first process), it moves into a group below and passes the
/// controllers on. The first call in a process decides.
std::filesystem::path group_to_use(const std::filesystem::path& own);

/// Ends what is in groups below `own` whose maker is gone, and names it.
std::vector<std::string> end_left_groups(const std::filesystem::path& own);

} // namespace assay::process
