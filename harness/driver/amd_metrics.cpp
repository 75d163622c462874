// SPDX-License-Identifier: Apache-2.0
#include "driver/amd_metrics.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace assay::driver {
namespace {

/// Where a layout has its fields, in bytes; 0: it has none.
struct Layout {
    std::uint8_t revision; ///< of the content: 3 for v1_3
    std::size_t size;
    std::size_t energy;    // 64 bits, in 2^-16 J
    std::size_t pcie;      // lanes, then speed in 0.1 GT/s: 16 bits each
    std::size_t throttler; // 64 bits: the reasons of this moment
    std::size_t looks;     // 32 bits, then those that found a reason: see `residencies`
};
constexpr std::array layouts{
    Layout{.revision = 1, .size = 96, .energy = 24, .pcie = 74, .throttler = 0, .looks = 0},
    Layout{.revision = 2, .size = 104, .energy = 24, .pcie = 74, .throttler = 0, .looks = 0},
    Layout{.revision = 3, .size = 120, .energy = 24, .pcie = 74, .throttler = 112, .looks = 0},
    Layout{.revision = 4, .size = 288, .energy = 24, .pcie = 48, .throttler = 0, .looks = 0},
    Layout{.revision = 6, .size = 1664, .energy = 16, .pcie = 60, .throttler = 0, .looks = 32},
    Layout{.revision = 7, .size = 2208, .energy = 24, .pcie = 68, .throttler = 0, .looks = 40},
    Layout{.revision = 8, .size = 3360, .energy = 24, .pcie = 68, .throttler = 0, .looks = 40},
};

/// A field that the firmware does not fill has all bits set.
template <class T>
std::optional<T> field(std::string_view table, std::size_t at) {
    T value{};
    if (at == 0 || at + sizeof value > table.size()) return {};
    std::memcpy(&value, table.data() + at, sizeof value);
    if (value == std::numeric_limits<T>::max()) return {};
    return value;
}

/// Bits of the throttler's state that are of one kind: power and current, temperatures, and the hardware's own limits.
struct Reason {
    std::uint64_t bits;
    const char* name;
};
constexpr std::uint64_t bits(unsigned first, unsigned last) {
    return (std::uint64_t{2} << last) - (std::uint64_t{1} << first);
}
constexpr std::array reasons{
    Reason{.bits = bits(0, 7) | bits(16, 23), .name = "power_cap"},
    Reason{.bits = bits(32, 43), .name = "thermal"},
    Reason{.bits = bits(44, 47), .name = "hardware_thermal"},
};

/// In the order of the table: PROCHOT, package power, temperatures of socket, regulators and memory.
constexpr std::array residencies{"hardware_thermal", "power_cap", "thermal", "thermal", "thermal"};

std::optional<int> generation_of(std::optional<std::uint16_t> speed) {
    constexpr std::array<std::uint16_t, 6> speeds{25, 50, 80, 160, 320, 640}; // 0.1 GT/s
    if (!speed) return {};
    const auto* const found = std::ranges::find(speeds, *speed);
    if (found == speeds.end()) return {};
    return static_cast<int>(found - speeds.begin()) + 1;
}

} // namespace

AmdMetrics read_amd_metrics(std::string_view table) {
    AmdMetrics now;
    struct Header {
        std::uint16_t size;
        std::uint8_t format;
        std::uint8_t content;
    } header{};
    if (table.size() < sizeof header) return now;
    std::memcpy(&header, table.data(), sizeof header);
    const auto* const layout = std::ranges::find(layouts, header.content, &Layout::revision);
    if (header.format != 1 || layout == layouts.end() || header.size != layout->size ||
        table.size() < layout->size)
        return now;
    if (const auto energy = field<std::uint64_t>(table, layout->energy); energy && *energy > 0)
        now.energy_joules = static_cast<double>(*energy) / 65536;
    if (const auto lanes = field<std::uint16_t>(table, layout->pcie); lanes && *lanes > 0)
        now.pcie_width = *lanes;
    now.pcie_generation = generation_of(field<std::uint16_t>(table, layout->pcie + 2));
    if (const auto state = field<std::uint64_t>(table, layout->throttler)) {
        now.throttles.emplace();
        for (const auto& reason : reasons)
            if ((*state & reason.bits) != 0) now.throttles->emplace_back(reason.name);
    }
    if (const auto looks = field<std::uint32_t>(table, layout->looks)) {
        now.looks = *looks;
        std::size_t at = layout->looks;
        for (const auto* reason : residencies)
            if (const auto found = field<std::uint32_t>(table, at += sizeof(std::uint32_t)))
                now.throttled_looks[reason] += *found;
    }
    return now;
}

} // namespace assay::driver
