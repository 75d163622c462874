// SPDX-License-Identifier: Apache-2.0

#include "compare/comparison.hpp"

#include <algorithm>
#include <array>

namespace assay::report {

std::string_view to_string(ContrastOutcome outcome) {
    switch (outcome) {
    case ContrastOutcome::better:
        return "better";
    case ContrastOutcome::worse:
        return "worse";
    case ContrastOutcome::same:
        return "same";
    case ContrastOutcome::cannot_tell:
        return "cannot_tell";
    case ContrastOutcome::missing:
        break;
    }
    return "missing";
}

namespace {
constexpr std::array scales{"machine", "core", "currency"};
} // namespace
std::string_view to_string(Scale scale) { return scales.at(static_cast<std::size_t>(scale)); }
std::optional<Scale> scale_from(std::string_view text) {
    const auto* const found = std::ranges::find(scales, text);
    if (found == scales.end()) return {};
    return static_cast<Scale>(found - scales.begin());
}

std::string_view to_string(NoVerdict reason) {
    switch (reason) {
    case NoVerdict::disturbed:
        return "disturbed";
    case NoVerdict::two_levels:
        return "two_levels";
    case NoVerdict::cpus_moved:
        return "cpus_moved";
    case NoVerdict::between_times:
        return "between_times";
    case NoVerdict::zero:
        return "zero";
    case NoVerdict::none:
        break;
    }
    return "none";
}

std::string_view to_string(Correction correction) {
    return correction == Correction::family_wise ? "holm" : "benjamini_hochberg";
}

std::string_view to_string(Unit unit) {
    switch (unit) {
    case Unit::machine:
        return "machine";
    case Unit::run:
        return "run";
    case Unit::replica:
        break;
    }
    return "replica";
}

} // namespace assay::report
