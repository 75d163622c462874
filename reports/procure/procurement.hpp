// SPDX-License-Identifier: Apache-2.0
//
// All that a report for a purchase says: the ranking for the work that is asked for and for all other profiles, what was
// promised beside what was measured, and figures that others published.

#pragma once

#include "procure/promises.hpp"
#include "procure/published.hpp"
#include "procure/ranking.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::report {

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

} // namespace assay::report
