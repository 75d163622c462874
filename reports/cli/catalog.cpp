// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "base/file.hpp"
#include "files.hpp"
#include "procure/catalog_document.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::reports_cli {
namespace {

/// Files to look at are laid over the catalogue, after those of --catalog.
Result<ExitCode> lint_catalog(const Options& options) {
    auto over = options.catalog;
    over.insert(over.end(), options.inputs.begin(), options.inputs.end());
    procure::LintedCatalog linted;
    const auto hardware = reference::read_hardware(over);
    if (!hardware && hardware.error().fault == Fault::environment)
        return tl::unexpected{hardware.error()};
    if (hardware) {
        const procure::CatalogLint how{.files = options.inputs,
                                       .now = terms_of(options.offers).now};
        std::set<std::string> files;
        for (const auto& entry : reference::entries_of(*hardware)) {
            const bool is_asked =
                how.files.empty() || std::ranges::count(how.files, entry.sheet->file) > 0;
            if (is_asked) files.insert(entry.sheet->file);
            linted.entries += is_asked ? 1 : 0;
        }
        linted.files = how.files.empty() ? std::vector(files.begin(), files.end()) : how.files;
        linted.findings = lint(*hardware, how);
    } else {
        linted.files = options.inputs;
        linted.findings = {procure::lint_unreadable(options.inputs.empty() ? std::string{}
                                                                           : options.inputs.front(),
                                                    hardware.error().message)};
    }
    ASSAY_TRY(deliver(options, outputs_of(linted), inputs_of(over)));
    if (!hardware) return ExitCode::usage;
    return any_serious(linted) ? ExitCode::failed : ExitCode::done;
}

Result<ExitCode> show_catalog(const Options& options) {
    ASSAY_TRY(const auto hardware, reference::read_hardware(options.catalog));
    std::optional<reference::Kind> kind;
    for (const auto one : reference::kinds)
        if (options.kind == fmt::format("{}s", to_string(one))) kind = one;
    std::vector<reference::CatalogEntry> entries;
    for (const auto& name : options.inputs) {
        ASSAY_TRY(entries.emplace_back(), reference::entry_named(hardware, name, kind));
    }
    const bool is_list = options.inputs.empty();
    if (is_list) entries = reference::entries_of(hardware, kind);
    const Outputs outputs{.documents =
                              [&] {
                                  return std::vector{is_list ? procure::list_document(entries)
                                                             : procure::make_document(entries)};
                              },
                          .json = [&] { return procure::to_json(entries); },
                          .csv = {}};
    ASSAY_TRY(deliver(options, outputs, inputs_of(options.catalog)));
    return ExitCode::done;
}

} // namespace

Result<ExitCode> catalog(const Options& options) {
    return options.catalog_action == "lint" ? lint_catalog(options) : show_catalog(options);
}

} // namespace assay::reports_cli
