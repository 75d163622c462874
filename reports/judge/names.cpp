// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/limits.hpp"
#include "judge/lint.hpp"
#include "judge/match.hpp"
#include "record/conditions.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace assay::judge {

using namespace document;
namespace {

using document::LintRow;
using document::Severity;
using Names = std::vector<std::string>;

constexpr std::size_t listed = 8;

/// Keys of every case; conditions and what a plan adds are there as well.
constexpr std::array keys_of_all{"benchmark", "library", "place", "version", "together",
                                 "part",      "soak",    "alone", "stress"};

/// May a value of the parameter be this one?
bool admits(const Names& values, const std::string& pattern) {
    return std::ranges::any_of(values, [&](const std::string& value) {
        if (value == "*") return true;
        if (value == "#" && pattern.find_first_of("*?[") != std::string::npos) return true;
        if (value == "#") return parse_real(pattern).has_value();
        return matches(pattern, value);
    });
}

Names texts_of(const std::set<std::string>& all) { return {all.begin(), all.end()}; }

class NameLint {
public:
    NameLint(const Limit& limit, const LintOptions& options)
        : limit_{limit}, options_{options}, benchmark_{pattern_of(limit.cases, "benchmark")} {
        for (const auto& [id, known] : known_benchmarks())
            if (matches(benchmark_, id)) known_.push_back(&known);
        if (options.runs != nullptr)
            for (const auto& one : options.runs->series)
                if (matches(benchmark_, one.benchmark)) series_.push_back(&one);
    }

    std::vector<LintRow> take() {
        const bool is_known =
            has_benchmark(benchmark_) && has_benchmark(std::string{sheet_of(limit_)});
        if (is_known) {
            parameters();
            unit();
        }
        const bool any_name = !rows_.empty();
        machine();
        if (!any_name) cases();
        return std::move(rows_);
    }

private:
    void add(std::string_view code, std::string what, std::string instead,
             Severity severity = Severity::serious) {
        rows_.push_back({.code = code,
                         .severity = severity,
                         .what = std::move(what),
                         .instead = std::move(instead)});
    }

    /// The nearest one, otherwise those that there are. Something misspelt is never looked at; what resembles nothing
    /// may be somebody's own.
    void unknown(std::string_view code, std::string what, const std::string& name,
                 const Names& known, bool is_complete) {
        const auto near = nearest(name, known);
        std::string instead = !near.empty() ? say<text::limits::did_you_mean>(plain(near))
                              : is_complete ? say<text::limits::one_of>(list_of(known, listed))
                                            : say<text::limits::correct_pattern>(plain(name));
        add(code, std::move(what), std::move(instead),
            is_complete ? Severity::serious : Severity::caution);
    }

    bool has_benchmark(const std::string& name) {
        if (name.empty() || (name == benchmark_ && !series_.empty())) return true;
        Names ids;
        for (const auto& [id, known] : known_benchmarks()) {
            if (matches(name, id)) return true;
            ids.push_back(id);
        }
        unknown("matches_nothing", say<text::limits::no_benchmark>(plain(name)), name, ids, false);
        if (!nearest(name, ids).empty()) rows_.back().severity = Severity::serious;
        return false;
    }

    void parameters() {
        std::map<std::string, Names> values;
        for (const auto* known : known_)
            for (const auto& [name, texts] : known->parameters)
                values[name].insert(values[name].end(), texts.begin(), texts.end());
        for (const auto* one : series_)
            for (const auto& parameter : one->parameters)
                values[parameter.name].push_back(record::to_string(parameter.value));
        for (const auto& [key, pattern] : limit_.cases) {
            if (!values.contains(key)) {
                if (std::ranges::find(keys_of_all, key) != keys_of_all.end() ||
                    record::find_condition(key) != nullptr)
                    continue;
                Names names;
                for (const auto& [name, texts] : values) names.push_back(name);
                unknown("unknown_parameter",
                        say<text::limits::no_parameter>(plain(benchmark_), plain(key)), key, names,
                        true);
                continue;
            }
            for (const auto& one : alternatives(pattern)) {
                if (admits(values[key], one)) continue;
                // A size is a number in results: 1073741824.
                const auto number = parse_integer(one);
                auto known = number && admits(values[key], std::to_string(*number))
                                 ? Names{std::to_string(*number)}
                                 : values[key];
                std::erase(known, "#");
                unknown("unknown_value",
                        say<text::limits::no_value>(plain(key), plain(benchmark_), plain(one)), one,
                        known, true);
            }
        }
    }

    /// Checks the unit of a limit without a metric.
    void unit() {
        if (!limit_.metric.empty() || limit_.unit.empty() || known_.empty()) return;
        std::set<std::string> units;
        for (const auto* known : known_) {
            units.insert(known->unit);
            if (known->unit == "FLOP/s") units.insert("OP/s"); // of integers
        }
        if (units.contains(limit_.unit)) return;
        const auto all = list_of(texts_of(units), listed);
        add("unit_differs",
            say<text::limits::unit_differs>(plain(limit_.unit), plain(benchmark_), all),
            say<text::limits::name_metric>(plain(limit_.unit)));
    }

    /// Chips, processors and types of instances that no data sheet has, as far as they are nearly one that it has:
    /// others may be new, or a site's own. Devices are all there.
    void machine() {
        if (options_.hardware == nullptr ||
            (options_.runs != nullptr && is_for_any(limit_, *options_.runs)))
            return;
        const auto& hardware = *options_.hardware;
        std::map<std::string, Names> known{{"architecture", {"x86_64", "aarch64"}}};
        for (const auto& entry : hardware.entries)
            known["device"].insert(known["device"].end(), entry.names.begin(), entry.names.end());
        for (const auto& entry : hardware.processors)
            known["cpu"].insert(known["cpu"].end(), entry.names.begin(), entry.names.end());
        for (const auto& entry : hardware.instances) known["instance"].push_back(entry.type);
        for (const auto& [key, names] : known) {
            const auto pattern = pattern_of(limit_.machine, key);
            const auto is_there = [&](const std::string& one) {
                return std::ranges::any_of(names, [&](const auto& name) {
                    return matches(one, name) || matches(name, one);
                });
            };
            if (pattern.empty() || (key == "device" && is_there(pattern))) continue;
            for (const auto& one : alternatives(pattern))
                if (!is_there(one) && (key == "device" || !nearest(one, names).empty()))
                    return unknown("matches_nothing", say<text::limits::no_chip>(plain(one)), one,
                                   names, false);
        }
    }

    /// For a limit on one of these machines, finds the one parameter that keeps it from all measured cases.
    void cases() {
        if (options_.runs == nullptr || series_.empty() || limit_.optional ||
            !is_for_any(limit_, *options_.runs))
            return;
        const auto fits = [&](const Limit& limit) {
            return std::ranges::any_of(series_,
                                       [&](const auto* one) { return is_for(limit, *one); });
        };
        if (fits(limit_)) return;
        for (const auto& [key, pattern] : limit_.cases) {
            auto without = limit_;
            without.cases.erase(key);
            std::set<std::string> measured;
            for (const auto* one : series_)
                if (const auto* value = record::find(one->parameters, key);
                    value != nullptr && is_for(without, *one))
                    measured.insert(record::to_string(*value));
            if (!measured.empty())
                return add(
                    "matches_nothing",
                    say<text::limits::no_case_with>(plain(benchmark_), plain(key + "=" + pattern)),
                    say<text::limits::measured>(list_of(texts_of(measured), listed)),
                    Severity::caution);
        }
    }

    const Limit& limit_;
    const LintOptions& options_;
    std::string benchmark_;
    std::vector<const KnownBenchmark*> known_;
    std::vector<const decide::Series*> series_;
    std::vector<LintRow> rows_;
};

} // namespace

bool is_for_any(const Limit& limit, const store::Collection& runs) {
    return std::ranges::any_of(runs.machines,
                               [&](const auto& machine) { return is_for(limit.machine, machine); });
}

std::vector<LintRow> unknown_names(const Limit& limit, const LintOptions& options) {
    return NameLint{limit, options}.take();
}

} // namespace assay::judge
