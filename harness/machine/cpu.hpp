// SPDX-License-Identifier: Apache-2.0
//
// The processor and its instruction sets, the memory and how much of it is usable. From /proc; a hidden
// or generic name is passed on as it is.

#pragma once

#include "machine/files.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::machine {

struct Cpu {
    std::string model;
    std::string vendor;
    std::vector<std::string> isa; ///< the kernel's names, in its order
    std::optional<bool> is_guest; ///< runs under a hypervisor; known for x86 processors only
};
Cpu read_cpu(const Files& files);

struct Memory {
    std::int64_t bytes = 0;     ///< 0: not known
    std::int64_t far_bytes = 0; ///< of it on NUMA nodes without CPUs: of devices, of CXL
    std::vector<std::string> nodes_without; ///< NUMA nodes that have CPUs and no memory
    std::optional<std::int64_t> limit_bytes;
    std::string huge_pages;
};
Memory read_memory(const Files& files);

/// Bytes usable now without swapping and without reaching a limit; read anew on every call. Absent
/// if the kernel does not report it.
std::optional<std::int64_t> available_memory(const Files& files);

// Limits of a container or a batch system: control groups, version 1 and 2. A limit of any group
// above ours applies too, so every level counts and the lowest limit wins.

/// Where one controller ("cpu", "memory") keeps the files of our group and of those above it.
struct Hierarchy {
    bool unified = false;                       ///< cgroup version 2
    std::vector<std::filesystem::path> folders; ///< ours first; empty when there is no controller
};
Hierarchy hierarchy(const Files& files, std::string_view controller);

/// The folder of our group of version 2, also where it has no controllers; empty without one.
std::filesystem::path own_group(const Files& files);

/// The quota in CPUs: 1.5. Absent: no limit.
std::optional<double> cpu_quota(const Files& files);

/// Bytes. A group that may use `limit` and uses `used` of it, without the file pages that the
/// kernel would give up first.
struct MemoryLimit {
    std::int64_t limit = 0;
    std::int64_t used = 0;
};
/// One for each level that has a limit.
std::vector<MemoryLimit> memory_limits(const Files& files);

/// Seconds that our group was stopped by the quota, so far.
std::optional<double> throttled_seconds(const Files& files);

} // namespace assay::machine
