// SPDX-License-Identifier: Apache-2.0
//
// report --kind procurement: offers and all runs on their machines.

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "files.hpp"
#include "purchase/offer.hpp"
#include "purchase/procurement.hpp"
#include "reference/hardware.hpp"
#include "verbs.hpp"

#include <string>
#include <utility>
#include <vector>

namespace assay::reports_cli {
namespace {

/// Digest of the bytes of all files: it shows by which prices a report was made.
Result<std::string> snapshot_of(const std::vector<std::string>& files) {
    std::string all;
    for (const auto& file : files) {
        ASSAY_TRY(const auto text, read_whole(file, std::size_t{512} << 20U));
        all += text;
    }
    return to_hex(sha256(all));
}

} // namespace

Result<ExitCode> procure(const Options& options) {
    const auto& words = options.procuring;
    ASSAY_TRY(auto offers, offers_of(options.offers.files, options.offers.defaults));
    ASSAY_TRY(auto snapshot, snapshot_of(options.offers.files));
    ASSAY_TRY(auto profiles, purchase::read_profiles(words.profile_files));
    ASSAY_TRY(const auto hardware, reference::read_hardware(options.catalog));
    auto collecting = options.collecting;
    collecting.others = true; // a measure may be of energy or percentiles
    ASSAY_TRY(const auto runs, collect(options.inputs, collecting));
    ASSAY_TRY(auto costs, cost_options(options, hardware, &runs));
    ASSAY_TRY(const auto found,
              purchase::make_procurement({.offers = std::move(offers),
                                          .snapshot = std::move(snapshot),
                                          .profiles = std::move(profiles),
                                          .profile = words.profile,
                                          .options = {.costs = std::move(costs),
                                                      .least_coverage = words.least_coverage,
                                                      .prior = {},
                                                      .needs = words.needs}}));
    ASSAY_TRY(deliver(options, outputs_of(found), inputs_of(options.offers.files)));
    return found.ranking.recommends() ? ExitCode::done : ExitCode::inconclusive;
}

} // namespace assay::reports_cli
