// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/cost.hpp"
#include "document/texts/offers.hpp"
#include "document/texts/predict.hpp"
#include "document/texts/words.hpp"
#include "purchase/cost.hpp"
#include "purchase/offer_document.hpp"
#include "record/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

namespace assay::purchase {
namespace {

using namespace document;

std::string one_in_words(double value, const std::string& unit) {
    constexpr std::size_t code = 3;
    if (is_currency(unit.substr(0, code)))
        return money_in_words(value, unit.substr(0, code)) + unit.substr(code);
    if (unit == "share") return fmt::format("{:.4g}%", 100 * value);
    if (unit == "ratio" || unit == "count" || unit == "1") return fmt::format("{:.6g}", value);
    for (const auto* physical : {"B", "B/s", "FLOP", "FLOP/s", "W"})
        if (unit == physical) return record::human(value, unit);
    const auto number = fmt::format("{:.4g}", value);
    return unit == "months" ? say<text::cost::months>(number) : fmt::format("{} {}", number, unit);
}

const Line& line_of(const Cost& cost, std::string_view key) { return *cost.lines.find(key); }

std::size_t known_parts(const Cost& cost) {
    return static_cast<std::size_t>(std::ranges::count_if(
        cost_parts, [&](const char* part) { return line_of(cost, part).quantity.has_value(); }));
}

/// Parts missing from the sums of an offer; empty if none.
std::string gaps_of(const Cost& cost) {
    const auto parts = known_parts(cost);
    if (!line_of(cost, "month").quantity || parts == cost_parts.size()) return "";
    std::vector<std::string> missing;
    for (const auto* part : cost_parts)
        if (const auto& line = line_of(cost, part); !line.quantity)
            missing.push_back(name_of_line(part));
    return say<text::cost::parts_of>(parts, cost_parts.size(), join(missing));
}
bool is_known(const std::vector<Cost>& costs, std::string_view key) {
    return std::ranges::any_of(costs,
                               [&](const Cost& cost) { return cost.lines.of(key).has_value(); });
}

std::vector<Block> overview(const std::vector<Cost>& costs) {
    Table table{.columns = {{.title = say<text::offers::offer>()}},
                .sheet = say<text::cost::kicker>()};
    std::vector<std::string> unknown; // columns that would only repeat why
    std::uint8_t rank = 0;
    for (const std::string key : {"node_hour", "job", "month", "term", "energy_month", "goodput"}) {
        if (key != "month" && !is_known(costs, key)) {
            const auto* line = costs.empty() ? nullptr : costs.front().lines.find(key);
            if (line != nullptr)
                unknown.push_back(
                    line->why == "not_given"
                        ? name_of_line(key)
                        : say<text::cost::part_missing>(name_of_line(key), reason_in_words(*line)));
            continue;
        }
        const bool minor = key == "energy_month" || key == "goodput";
        rank = minor ? static_cast<std::uint8_t>(rank + 1) : std::uint8_t{0};
        table.columns.push_back(
            {.title = name_of_line(key), .numeric = true, .rank = rank, .key = key});
    }
    // Gaps common to all offers are listed once, below them.
    const auto gaps = costs.empty() ? std::string{} : gaps_of(costs.front());
    const bool same_gaps =
        std::ranges::all_of(costs, [&](const Cost& cost) { return gaps_of(cost) == gaps; });
    for (const auto& cost : costs) {
        Cell name{.text = plain(cost.offer.id),
                  .detail = in_words(cost.offer.tariff),
                  .tone = line_of(cost, "month").quantity ? Tone::plain : Tone::weak};
        if (auto own = gaps_of(cost); !same_gaps && !own.empty())
            name.notes.push_back(std::move(own));
        if (!cost.price.exchanged.source.empty())
            name.notes.push_back(say<text::offers::exchanged>(plain(cost.price.exchanged.source)));
        auto& row = table.rows.emplace_back(Row{.cells = {std::move(name)}});
        for (std::size_t c = 1; c < table.columns.size(); ++c)
            row.cells.push_back(cell_of(cost.lines.find(table.columns[c].key)));
    }
    std::vector<Block> blocks{std::move(table)};
    const auto add = [&](std::string text) {
        blocks.emplace_back(Paragraph{.text = std::move(text), .tone = Tone::weak, .mark = "-"});
    };
    if (same_gaps && !gaps.empty()) add(gaps);
    if (!unknown.empty()) add(say<text::cost::unknown_of_all>(join(unknown)));
    MissingInputs missing{cost_settings()};
    std::vector<std::string> keys{cost_parts.begin(), cost_parts.end()};
    keys.insert(keys.end(), {"energy_month", "goodput"});
    for (const auto& cost : costs) missing.add(cost.lines, keys);
    if (!missing.empty()) add(say<text::cost::give>(missing.text()));
    return blocks;
}

/// The offer whose month costs least, where all that is known is in one currency.
const Cost* cheapest(const std::vector<Cost>& costs) {
    const Cost* best = nullptr;
    for (const auto& cost : costs) {
        const auto month = cost.lines.of("month");
        if (!month) continue;
        if (best != nullptr && best->price.currency != cost.price.currency) return nullptr;
        if (best == nullptr || month->value < best->lines.of("month")->value) best = &cost;
    }
    return best;
}

Table parts(const std::vector<Cost>& costs) {
    Table table{.columns = {{.title = say<text::cost::part>()},
                            {.title = name_of_line("month"), .numeric = true},
                            {.title = say<text::cost::share>(), .numeric = true}},
                .sheet = say<text::cost::parts_title>()};
    for (const auto& cost : costs) {
        const auto month = cost.lines.of("month");
        if (!month) continue;
        for (const std::string part : cost_parts) {
            const auto& line = line_of(cost, part);
            if (!line.quantity) continue; // said above
            Cell share;
            if (month->value > 0)
                share = {.text = record::human_percent(line.quantity->value / month->value),
                         .number = line.quantity->value / month->value,
                         .unit = unit_share};
            table.rows.push_back(
                {.cells = {{.text = name_of_line(part)}, cell_of(&line), std::move(share)},
                 .group = plain(cost.offer.id)});
        }
    }
    return table;
}

std::vector<Block> break_even_of(const std::vector<Cost>& costs, bool explain) {
    std::vector<Block> blocks;
    for (const auto& one : break_evens(costs)) {
        const auto* months = one.lines.find("break_even_months");
        const auto bought = plain(costs[one.bought].offer.id);
        const auto rented = plain(costs[one.rented].offer.id);
        blocks.emplace_back(Paragraph{
            .text =
                months->quantity
                    ? say<text::cost::breaks_even>(bought, rented,
                                                   in_words(*months->quantity, months->unit))
                    : say<text::cost::no_break_even>(bought, rented, reason_in_words(*months))});
        blocks.emplace_back(explained(one.lines, say<text::cost::against>(bought, rented),
                                      explain ? "" : say<text::cost::how>()));
    }
    return blocks;
}

} // namespace

std::string in_words(const Quantity& quantity, const std::string& unit) {
    auto value = one_in_words(quantity.value, unit);
    if (!quantity.has_interval()) return value;
    return say<text::predict::with_range>(value, one_in_words(quantity.low, unit),
                                          one_in_words(quantity.high, unit));
}

std::string name_of_line(const std::string& key) {
    // work_1, work_2: numbered by the caller.
    const auto number = key.find_last_not_of("0123456789");
    if (number + 1 < key.size() && key[number] == '_')
        return say<text::cost::numbered>(name_of_line(key.substr(0, number)),
                                         key.substr(number + 1));
    return std::string{find_text("cost_line", key).value_or(key)};
}

std::string reason_in_words(const Line& line) {
    auto why = find_text("cost_why", line.why);
    if (!why) why = find_text("price_state", line.why);
    const std::string reason{why.value_or(line.why)};
    return line.missing.empty() || line.missing == line.key || line.missing == "price"
               ? reason
               : say<text::words::labelled>(name_of_line(line.missing), reason);
}

namespace {

/// Names of other settings have theirs: storage_gb.
bool needs_unit(const std::string& unit) {
    return is_currency(unit.substr(0, 3)) || unit.find('/') != std::string::npos;
}

} // namespace

void MissingInputs::add(const Calculation& lines, const std::vector<std::string>& keys) {
    // Settings that replace fields of an offer.
    static const std::map<std::string, std::string, std::less<>> settings_for{
        {"control_plane_per_month", "control_plane"},
        {"support_per_month", "support"},
        {"setup_quoted", "setup"},
        {"node_power", "node_watts"}};
    static const std::map<std::string, std::string, std::less<>> field_names{
        {"interruptions", "interruptions_per_hour"}};
    const auto put = [](std::vector<std::string>& list, std::string text) {
        if (std::ranges::count(list, text) == 0) list.push_back(std::move(text));
    };
    for (const auto& key : keys) {
        if (lines.of(key)) continue;
        for (const auto* line : lines.behind(key)) {
            if (line->quantity || !line->formula.empty()) continue;
            const auto other = settings_for.find(line->key);
            const auto& name = other == settings_for.end() ? line->key : other->second;
            if (const auto* setting = lines.find(name);
                std::ranges::find(settings_, name, &Setting::key) != settings_.end())
                put(options_, fmt::format("--set {}={}", name,
                                          needs_unit(setting->unit) ? setting->unit : "N"));
            else if (line->why == "not_given")
                put(fields_, field_names.contains(name) ? field_names.at(name) : name);
        }
    }
}

std::string MissingInputs::text() const {
    const auto options = fmt::format("{}", fmt::join(options_, " "));
    if (fields_.empty()) return options;
    return options.empty() ? say<text::cost::give_in_file>(join(fields_))
                           : say<text::cost::give_also_in_file>(options, join(fields_));
}

Cell cell_of(const Line* line) {
    if (line == nullptr) return {};
    if (!line->quantity) return {.text = reason_in_words(*line), .tone = Tone::weak};
    const auto& quantity = *line->quantity;
    Cell cell{.text = in_words(quantity, line->unit), .number = quantity.value, .unit = line->unit};
    if (quantity.has_interval()) {
        cell.low = quantity.low;
        cell.high = quantity.high;
    }
    // An assumption of ours is visible wherever it enters; what the buyer gave is not marked.
    if (line->basis == Basis::datasheet) cell.detail = say<text::cost::by_datasheet>();
    return cell;
}

Table explained(const Calculation& lines, const std::string& of, const std::string& folded) {
    Table table{.columns = {{.title = say<text::cost::line>()},
                            {.title = say<text::cost::value>(), .numeric = true}},
                .sheet = say<text::cost::how>(),
                .folded = folded};
    for (const auto& line : lines.lines()) {
        if (!line.quantity && line.formula.empty() && line.why == "not_given") continue;
        const auto origin = line.basis == Basis::assumed && line.formula.empty()
                                ? say<text::cost::assumed>()
                                : plain(line.source);
        Cell title{.text = fmt::format("{} [{}]", name_of_line(line.key), line.key)};
        if (!line.formula.empty()) title.notes.push_back("= " + line.formula);
        if (!origin.empty()) title.notes.push_back(origin);
        table.rows.push_back({.cells = {std::move(title), cell_of(&line)}, .group = of});
    }
    return table;
}

json::Value to_json(const Calculation& lines) {
    json::Value list = json::Value::array();
    for (const auto& line : lines.lines()) {
        json::Value one{{"key", line.key}, {"unit", line.unit}};
        one["value"] = line.quantity ? json::encode(line.quantity->value) : json::Value(nullptr);
        if (line.quantity && line.quantity->has_interval()) {
            one["low"] = json::encode(line.quantity->low);
            one["high"] = json::encode(line.quantity->high);
        }
        if (!line.formula.empty()) one["formula"] = line.formula;
        if (!line.source.empty()) one["source"] = line.source;
        one["basis"] = to_string(line.basis);
        if (!line.quantity) {
            one["why"] = line.why;
            one["missing"] = line.missing;
        }
        list.push_back(std::move(one));
    }
    return list;
}

Document make_document(const std::vector<Cost>& costs, bool explain) {
    const auto known = static_cast<std::size_t>(std::ranges::count_if(
        costs, [](const auto& cost) { return line_of(cost, "month").quantity.has_value(); }));
    const auto count = say_count<text::offers::count>(costs.size());
    Document document{.kind = "cost",
                      .kicker = say<text::cost::kicker>(),
                      .title = say<text::cost::title>(count),
                      .verdict = known == costs.size() ? say<text::cost::all_known>(count)
                                                       : say<text::cost::some_known>(known, count),
                      .tone = known == costs.size() ? Tone::plain : Tone::weak};
    if (const auto* least = cheapest(costs); least != nullptr && known > 1) {
        document.sub = std::exchange(
            document.verdict,
            say<text::cost::cheapest>(offer_name(least->offer),
                                      in_words(*least->lines.of("month"), least->price.currency)));
    }
    document.sections.push_back(
        {.title = say<text::cost::kicker>(), .blocks = overview(costs), .heading = false});
    if (known > 0)
        document.sections.push_back(
            {.title = say<text::cost::parts_title>(), .blocks = {parts(costs)}});
    if (auto blocks = break_even_of(costs, explain); !blocks.empty())
        document.sections.push_back(
            {.title = say<text::cost::rent_or_buy>(), .blocks = std::move(blocks)});
    Section how{.title = say<text::cost::how>()};
    for (const auto& cost : costs) {
        const auto id = plain(cost.offer.id);
        how.blocks.emplace_back(explained(cost.lines, id, explain ? "" : id));
    }
    document.sections.push_back(std::move(how));
    document.foot.push_back({.text = say<text::cost::method>(), .tone = Tone::quiet});
    return document;
}

std::string to_json(const std::vector<Cost>& costs, const json::Value& usage) {
    json::Value list = json::Value::array();
    for (const auto& cost : costs)
        list.push_back({{"offer", cost.offer.id},
                        {"currency", cost.price.currency},
                        {"state", to_string(cost.price.state)},
                        {"parts_known", known_parts(cost)},
                        {"parts", cost_parts.size()},
                        {"lines", to_json(cost.lines)}});
    json::Value pairs = json::Value::array();
    for (const auto& one : break_evens(costs))
        pairs.push_back({{"bought", costs[one.bought].offer.id},
                         {"rented", costs[one.rented].offer.id},
                         {"lines", to_json(one.lines)}});
    json::Value all{
        {"schema", "assay.cost/1"}, {"costs", std::move(list)}, {"rent_or_buy", std::move(pairs)}};
    if (!usage.is_null()) all["usage"] = usage;
    return json::to_text(all);
}

} // namespace assay::purchase
