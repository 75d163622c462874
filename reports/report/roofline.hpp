// SPDX-License-Identifier: Apache-2.0
//
// What the cases of a run reach against how much they compute for each byte they move (Williams, Waterman
// and Patterson, "Roofline", CACM 52(4), 2009).

#pragma once

#include "record/model.hpp"
#include "report/types.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {

/// Which case measured the bound of another?
class Bounds {
public:
    explicit Bounds(const record::Run& run); ///< refers to it
    /// Null where none of the run did.
    const record::Case* of(const record::Case& c, const record::Ceiling& ceiling) const;
    const record::Case* of(const record::Case& c) const { return of(c, c.ceiling); }

private:
    std::map<std::string, const record::Case*> by_identity_;
    /// By place and value: files from before bounds had `measured_by` know their values alone.
    std::map<std::pair<std::string, double>, const record::Case*> by_value_;
};

/// Takes away bounds that say nothing: of a case by itself, and by a disturbed one; and warnings of being above a
/// bound, which are a finding where they mean something. The run is plain, or is not shown.
void settle_ceilings(record::Run& run);

/// One for each place, because a device's roofs do not limit the host. The roofs are the bounds of the run's own
/// cases: measured rates and bandwidths. None where one of the two, or a case that counts both operations and
/// bytes, is missing. The run is plain (text.hpp).
std::vector<Roofline> make_rooflines(const record::Run& run);

} // namespace assay::report
