// SPDX-License-Identifier: Apache-2.0
#include "external/output.hpp"

#include <assay/text.hpp>

#include <nlohmann/json.hpp>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace assay::external {
namespace {

using Json = nlohmann::json;

/// A stretch of an output; of JSON the value itself.
struct Place {
    std::size_t begin;
    std::size_t size;
};
using Change = std::function<void(Place)>;

/// Nothing is at a place, which may be well where a value is optional.
class Missing : public Problem {
public:
    using Problem::Problem;
};

template <class Take>
void each_line(std::string_view text, Take&& take) {
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        auto line = text.substr(begin, end - begin);
        // Progress is overwritten in place: the last one stands there.
        if (line.ends_with('\r')) line.remove_suffix(1);
        const auto turn = line.rfind('\r');
        const auto skipped = turn == line.npos ? 0 : turn + 1;
        take(line.substr(skipped), begin + skipped);
        begin = end + 1;
    }
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
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(std::int64_t{8} << 20U); // bytes
    const RE2 pattern{where.text, options};
    std::vector<Place> found;
    const int groups = std::min(pattern.NumberOfCapturingGroups(), 1);
    each_line(text, [&](std::string_view line, std::size_t begin) {
        re2::StringPiece group[2];
        const re2::StringPiece piece{line.data(), line.size()};
        if (!pattern.Match(piece, 0, line.size(), RE2::ANCHOR_BOTH, group, groups + 1)) return;
        const auto& value = group[groups];
        if (value.data() == nullptr) return; // an alternative without the group
        found.push_back(
            {begin + static_cast<std::size_t>(value.data() - line.data()), value.size()});
    });
    return choose(found, where, joined("a line like \"", where.text, "\""));
}

/// Fields of a line, with quotes but without what is quoted over several lines.
std::vector<Place> fields_of(std::string_view line, std::size_t begin) {
    std::vector<Place> fields;
    bool is_quoted = false;
    std::size_t first = 0;
    const auto add = [&](std::size_t end) {
        auto size = end - first;
        auto at = first;
        if (size >= 2 && line[at] == '"' && line[end - 1] == '"') {
            ++at;
            size -= 2;
        }
        while (size > 0 && line[at] == ' ') ++at, --size;
        while (size > 0 && line[at + size - 1] == ' ') --size;
        fields.push_back({begin + at, size});
        first = end + 1;
    };
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') is_quoted = !is_quoted;
        if (line[i] == ',' && !is_quoted) add(i);
    }
    add(line.size());
    return fields;
}

std::size_t column_of(std::string_view text, const std::vector<Place>& head,
                      const std::string& name) {
    std::size_t column = head.size();
    for (std::size_t i = 0; i < head.size(); ++i) {
        if (text.substr(head[i].begin, head[i].size) != name) continue;
        if (column != head.size()) throw Problem{joined("two columns are called ", name)};
        column = i;
    }
    if (column == head.size()) throw Missing{joined("no column is called ", name)};
    return column;
}

Place find_cell(std::string_view text, const Where& where) {
    std::vector<std::vector<Place>> rows;
    each_line(text, [&](std::string_view line, std::size_t begin) {
        if (!line.empty()) rows.push_back(fields_of(line, begin));
    });
    if (rows.empty()) throw Missing{joined(where.in, " has no table")};
    const auto column = column_of(text, rows.front(), where.text);
    std::vector<Place> found;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        if (rows[i].size() != rows.front().size())
            throw Problem{joined("row ", i, " of the table in ", where.in, " has ", rows[i].size(),
                                 " fields, its head ", rows.front().size())};
        if (!where.row_column.empty()) {
            const auto& key = rows[i][column_of(text, rows.front(), where.row_column)];
            if (text.substr(key.begin, key.size) != where.row_value) continue;
        }
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

/// Where the JSON document begins: the text, or behind lines of words; never behind another object.
std::size_t json_begins(const std::string& text) {
    constexpr int most_lines = 100; // with a bracket in front, which words may have too: "[WARN]"
    int left = most_lines;
    for (std::size_t at = 0; at < text.size() && left > 0;) {
        if (const char first = text[at]; first == '{' || first == '[') {
            if (Json::accept(text.begin() + static_cast<std::ptrdiff_t>(at), text.end())) return at;
            left = first == '{' ? 0 : left - 1;
        }
        const auto end = text.find('\n', at);
        at = end == text.npos ? text.size() : end + 1;
    }
    return 0;
}

Json parsed(const std::string& text, const Where& where) try {
    return Json::parse(text.begin() + static_cast<std::ptrdiff_t>(json_begins(text)), text.end());
} catch (const Json::exception& error) {
    // The message repeats what was read: long, and whatever it holds.
    const std::string_view words{error.what()};
    const auto known = words.substr(0, words.find("; last read"));
    throw Problem{joined(where.in, " is not one JSON document: ", known)};
}

Json::json_pointer pointer_of(const Where& where) try {
    return Json::json_pointer{where.text};
} catch (const Json::exception&) {
    throw Problem{joined("\"", where.text, "\" is no JSON pointer")};
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
        value = nullptr; // an index that is none
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

std::string find(const Outputs& outputs, const Where& where) {
    const auto& text = output_of(outputs, where);
    if (where.kind == Where::Kind::pointer) return in_json(text, where);
    if (where.kind == Where::Kind::elapsed) return where.text;
    const auto place = find_place(text, where);
    return text.substr(place.begin, place.size);
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
        text.replace(place.begin, place.size, other);
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

double number_of(const std::string& text, std::string_view what) {
    double value = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (text.empty() || read.ptr != end || read.ec == std::errc::invalid_argument)
        throw Problem{joined(what, " is \"", text.substr(0, 60), "\", no number of the C locale")};
    if (read.ec != std::errc{} || !std::isfinite(value))
        throw Problem{joined(what, " is ", text, ", not a finite number")};
    return value;
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

/// As a number where both are: 0 is 0.0.
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
