// SPDX-License-Identifier: Apache-2.0
//
// How far are runs that have a journal and no result yet?

#pragma once

#include "fleet/model.hpp"
#include "fleet/names.hpp"
#include "record/journal.hpp"

#include <map>
#include <string>

namespace assay::report {

/// Of one journal. `cases`: of a finished run of the same plan, where the journal does not say. `now` and `written`: by the
/// same clock, seconds since 1970.
Unfinished progress_of(const record::JournalContent& journal, std::optional<std::size_t> cases,
                       double now, double written);

/// Reads the journals of Collection::unfinished.
void find_unfinished(Fleet& fleet, const NodeNames& names, double now);

} // namespace assay::report
