// SPDX-License-Identifier: Apache-2.0
//
// report --kind procurement: offers and all runs on their machines.

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "datasheet/hardware.hpp"
#include "files.hpp"
#include "offers/read.hpp"
#include "procure/document.hpp"
#include "verbs.hpp"

#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

/// Of the bytes of all files: who has the report can say by which prices it was made.
Result<std::string> snapshot_of(const std::vector<std::string>& files) {
    std::string all;
    for (const auto& file : files) {
        const auto text = read_whole(file, std::size_t{512} << 20U);
        if (!text) return tl::unexpected{text.error()};
        all += *text;
    }
    return to_hex(sha256(all));
}

} // namespace

Result<ExitCode> procure(const Options& options) {
    const auto& words = options.procuring;
    auto offers = offers_of(options.offers.files, options.offers.defaults);
    if (!offers) return tl::unexpected{offers.error()};
    auto snapshot = snapshot_of(options.offers.files);
    if (!snapshot) return tl::unexpected{snapshot.error()};
    auto profiles = read_profiles(words.profile_files);
    if (!profiles) return tl::unexpected{profiles.error()};
    auto published = read_published(words.published);
    if (!published) return tl::unexpected{published.error()};
    const auto hardware = datasheet::read_hardware(options.catalog);
    if (!hardware) return tl::unexpected{hardware.error()};
    auto collecting = options.collecting;
    collecting.others = true; // a measure may be of energy or percentiles
    const auto runs = collect(options.inputs, collecting);
    if (!runs) return tl::unexpected{runs.error()};
    auto costs = cost_options(options, *hardware, &*runs);
    if (!costs) return tl::unexpected{costs.error()};
    const auto found = make_procurement({.offers = std::move(*offers),
                                         .snapshot = std::move(*snapshot),
                                         .profiles = std::move(*profiles),
                                         .profile = words.profile,
                                         .published = std::move(*published),
                                         .options = {.costs = std::move(*costs),
                                                     .least_coverage = words.least_coverage,
                                                     .prior = {}}});
    if (!found) return tl::unexpected{found.error()};
    std::vector<Input> inputs;
    for (const auto& path : options.offers.files) inputs.push_back({.label = "", .file = path});
    const Outputs outputs{.documents = [&] { return std::vector{make_document(*found)}; },
                          .json = [&] { return to_json(*found); },
                          .csv = {}};
    if (auto done = deliver(options, outputs, inputs); !done) return tl::unexpected{done.error()};
    return found->ranking.recommends() ? ExitCode::done : ExitCode::inconclusive;
}

} // namespace assay::report
