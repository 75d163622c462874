// SPDX-License-Identifier: Apache-2.0
//
// How fast are types of machines at the measures of a profile? One logarithm for each measure and machine, of a rate
// (1/s, whatever it counts) of a whole node; made of what all types have measured, so that nothing that is missing
// counts, neither as 0 nor as 1. Like meets like: a measure is one benchmark in one precision, over the sizes that all
// types have (decision 0339).

#pragma once

#include "base/result.hpp"
#include "offers/offer.hpp"
#include "procure/profile.hpp"
#include "reference/hardware.hpp"
#include "store/collection.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay::procure {

/// What of a measure was compared.
struct Compared {
    std::string measure; ///< id
    double weight = 0;   ///< in the profile
    bool counts = false; ///< false: types have nothing in common there
    bool found = false;  ///< a result of any run fits its filters: they are not misspelt
    std::vector<std::string> series; ///< names, of the first type
    /// Names of what fits too but does not count: only some types have it, or another precision does count.
    std::vector<std::string> left_out;
    std::string unit;        ///< of what was measured; empty where it was several
    bool multiplied = false; ///< rates of one device times their number, not measured together
};

struct ScoredMachine {
    std::string id;
    std::size_t runs = 0;
    std::vector<double> logs; ///< of the measures that count, in order
};

/// Machines of one provider and instance type.
struct ScoredType {
    std::string provider;
    std::string instance;
    double nodes = 1; ///< offered: what teams do is measured on as many
    std::vector<ScoredMachine> machines;
    double coverage = 0;     ///< weight of the measures that this type has, by itself
    std::size_t partial = 0; ///< machines left out: they lack what the others of the type have
    bool ranked = false;     ///< else its coverage is too small, or no machine is complete
    /// Not ranked since it was measured by other work than the others: the weight that all had in common.
    std::optional<double> in_common;
};

struct Scores {
    std::vector<Compared> measures; ///< of the profile, in order
    double coverage = 0;            ///< weight of those that count
    std::vector<ScoredType> types;  ///< in the order of the offers
};

/// Of types that are offered, by any name of their provider that `hardware` knows. Types with less than `least_coverage` of
/// the weight are not ranked, so that they do not take away what others have in common; nor are those that share least
/// with the others while all have less than that in common. Fails where a measure takes the best of different units.
Result<Scores> score(const std::vector<offers::Offer>& offers, const Profile& profile,
                     const Profiles& profiles, const store::Collection& runs,
                     double least_coverage = 0.5, const reference::Hardware* hardware = nullptr);

} // namespace assay::procure
