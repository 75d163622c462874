// SPDX-License-Identifier: Apache-2.0
//
// The options of verbs about offers and costs, for options.cpp, which knows the parser.

#pragma once

#include "base/command_line.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace assay::reports_cli {

/// `results`: whether --results names runs; without it, the inputs are runs.
void add_pricing(auto& verb, Options& o, bool results = true) {
    auto& w = o.offers;
    add_value(verb, "--currency", w.currency, "USD",
              "Convert to this currency (default: as quoted)");
    add_default(verb, "--max-age", w.max_age, "DAYS",
                "Ignore prices and exchange rates older than this");
    verb.add_option("--provider", w.defaults.provider,
                    "Provider, for price tables without one (SkyPilot)");
    verb.add_option("--date", w.defaults.date, "Date of the prices in such a table")
        ->type_name("YYYY-MM-DD");
    if (results) add_value(verb, "--results", w.results, "PATH", "Runs on the offered machines");
}

void add_use(auto& verb, Options& o) {
    auto& c = o.costing;
    add_many(verb, "--work", c.work, "NAME=AMOUNT",
             "Work of a job: a series and an amount in the unit of its rate; 'gemm.square* "
             "size=4096*=1e18' is 1e18 FLOP; repeat for each part");
    verb.add_option("--nodes", c.nodes, "Number of nodes (default: that of each offer, or 1)")
        ->type_name("N");
    add_default(verb, "--term", c.term, "TIME", "Period of use: 18mo, 3y");
}

void add_catalog_files(auto& verb, Options& o) {
    add_many(verb, "--catalog", o.catalog, "FILE",
             "File that overrides or adds hardware entries (format: share/assay/hardware)");
}

void add_settings(auto& verb, Options& o) {
    add_many(verb, "--set", o.costing.settings, "NAME=VALUE",
             "Set an input; an unknown name lists them");
    add_catalog_files(verb, o);
    verb.add_flag("--explain", o.costing.explain, "Show the formula and inputs of each figure");
}

void add_offers(auto& verb, Options& o) {
    add_value(verb, "action", o.offers.action, "init|lint|show",
              "init: write a template; lint: check offers; show: cost of a node hour")
        ->required();
    add_value(verb, "inputs", o.inputs, "FILE",
              "Offer files: JSON, CSV with the same names as columns, or a SkyPilot catalogue");
    add_value(verb, "--out", o.out, "FILE", "With init: .json or .csv file (default: stdout)");
    add_catalog_files(verb, o);
    add_pricing(verb, o);
}

void add_cost(auto& verb, Options& o) {
    verb.add_option("inputs", o.inputs, "Offer files")->type_name("FILE")->required();
    add_value(verb, "--usage", o.costing.usage, "FILE",
              "Past hours as CSV (month, instance, hours; provider, region; complete months only): "
              "forecast a year and the part to reserve");
    add_use(verb, o);
    add_settings(verb, o);
    in_group(verb, "Prices", [&] { add_pricing(verb, o); });
}

void add_offer_files(auto& verb, Options& o) {
    add_many(verb, "--offers", o.offers.files, "FILE",
             "Offer files; a template: assay offers init");
}

/// --p99 and --kind procurement of report.
void add_procurement(auto& verb, Options& o) {
    add_value(verb, "--p99", o.serving.p99, "TIME",
              "Find the batch with the most queries per second whose 99th percentile stays within "
              "this time: 20ms");
    in_group(verb, "Procurement", [&] {
        auto& p = o.procuring;
        add_value(verb, "--kind", p.kind, "run|procurement",
                  "run: results of each run (default); procurement: which of --offers to buy");
        add_offer_files(verb, o);
        add_default(
            verb, "--profile", p.profile, "NAME",
            "Workload: training, inference, hpc-md, weather, rendering, data, mixed, storage "
            "(fio, iperf3), or one of --profile-file");
        add_many(verb, "--profile-file", p.profile_files, "FILE", "Your own profiles");
        add_many(
            verb, "--needs", p.needs, "NEED",
            "Requirement, added to those of profile and offers: 'devices>=8,device_memory>=80GB', "
            "region=eu-*, model=llama-3-70b,precision=fp8,context=8k, 'gemm.square "
            "precision=bf16>=400e12', 'budget<=20000'; an unknown name lists them");
        add_use(verb, o);
        add_settings(verb, o);
        add_pricing(verb, o, false);
    });
}

void add_capacity(auto& verb, Options& o) {
    add_value(verb, "names", o.inputs, "NAME",
              "Accelerators and instances by id, name or short name (default: all)");
    add_value(
        verb, "--model", o.costing.model, "NAME",
        "Published model, e.g. llama-3-70b; --set overrides its figures; an unknown name lists "
        "them");
    verb.add_flag("--train", o.costing.training,
                  "Training: gradients, optimiser and activations (default: serving)");
    add_settings(verb, o);
}

/// A number of days: "90d", "90".
inline std::string fault_of_days(const char* option, const std::string& text, double& days) {
    const auto number = parse_real(text.ends_with('d') ? text.substr(0, text.size() - 1) : text);
    constexpr double most = 3650;
    if (!number || !(*number >= 1) || *number > most)
        return fmt::format("{}: invalid number of days \"{}\" (expected 1d to 3650d)", option,
                           text);
    days = *number;
    return "";
}

inline std::string fault_of_pricing(OffersWords& words) {
    if (!words.currency.empty() && !purchase::is_currency(words.currency))
        return fmt::format(
            "--currency: unknown currency \"{}\" (expected an ISO 4217 code: USD, EUR, "
            "CNY, ...)",
            words.currency);
    return fault_of_days("--max-age", words.max_age, words.max_age_days);
}

inline std::string fault_of_cost(Options& o);
inline std::string fault_of_report(Options& o) {
    const auto& p = o.procuring;
    if (!p.kind.empty() && p.kind != "run" && p.kind != "procurement")
        return fmt::format("--kind: unknown kind \"{}\" (expected run or procurement)", p.kind);
    if (p.kind == "procurement" && o.offers.files.empty())
        return "--kind procurement needs --offers FILE; a template: assay offers init";
    if (p.kind != "procurement" && !o.offers.files.empty())
        return "--offers needs --kind procurement";
    if (!o.serving.p99.empty()) {
        const auto seconds = parse_duration(o.serving.p99);
        if (!seconds) return "--p99: " + seconds.error().message;
        o.serving.seconds = *seconds;
    }
    return fault_of_cost(o);
}

/// "18mo", "3y".
inline std::string fault_of_cost(Options& o) {
    auto& c = o.costing;
    const std::string_view text = c.term;
    const bool years = text.ends_with('y');
    const auto number = years || text.ends_with("mo")
                            ? parse_real(text.substr(0, text.size() - (years ? 1 : 2)))
                            : std::nullopt;
    constexpr double year = 12;
    constexpr double most = 1200;
    if (number) c.term_months = *number * (years ? year : 1);
    if (!number || !(c.term_months >= 1) || c.term_months > most)
        return fmt::format("--term: invalid time \"{}\" (expected 1mo to 100y)", c.term);
    if (c.nodes && (!(*c.nodes >= 1) || *c.nodes > 1e6 ||
                    *c.nodes != static_cast<double>(static_cast<int>(*c.nodes))))
        return fmt::format("--nodes: invalid number {:g} (expected 1 to 1000000)", *c.nodes);
    if (!c.work.empty() && o.offers.results.empty() && o.procuring.kind != "procurement")
        return "--work needs --results PATH: the runs that measured the rate";
    return fault_of_pricing(o.offers);
}

inline std::string fault_of_offers(Options& o) {
    const std::vector<std::string> actions{"init", "lint", "show"};
    auto& w = o.offers;
    if (std::ranges::count(actions, w.action) == 0)
        return fmt::format("offers: unknown action \"{}\"{}", w.action,
                           suggestion(w.action, actions));
    if (w.action != "init" && o.inputs.empty())
        return "files of offers are missing; a template: assay offers init";
    return fault_of_pricing(w);
}

} // namespace assay::reports_cli
