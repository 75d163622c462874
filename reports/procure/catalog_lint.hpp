// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with entries of the catalogue.

#pragma once

#include "base/names.hpp"
#include "document/lint.hpp"
#include "json/json.hpp"
#include "reference/hardware.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::procure {

/// For programs: these stay as they are. What each means: catalog.json of document/texts.
ASSAY_ENUM(CatalogCode, unreadable,
           unknown_id,      // of a provider, processor or accelerator; a conflict about no figure
           unit_slip,       // a factor of 1000 away from all others
           more_cores,      // than vCPUs
           sparse_as_dense, // a dense peak that only sparsity reaches
           same_name,       // two entries that nothing tells apart
           no_source,
           future_day,         // a source read after today
           old_check,          // read long ago
           gpu_memory_differs, // from that of so many GPUs
           conflict_missing)   // figures contradict each other, and no conflict says so

struct CatalogLint {
    std::vector<std::string> files{}; ///< findings of these; of all where empty
    double now = 0;                   ///< seconds since 1970
};
std::vector<document::LintRow> lint(const reference::Hardware& hardware,
                                    const CatalogLint& options);
/// A file that cannot be read, and why.
document::LintRow lint_unreadable(const std::string& file, const std::string& error);

// --- catalog words -------------------------------------------------------------------------------
// Figures of the catalogue in words, by their paths.

/// "B/s"; empty for counts and texts.
std::string_view unit_of_figure(std::string_view path);
/// "Tensor peak, bf16": a name where the path, or what it begins with, has one.
std::string name_of_figure(std::string_view path);
/// "3.35 TB/s", "192 GiB".
std::string figure_in_words(std::string_view path, const json::Value& value);

} // namespace assay::procure
