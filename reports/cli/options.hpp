// SPDX-License-Identifier: Apache-2.0
//
// The command line of assay-report, parsed: what every verb needs, or what to print instead. Nothing is
// printed and nothing is read here.

#pragma once

#include "base/result.hpp"
#include "compare/comparison.hpp"
#include "exchange/plugin.hpp"
#include "fleet/fleet.hpp"
#include "history/history.hpp"
#include "import/import.hpp"
#include "judge/judge.hpp"
#include "purchase/offer.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::reports_cli {

/// Options of predict, as typed.
struct PredictWords {
    std::string collective;
    double nodes = 1;
    double ranks_per_node = 1;
    std::vector<std::string> sizes{"1KiB", "1MiB", "1GiB"};
    std::string algorithm;
    std::string node_bandwidth;
    std::vector<std::string> filter;
};

/// Options of check.
struct CheckWords {
    std::vector<std::string> limits; ///< files, or names of installed ones
    judge::JudgeOptions judging;
    std::filesystem::path machine_of;
    std::string exit_style = "assay";
    std::string part = "all";
    bool advisory = false;
    std::filesystem::path junit;
    std::filesystem::path openmetrics;
};

/// Options of fleet, as typed.
struct FleetWords {
    fleet::FleetOptions how;
    std::optional<std::string> expect; ///< a file, or nodes
};

/// Options of limits, as typed.
struct LimitsWords {
    std::string action;            ///< "init", "lint", "show", "derive"
    std::vector<std::string> runs; ///< of lint
    std::string by = "instance";
    std::vector<std::string> filter;
    std::string author;
    std::string valid = "180d";
    double valid_days = 180;
};

/// Options of offers, and of every verb that counts with them, as typed.
struct OffersWords {
    std::string action; ///< "init", "lint", "show"
    std::string currency;
    std::string max_age = "90d";
    double max_age_days = 90;
    purchase::OfferDefaults defaults;
    std::vector<std::string> results;
    std::vector<std::string> files; ///< --offers, of verbs whose inputs are runs
};

/// Options of cost and capacity, as typed.
struct CostWords {
    std::vector<std::string> settings; ///< NAME=VALUE
    std::vector<std::string> work;
    std::optional<double> nodes;
    std::string term = "1y";
    double term_months = 12;
    std::string model; ///< a published one
    bool training = false;
    std::string usage; ///< of cost: past hours
    bool explain = false;
};

/// Options of report, as typed.
struct ServingWords {
    std::string p99;
    std::optional<double> seconds; ///< the same
};

/// Options of report for a purchase.
struct ProcureWords {
    std::string kind; ///< "run", "procurement"
    std::string profile = "mixed";
    std::vector<std::string> profile_files;
    std::vector<std::string> needs;
    double least_coverage = 0.5;
};

/// Options of evidence: export --bundle and verify.
struct EvidenceWords {
    std::filesystem::path bundle;
    std::filesystem::path key;     ///< that signs
    std::filesystem::path signers; ///< allowed_signers of ssh-keygen
    bool serials = false;          ///< in clear may go out
};

struct Options {
    Result<ExitCode> (*perform)(const Options&) = nullptr; ///< the verb, from verbs.hpp
    std::vector<std::string> inputs;
    std::filesystem::path html; ///< "-" is stdout
    bool static_page = false;   ///< of --html: the page without a script
    bool all_rows = false;      ///< of long tables, on a terminal too
    std::filesystem::path markdown;
    std::filesystem::path out;
    std::filesystem::path pdf;
    std::filesystem::path workbook; ///< of report, compare, history, predict and check
    std::filesystem::path csv;      ///< of compare, history, predict and check
    std::string format;             ///< of export: "csv", "ndjson", "openmetrics"
    bool columns = false;           ///< of export: show what the columns are
    bool timestamps = false;        ///< of export --to openmetrics
    bool json = false;
    std::string language = "en";
    store::CollectOptions collecting;  ///< of verbs that take many runs
    compare::CompareOptions comparing; ///< of compare
    history::HistoryOptions history;   ///< of history
    std::string since;                 ///< of history and fleet: "2026-01-31"
    std::string correction;            ///< "bh", "holm"
    std::string fail_on;       ///< "worse", of diff "difference", of fleet "slow", or nothing
    bool this_machine = false; ///< of diff
    std::string from;          ///< the tool, found out where empty
    bool list_tools = false;
    bool explain_lines = false;
    imports::ImportOptions importing;    ///< of import
    PredictWords predicting;             ///< of predict
    CheckWords checking;                 ///< of check
    FleetWords fleet;                    ///< of fleet
    LimitsWords limits;                  ///< of limits
    OffersWords offers;                  ///< of offers, cost and procurement
    ServingWords serving;                ///< of report
    ProcureWords procuring;              ///< of report
    CostWords costing;                   ///< of cost and capacity
    EvidenceWords evidence;              ///< of export --bundle and verify
    std::vector<std::string> catalog;    ///< files laid over the catalogue of hardware
    std::string kind;                    ///< of catalog: "instances", ...; all where empty
    std::vector<std::string> parameters; ///< NAME=VALUE
};

/// Options to act on; or, without them, what to print and the code to end with (help, version, errors).
struct Parsed {
    std::optional<Options> options;
    ExitCode code = ExitCode::done;
    std::string output; ///< for stdout
    std::string error;  ///< for stderr
};
Parsed parse_options(const std::vector<std::string>& arguments);

} // namespace assay::reports_cli
