// SPDX-License-Identifier: Apache-2.0
//
// Which processor is it, what can it do, how much memory is there, and how much of it is ours to use? From
// /proc; a hidden or generic name is passed on as it is, never guessed at.

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
    std::optional<bool> is_guest; ///< does a hypervisor run it? Only x86 processors say so
};
Cpu read_cpu(const Files& files);

struct Memory {
    std::int64_t bytes = 0; ///< 0: not known
    std::optional<std::int64_t> limit_bytes;
    std::string huge_pages;
};
Memory read_memory(const Files& files);

/// Bytes that can be used now without swapping and without meeting a limit; never remembered from
/// an earlier call. Absent when the kernel does not say.
std::optional<std::int64_t> available_memory(const Files& files);

} // namespace assay::machine
