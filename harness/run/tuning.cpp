// SPDX-License-Identifier: Apache-2.0
#include "run/tuning.hpp"

#include "launch/placement.hpp"
#include "process/start.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

namespace assay::run {
namespace {

constexpr std::string_view own_choice = "default"; ///< recorded if no value was set
constexpr const char* default_seconds = "tuning.default_seconds";
constexpr const char* best_seconds = "tuning.best_seconds";
constexpr const char* unset_variable = "tuning.unset_variable";
constexpr const char* unset_value = "tuning.unset_value";
constexpr const char* unset_seconds = "tuning.unset_seconds";
constexpr const char* flops_of_a_call = "tuning.flops";

/// 2%: two probes of 50 ms differ by as much, so a smaller win changes nothing.
constexpr double worth_choosing = 1.02;
/// 5%: from here on the user is told.
constexpr double worth_a_warning = 1.05;

bool has_all(const std::vector<std::string>& have, std::string_view wanted) {
    while (!wanted.empty()) {
        const auto end = wanted.find(' ');
        const auto isa = wanted.substr(0, end);
        if (!isa.empty() && std::ranges::find(have, isa) == have.end()) return false;
        if (end == std::string_view::npos) break;
        wanted.remove_prefix(end + 1);
    }
    return true;
}

std::string setting_name(const std::string& variable) { return "tuning." + variable; }

TuningChoice make_choice(const std::string& variable, const std::string& value,
                         std::optional<double> default_time, std::optional<double> best_time) {
    TuningChoice choice;
    if (value != own_choice) choice.variables.push_back({variable, value});
    choice.settings.push_back({setting_name(variable), value});
    if (default_time) choice.settings.push_back({default_seconds, *default_time});
    if (best_time) choice.settings.push_back({best_seconds, *best_time});
    if (value != own_choice && default_time && best_time &&
        *default_time > worth_a_warning * *best_time)
        choice.warnings.push_back(fmt::format(
            "the library's default takes {:.0f}% more time on this CPU; measured with {}={}; set "
            "it in your programs too",
            100 * (*default_time / *best_time - 1), variable, value));
    return choice;
}

} // namespace

std::string tuning_group(const plan::PlannedCase& planned) {
    auto group = fmt::format("{}[{}]", planned.benchmark->id, planned.module->module);
    for (const auto& parameter : planned.benchmark->parameters) {
        const auto* value = record::find(planned.parameters, parameter.name);
        if (parameter.kind == plan::ParameterKind::name && value != nullptr)
            group += fmt::format(" {}={}", parameter.name, record::to_string(*value));
    }
    return group;
}

std::vector<plan::Tuning> usable_tunings(const plan::Manifest& manifest,
                                         const record::Machine& machine,
                                         const std::vector<std::string>& environment) {
    std::vector<plan::Tuning> usable;
    for (const auto& tuning : manifest.tunings)
        if (process::find_variable(environment, tuning.variable) == nullptr &&
            has_all(machine.isa, tuning.requires_isa))
            usable.push_back(tuning);
    return usable;
}

record::Protocol probe_protocol(const record::Protocol& protocol) {
    auto probe = protocol;
    probe.target = 0.05;
    probe.min_seconds = 0.05;
    probe.budget_seconds = 0.1;
    probe.warmup_seconds = 0.05;
    probe.min_batches = 3;
    probe.few_batches = 3;
    probe.limit_seconds = std::min(protocol.limit_seconds, 30.0); // the most that a hang may cost
    probe.keep_samples = false;
    return probe;
}

std::vector<Unset> unset_tunings(const plan::Manifest& manifest,
                                 const std::vector<std::string>& inherited,
                                 const std::vector<std::string>& seen) {
    std::vector<Unset> unset;
    for (const auto& tuning : manifest.tunings) {
        const char* value = process::find_variable(inherited, tuning.variable);
        if (value == nullptr || process::find_variable(seen, tuning.variable) != nullptr) continue;
        if (std::ranges::find(unset, tuning.variable, &Unset::variable) == unset.end())
            unset.push_back({.variable = tuning.variable, .value = value});
    }
    return unset;
}

TuningChoice choose_tuning(const std::vector<plan::Tuning>& tunings, const Probe& probe,
                           const std::vector<Unset>& unset) {
    if (tunings.empty()) return {};
    const auto own = probe(nullptr);
    if (!own) return {}; // a case that cannot be measured is not tried again
    double own_time = *own;
    const plan::Tuning* best = nullptr;
    double best_time = std::numeric_limits<double>::infinity();
    record::NamedList left_out;
    for (const auto& tuning : tunings) {
        const double time = probe(&tuning).value_or(std::numeric_limits<double>::infinity());
        for (const auto& [variable, value] : unset)
            if (variable == tuning.variable && value == tuning.value && std::isfinite(time))
                left_out = {
                    {unset_variable, variable}, {unset_value, value}, {unset_seconds, time}};
        if (time >= best_time) continue;
        best_time = time;
        best = &tuning;
    }
    if (own_time > worth_choosing * best_time) {
        // Again in the reverse order. The winner must win with the slower of its two tries against the
        // faster of the other's: a disturbance alone changes nothing.
        best_time = std::max(best_time, probe(best).value_or(best_time));
        own_time = std::min(own_time, probe(nullptr).value_or(own_time));
    }
    const bool chosen = best != nullptr && own_time > worth_choosing * best_time;
    auto choice =
        chosen ? make_choice(best->variable, best->value, own_time, best_time)
               : make_choice(tunings.front().variable, std::string{own_choice}, own_time, own_time);
    std::ranges::move(left_out, std::back_inserter(choice.settings));
    return choice;
}

void warn_of_unset(TuningChoice& choice, double flops) {
    auto& settings = choice.settings;
    const auto unset = record::number(settings, unset_seconds);
    const auto best = record::number(settings, best_seconds);
    if (!unset || !best) return;
    if (flops > 0) settings.push_back({flops_of_a_call, flops});
    if (*unset <= worth_a_warning * *best) return;
    const auto begin =
        fmt::format("{}={} was set, but is hidden from the library (see "
                    "--keep-environment): with it, this case would have ",
                    record::text(settings, unset_variable), record::text(settings, unset_value));
    const auto known = record::number(settings, flops_of_a_call);
    choice.warnings.push_back(
        known ? fmt::format("{}reached {} of {}", begin, record::human(*known / *unset, "FLOP/s"),
                            record::human(*known / *best, "FLOP/s"))
              : fmt::format("{}taken {:.0f}% more time", begin, 100 * (*unset / *best - 1)));
}

std::optional<TuningChoice> recorded_choice(const plan::Manifest& manifest,
                                            const record::NamedList& settings) {
    for (const auto& tuning : manifest.tunings) {
        const auto value = record::text(settings, setting_name(tuning.variable));
        if (value.empty()) continue;
        auto choice = make_choice(tuning.variable, value, record::number(settings, default_seconds),
                                  record::number(settings, best_seconds));
        for (const char* name : {unset_variable, unset_value, unset_seconds, flops_of_a_call})
            if (const auto* known = record::find(settings, name); known != nullptr)
                choice.settings.push_back({name, *known});
        warn_of_unset(choice);
        return choice;
    }
    return std::nullopt;
}

} // namespace assay::run
