// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "document/document.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/needs.hpp"
#include "document/texts/words.hpp"
#include "purchase/needs.hpp"
#include "record/format.hpp"
#include "store/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace assay::purchase {
namespace {

bool holds(const Need& need, double has) {
    constexpr double rounding = 1e-9;
    return need.sense == Sense::at_least ? has >= need.value * (1 - rounding)
                                         : has <= need.value * (1 + rounding);
}

Judged judged(const Need& need, const Number& has, Basis basis) {
    if (!has) return {};
    return {
        .outcome = holds(need, *has) ? Outcome::met : Outcome::missed, .has = has, .basis = basis};
}

/// "=H100" may stand in "NVIDIA H100 SXM"; with * and ? it is a pattern of the whole.
bool fits(const std::string& pattern, const std::string& text) {
    if (pattern.find_first_of("*?") == std::string::npos && text.find(pattern) != std::string::npos)
        return true;
    return fnmatch(pattern.c_str(), text.c_str(), FNM_CASEFOLD) == 0;
}

Judged judged_text(const Need& need, const std::string& text, Basis basis = Basis::given) {
    if (text.empty()) return {};
    const bool met = std::ranges::any_of(
        need.words, [&](const std::string& pattern) { return fits(pattern, text); });
    return {.outcome = met ? Outcome::met : Outcome::missed, .text = text, .basis = basis};
}

/// The best matching case of each machine; of a case with several devices the slowest device.
class Cases {
public:
    static Result<Cases> of(const Need& need, const store::Collection& runs) {
        Cases cases;
        std::vector<store::Filter> filters;
        bool known = true;
        for (const auto& text : need.filters) {
            // ".kernel" is the parameter, "kernel" that of the system.
            auto filter = make_filter(runs, text);
            if (!filter && text.starts_with('.')) filter = make_filter(runs, text.substr(1));
            if (filter) filters.push_back(std::move(*filter));
            known = known && filter.has_value();
        }
        std::map<std::pair<std::uint32_t, std::uint32_t>, double> slowest; // by run and series
        const decide::Series* seen_series = nullptr;
        if (known)
            for (const auto& seen : runs.observations) {
                const auto& series = runs.series[seen.series];
                if (!seen.is_primary || !std::ranges::all_of(filters, [&](const auto& filter) {
                        return filter.admits(seen);
                    }))
                    continue;
                seen_series = &series;
                const bool wants_rate = need.sense == Sense::at_least;
                if (series.higher_is_better != wants_rate)
                    return fail(fmt::format("need \"{}\": {} is measured as {}; write {}",
                                            plain(need.text, 200), plain(series.benchmark, 60),
                                            plain(series.metric, 60),
                                            series.higher_is_better ? ">=" : "<="));
                if (!need.unit.empty() && need.unit != series.unit)
                    return fail(fmt::format("need \"{}\": {} is measured in {}",
                                            plain(need.text, 200), plain(series.benchmark, 60),
                                            plain(series.unit, 60)));
                cases.unit_ = series.unit;
                if (!is_good(seen)) continue;
                const auto [at, is_new] = slowest.try_emplace({seen.run, seen.series}, *seen.value);
                if (!is_new)
                    at->second = wants_rate ? std::min(at->second, *seen.value)
                                            : std::max(at->second, *seen.value);
            }
        if (seen_series == nullptr && !need.of_profile) {
            std::set<std::string> names;
            for (const auto& series : runs.series) names.insert(series.benchmark);
            const std::vector<std::string> list{names.begin(), names.end()};
            const auto wanted = need.filters.front().substr(need.filters.front().find('=') + 1);
            return fail(fmt::format("need \"{}\": no run has such a case{}; the runs have {}",
                                    plain(need.text, 200), suggestion(wanted, list),
                                    document::list_of(list, 12)));
        }
        for (const auto& [key, value] : slowest) {
            const auto [at, is_new] = cases.best_.try_emplace(runs.runs[key.first].machine, value);
            if (!is_new)
                at->second = need.sense == Sense::at_least ? std::max(at->second, value)
                                                           : std::min(at->second, value);
        }
        return cases;
    }

    /// The lowest value of the machines.
    Number worst(const std::vector<std::size_t>& machines, Sense sense) const {
        Number worst;
        for (const auto machine : machines)
            if (const auto found = best_.find(machine); found != best_.end())
                worst = !worst                     ? found->second
                        : sense == Sense::at_least ? std::min(*worst, found->second)
                                                   : std::max(*worst, found->second);
        return worst;
    }
    const std::string& unit() const { return unit_; }

private:
    std::map<std::size_t, double> best_; ///< by machine
    std::string unit_;
};

/// Measured, else offered, else by the catalogue.
Judged judged_attribute(const Need& need, const Cost& cost, const Measured& measured) {
    const auto& offer = cost.offer;
    const auto& what = *attribute_of(need.code);
    if (need.code == "tariff") return judged_text(need, std::string{to_string(offer.tariff)});
    if (need.code == "interruptible")
        return judged_text(need, offer.tariff == Tariff::spot ? "yes" : "no");
    if (need.code == "commitment")
        return judged(need, commitment_months(offer.tariff).value_or(0), Basis::given);
    if (need.code == "budget" || need.code == "deadline") {
        const auto line = cost.lines.of(need.code == "budget" ? "month" : "job_hours");
        return judged(need, line ? Number{line->value * what.factor} : std::nullopt,
                      need.code == "budget" ? Basis::given : Basis::measured);
    }
    const auto* const type = type_of(offer, measured);
    const auto* const device = device_of(offer, measured);
    if (need.code == "device") {
        for (const auto at : measured.machines_of(offer))
            for (const auto& own : measured.runs()->machines[at].devices)
                return judged_text(need, own.name, Basis::measured);
        auto found = judged_text(need, offer.gpu);
        if (device != nullptr && found.outcome != Outcome::met)
            found = judged_text(need, device->name, Basis::datasheet);
        return found;
    }
    if (what.sense == Sense::one_of) return judged_text(need, offer.*what.text);
    if (const auto found = found_of(what, offer, measured))
        return judged(need, found, Basis::measured);
    if (need.code == "network" || need.code == "bandwidth")
        if (const auto found = network_of(offer, measured))
            return judged(need, found, Basis::measured);
    if (const auto given = promised_of(what, offer, measured))
        return judged(need, given, Basis::given);
    if (need.code == "network" && offer.bandwidth_gbps)
        return judged(need, *offer.bandwidth_gbps * what.factor, Basis::given);
    if (need.code == "device_memory") {
        if (offer.gpus == Number{0}) return judged(need, 0.0, Basis::given);
        return judged(need, device_memory_of(offer, measured), Basis::datasheet);
    }
    if (what.sheet != nullptr && type != nullptr && type->*what.sheet)
        return judged(need, *(type->*what.sheet) * what.factor, Basis::datasheet);
    // A machine for which nobody names a device has none.
    if (need.code == "devices" && type != nullptr && type->gpu.empty())
        return judged(need, 0.0, Basis::datasheet);
    return {};
}

/// The memory of all devices of all nodes that are offered.
Judged judged_model(const Need& need, const Cost& cost, const Measured& measured) {
    const Need any{.text = {}, .code = "devices"};
    const Need memory{.text = {}, .code = "device_memory"};
    const auto devices = judged_attribute(any, cost, measured);
    const auto each = judged_attribute(memory, cost, measured);
    const auto nodes = cost.lines.of("nodes");
    if (devices.has == Number{0}) return judged(need, 0.0, devices.basis);
    if (!devices.has || !each.has) return {};
    return judged(need, *devices.has * *each.has * (nodes ? nodes->value : 1),
                  std::max(devices.basis, each.basis));
}

} // namespace

Result<std::vector<std::vector<Judged>>>
judge(std::vector<Need>& needs, const std::vector<Cost>& costs, const Measured& measured) {
    std::vector<std::vector<Judged>> all(costs.size());
    for (auto& need : needs) {
        std::optional<Cases> cases;
        if (need.code == "case" && measured.runs() != nullptr) {
            ASSAY_TRY(cases, Cases::of(need, *measured.runs()));
            need.unit = cases->unit();
        }
        for (std::size_t i = 0; i < costs.size(); ++i)
            all[i].push_back(
                cases ? judged(need, cases->worst(measured.machines_of(costs[i].offer), need.sense),
                               Basis::measured)
                : need.code == "model" ? judged_model(need, costs[i], measured)
                : need.code == "case"  ? Judged{}
                                       : judged_attribute(need, costs[i], measured));
    }
    return all;
}

// --- words ---------------------------------------------------------------------------------------

using namespace document;

std::string name_of_need(std::string_view code) {
    return std::string{find_text("need", code).value_or(code)};
}

std::string amount_of(double value, std::string_view code, const std::string& unit) {
    const auto* const what = attribute_of(code);
    if (code == "case") return record::human(value, unit);
    if (what == nullptr || what->unit == "count") return fmt::format("{:g}", value);
    if (what->unit == "share")
        return fmt::format("{:.12g}%", 100 * value); // 99.999999999% must not become 100%
    if (what->unit == "money") return money_in_words(value, unit);
    return fmt::format("{:.4g} {}", value / what->factor, what->unit);
}

std::string in_words(const Need& need, const std::string& currency) {
    if (need.code == "model")
        return say<text::needs::model>(plain(join(need.words), 200),
                                       amount_of(need.value, need.code));
    if (need.code == "case") {
        std::string name;
        for (const auto& filter : need.filters)
            name += name.empty() ? filter.substr(filter.find('=') + 1)
                                 : ", " + filter.substr(filter.starts_with('.') ? 1 : 0);
        const auto amount = amount_of(need.value, need.code, need.unit);
        return need.sense == Sense::at_least ? say<text::needs::at_least>(plain(name, 200), amount)
                                             : say<text::needs::at_most>(plain(name, 200), amount);
    }
    const auto name = name_of_need(need.code);
    if (need.sense == Sense::one_of)
        return say<text::words::labelled>(
            name, plain(fmt::format("{}", fmt::join(need.words, " | ")), 200));
    const auto amount = amount_of(need.value, need.code, currency);
    return need.sense == Sense::at_least ? say<text::needs::at_least>(name, amount)
                                         : say<text::needs::at_most>(name, amount);
}

std::string in_words(const Judged& judged, const Need& need, const std::string& currency) {
    if (judged.outcome == Outcome::unknown) return say<text::needs::unknown>();
    const auto has =
        judged.has ? amount_of(*judged.has, need.code, need.code == "case" ? need.unit : currency)
                   : plain(judged.text, 200);
    return judged.basis == Basis::datasheet ? say<text::needs::by_datasheet>(has)
           : judged.basis == Basis::given   ? say<text::needs::by_offer>(has)
                                            : say<text::needs::measured>(has);
}

std::string in_words(const Promise& promise) {
    if (!promise.name.empty())
        return say<text::needs::broken>(name_of_need(promise.code), plain(promise.name),
                                        plain(promise.found));
    return say<text::needs::broken>(
        name_of_need(promise.code), amount_of(promise.promised, promise.code),
        promise.measured ? amount_of(*promise.measured, promise.code) : "");
}

} // namespace assay::purchase
