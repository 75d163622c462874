// SPDX-License-Identifier: Apache-2.0
//
// The way in: what a run means.

#pragma once

#include "document/document.hpp"
#include "record/model.hpp"
#include "record/summary.hpp"
#include "report/soak.hpp"
#include "report/types.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::report {

struct ReportOptions {
    std::string label;
    std::string source;
    std::optional<double> p99{}; ///< seconds that all but one in a hundred calls may take
    std::size_t strip_rows =
        100; ///< rows that keep their batch values: 100 x 600 dots stay printable
    std::size_t listed_checks = 200; ///< passed checks listed; those that failed always are
};
Report make_report(const record::Run& run, const ReportOptions& options = {});
/// "12 of 12 passed; the largest error was 34% of its bound".
std::string outcome_of(std::size_t passed, std::size_t total, double largest);

// --- document ------------------------------------------------------------------------------------
// The report of a run, as a document for every format: what it reached, whether to trust that, each value, and what they
// rest on.

document::Document make_document(const Report& report);

/// The part of it that has the values: a section for each family (scorecard.cpp).
std::vector<document::Section> scorecard(const Report& report);

// --- json ----------------------------------------------------------------------------------------
// What a report says, for programs: the view model as JSON, schema assay.report/1. Figures as numbers are
// in run.json; here are the words and numbers that people are shown, and the findings.

std::string to_json(std::span<const Report> reports);

// --- facts ---------------------------------------------------------------------------------------
// The parts of a report that are names and texts: the run, the machine, its counters of errors.

std::string title_of(const record::Run& run);
std::vector<document::Fact> run_facts(const record::Run& run, const std::string& source);
std::vector<document::Fact> machine_facts(const record::Machine& machine);
std::vector<document::Fact> software_facts(const record::Machine& machine);

/// Counters of errors that are not zero, or changed.
std::vector<document::Fact> error_facts(const record::Run& run);

} // namespace assay::report
