// SPDX-License-Identifier: Apache-2.0

#include "compare/comparison.hpp"

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

std::string_view to_string(NoVerdict reason) {
    switch (reason) {
    case NoVerdict::disturbed:
        return "disturbed";
    case NoVerdict::two_levels:
        return "two_levels";
    case NoVerdict::between_times:
        return "between_times";
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
