// SPDX-License-Identifier: Apache-2.0
//
// How much memory is there, and how much of it is ours to use?

#pragma once

#include "machine/files.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::machine {

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
