// SPDX-License-Identifier: Apache-2.0
//
// Which processor is it, and what can it do? From /proc/cpuinfo; a hidden or generic name is passed on
// as it is, never guessed at.

#pragma once

#include "machine/files.hpp"

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

} // namespace assay::machine
