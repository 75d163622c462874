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

/// Of every verb that reads offers. `results`: runs are no inputs.
void add_pricing(auto& verb, Options& o, bool results = true) {
    auto& w = o.offers;
    add_value(verb, "--currency", w.currency, "USD",
              "Show costs in this one, by the rates of the files; as quoted otherwise");
    add_default(verb, "--max-age", w.max_age, "DAYS",
                "Prices and exchange rates older than this are not counted with");
    verb.add_option("--provider", w.defaults.provider,
                    "Of tables that do not name it, such as a catalogue of SkyPilot");
    verb.add_option("--date", w.defaults.date, "On which the prices of such a table were read")
        ->type_name("YYYY-MM-DD");
    if (results)
        add_value(verb, "--results", w.results, "PATH", "Runs on the machines that are offered");
}

/// Of costs for any work.
void add_use(auto& verb, Options& o) {
    auto& c = o.costing;
    add_many(verb, "--work", c.work, "NAME=AMOUNT",
             "What a job does: the series that measures it, and how much of it, in the unit of its "
             "rate: 'gemm.square* size=4096*=1e18' is 1e18 FLOP; once for each part");
    verb.add_option("--nodes", c.nodes, "As many as each offer has otherwise")->type_name("N");
    add_default(verb, "--term", c.term, "TIME", "Time that is looked at: 18mo, 3y");
}

/// Of every verb that looks into the catalogue.
void add_catalog_files(auto& verb, Options& o) {
    add_many(verb, "--catalog", o.catalog, "FILE",
             "A file laid over the catalogue of hardware, as in share/assay/hardware: it replaces "
             "figures of entries with the same id, and adds entries");
}

/// Of cost and capacity.
void add_settings(auto& verb, Options& o) {
    add_many(verb, "--set", o.costing.settings, "NAME=VALUE",
             "An input that is not known otherwise; a wrong name lists them all");
    add_catalog_files(verb, o);
    verb.add_flag("--explain", o.costing.explain, "Every figure with its formula and inputs");
}

void add_offers(auto& verb, Options& o) {
    add_value(
        verb, "action", o.offers.action, "init|lint|show",
        "init: a file to begin with. lint: are these offers right? show: what they cost an hour")
        ->required();
    add_value(verb, "inputs", o.inputs, "FILE",
              "Files of offers: JSON, or CSV with the same names as columns, or a catalogue of "
              "SkyPilot");
    verb.add_option("--out", o.out, "Of init: the file to write, .json or .csv")->type_name("FILE");
    add_catalog_files(verb, o);
    add_pricing(verb, o);
}

void add_cost(auto& verb, Options& o) {
    verb.add_option("inputs", o.inputs, "Files of offers")->type_name("FILE")->required();
    add_value(
        verb, "--usage", o.costing.usage, "FILE",
        "Past hours as CSV (month, instance, hours; provider, region): forecast a year and say "
        "which part to reserve; leave out a month that has not ended");
    add_use(verb, o);
    add_settings(verb, o);
    add_pricing(verb, o);
}

/// Of verbs whose inputs are runs.
void add_offer_files(auto& verb, Options& o) {
    add_many(verb, "--offers", o.offers.files, "FILE", "Files of offers; see `assay offers init`");
}

/// Of report: what a run is asked, and --kind procurement.
void add_procurement(auto& verb, Options& o) {
    add_value(verb, "--p99", o.serving.p99, "TIME",
              "Say at which batch most queries per second are answered while the 99th percentile "
              "of a call stays within this time: 20ms");
    auto& p = o.procuring;
    add_value(verb, "--kind", p.kind, "run|procurement",
              "run: what each run found. procurement: which of --offers to buy, by all runs");
    add_offer_files(verb, o);
    add_default(verb, "--profile", p.profile, "NAME",
                "The work: training, inference, hpc-md, weather, rendering, data, mixed, storage "
                "(fio and iperf3), or one of "
                "--profile-file");
    add_many(verb, "--profile-file", p.profile_files, "FILE",
             "More profiles, with weights of your own");
    add_many(verb, "--needs", p.needs, "NEED",
             "What an offer must have to be ranked: 'devices>=8,device_memory>=80GB', region=eu-*, "
             "model=llama-3-70b,precision=fp8,context=8k, 'gemm.square precision=bf16>=400e12', "
             "'budget<=20000'; beside those of the profile and of the offers file; a wrong name "
             "lists them all");
    add_use(verb, o);
    add_settings(verb, o);
    add_pricing(verb, o, false);
}

void add_capacity(auto& verb, Options& o) {
    add_value(verb, "names", o.inputs, "NAME",
              "Only these accelerators and instances, by id, name or a short name");
    add_value(verb, "--model", o.costing.model, "NAME",
              "A published model, such as llama-3-70b: its figures, where --set gives no other; an "
              "unknown name lists them all");
    verb.add_flag("--train", o.costing.training,
                  "To train it: gradients, optimiser and activations; to serve it otherwise");
    add_settings(verb, o);
}

/// A number of days: "90d", "90".
inline std::string fault_of_days(const char* option, const std::string& text, double& days) {
    const auto number = parse_real(text.ends_with('d') ? text.substr(0, text.size() - 1) : text);
    constexpr double most = 3650;
    if (!number || !(*number >= 1) || *number > most)
        return fmt::format("{} \"{}\" is no number of days; it is 1d to 3650d", option, text);
    days = *number;
    return "";
}

inline std::string fault_of_pricing(OffersWords& words) {
    if (!words.currency.empty() && !purchase::is_currency(words.currency))
        return fmt::format("--currency \"{}\" is none of ISO 4217: USD, EUR, CNY, ...",
                           words.currency);
    return fault_of_days("--max-age", words.max_age, words.max_age_days);
}

inline std::string fault_of_cost(Options& o);
inline std::string fault_of_report(Options& o) {
    const auto& p = o.procuring;
    if (!p.kind.empty() && p.kind != "run" && p.kind != "procurement")
        return fmt::format("--kind \"{}\" is not known; there are run and procurement", p.kind);
    if (p.kind == "procurement" && o.offers.files.empty())
        return "--kind procurement needs --offers: what can be bought, and its price; `assay "
               "offers init` writes a file to begin with";
    if (p.kind != "procurement" && !o.offers.files.empty())
        return "--offers goes with --kind procurement";
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
        return fmt::format("--term \"{}\" is no time; it is 1mo to 100y", c.term);
    if (c.nodes && (!(*c.nodes >= 1) || *c.nodes > 1e6 ||
                    *c.nodes != static_cast<double>(static_cast<int>(*c.nodes))))
        return fmt::format("--nodes {:g} is no number of nodes; it is 1 to 1000000", *c.nodes);
    if (!c.work.empty() && o.offers.results.empty() && o.procuring.kind != "procurement")
        return "--work needs --results: the runs that measured the rate";
    return fault_of_pricing(o.offers);
}

inline std::string fault_of_offers(Options& o) {
    const std::vector<std::string> actions{"init", "lint", "show"};
    auto& w = o.offers;
    if (std::ranges::count(actions, w.action) == 0)
        return fmt::format("offers has no \"{}\"{}", w.action, suggestion(w.action, actions));
    if (w.action != "init" && o.inputs.empty())
        return "inputs are missing: files of offers; `assay offers init` writes one to begin with";
    return fault_of_pricing(w);
}

} // namespace assay::reports_cli
