// SPDX-License-Identifier: Apache-2.0
//
// All that a report for a purchase says: the ranking for the work that is asked for and for all other profiles, what was
// promised beside what was measured, and figures that others published.

#pragma once

#include "procure/published.hpp"
#include "procure/ranking.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// What an offer says a node has, and what machines of its type were found to have.
struct Promise {
    std::string offer;
    std::string_view
        code; ///< "gpus", "memory", "bandwidth", "availability", ...; in words: promise.json
    std::string_view unit;
    double promised = 0;
    std::optional<double> measured; ///< the least of the machines
    bool kept() const;
};

struct Procurement {
    Offers offers;
    std::vector<Cost> costs;
    Profiles profiles;
    Ranking ranking;
    std::vector<Ranking> others; ///< for the other profiles
    std::vector<Promise> promises;
    std::vector<BesidePublished> published;
    std::string snapshot;                 ///< SHA-256 of the files of offers
    std::vector<Problem> problems;        ///< files that take no part
    std::vector<std::string> not_offered; ///< types that were measured all the same
    std::size_t machines = 0;
    std::size_t runs = 0;
    RankingOptions options;
};

struct ProcurementInputs {
    Offers offers;
    std::string snapshot;
    Profiles profiles;
    std::string profile; ///< name
    std::vector<Published> published;
    RankingOptions options; ///< with the runs
};
/// Fails where the profile is not there, and where prices are in several currencies and none is asked for.
Result<Procurement> make_procurement(ProcurementInputs inputs);

std::vector<Promise> promises_of(const std::vector<Offer>& offers, const Collection& runs,
                                 const datasheet::Hardware* hardware = nullptr);

} // namespace assay::report
