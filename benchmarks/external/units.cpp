// SPDX-License-Identifier: Apache-2.0
#include "external/description.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace assay::external {
namespace {

struct Scale {
    std::string_view prefix;
    double factor;
};
constexpr std::array scales{
    Scale{"", 1},
    Scale{"k", 1e3},
    Scale{"K", 1e3},
    Scale{"M", 1e6},
    Scale{"G", 1e9},
    Scale{"T", 1e12},
    Scale{"Ki", 1024.0},
    Scale{"Mi", 1048576.0},
    Scale{"Gi", 1073741824.0},
    Scale{"Ti", 1024.0 * 1073741824.0},
};
constexpr std::array small_scales{Scale{"", 1}, Scale{"m", 1e-3}, Scale{"u", 1e-6},
                                  Scale{"n", 1e-9}};

struct Known {
    std::string_view base;
    std::string_view written; ///< what follows the prefix
    double factor;
    bool is_small; ///< takes the prefixes of seconds
};
constexpr std::array known{
    Known{"s", "s", 1, true},
    Known{"B/s", "B/s", 1, false},
    Known{"B/s", "bit/s", 0.125, false},
    Known{"FLOP/s", "FLOP/s", 1, false},
    Known{"1/s", "1/s", 1, false},
    Known{"updates/s", "updates/s", 1, false},
    Known{"atom-steps/s", "atom-steps/s", 1, false},
};
/// Without prefixes.
constexpr std::array plain{
    Known{"1", "1", 1, false},           Known{"1", "%", 0.01, false}, Known{"dB", "dB", 1, false},
    Known{"ns/day", "ns/day", 1, false}, Known{"J", "J", 1, false},
};

} // namespace

Unit unit_of(std::string_view text) {
    for (const auto& unit : plain)
        if (text == unit.written) return {.base = std::string{unit.base}, .factor = unit.factor};
    for (const auto& unit : known) {
        if (!text.ends_with(unit.written)) continue;
        const auto prefix = text.substr(0, text.size() - unit.written.size());
        const std::span<const Scale> list =
            unit.is_small ? std::span<const Scale>{small_scales} : std::span<const Scale>{scales};
        const auto scale = std::ranges::find(list, prefix, &Scale::prefix);
        if (scale != list.end())
            return {.base = std::string{unit.base}, .factor = unit.factor * scale->factor};
    }
    throw Problem{"the unit \"" + std::string{text} +
                  "\" is not known; there are s, B/s, bit/s, FLOP/s, 1/s, updates/s, "
                  "atom-steps/s with a prefix (ms, MiB/s, Gbit/s), and 1, %, dB, ns/day, J"};
}

} // namespace assay::external
