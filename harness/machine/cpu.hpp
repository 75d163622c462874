// SPDX-License-Identifier: Apache-2.0
//
// The processor and its instruction sets, the memory and how much of it is usable. From /proc; a hidden
// or generic name is passed on as it is.

#pragma once

#include "machine/files.hpp"

#include <cstdint>
#include <optional>
#include <string>
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
    std::int64_t bytes = 0; ///< 0: not known
    std::optional<std::int64_t> limit_bytes;
    std::string huge_pages;
};
Memory read_memory(const Files& files);

/// Bytes usable now without swapping and without reaching a limit; read anew on every call. Absent
/// if the kernel does not report it.
std::optional<std::int64_t> available_memory(const Files& files);

} // namespace assay::machine
