// SPDX-License-Identifier: Apache-2.0
//
// Cases of a sweep over batches as a service: as many queries as a batch has wait for one call. How long, how many a
// second, and at which batch most while all but one in a hundred wait no longer than a bound. Rates are in what the cases
// count: tokens, images.

#pragma once

#include "document/document.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

struct ServedBatch {
    std::string identity; ///< of the case
    double batch = 0;
    double p50 = 0;            ///< seconds of a call
    std::optional<double> p99; ///< nothing below 100 calls
    double queries = 0;        ///< a second
    double rate = 0;           ///< items of the series a second
    std::optional<double>
        per_user; ///< tokens a second, where each of the batch gets one token a call
};
/// Cases that differ in their batch alone, the smallest batch first.
struct Served {
    std::string name;
    std::string benchmark;
    std::string library;
    std::string items; ///< "tokens"; "queries" where the cases name none
    std::vector<ServedBatch> batches;
};
struct Serving {
    std::vector<Served> series;
    std::optional<double> bound; ///< of p99, seconds, as asked for
};

/// Series with two batches and a p99 at least. The run is plain (text.hpp).
Serving find_serving(const record::Run& run, std::optional<double> bound);

/// The batch with the highest rate whose p99 is within the bound.
const ServedBatch* best_within(const Served& series, double bound);

/// Nothing where there is no series and no bound that asks for one.
std::optional<document::Section> serving_section(const Serving& serving);

} // namespace assay::report
