// SPDX-License-Identifier: Apache-2.0

#include "purchase/catalog.hpp"

#include "files.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace assay::reports_cli {

Result<ExitCode> catalog(const Options& options) {
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
                                  return std::vector{is_list ? purchase::list_document(entries)
                                                             : purchase::make_document(entries)};
                              },
                          .json = [&] { return purchase::to_json(entries); },
                          .csv = {}};
    ASSAY_TRY(deliver(options, outputs, inputs_of(options.catalog)));
    return ExitCode::done;
}

} // namespace assay::reports_cli
