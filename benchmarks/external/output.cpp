// SPDX-License-Identifier: Apache-2.0
#include "external/output.hpp"

#include "extract/lines.hpp"
#include "extract/objects.hpp"
#include "extract/pattern.hpp"
#include "extract/said.hpp"
#include "extract/text.hpp"

#include <assay/text.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::external {
namespace {

using Json = nlohmann::json;

/// A stretch of an output, which can be overwritten.
using Place = std::string_view;

/// Nothing is at a place, which may be well where a value is optional.
class Missing : public Problem {
public:
    using Problem::Problem;
};

extract::Pattern pattern_of(const std::string& text) {
    extract::Pattern pattern;
    if (const auto wrong = pattern.set(text); !wrong.empty())
        throw Problem{joined("invalid RE2 pattern \"", text, "\": ", wrong)};
    if (pattern.groups() > 1)
        throw Problem{
            joined("\"", text, "\" has more than one group; write the others as (?:...)")};
    return pattern;
}

template <class Take>
void each_line(std::string_view text, Take&& take) {
    while (!text.empty()) take(extract::written_last(extract::take_line(text)));
}

Place choose(const std::vector<Place>& found, const Where& where, std::string_view what) {
    if (found.empty()) throw Missing{joined("nothing in ", where.in, " is ", what)};
    if (where.take == Where::Take::last) return found.back();
    if (found.size() > 1 && where.take == Where::Take::only)
        throw Problem{
            joined(found.size(), " places in ", where.in, " are ", what, ", expected one")};
    return found.front();
}

Place find_pattern(std::string_view text, const Where& where) {
    const auto pattern = pattern_of(where.text);
    std::vector<Place> found;
    each_line(text, [&](std::string_view line) {
        if (const auto place = pattern.value_in(line)) found.push_back(*place);
    });
    return choose(found, where, joined("a line like \"", where.text, "\""));
}

std::size_t column_of(const std::vector<Place>& head, const std::string& name) {
    const auto column = std::ranges::find(head, name);
    if (column == head.end()) throw Missing{joined("missing column ", name)};
    if (std::ranges::count(head, name) > 1) throw Problem{joined("column ", name, " occurs twice")};
    return static_cast<std::size_t>(column - head.begin());
}

Place find_cell(std::string_view text, const Where& where) {
    std::vector<std::vector<Place>> rows;
    each_line(text, [&](std::string_view line) {
        if (!line.empty()) rows.push_back(extract::cells_of(line));
    });
    if (rows.empty()) throw Missing{joined(where.in, " has no table")};
    const auto& head = rows.front();
    const auto column = column_of(head, where.text);
    std::vector<Place> found;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        if (rows[i].size() != head.size())
            throw Problem{joined("row ", i, " of the table in ", where.in, " has ", rows[i].size(),
                                 " fields, its head ", head.size())};
        if (where.row_column.empty() ||
            rows[i][column_of(head, where.row_column)] == where.row_value)
            found.push_back(rows[i][column]);
    }
    return choose(found, where,
                  where.row_column.empty()
                      ? joined("the row of a table")
                      : joined("the row whose ", where.row_column, " is ", where.row_value));
}

const std::string& output_of(const Outputs& outputs, const Where& where) {
    const auto found = outputs.find(where.in);
    if (found == outputs.end()) throw Missing{joined("there is no ", where.in)};
    if (found->second.empty()) throw Missing{joined(where.in, " is empty")};
    return found->second;
}

/// The text, or what follows lines of words.
std::size_t json_begins(std::string_view text) {
    const auto begin = extract::json_begin(text);
    return begin == text.npos ? 0 : begin;
}

Json parsed(std::string_view text, const Where& where) try {
    return Json::parse(extract::repaired(text.substr(json_begins(text))));
} catch (const Json::exception& error) {
    // The message repeats what was read: long, and whatever it holds.
    const std::string_view words{error.what()};
    const auto known = words.substr(0, words.find("; last read"));
    throw Problem{joined(where.in, " is not one JSON document: ", known)};
}

Json::json_pointer pointer_of(const Where& where) try {
    return Json::json_pointer{where.text};
} catch (const Json::exception&) {
    throw Problem{joined("invalid JSON pointer \"", where.text, "\"")};
}

/// "end.sum_sent.bytes": results hide what looks like a path, as "/end/sum_sent/bytes" does.
std::string shown(std::string pointer) {
    std::ranges::replace(pointer, '/', '.');
    return pointer.substr(pointer.starts_with('.') ? 1 : 0);
}

std::string in_json(const std::string& text, const Where& where) {
    const auto json = parsed(text, where);
    const auto pointer = pointer_of(where);
    const Json* value = nullptr;
    try {
        if (json.contains(pointer)) value = &json.at(pointer);
    } catch (const Json::exception&) {
        value = nullptr; // an invalid index
    }
    if (value == nullptr) throw Missing{joined(where.in, " has no ", shown(where.text))};
    if (value->is_string()) return value->get<std::string>();
    if (!value->is_primitive() || value->is_null())
        throw Problem{joined(where.in, ": ", shown(where.text), " is ", value->type_name())};
    return value->dump();
}

Place find_place(const std::string& text, const Where& where) {
    return where.kind == Where::Kind::pattern ? find_pattern(text, where) : find_cell(text, where);
}

} // namespace

void check_pattern(const std::string& pattern) { static_cast<void>(pattern_of(pattern)); }

Unit unit_of(std::string_view text) {
    if (const auto unit = extract::unit_of(text)) return *unit;
    throw Problem{"unknown unit \"" + std::string{text} +
                  "\" (expected s, B/s, bit/s, FLOP/s, OP/s, 1/s, updates/s, "
                  "atom-steps/s with a prefix (ms, MiB/s, Gbit/s), or 1, %, dB, ns/day, J)"};
}

std::string find(const Outputs& outputs, const Where& where) {
    const auto& text = output_of(outputs, where);
    if (where.kind == Where::Kind::pointer) return in_json(text, where);
    if (where.kind == Where::Kind::elapsed) return where.text;
    return std::string{find_place(text, where)};
}

void replace(Outputs& outputs, const Where& where, const std::string& other) {
    std::string text = output_of(outputs, where);
    if (where.kind == Where::Kind::pointer) {
        auto json = parsed(text, where);
        auto& value = json.at(pointer_of(where));
        value = value.is_string() ? Json(other) : Json::parse(other);
        text = json.dump();
    } else {
        const auto place = find_place(text, where);
        text.replace(static_cast<std::size_t>(place.data() - text.data()), place.size(), other);
    }
    outputs[where.in] = std::move(text);
}

std::string words_before_json(const std::string& text) { return text.substr(0, json_begins(text)); }

bool is_there(const Outputs& outputs, const Where& where) try {
    static_cast<void>(find(outputs, where));
    return true;
} catch (const Missing&) {
    return false;
}

std::string wrong_line(const Outputs& outputs, const std::vector<std::string>& ignore) {
    const auto is_excused = [&](std::string_view line) {
        return std::ranges::any_of(
            ignore, [&](const std::string& text) { return pattern_of(text).matches(line); });
    };
    for (const auto* const name : {"stdout", "stderr"}) {
        const auto output = outputs.find(name);
        if (output == outputs.end()) continue;
        const std::string_view text = output->second;
        const auto begin = std::min(extract::json_begin(text), text.size());
        const auto end = std::min(extract::document_end(text, begin), text.size());
        for (const auto part : {text.substr(0, begin), text.substr(end)})
            for (extract::InputLines lines{part}; lines.next();)
                if (extract::says_wrong(lines.content()) && !is_excused(lines.content()))
                    return std::string{lines.content()};
    }
    return {};
}

double number_of(const std::string& text, std::string_view what) {
    if (const auto number = extract::number_of(text)) return *number;
    throw Problem{joined(what, " is \"", text.substr(0, 60), "\" (expected a finite number)")};
}

double value_of(const Outputs& outputs, const Metric& metric) {
    const double value = number_of(find(outputs, metric.where), metric.name);
    if (value < 0) throw Problem{joined(metric.name, " is ", value, ", below zero")};
    const double factor =
        metric.unit_at ? unit_of(find(outputs, *metric.unit_at)).factor : metric.unit.factor;
    return value * factor;
}

namespace {

double difference(double a, double b) {
    const double scale = std::max(std::abs(a), std::abs(b));
    return scale == 0 ? 0 : std::abs(a - b) / scale;
}

/// Compares as numbers where both are: 0 is 0.0.
bool is_equal(const std::string& text, const std::string& wanted) try {
    return text == wanted || number_of(text, "") == number_of(wanted, "");
} catch (const Problem&) {
    return false;
}

Finding in_range(double value, const Check& check) {
    Finding finding{.holds = true};
    if (check.at_least && value < *check.at_least)
        finding = {.holds = false, .said = joined(value, " is below ", *check.at_least)};
    if (check.at_most && value > *check.at_most)
        finding = {.holds = false, .said = joined(value, " is above ", *check.at_most)};
    if (check.at_most && *check.at_most > 0 &&
        (!check.at_least || *check.at_least == -*check.at_most))
        finding.share = std::abs(value) / *check.at_most;
    return finding;
}

} // namespace

Finding judge(const Outputs& outputs, const Check& check) try {
    const auto text = find(outputs, check.where);
    if (check.equals) {
        const bool holds = is_equal(text, *check.equals);
        return {.holds = holds,
                .said = holds ? "" : joined("\"", text.substr(0, 80), "\" is not ", *check.equals)};
    }
    const double value = number_of(text, "a checked value");
    if (!check.near) return in_range(value, check);
    const double other = number_of(find(outputs, *check.near), "a checked value");
    const double share = difference(value, other) / check.within;
    return {.holds = share <= 1,
            .said = share <= 1 ? "" : joined(value, " and ", other, " differ"),
            .share = share};
} catch (const Problem& problem) {
    return {.holds = false, .said = problem.what()};
}

void spoil(Outputs& outputs, const Check& check) {
    const auto text = find(outputs, check.where);
    // A thousandth over the bound.
    constexpr double over = 1e-3;
    double wrong = 0;
    if (check.equals) {
        try {
            wrong = number_of(text, "") + 1;
        } catch (const Problem&) {
            return replace(outputs, check.where,
                           text == "true"    ? "false"
                           : text == "false" ? "true"
                                             : text + "x");
        }
    } else if (check.near) {
        const double other = number_of(find(outputs, *check.near), "");
        wrong = other == 0 ? 1 : other / (1 - (check.within * (1 + over)));
    } else if (check.at_most) {
        wrong = *check.at_most + (over * std::max(std::abs(*check.at_most), over));
    } else if (check.at_least) {
        wrong = *check.at_least - (over * std::max(std::abs(*check.at_least), over));
    }
    replace(outputs, check.where, joined(wrong));
}

} // namespace assay::external
