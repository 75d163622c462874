// SPDX-License-Identifier: Apache-2.0

#include "document/texts/usage.hpp"

#include "base/console.hpp"
#include "base/csv.hpp"
#include "base/fields.hpp"
#include "base/text.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/words.hpp"
#include "json/codec.hpp"
#include "purchase/cost.hpp"
#include "purchase/offer_document.hpp"
#include "record/format.hpp"
#include "stats/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <tuple>
#include <utility>

namespace assay::stats {
ASSAY_NAMES(Method, "seasonal_naive, damped_holt_winters")
ASSAY_FIELDS(Expected, value, low, high)
ASSAY_FIELDS(Forecast, method, naive_error, damped_error, months, quarters)
} // namespace assay::stats

namespace assay::purchase {

ASSAY_FIELDS(Usage, provider, region, instance, first, hours)
ASSAY_FIELDS(Commitment, offer, currency, tariff, months, break_even, nodes, with, without, saving,
             saving_low, saving_high)
ASSAY_FIELDS(UsagePlan, used, state, nodes_used, forecast, on_demand, plan)

namespace {

using namespace document;

constexpr int year = 12;

/// 12 * year + 0..11 of "2026-01"; nothing for other texts.
std::optional<int> month_of(std::string_view text) {
    const auto seconds =
        text.size() == 7 ? seconds_of_date(std::string{text} + "-01") : std::nullopt;
    if (!seconds) return {};
    int number = 0;
    int month = 0;
    std::from_chars(text.data(), text.data() + 4, number);
    std::from_chars(text.data() + 5, text.data() + 7, month);
    return number * year + month - 1;
}
std::string month_name(int month) {
    return fmt::format("{:04}-{:02}", month / year, month % year + 1);
}

/// "p5.48xlarge (aws, us-east-1)"
std::string name_of(const Usage& used) {
    std::string name = used.instance;
    for (const auto& more : {used.provider, used.region})
        if (!more.empty()) name += (name == used.instance ? " (" : ", ") + more;
    return plain(name == used.instance ? name : name + ")");
}

} // namespace

Result<std::vector<Usage>> parse_usage(std::string_view text, const std::string& source) {
    static const std::vector<std::string> known{"month", "instance", "hours", "provider", "region"};
    CsvRows rows{text};
    const auto wrong = [&](const std::string& what) {
        return fail(fmt::format("{}:{}: {}", source, rows.line(), what));
    };
    std::map<std::string, std::size_t> columns;
    if (rows.next())
        for (const auto& title : rows.cells()) {
            if (std::ranges::count(known, title) == 0)
                return wrong(fmt::format("unknown column \"{}\"{}", plain(title, 60),
                                         suggestion(title, known)));
            if (!columns.try_emplace(title, columns.size()).second)
                return wrong(fmt::format("column {} occurs twice", title));
        }
    for (const auto* needed : {"month", "instance", "hours"})
        if (rows.problem().empty() && !columns.contains(needed))
            return fail(fmt::format("{}: column {} is missing (expected month, instance, hours)",
                                    source, needed));
    std::map<std::tuple<std::string, std::string, std::string>, std::map<int, double>> all;
    int last = 0;
    while (rows.next()) {
        const auto& cells = rows.cells();
        if (cells.size() != columns.size())
            return wrong(
                fmt::format("{} cells in a table of {} columns", cells.size(), columns.size()));
        for (const auto& [title, at] : columns)
            if (is_formula(cells[at]) && title != "hours")
                return wrong(fmt::format("column {}: \"{}\" is a formula; write its value", title,
                                         plain(cells[at], 60)));
        const auto cell = [&](const char* title) {
            return columns.contains(title) ? cells[columns.at(title)] : std::string{};
        };
        const auto month = month_of(cell("month"));
        if (!month)
            return wrong(fmt::format("column month: invalid month \"{}\" (expected 2026-01)",
                                     plain(cell("month"), 60)));
        if (cell("instance").empty()) return wrong("column instance is empty");
        const auto hours = parse_number(cell("hours"));
        if (!hours) return wrong("column hours: " + hours.error().message);
        constexpr double most = 1e9; // a million nodes
        if (hours->value < 0 || hours->value > most)
            return wrong(
                fmt::format("column hours: {} is out of range (0 to 1e9)", plain(hours->text, 60)));
        all[{cell("instance"), cell("provider"), cell("region")}][*month] += hours->value;
        last = std::max(last, *month);
    }
    if (!rows.problem().empty()) return fail(fmt::format("{}: {}", source, rows.problem()));
    if (all.empty()) return fail(source + ": no rows (expected one per month and instance type)");
    std::vector<Usage> found;
    for (const auto& [key, months] : all) {
        Usage one{.provider = std::get<1>(key),
                  .region = std::get<2>(key),
                  .instance = std::get<0>(key),
                  .first = month_name(months.begin()->first),
                  .hours = {}};
        for (int month = months.begin()->first; month <= last; ++month) {
            if (!months.contains(month))
                return fail(fmt::format("{}: {} has no hours for {}; write 0 for a month without "
                                        "use",
                                        source, name_of(one), month_name(month)));
            one.hours.push_back(months.at(month));
        }
        found.push_back(std::move(one));
    }
    return found;
}

// --- plan
// ----------------------------------------------------------------------------------------

namespace {

/// Hours of a month of the term and the standard deviation of their error.
struct Need {
    double hours = 0;
    double deviation = 0;
};
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Terms longer than the forecast repeat its year. Where no error is known,
/// that of the month before holds.
std::vector<Need> needs_of(const stats::Forecast& forecast, double term) {
    static const double normal = stats::student_factor(infinite, 0.8);
    std::vector<Need> needs;
    double half = 0;
    for (std::size_t i = 0; static_cast<double>(i) < term; ++i) {
        const auto& one = forecast.months[i % stats::months_ahead];
        if (i < stats::months_ahead && !std::isnan(one.high)) half = one.high - one.value;
        needs.push_back({.hours = one.value, .deviation = half / normal});
    }
    return needs;
}

/// Expected hours above `hours`, of a normal distribution.
double beyond(const Need& need, double hours) {
    const double more = need.hours - hours;
    if (!(need.deviation > 0)) return std::max(more, 0.0);
    const double z = more / need.deviation;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    return std::max(more * stats::student_below(z, infinite) + need.deviation * density, 0.0);
}

Commitment commit(const Cost& cost, double on_demand, const stats::Forecast& forecast) {
    const auto months = commitment_months(cost.offer.tariff).value_or(1); // else monthly
    const double price = *cost.price.hour;
    const auto needs = needs_of(forecast, months);
    const auto paid = [&](double nodes) {
        double sum = nodes * hours_a_month * months * price;
        for (const auto& need : needs) sum += on_demand * beyond(need, nodes * hours_a_month);
        return sum;
    };
    Commitment one{.offer = cost.offer.id,
                   .currency = cost.price.currency,
                   .tariff = cost.offer.tariff,
                   .months = months,
                   .break_even = price / on_demand};
    one.without = paid(0);
    // The expected cost is convex in the number of nodes.
    constexpr double rounding = 1e-9;
    double high = 0;
    for (const auto& need : needs)
        high = std::max(high, std::ceil((need.hours + 6 * need.deviation) / hours_a_month));
    high = std::min(high, std::floor(cost.offer.count.value_or(high)));
    while (one.nodes < high) {
        const double middle = std::floor((one.nodes + high) / 2);
        if (paid(middle + 1) < paid(middle) - rounding * one.without)
            one.nodes = middle + 1;
        else
            high = middle;
    }
    one.with = paid(one.nodes);
    one.saving = one.without - one.with;
    if (std::isnan(forecast.months.front().high)) return one;
    const auto saved = [&](double sign) { // all months err alike: no interval is wider
        double hours = -one.nodes * hours_a_month * months * price / on_demand;
        for (std::size_t i = 0; i < needs.size(); ++i)
            hours += std::clamp(needs[i].hours + sign * needs[i].deviation *
                                                     stats::student_factor(infinite, 0.8),
                                0.0, one.nodes * hours_a_month);
        return hours * on_demand;
    };
    one.saving_low = saved(-1);
    one.saving_high = saved(1);
    return one;
}

bool fits(const Usage& used, const Cost& cost) {
    const auto agrees = [](const std::string& a, const std::string& b) {
        return a.empty() || b.empty() || a == b;
    };
    return used.instance == cost.offer.instance && agrees(used.provider, cost.offer.provider) &&
           agrees(used.region, cost.offer.region);
}

Result<UsagePlan> plan(const Usage& used, const std::vector<Cost>& costs) {
    UsagePlan made{.used = used};
    const auto recent = std::min<std::size_t>(used.hours.size(), year);
    made.nodes_used = stats::mean(stats::Values{used.hours}.last(recent)) / hours_a_month;
    const auto end = [&](UsageState state) {
        made.state = state;
        return made;
    };
    if (used.hours.size() < stats::fewest_months) return end(UsageState::short_history);
    made.forecast = stats::forecast_months(used.hours);
    std::vector<const Cost*> offered;
    std::vector<Price> prices;
    std::optional<double> on_demand;
    for (const auto& cost : costs)
        if (fits(used, cost) && cost.price.hour) {
            offered.push_back(&cost);
            prices.push_back(cost.price);
            if (cost.offer.tariff == Tariff::on_demand &&
                (!on_demand || *cost.price.hour < *on_demand)) {
                on_demand = cost.price.hour;
                made.on_demand = cost.offer.id;
            }
        }
    ASSAY_TRY(one_currency(prices));
    if (offered.empty()) return end(UsageState::not_offered);
    if (!on_demand) return end(UsageState::no_on_demand);
    for (const auto* cost : offered)
        if (cost->offer.tariff == Tariff::monthly || commitment_months(cost->offer.tariff))
            made.plan.push_back(commit(*cost, *on_demand, *made.forecast));
    if (made.plan.empty()) return end(UsageState::no_commitment);
    std::ranges::stable_sort(made.plan, std::ranges::greater{},
                             [](const auto& one) { return one.saving / one.months; });
    return end(made.plan.front().nodes > 0 ? UsageState::planned : UsageState::nothing);
}

double saved_a_month(const UsagePlan& plan) {
    return plan.state != UsageState::planned ? 0
                                             : plan.plan.front().saving / plan.plan.front().months;
}

} // namespace

Result<std::vector<UsagePlan>> plan_usage(const std::vector<Usage>& used,
                                          const std::vector<Cost>& costs) {
    std::vector<UsagePlan> plans;
    for (const auto& one : used) {
        ASSAY_TRY(plans.emplace_back(), plan(one, costs));
    }
    if (std::ranges::all_of(plans, [](const auto& one) { return !one.forecast; }))
        return fail(
            fmt::format("--usage: a forecast needs {} months of hours, which no instance type "
                        "has",
                        stats::fewest_months));
    std::ranges::stable_sort(plans, std::ranges::greater{}, saved_a_month);
    return plans;
}

// --- document
// ------------------------------------------------------------------------------------

namespace {

Cell money(double value, const Commitment& one) {
    const auto& currency = one.currency;
    return {.text = money_in_words(value, currency), .number = value, .unit = currency};
}
std::string range(double low, double high) { return fmt::format("{:.0f}–{:.0f}", low, high); }

std::string answer(const UsagePlan& plan) {
    const auto name = name_of(plan.used);
    if (plan.state != UsageState::planned)
        return say<text::words::labelled>(name, *find_text("usage_state", to_string(plan.state)));
    const auto& best = plan.plan.front();
    auto saving = money_in_words(best.saving, best.currency);
    if (best.saving_low)
        saving = say<text::usage::interval>(saving, money_in_words(*best.saving_low, best.currency),
                                            money_in_words(*best.saving_high, best.currency));
    return say_count<text::usage::reserve>(static_cast<std::size_t>(best.nodes), name,
                                           in_words(best.tariff), saving,
                                           fmt::format("{:.3g}", plan.nodes_used));
}

Chart chart_of(const UsagePlan& plan) {
    TimeChart data{.unit = "h", .higher_is_better = false};
    int month = *month_of(plan.used.first);
    const auto add = [&](double value, const std::string& label) -> TimePoint& {
        return data.points.emplace_back(
            TimePoint{.seconds = *seconds_of_date(month_name(month++) + "-01"),
                      .value = value,
                      .label = label});
    };
    for (const double hours : plan.used.hours) add(hours, say<text::usage::used>());
    data.marks.push_back({.seconds = *seconds_of_date(month_name(month) + "-01"),
                          .text = say<text::usage::expected>()});
    for (const auto& one : plan.forecast->months) {
        auto& point = add(one.value, say<text::usage::expected>());
        if (std::isnan(one.high)) continue;
        point.low = one.low;
        point.high = one.high;
    }
    return {
        .title = name_of(plan.used), .caption = say<text::usage::chart>(), .data = std::move(data)};
}

} // namespace

Section section_of(const std::vector<UsagePlan>& plans) {
    Section section{.title = say<text::usage::title>()};
    document::Table choices{.columns = {{.title = say<text::usage::commitment>()},
                                        {.title = say<text::usage::break_even>(), .numeric = true},
                                        {.title = say<text::usage::nodes>(), .numeric = true},
                                        {.title = say<text::usage::with>(), .numeric = true},
                                        {.title = say<text::usage::without>(), .numeric = true},
                                        {.title = say<text::usage::saving>(), .numeric = true}},
                            .sheet = say<text::usage::title>()};
    document::Table quarters{.columns = {{.title = say<text::usage::months>()},
                                         {.title = say<text::usage::hours>(), .numeric = true},
                                         {.title = say<text::usage::likely>(), .numeric = true}},
                             .sheet = say<text::usage::expected>()};
    std::vector<Block> charts;
    for (const auto& plan : plans) {
        section.blocks.emplace_back(Paragraph{.text = answer(plan)});
        const auto name = name_of(plan.used);
        for (const auto& one : plan.plan)
            choices.rows.push_back({.cells = {{.text = plain(one.offer)},
                                              {.text = record::human_percent(one.break_even),
                                               .number = one.break_even,
                                               .unit = unit_share},
                                              count_cell(static_cast<std::size_t>(one.nodes)),
                                              money(one.with, one),
                                              money(one.without, one),
                                              money(one.saving, one)},
                                    .group = name});
        if (!plan.forecast) continue;
        auto month = *month_of(plan.used.first) + static_cast<int>(plan.used.hours.size());
        const auto naive = fmt::format("{:.3g}", plan.forecast->naive_error);
        const auto damped = fmt::format("{:.3g}", plan.forecast->damped_error);
        const auto method = plan.forecast->method == stats::Method::damped_holt_winters
                                ? say<text::usage::damped>(name, naive, damped)
                                : say<text::usage::naive>(name, naive, damped);
        for (const auto& one : plan.forecast->quarters) {
            quarters.rows.push_back(
                {.cells =
                     {{.text = fmt::format("{} – {}", month_name(month), month_name(month + 2))},
                      {.text = fmt::format("{:.0f}", one.value), .number = one.value, .unit = "h"},
                      {.text = std::isnan(one.high) ? say<text::usage::no_interval>()
                                                    : range(one.low, one.high)}},
                 .group = method});
            month += 3;
        }
        constexpr std::size_t most = 12; // charts on a page
        if (charts.size() < most) charts.emplace_back(chart_of(plan));
    }
    if (!choices.rows.empty()) section.blocks.emplace_back(std::move(choices));
    section.blocks.emplace_back(std::move(quarters));
    std::ranges::move(charts, std::back_inserter(section.blocks));
    section.blocks.emplace_back(Paragraph{.text = say<text::usage::method>(), .tone = Tone::quiet});
    return section;
}

json::Value to_json(const std::vector<UsagePlan>& plans) { return json::encode(plans); }

} // namespace assay::purchase
