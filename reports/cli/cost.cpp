// SPDX-License-Identifier: Apache-2.0
//
// cost and capacity: calculations with their formulas.

#include "capacity/capacity.hpp"
#include "cost/document.hpp"
#include "files.hpp"
#include "offers/read.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

Result<Given> given_in(const std::vector<std::string>& texts, std::span<const Setting> table) {
    Given given;
    for (const auto& text : texts)
        if (auto added = add_setting(text, table, given); !added)
            return tl::unexpected{added.error()};
    return given;
}

} // namespace

Result<CostOptions> cost_options(const Options& options, const datasheet::Hardware& hardware,
                                 const Collection* runs) {
    const auto& words = options.costing;
    auto given = given_in(words.settings, cost_settings());
    if (!given) return tl::unexpected{given.error()};
    CostOptions how{.terms = terms_of(options.offers),
                    .given = std::move(*given),
                    .nodes = words.nodes,
                    .term_months = words.term_months,
                    .work = {},
                    .runs = runs,
                    .hardware = &hardware};
    for (const auto& text : words.work) {
        auto work = parse_work(text);
        if (!work) return tl::unexpected{work.error()};
        how.work.push_back(std::move(*work));
    }
    return how;
}

Result<ExitCode> cost(const Options& options) {
    const auto offers = offers_of(options.inputs, options.offers.defaults);
    if (!offers) return tl::unexpected{offers.error()};
    const auto& words = options.costing;
    const auto hardware = datasheet::read_hardware(options.catalog);
    if (!hardware) return tl::unexpected{hardware.error()};
    std::optional<Collection> runs;
    if (!options.offers.results.empty()) {
        auto collecting = options.collecting;
        collecting.metrics = {"primary", "energy", "time"};
        collecting.metrics_may_be_missing = true;
        auto collected = collect(options.offers.results, collecting);
        if (!collected) return tl::unexpected{collected.error()};
        runs = std::move(*collected);
    }
    const auto how = cost_options(options, *hardware, runs ? &*runs : nullptr);
    if (!how) return tl::unexpected{how.error()};
    const auto costs = costs_of(*offers, *how);
    if (!costs) return tl::unexpected{costs.error()};
    std::vector<Input> inputs;
    for (const auto& path : options.inputs) inputs.push_back({.label = "", .file = path});
    const Outputs outputs{
        .documents = [&] { return std::vector{make_document(*costs, words.explain)}; },
        .json = [&] { return to_json(*costs); },
        .csv = {}};
    if (auto done = deliver(options, outputs, inputs); !done) return tl::unexpected{done.error()};
    const bool any = std::ranges::any_of(
        *costs, [](const auto& cost) { return cost.lines.of("month").has_value(); });
    return any ? ExitCode::done : ExitCode::inconclusive;
}

Result<ExitCode> capacity(const Options& options) {
    const auto& words = options.costing;
    const auto given = given_in(words.settings, capacity_settings());
    if (!given) return tl::unexpected{given.error()};
    const auto hardware = datasheet::read_hardware(options.catalog);
    if (!hardware) return tl::unexpected{hardware.error()};
    std::vector<datasheet::CatalogEntry> only;
    for (const auto& name : options.inputs) {
        const auto entry = datasheet::entry_named(*hardware, name);
        if (!entry) return tl::unexpected{entry.error()};
        only.push_back(*entry);
    }
    const auto found = capacity_of(*given, words.training, *hardware, only);
    if (!found) return tl::unexpected{found.error()};
    const Outputs outputs{
        .documents = [&] { return std::vector{make_document(*found, words.explain)}; },
        .json = [&] { return to_json(*found); },
        .csv = {}};
    if (auto done = deliver(options, outputs, {}); !done) return tl::unexpected{done.error()};
    return found->lines.of("device_bytes") ? ExitCode::done : ExitCode::inconclusive;
}

} // namespace assay::report
