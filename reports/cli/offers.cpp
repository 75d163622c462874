// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/utc.hpp"
#include "files.hpp"
#include "purchase/offer.hpp"
#include "purchase/offer_document.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::reports_cli {
namespace {

Result<ExitCode> start_file(const Options& options) {
    const std::filesystem::path out = options.out.empty() ? "-" : options.out;
    std::error_code ignored;
    if (out != "-" && std::filesystem::exists(out, ignored))
        return fail(plain(out.string()) + " exists; give another name");
    ASSAY_TRY(const auto text,
              out.extension() == ".csv"
                  ? Result<std::string>{purchase::table_template()}
                  : read_whole(layout().share / "offers" / "template.json", json::Limits{}.bytes));
    ASSAY_TRY(write(out, text));
    return ExitCode::done;
}

Result<ExitCode> lint_offers(const Options& options) {
    ASSAY_TRY(const auto hardware, reference::read_hardware(options.catalog));
    const auto terms = terms_of(options.offers, &hardware);
    ASSAY_TRY(const auto runs, collect_any(options.offers.results, options.collecting));
    purchase::LintedOffers linted;
    bool unreadable = false;
    for (const auto& path : options.inputs) {
        ASSAY_TRY(const auto read, read_offers(path, options.offers.defaults));
        unreadable = unreadable || !read.faults.empty();
        linted.files.push_back(plain(path));
        linted.offers += read.offers.offers.size();
        for (auto& row : lint(read, terms, runs ? &*runs : nullptr, &hardware)) {
            row.file = linted.files.back();
            linted.findings.push_back(std::move(row));
        }
    }
    ASSAY_TRY(deliver(options, outputs_of(linted), inputs_of(options.inputs)));
    if (unreadable) return ExitCode::usage;
    return serious_of(linted.findings) > 0 ? ExitCode::failed : ExitCode::done;
}

Result<ExitCode> show_offers(const Options& options) {
    ASSAY_TRY(const auto offers, offers_of(options.inputs, options.offers.defaults));
    ASSAY_TRY(const auto hardware, reference::read_hardware(options.catalog));
    const auto terms = terms_of(options.offers, &hardware);
    const auto doubts = static_cast<std::size_t>(std::ranges::count_if(
        lint({.offers = offers, .faults = {}}, terms, nullptr, &hardware), [](const auto& found) {
            return found.severity != document::Severity::note &&
                   found.code != to_string(purchase::OfferCode::unpriced);
        }));
    const Outputs outputs{
        .documents = [&] { return std::vector{make_document(offers, terms, doubts)}; },
        .json = [&] { return to_json(offers, terms); },
        .csv = {}};
    ASSAY_TRY(deliver(options, outputs, inputs_of(options.inputs)));
    return ExitCode::done;
}

} // namespace

purchase::PriceTerms terms_of(const OffersWords& words, const reference::Hardware* hardware) {
    return {.now = seconds_now(),
            .max_age_days = words.max_age_days,
            .currency = words.currency,
            .hardware = hardware};
}

Result<ExitCode> offers(const Options& options) {
    if (options.offers.action == "init") return start_file(options);
    if (options.offers.action == "lint") return lint_offers(options);
    return show_offers(options);
}

} // namespace assay::reports_cli
