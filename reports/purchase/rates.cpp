// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "base/quantity.hpp"
#include "document/text.hpp"
#include "purchase/cost.hpp"
#include "purchase/offer_document.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>

namespace assay::purchase {
namespace {

bool fits(const std::string& pattern, const decide::Series& series) {
    const auto name = name_of(series);
    if (pattern == name || pattern == series.benchmark) return true;
    std::string escaped; // names hold brackets: gemm.square[openblas]
    for (const char c : pattern) {
        if (c == '[') escaped += '\\';
        escaped += c;
    }
    return fnmatch(escaped.c_str(), name.c_str(), 0) == 0;
}

/// Metrics that a job's power is computed from.
bool stands_beside(const std::string& metric) { return metric == "time" || metric == "energy"; }

/// Values over machines, each the median of the machine's runs.
struct Gathered {
    std::map<std::string, std::vector<double>> values; ///< by machine
    double low = HUGE_VAL;
    double high = 0;
    void add(const std::string& machine, double value, double least, double most) {
        low = std::min(low, least);
        high = std::max(high, most);
        values[machine].push_back(value);
    }
    std::optional<Quantity> over_machines() const {
        if (values.empty()) return {};
        std::vector<double> machines;
        for (const auto& [id, own] : values) machines.push_back(stats::median(own));
        return Quantity{stats::median(machines), low, high};
    }
};

} // namespace

std::optional<decide::Delivered> delivered_in(const decide::Observation& seen,
                                              const store::Collection& runs) {
    if (runs.series[seen.series].place != "host" ||
        !decide::is_guest(runs.machines[runs.runs[seen.run].machine]))
        return {};
    return delivered_of(seen);
}

Result<Work> parse_work(const std::string& text) {
    const auto at = text.rfind('=');
    const auto amount = at == std::string::npos ? std::nullopt : parse_real(text.substr(at + 1));
    if (!amount || at == 0 || !(*amount > 0) || !std::isfinite(*amount))
        return fail(fmt::format("--work: invalid work \"{}\" (expected NAME=AMOUNT, such as "
                                "'gemm.square*=1e18' for 1e18 FLOP)",
                                plain(text, 200)));
    return Work{.pattern = text.substr(0, at), .amount = *amount};
}

Result<WorkRate> rate_of(const Work& work, const Offer& offer, double nodes,
                         const store::Collection& runs, const reference::Hardware* hardware) {
    WorkRate found;
    found.why = "not_measured";
    std::set<std::string> names;
    std::set<std::string> wrong_nodes;
    Gathered rates;
    using Case = std::pair<std::uint32_t, std::string>; ///< run and name
    std::map<Case, std::map<std::string, double>> others;
    std::vector<std::pair<Case, const decide::Observation*>> cases;
    std::set<Case> rated;
    std::set<std::uint32_t> from;
    for (const auto& seen : runs.observations) {
        const auto& series = runs.series[seen.series];
        const auto& machine = runs.machines[runs.runs[seen.run].machine];
        if (!is_good(seen) || !is_of(offer, machine, hardware) || !fits(work.pattern, series))
            continue;
        Case own{seen.run, name_of(series)};
        if (nodes_of(seen, runs) != nodes) {
            wrong_nodes.insert(own.second);
            continue;
        }
        others[own][series.metric] = *seen.value;
        if (!seen.is_primary) continue;
        if (!stands_beside(series.metric)) rated.insert(own);
        cases.emplace_back(std::move(own), &seen);
    }
    for (const auto& [own, seen] : cases) {
        const auto& series = runs.series[seen->series];
        // Asked for by name they count as primary, but the case has a rate of its own.
        if (stands_beside(series.metric) && rated.contains(own)) continue;
        names.insert(own.second);
        const bool is_time = series.unit == "s";
        if (!is_time && !series.unit.ends_with("/s")) continue;
        found.unit = is_time ? "calls" : series.unit.substr(0, series.unit.size() - 2);
        found.on_device = series.place != "host";
        const auto rate = [&](double value) { return is_time ? 1 / value : value; };
        const auto delivered = delivered_in(*seen, runs);
        const double value = rate(delivered ? delivered->value : *seen->value);
        const double a = rate(seen->low.value_or(*seen->value));
        const double b = rate(seen->high.value_or(*seen->value));
        rates.add(runs.machines[runs.runs[seen->run].machine].id, value, std::min({a, b, value}),
                  std::max({a, b, value}));
        from.insert(seen->run);
    }
    if (names.size() > 1)
        return fail(fmt::format(
            "--work: \"{}\" matches {} cases on {}: {}; name one of them, or one for each part",
            plain(work.pattern, 200), names.size(), plain(offer.id, 200),
            document::list_of({names.begin(), names.end()}, 4)));
    if (rates.values.empty()) {
        if (!wrong_nodes.empty()) found.why = "not_measured_on_nodes";
        return found;
    }
    found.series = *names.begin();
    found.rate = rates.over_machines();
    found.machines = rates.values.size();
    found.runs = from.size();
    found.why.clear();
    Gathered watts;
    for (const auto& [key, metrics] : others) {
        const auto energy = metrics.find("energy");
        const auto time = metrics.find("time");
        if (key.second != found.series || energy == metrics.end() || time == metrics.end())
            continue;
        const double value = energy->second / time->second;
        watts.add(runs.machines[runs.runs[key.first].machine].id, value, value, value);
    }
    found.watts = watts.over_machines();
    return found;
}

} // namespace assay::purchase
