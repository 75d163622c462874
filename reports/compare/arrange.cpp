// SPDX-License-Identifier: Apache-2.0

#include "compare/arrange.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/words.hpp"
#include "store/find.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace assay::compare {

using namespace document;
namespace {

/// Gives each distinct list of values a number.
class Tuples {
public:
    explicit Tuples(const std::vector<const store::Key*>& keys) : keys_{keys} {}

    std::uint32_t of(const decide::Observation& observation) {
        current_.clear();
        for (const auto* key : keys_) current_.push_back(key->of(observation));
        const auto [entry, fresh] =
            numbers_.try_emplace(current_, static_cast<std::uint32_t>(tuples_.size()));
        if (fresh) tuples_.push_back(current_);
        return entry->second;
    }
    /// "c7a.large 2026Q1"
    std::string text(std::size_t tuple) const {
        std::vector<std::string> parts;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            const auto& part = keys_[i]->texts[tuples_[tuple][i]];
            parts.push_back(part.empty() ? say<text::compare::unknown>() : part);
        }
        return fmt::format("{}", fmt::join(parts, " "));
    }
    std::size_t size() const { return tuples_.size(); }

private:
    std::vector<const store::Key*> keys_;
    std::vector<std::uint32_t> current_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
    std::vector<std::vector<std::uint32_t>> tuples_;
};

std::vector<const store::Key*> pointers(const std::vector<store::Key>& keys) {
    std::vector<const store::Key*> list;
    for (const auto& key : keys) list.push_back(&key);
    return list;
}

/// Parts left out of the identity beside columns.
struct Without {
    bool library = false;
    bool device = false; ///< and the version, which each module counts for itself
};

std::string identity_text(const decide::Series& series, const record::NamedList& parameters,
                          const Arrangement& arrangement, const Without& without = {}) {
    std::string text =
        arrangement.benchmark_is_column ? family_of(series.benchmark) : series.benchmark;
    if (!without.library && !arrangement.library_is_column && !series.library.empty())
        text += fmt::format("[{}]", series.library);
    for (const auto& parameter : parameters)
        text += fmt::format(" {}={}", parameter.name, record::to_string(parameter.value));
    if (!without.device && !arrangement.place_is_column && !series.place.empty() &&
        series.place != "host")
        text += fmt::format(" on {}", series.place);
    if (!without.device && !arrangement.benchmark_is_column && series.version != 1)
        text += fmt::format(" version {}", series.version);
    // The same benchmark may have another headline elsewhere: bus and algorithm bandwidth are two.
    text += fmt::format(" ({})", series.metric);
    return text;
}

/// True for conditions of a team or of measured energy, which are never left out.
bool is_of_any_device(std::string_view condition) {
    return condition == "machines" || condition == "ranks" || condition == "energy_scope";
}
record::NamedList conditions_of(const ArrangedRow& row, const Across& across) {
    auto conditions = row.conditions;
    if (across.device)
        std::erase_if(conditions, [](const auto& entry) { return !is_of_any_device(entry.name); });
    return conditions;
}

std::string with_conditions(std::string text, const record::NamedList& conditions,
                            const record::NamedList& parameters, const ArrangedRow& row) {
    if (const auto words = store::conditions_in_words(conditions, parameters); !words.empty())
        text += fmt::format(", {}", words);
    if (!row.extra.empty()) text += fmt::format(", {}", row.extra);
    return plain(text);
}

record::NamedList without_columns(const record::NamedList& parameters,
                                  const Arrangement& arrangement) {
    record::NamedList left;
    for (const auto& parameter : parameters)
        if (std::ranges::count(arrangement.column_parameters, parameter.name) == 0)
            left.push_back(parameter);
    return left;
}

Result<Across> across_of(const std::vector<std::string>& names) {
    Across across;
    for (const auto& name : names) {
        if (name != "device" && name != "place" && name != "backend" && name != "library")
            return fail(fmt::format(
                "--across: invalid value \"{}\" (expected device, backend or both)", plain(name)));
        (name == "device" || name == "place" ? across.device : across.backend) = true;
    }
    return across;
}

std::map<std::string, std::set<std::string>>
uncommon_parameters(const store::Collection& collection, const Across& across) {
    using Names = std::set<std::string>;
    std::map<std::string, std::map<std::pair<std::string, std::string>, Names>> by_benchmark;
    for (const auto& series : collection.series) {
        auto& names = by_benchmark[series.benchmark][{across.device ? series.place : "",
                                                      across.backend ? series.library : ""}];
        for (const auto& parameter : series.parameters) names.insert(parameter.name);
    }
    std::map<std::string, Names> uncommon;
    for (const auto& [benchmark, groups] : by_benchmark) {
        std::map<std::string, std::size_t> counts;
        for (const auto& [group, names] : groups)
            for (const auto& name : names) ++counts[name];
        for (const auto& [name, count] : counts)
            if (count < groups.size()) uncommon[benchmark].insert(name);
    }
    return uncommon;
}

/// For each series the number of its row, leaving columns out of its identity, and the conditions of that row.
struct RowNumbers {
    std::vector<std::uint32_t> numbers;
    std::vector<record::NamedList> conditions;
};
RowNumbers row_numbers(const store::Collection& collection, const Arrangement& arrangement) {
    std::unordered_map<std::string, std::uint32_t> known;
    std::vector<std::uint32_t> asked;
    const auto number = [&](const std::string& text) {
        return known.try_emplace(text, static_cast<std::uint32_t>(known.size())).first->second;
    };
    for (const auto& series : collection.series) {
        auto left = without_columns(series.parameters, arrangement);
        std::ranges::sort(left, {},
                          [](const auto& named) { return named.name; }); // as no file must
        // The unit is part of it: nobody may write GB/s for one and GiB/s for the other.
        asked.push_back(number(identity_text(series, left, arrangement) + series.unit +
                               (series.higher_is_better ? "+" : "-")));
    }
    RowNumbers rows{.numbers = {},
                    .conditions =
                        store::settle(collection.series, asked, arrangement.column_parameters)};
    for (std::size_t i = 0; i < asked.size(); ++i) {
        std::string text = std::to_string(asked[i]);
        for (const auto& [name, value] : rows.conditions[i])
            text += fmt::format("\n{}={}", name, record::to_string(value));
        rows.numbers.push_back(number(text));
    }
    return rows;
}

/// Sides in the order people expect: as the inputs came, quarters and sizes in their own order.
std::vector<std::size_t> order_of(const std::vector<std::string>& names, bool as_they_came) {
    std::vector<std::size_t> order(names.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!as_they_came)
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
            return strverscmp(names[a].c_str(), names[b].c_str()) < 0; // "size 9" before "size 10"
        });
    return order;
}

/// Columns that nearly every collection has many of, and nobody asks for first.
constexpr std::array of_no_use{"metric", "family", "benchmark", "place", "run", "date", "label"};

Error too_few_sides(const store::Collection& collection, const CompareOptions& options,
                    const std::vector<std::string>& sides) {
    std::vector<std::string> useful;
    for (const auto& name : store::key_names())
        if (const auto key = make_key(collection, name);
            key && key->distinct() > 1 && std::ranges::count(of_no_use, name) == 0)
            useful.push_back(fmt::format("--column {}", name));
    std::string there_is = sides.empty()
                               ? "nothing is left to compare"
                               : fmt::format("there is only \"{}\" to compare", sides.front());
    if (const auto& problems = collection.problems; !problems.empty()) // which may be why
        there_is = fmt::format(
            "{}: {}{}; without {}, {}", problems.front().where, problems.front().reason,
            problems.size() == 1 ? "" : fmt::format(" (and {} more problems)", problems.size() - 1),
            problems.size() == 1 ? "it" : "them", there_is);
    return {.message =
                fmt::format("{} (column {}){}", there_is, fmt::join(options.column, ","),
                            useful.empty() ? "; add a second result"
                                           : fmt::format("; try {}", fmt::join(useful, ", ")))};
}

struct Keys {
    std::vector<store::Key> table, row, column;
    std::vector<store::Filter> filters;
};

Result<Keys> keys_of(const store::Collection& collection, const CompareOptions& options) {
    Keys keys;
    for (const auto& [names, list] :
         {std::pair{&options.table, &keys.table}, std::pair{&options.row, &keys.row},
          std::pair{&options.column, &keys.column}}) {
        ASSAY_TRY(*list, make_keys(collection, *names));
    }
    // A column cannot tell tables apart as well.
    std::erase_if(keys.table, [&](const store::Key& key) {
        return std::ranges::count(keys.column, key.name, &store::Key::name) > 0;
    });
    if (keys.column.empty()) return fail("--column: missing key (expected e.g. label)");
    for (const auto& key : keys.column)
        if (key.name == "metric")
            return fail(
                "--column: metric is not possible: a bandwidth and a latency cannot be compared");
    ASSAY_TRY(keys.filters, make_filters(collection, options.filter));
    return keys;
}

/// Lists of observations by table, row and side.
class Arranger {
public:
    Arranger(const store::Collection& collection, const CompareOptions& options, const Keys& keys)
        : collection_{collection}, options_{options}, keys_{keys}, columns_{pointers(keys.column)},
          tables_{pointers(keys.table)}, extras_{of_runs(keys.row)}, order_{pointers(keys.row)} {
        for (const auto& key : keys.column) {
            if (key.is_parameter || record::find_condition(key.name) != nullptr)
                out_.column_parameters.push_back(key.name);
            out_.library_is_column |= key.name == "library";
            out_.benchmark_is_column |= key.name == "benchmark" || key.name == "family";
            out_.place_is_column |= key.name == "place";
        }
        if (changes_the_library()) out_.library_is_column = true;
    }

    Result<Arrangement> arrange() {
        ASSAY_TRY(auto across, across_of(options_.across));
        if ((across.device && out_.place_is_column) || (across.backend && out_.library_is_column))
            return fail("--across and --column: name different keys");
        out_.across = across;
        if (across.any()) out_.uncommon = uncommon_parameters(collection_, across);
        const auto rows = row_numbers(collection_, out_);
        for (std::uint32_t i = 0; i < collection_.observations.size(); ++i) {
            const auto series = collection_.observations[i].series;
            if (admitted(collection_.observations[i]))
                add(i, rows.numbers[series], rows.conditions[series]);
        }
        return finish();
    }

private:
    static std::vector<const store::Key*> of_runs(const std::vector<store::Key>& keys) {
        std::vector<const store::Key*> list;
        for (const auto& key : keys)
            if (!key.of_series) list.push_back(&key); // of the series: in the identity already
        return list;
    }
    /// Two settings of one interleaved run may be two libraries: then the question is what they share.
    bool changes_the_library() const {
        return std::ranges::any_of(collection_.runs, [](const store::RunInfo& run) {
            return run.pairing && record::find(run.pairing->changes, "library") != nullptr;
        });
    }
    bool admitted(const decide::Observation& observation) {
        for (const auto& filter : keys_.filters)
            if (!filter.admits(observation)) return false;
        for (const auto& key : keys_.column)
            if (key.is_parameter && key.of(observation) == 0) {
                if (observation.is_primary) ++without_[key.name];
                return false;
            }
        return true;
    }
    void add(std::uint32_t index, std::uint32_t number, const record::NamedList& conditions) {
        const auto& observation = collection_.observations[index];
        const std::tuple place{tables_.of(observation), number, extras_.of(observation)};
        const auto side = columns_.of(observation);
        const auto [entry, fresh] = rows_.try_emplace(place, out_.rows.size());
        if (fresh)
            out_.rows.push_back({.table = std::get<0>(place),
                                 .series = observation.series,
                                 .conditions = conditions,
                                 .extra = extras_.text(std::get<2>(place)),
                                 .order = order_.text(order_.of(observation))});
        out_.rows[entry->second].is_primary |= observation.is_primary;
        auto& sides = out_.rows[entry->second].sides;
        if (sides.size() <= side) sides.resize(side + 1);
        sides[side].push_back(index);
    }

    /// Libraries, precisions: a row of one of them alone has nothing to compare, and nothing is amiss.
    void drop_lonely_rows(const std::vector<std::string>& names) {
        const bool of_series = std::ranges::all_of(keys_.column, &store::Key::of_series);
        const auto is_lonely = [](const ArrangedRow& row) {
            return std::ranges::count_if(row.sides,
                                         [](const auto& list) { return !list.empty(); }) < 2;
        };
        if (!of_series || std::ranges::all_of(out_.rows, is_lonely)) return;
        std::map<std::size_t, std::size_t> alone;
        for (const auto& row : out_.rows)
            if (row.is_primary && is_lonely(row))
                ++alone[row.sides.size() - 1]; // the last one has the only figures
        std::erase_if(out_.rows, is_lonely);
        for (const auto& [side, count] : alone)
            out_.left_out.push_back({.what = say_count<text::compare::series>(count),
                                     .reason = say<text::compare::only_here>(),
                                     .where = {names[side]}});
    }
    /// Rows that this side and any other has.
    std::size_t shared(std::size_t side) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(out_.rows, [&](const ArrangedRow& row) {
                return side < row.sides.size() && !row.sides[side].empty() &&
                       std::ranges::count_if(
                           row.sides, [](const auto& list) { return !list.empty(); }) > 1;
            }));
    }

    Result<Arrangement> finish() {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < columns_.size(); ++i) names.push_back(columns_.text(i));
        drop_lonely_rows(names);
        auto order = order_of(names, options_.column == std::vector<std::string>{"label"} ||
                                         options_.column == std::vector<std::string>{"setting"});
        const bool of_series = std::ranges::all_of(keys_.column, &store::Key::of_series);
        if (of_series) std::erase_if(order, [&](std::size_t side) { return shared(side) == 0; });
        // Compared with the one that says most, where nobody has said with which: of runs the first, unless it has no
        // row of another side.
        if (!order.empty() && (of_series || shared(order.front()) == 0)) {
            const auto most =
                std::ranges::max_element(order, {}, [&](std::size_t side) { return shared(side); });
            std::rotate(order.begin(), most, most + 1);
        }
        if (!options_.baseline.empty()) {
            const auto found = std::ranges::find_if(
                order, [&](std::size_t i) { return names[i] == options_.baseline; });
            if (found == order.end())
                return fail(fmt::format("--baseline: unknown name \"{}\" (expected one of {})",
                                        plain(options_.baseline), fmt::join(names, ", ")));
            std::rotate(order.begin(), found, found + 1);
        }
        for (const auto i : order) out_.sides.push_back(names[i]);
        if (out_.sides.size() < 2)
            return tl::unexpected{too_few_sides(collection_, options_, out_.sides)};
        for (auto& row : out_.rows) {
            row.sides.resize(names.size());
            std::vector<std::vector<std::uint32_t>> sides;
            for (const auto i : order) sides.push_back(std::move(row.sides[i]));
            row.sides = std::move(sides);
        }
        for (std::size_t i = 0; i < tables_.size(); ++i) out_.tables.push_back(tables_.text(i));
        sort_rows();
        for (const auto& [name, count] : without_)
            out_.left_out.push_back({.what = say_count<text::compare::figures>(count),
                                     .reason = say<text::compare::no_parameter>(name)});
        return std::move(out_);
    }
    /// Rows that are judged before others. Rows of a table by row keys, then by benchmark, otherwise as they were
    /// measured.
    void sort_rows() {
        std::map<std::string, std::size_t> first;
        const auto rank = [&](const ArrangedRow& row) {
            return first.try_emplace(collection_.series[row.series].benchmark, first.size())
                .first->second;
        };
        for (const auto& row : out_.rows) rank(row);
        std::ranges::stable_sort(out_.rows, [&](const ArrangedRow& a, const ArrangedRow& b) {
            if (a.is_primary != b.is_primary) return a.is_primary;
            if (a.table != b.table) return a.table < b.table;
            if (const int by_key = strverscmp(a.order.c_str(), b.order.c_str()); by_key != 0)
                return by_key < 0;
            return rank(a) < rank(b);
        });
    }

    const store::Collection& collection_;
    const CompareOptions& options_;
    const Keys& keys_;
    Arrangement out_;
    Tuples columns_;
    Tuples tables_;
    Tuples extras_;
    Tuples order_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> rows_;
    std::map<std::string, std::size_t> without_;
};

} // namespace

record::NamedList parameters_of(const store::Collection& collection, const Arrangement& arrangement,
                                const ArrangedRow& row) {
    const auto& series = collection.series[row.series];
    auto parameters = without_columns(series.parameters, arrangement);
    if (const auto names = arrangement.uncommon.find(series.benchmark);
        names != arrangement.uncommon.end())
        std::erase_if(parameters, [&](const auto& parameter) {
            return names->second.contains(parameter.name);
        });
    return parameters;
}

std::string identity_of(const store::Collection& collection, const Arrangement& arrangement,
                        const ArrangedRow& row) {
    const auto& series = collection.series[row.series];
    const auto parameters = without_columns(series.parameters, arrangement);
    return with_conditions(identity_text(series, parameters, arrangement), row.conditions,
                           parameters, row);
}

std::string question_of(const store::Collection& collection, const Arrangement& arrangement,
                        const ArrangedRow& row) {
    const auto& across = arrangement.across;
    const auto parameters = parameters_of(collection, arrangement, row);
    return with_conditions(
        identity_text(collection.series[row.series], parameters, arrangement,
                      {.library = !across.any() || across.backend, .device = across.device}),
        conditions_of(row, across), parameters, row);
}

std::string merged_of(const store::Collection& collection, const Arrangement& arrangement,
                      const ArrangedRow& row) {
    const auto& series = collection.series[row.series];
    const auto common = parameters_of(collection, arrangement, row);
    std::vector<std::string> parts;
    if (arrangement.across.device) parts.push_back(series.place);
    record::Case own;
    for (const auto& parameter : without_columns(series.parameters, arrangement))
        if (record::find(common, parameter.name) == nullptr) own.parameters.push_back(parameter);
    std::ranges::move(parameter_parts(own), std::back_inserter(parts));
    auto conditions = row.conditions;
    std::erase_if(conditions, [](const auto& entry) { return is_of_any_device(entry.name); });
    if (const auto words = store::conditions_in_words(conditions);
        arrangement.across.device && !words.empty())
        parts.push_back(words);
    return plain(join(parts));
}

std::string beside_of(const store::Collection& collection, const Arrangement& arrangement,
                      const ArrangedRow& row) {
    const decide::Series& series = collection.series[row.series];
    const auto& across = arrangement.across;
    std::vector<std::string> parts;
    if (!series.place.empty() && series.place != "host" && !arrangement.place_is_column &&
        !across.device)
        parts.push_back(series.place);
    if (auto conditions = store::conditions_in_words(conditions_of(row, across),
                                                     parameters_of(collection, arrangement, row));
        !conditions.empty())
        parts.push_back(std::move(conditions));
    return plain(join(parts));
}

std::string words_of(const store::Collection& collection, const Arrangement& arrangement,
                     const ArrangedRow& row) {
    record::Case remaining;
    remaining.parameters = parameters_of(collection, arrangement, row);
    std::string text = parameters_in_words(remaining);
    if (const auto beside = beside_of(collection, arrangement, row); !beside.empty())
        text += fmt::format(", {}", beside);
    if (!row.extra.empty()) text = fmt::format("{}: {}", row.extra, text);
    return plain(text);
}

Result<Arrangement> arrange(const store::Collection& collection, const CompareOptions& asked) {
    auto options = asked;
    const auto several = [&](auto store::RunInfo::* text) {
        return std::ranges::any_of(collection.runs, [&](const store::RunInfo& run) {
            return run.*text != collection.runs.front().*text;
        });
    };
    // One folder of several campaigns: these are what one wants to compare.
    if (options.column == std::vector<std::string>{"label"} && !several(&store::RunInfo::label) &&
        several(&store::RunInfo::campaign))
        options.column = {"campaign"};
    ASSAY_TRY(const auto keys, keys_of(collection, options));
    return Arranger{collection, options, keys}.arrange();
}

} // namespace assay::compare
