// SPDX-License-Identifier: Apache-2.0
//
// How fast the offered machine does the work of a job: by runs on machines of the same provider and type, on as many
// nodes as the job has. Nothing is scaled from one number of nodes to another.

#pragma once

#include "base/result.hpp"
#include "offers/calculation.hpp"
#include "offers/offer.hpp"
#include "reference/hardware.hpp"
#include "store/collection.hpp"

namespace assay::offers {

/// A part of a job: so much of what a case does. FLOP of a rate in FLOP/s, bytes of B/s; calls where a time is measured.
struct Work {
    std::string pattern; ///< "gemm.square*size=4096*": of names of series, with * and ?
    double amount = 0;
};
/// "gemm.square/*=1e18": the amount stands behind the last =.
Result<Work> parse_work(const std::string& text);

struct WorkRate {
    std::string series; ///< that the pattern means; empty: none
    std::string unit;   ///< of the amount: "FLOP", "calls"
    /// Amount a second: the median over machines, and the lowest and highest that one of them has, with its interval.
    std::optional<Quantity> rate;
    std::optional<Quantity> watts; ///< of the host or device of the case, while it runs
    bool on_device = false;
    std::size_t machines = 0;
    std::size_t runs = 0;
    std::string why; ///< a code, where there is no rate
};
/// Fails where a pattern means several series, which would leave open what the rate is.
Result<WorkRate> rate_of(const Work& work, const Offer& offer, double nodes,
                         const store::Collection& runs,
                         const reference::Hardware* hardware = nullptr);

} // namespace assay::offers
