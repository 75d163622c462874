// SPDX-License-Identifier: Apache-2.0
#include "machine/memory.hpp"

#include "base/text.hpp"
#include "machine/cgroup.hpp"

#include <algorithm>

namespace assay::machine {
namespace {

/// "MemTotal:       24684084 kB"; the kernel's kB are 1024 bytes.
std::optional<std::int64_t> kilobytes(std::string_view meminfo, std::string_view key) {
    const auto parts = words(value_of(meminfo, key, ':'));
    const auto value = parts.empty() ? std::nullopt : to_number(parts.front());
    // 2^50 KiB, an exbibyte: more is garbage, and would overflow in bytes.
    if (!value || *value < 0 || *value > (std::int64_t{1} << 50U)) return std::nullopt;
    return *value * 1024;
}

/// The choice in brackets: "always [madvise] never".
std::string chosen(std::string_view text) {
    const auto open = text.find('[');
    const auto close = text.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return {};
    return std::string{text.substr(open + 1, close - open - 1)};
}

} // namespace

Memory read_memory(const Files& files) {
    Memory memory;
    memory.bytes = kilobytes(files.text("/proc/meminfo"), "MemTotal").value_or(0);
    memory.huge_pages = chosen(files.line("/sys/kernel/mm/transparent_hugepage/enabled"));
    for (const MemoryLimit& found : memory_limits(files)) {
        if (memory.bytes > 0 && found.limit >= memory.bytes) continue;
        memory.limit_bytes = std::min(memory.limit_bytes.value_or(found.limit), found.limit);
    }
    return memory;
}

std::optional<std::int64_t> available_memory(const Files& files) {
    auto available = kilobytes(files.text("/proc/meminfo"), "MemAvailable");
    for (const MemoryLimit& found : memory_limits(files)) {
        const std::int64_t left = std::max<std::int64_t>(0, found.limit - found.used);
        available = std::min(available.value_or(left), left);
    }
    return available;
}

} // namespace assay::machine
