// SPDX-License-Identifier: Apache-2.0
//
// What the reader should worry about, most serious first, each with what to do about it.

#pragma once

#include "record/summary.hpp"
#include "report/types.hpp"

namespace assay::report {

/// `charts`: the curves that the run has.
std::vector<document::Finding> find_findings(const record::Run& run,
                                             const std::vector<Sweep>& charts = {});

/// "The machine was busy: chromium used up to 21% of the CPU; ...": the first line of a report. Empty where nothing
/// disturbed it.
std::string busy_in_words(const record::Busy& busy);
/// "The machine was quiet: ..." or how it was disturbed.
/// The same without how many values it concerns: a sentence.
std::string busy_cause(const record::Busy& busy);
/// Do counters of errors say that data or a device was lost?
bool lost_data(const record::Run& run);
std::string quietness(const record::Run& run);

} // namespace assay::report
