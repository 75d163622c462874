// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "base/file.hpp"
#include "files.hpp"
#include "offers/document.hpp"
#include "offers/read.hpp"
#include "offers/table.hpp"
#include "verbs.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

std::vector<Input> inputs_of(const Options& options) {
    std::vector<Input> inputs;
    for (const auto& path : options.inputs) inputs.push_back({.label = "", .file = path});
    return inputs;
}

Result<ExitCode> start_file(const Options& options) {
    const std::filesystem::path out = options.out.empty() ? "-" : options.out;
    std::error_code ignored;
    if (out != "-" && std::filesystem::exists(out, ignored))
        return fail(plain(out.string()) + " is there already; give another name");
    const auto text =
        out.extension() == ".csv"
            ? Result<std::string>{table_template()}
            : read_whole(layout().share / "offers" / "template.json", json::Limits{}.bytes);
    if (!text) return tl::unexpected{text.error()};
    if (auto done = write(out, *text); !done) return tl::unexpected{done.error()};
    return ExitCode::done;
}

Result<ExitCode> lint_offers(const Options& options) {
    const auto terms = terms_of(options.offers);
    const auto hardware = datasheet::read_hardware(options.catalog);
    if (!hardware) return tl::unexpected{hardware.error()};
    std::optional<Collection> runs;
    if (!options.offers.results.empty()) {
        auto collected = collect(options.offers.results, options.collecting);
        if (!collected) return tl::unexpected{collected.error()};
        runs = std::move(*collected);
    }
    std::vector<LintedOffers> files;
    bool unreadable = false;
    for (const auto& path : options.inputs) {
        const auto read = read_offers(path, options.offers.defaults);
        if (!read) return tl::unexpected{read.error()};
        unreadable = unreadable || !read->faults.empty();
        files.push_back({.file = plain(path),
                         .offers = read->offers.offers.size(),
                         .findings = lint(*read, terms, runs ? &*runs : nullptr, &*hardware)});
    }
    const Outputs outputs{.documents = [&] { return std::vector{make_document(files)}; },
                          .json = [&] { return to_json(files); },
                          .csv = {}};
    if (auto done = deliver(options, outputs, inputs_of(options)); !done)
        return tl::unexpected{done.error()};
    if (unreadable) return ExitCode::usage;
    return any_serious(files) ? ExitCode::failed : ExitCode::done;
}

Result<ExitCode> show_offers(const Options& options) {
    const auto offers = offers_of(options.inputs, options.offers.defaults);
    if (!offers) return tl::unexpected{offers.error()};
    const auto terms = terms_of(options.offers);
    const Outputs outputs{.documents = [&] { return std::vector{make_document(*offers, terms)}; },
                          .json = [&] { return to_json(*offers, terms); },
                          .csv = {}};
    if (auto done = deliver(options, outputs, inputs_of(options)); !done)
        return tl::unexpected{done.error()};
    return ExitCode::done;
}

} // namespace

PriceTerms terms_of(const OffersWords& words) {
    return {.now =
                std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
                    .count(),
            .max_age_days = words.max_age_days,
            .currency = words.currency};
}

Result<ExitCode> offers(const Options& options) {
    if (options.offers.action == "init") return start_file(options);
    if (options.offers.action == "lint") return lint_offers(options);
    return show_offers(options);
}

} // namespace assay::report
