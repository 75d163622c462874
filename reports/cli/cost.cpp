// SPDX-License-Identifier: Apache-2.0
//
// cost and capacity: calculations with their formulas.

#include "purchase/cost.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "files.hpp"
#include "purchase/capacity.hpp"
#include "purchase/offer.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::reports_cli {
namespace {

Result<purchase::Given> given_in(const std::vector<std::string>& texts,
                                 std::span<const purchase::Setting> table) {
    purchase::Given given;
    for (const auto& text : texts) ASSAY_TRY(add_setting(text, table, given));
    return given;
}

} // namespace

Result<purchase::CostOptions> cost_options(const Options& options,
                                           const reference::Hardware& hardware,
                                           const store::Collection* runs) {
    const auto& words = options.costing;
    ASSAY_TRY(auto given, given_in(words.settings, purchase::cost_settings()));
    purchase::CostOptions how{.terms = terms_of(options.offers, &hardware),
                              .given = std::move(given),
                              .nodes = words.nodes,
                              .term_months = words.term_months,
                              .work = {},
                              .runs = runs,
                              .hardware = &hardware};
    for (const auto& text : words.work) {
        ASSAY_TRY(how.work.emplace_back(), purchase::parse_work(text));
    }
    return how;
}

Result<ExitCode> cost(const Options& options) {
    ASSAY_TRY(const auto offers, offers_of(options.inputs, options.offers.defaults));
    const auto& words = options.costing;
    ASSAY_TRY(const auto hardware, reference::read_hardware(options.catalog));
    auto collecting = options.collecting;
    collecting.metrics = {"primary", "energy", "time"};
    collecting.metrics_may_be_missing = true;
    ASSAY_TRY(const auto runs, collect_any(options.offers.results, collecting));
    ASSAY_TRY(const auto how, cost_options(options, hardware, runs ? &*runs : nullptr));
    ASSAY_TRY(const auto costs, costs_of(offers, how));
    auto outputs = outputs_of(costs, words.explain);
    auto inputs = options.inputs;
    std::vector<purchase::UsagePlan> plans;
    if (!words.usage.empty()) {
        inputs.push_back(words.usage);
        ASSAY_TRY(const auto text, read_whole(words.usage, json::Limits{}.bytes));
        ASSAY_TRY(const auto used, purchase::parse_usage(text, plain(words.usage)));
        ASSAY_TRY(plans, plan_usage(used, costs));
        outputs.documents = [&] {
            auto document = make_document(costs, words.explain);
            auto usage = section_of(plans);
            // The first type's answer to the question is the verdict.
            document.sub = std::exchange(document.verdict,
                                         std::get<document::Paragraph>(usage.blocks.front()).text);
            usage.blocks.erase(usage.blocks.begin());
            document.sections.front().heading = true;
            document.sections.insert(document.sections.begin(), std::move(usage));
            return std::vector{std::move(document)};
        };
        outputs.json = [&] { return to_json(costs, to_json(plans)); };
    }
    ASSAY_TRY(deliver(options, outputs, inputs_of(inputs)));
    const bool any = std::ranges::any_of(
        costs, [](const auto& cost) { return cost.lines.of("month").has_value(); });
    return any ? ExitCode::done : ExitCode::inconclusive;
}

Result<ExitCode> capacity(const Options& options) {
    const auto& words = options.costing;
    ASSAY_TRY(const auto given, given_in(words.settings, purchase::capacity_settings()));
    ASSAY_TRY(const auto hardware, reference::read_hardware(options.catalog));
    std::vector<reference::CatalogEntry> only;
    for (const auto& name : options.inputs) {
        ASSAY_TRY(only.emplace_back(), reference::entry_named(hardware, name));
    }
    std::optional<purchase::Model> model;
    if (!words.model.empty()) {
        ASSAY_TRY(model, purchase::model_named(words.model));
    }
    ASSAY_TRY(const auto found,
              purchase::capacity_of(given, words.training, hardware, only, model));
    ASSAY_TRY(deliver(options, outputs_of(found, words.explain), {}));
    return found.lines.of("device_bytes") ? ExitCode::done : ExitCode::inconclusive;
}

} // namespace assay::reports_cli
