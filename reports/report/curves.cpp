// SPDX-License-Identifier: Apache-2.0

#include "report/curves.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/chart.hpp"
#include "document/texts/finding.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "record/metrics.hpp"
#include "report/pairs.hpp"
#include "stats/levels.hpp"
#include "stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace assay::report {

using namespace document;
namespace {

using record::Case;

/// A parameter's number, or the one its symbol stands for in the settings, if it can be on an axis.
std::optional<double> axis_number(const record::Named& parameter, const record::Value* setting) {
    const bool symbol = std::holds_alternative<std::string>(parameter.value);
    if (symbol && setting == nullptr) return {};
    const auto x = record::number(symbol ? *setting : parameter.value);
    return x && *x > 0 && std::isfinite(*x) ? x : std::nullopt;
}

/// The same for every parameter of a case.
std::vector<std::optional<double>> axis_numbers(const Case& c) {
    const record::NameIndex settings{c.settings};
    std::vector<std::optional<double>> numbers;
    for (const auto& parameter : c.parameters)
        numbers.push_back(axis_number(parameter, settings.find(parameter.name)));
    return numbers;
}

/// Common part of a curve's points: everything but the parameter at `swept`.
std::vector<std::string> shared_by_points(const Case& c, std::size_t swept) {
    auto parts = parameter_parts(c);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(swept));
    parts.push_back(c.library);
    return parts;
}

/// Cases by what they share; the points of each in the order of the swept number.
using Groups = std::map<std::vector<std::string>, std::map<double, std::size_t>>;

/// Data of a case for choosing: the numbers of its parameters, and hashes of its parts. Without one of them they are
/// the sum less its own, so that trying every parameter reads the case once.
struct Axes {
    std::vector<std::optional<double>> numbers;
    std::vector<std::size_t> hashes;
    std::size_t sum = 0;
};

Axes axes_of(const Case& c) {
    Axes axes{.numbers = axis_numbers(c), .sum = std::hash<std::string>{}(c.library)};
    std::size_t place = 0;
    for (const auto& part : parameter_parts(c)) {
        axes.hashes.push_back(std::hash<std::string>{}(std::to_string(place++) + part));
        axes.sum += axes.hashes.back();
    }
    return axes;
}

/// The parameter with the most points in one curve, and the curves.
std::pair<std::size_t, Groups> choose_sweep(const record::Run& run,
                                            const std::vector<std::size_t>& cases) {
    std::vector<Axes> axes;
    for (const auto index : cases) axes.push_back(axes_of(run.cases[index]));
    std::size_t best = 0;
    std::size_t most = fewest_points - 1;
    for (std::size_t swept = 0; swept < axes.front().numbers.size(); ++swept) {
        std::unordered_map<std::size_t, std::set<double>> points;
        for (const auto& of : axes)
            if (swept < of.numbers.size() && of.numbers[swept])
                points[of.sum - of.hashes[swept]].insert(*of.numbers[swept]);
        for (const auto& [shared, numbers] : points)
            if (numbers.size() > most) {
                most = numbers.size();
                best = swept;
            }
    }
    Groups groups;
    if (most < fewest_points) return {best, groups};
    for (std::size_t i = 0; i < cases.size(); ++i)
        // A symbol and a number may mean the same: the first stays.
        if (best < axes[i].numbers.size() && axes[i].numbers[best])
            groups[shared_by_points(run.cases[cases[i]], best)].try_emplace(*axes[i].numbers[best],
                                                                            cases[i]);
    std::erase_if(groups, [](const auto& group) { return group.second.size() < fewest_points; });
    return {best, std::move(groups)};
}

Point point_of(const Case& c, double x, std::string_view x_unit) {
    const auto& metric = *headline(c);
    return {.x = x,
            .x_text = x_unit == "B" ? size_in_words(x) : fmt::format("{:.6g}", x),
            .y = *metric.value,
            .low = metric.low,
            .high = metric.high,
            .y_text = record::human(*metric.value, metric.unit),
            .unstable = c.status != record::Status::ok};
}

/// The common part of all curves is said once; a label keeps the rest. Returns the former.
std::string label_curves(std::vector<Curve>& curves, const Groups& groups) {
    std::map<std::string_view, std::size_t> curves_with; // each part: in how many
    for (const auto& group : groups)
        for (const auto part : std::set<std::string_view>{group.first.begin(), group.first.end()})
            ++curves_with[part];
    const auto is_common = [&](const std::string& part) {
        return curves_with[part] == groups.size();
    };
    std::vector<std::string> common;
    std::ranges::copy_if(groups.begin()->first, std::back_inserter(common), is_common);
    auto curve = curves.begin();
    for (const auto& group : groups) {
        std::vector<std::string> own;
        for (const auto& part : group.first)
            if (groups.size() == 1 || !is_common(part)) own.push_back(part);
        (curve++)->label = join(own);
    }
    return groups.size() == 1 ? "" : join(common);
}

/// Where the caches end: of a core as the machine declares them, of a device the one that its cases were told of.
std::vector<Mark> cache_marks(const record::Machine& machine, const record::Case& c) {
    std::vector<Mark> marks;
    if (record::words_of(c.place) != "host") {
        if (const auto bytes = record::number(c.settings, "l2_bytes"))
            marks.push_back(
                {.x = *bytes, .text = fmt::format("L2 {}", record::human_bytes(*bytes))});
        return marks;
    }
    for (const auto& cache : machine.caches)
        if (cache.type != "instruction" && cache.bytes > 0)
            marks.push_back(
                {.x = static_cast<double>(cache.bytes),
                 .text = fmt::format("L{} {}", cache.level,
                                     record::human_bytes(static_cast<double>(cache.bytes)))});
    return marks;
}

/// "1.09 ns up to 32 KiB": the plateaus of a curve over working sets. They stand beside the declared
/// caches, so that one that is smaller than promised is seen.
std::vector<std::string> levels_in_words(const Curve& curve, const Sweep& chart) {
    std::vector<stats::CurvePoint> points;
    for (const auto& point : curve.points) points.push_back({.size = point.x, .value = point.y});
    const auto levels = stats::find_levels(points, chart.higher_is_better ? stats::Trend::falling
                                                                          : stats::Trend::rising);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const auto& level = levels[i];
        const std::string value = record::human(level.value, chart.unit);
        const bool last = i + 1 == levels.size();
        words.push_back(last && level.to == curve.points.back().x
                            ? say<text::chart::last_level>(value, record::human_bytes(level.from))
                            : say<text::chart::level>(value, record::human_bytes(level.to)));
    }
    return words;
}

Sweep chart_of(const record::Run& run, std::size_t swept, const Groups& groups) {
    const auto& first = run.cases[groups.begin()->second.begin()->second];
    const auto& metric = *headline(first);
    const std::string& parameter = first.parameters[swept].name;
    Sweep chart{{.unit = metric.unit,
                 .y_title = metric_title(metric.name),
                 .x_title = with_blanks(parameter),
                 .x_unit = is_bytes(parameter) ? "B" : "",
                 .higher_is_better = metric.higher_is_better},
                first.benchmark,
                ""};
    for (const auto& group : groups) {
        auto& curve = chart.curves.emplace_back();
        const std::size_t every = (group.second.size() + most_points - 1) / most_points;
        std::size_t number = 0;
        for (const auto& [x, index] : group.second)
            if (number++ % every == 0)
                curve.points.push_back(point_of(run.cases[index], x, chart.x_unit));
    }
    chart.common = label_curves(chart.curves, groups);
    if (parameter != "footprint") return chart;
    chart.marks = cache_marks(run.machine, first);
    for (auto& curve : chart.curves) curve.levels = levels_in_words(curve, chart);
    return chart;
}

/// Rows and columns of a map that can still be told apart.
constexpr std::size_t most_lines = 64;

/// Labels of every `merged`-th line.
std::vector<std::string> thinned(const std::vector<std::string>& labels, std::size_t merged) {
    std::vector<std::string> some;
    for (std::size_t i = 0; i < labels.size(); i += merged) some.push_back(labels[i]);
    return some;
}

/// Values of the table, each cell the median of `merged` x `merged`.
std::vector<std::optional<double>> merged_values(const record::Table& table, std::size_t merged) {
    std::vector<std::optional<double>> values;
    const auto rows = table.rows.size();
    const auto columns = table.columns.size();
    for (std::size_t row = 0; row < rows; row += merged)
        for (std::size_t column = 0; column < columns; column += merged) {
            std::vector<double> block;
            for (std::size_t i = row; i < std::min(row + merged, rows); ++i)
                for (std::size_t j = column; j < std::min(column + merged, columns); ++j)
                    if (const auto& value = table.values[i * columns + j]) block.push_back(*value);
            values.push_back(block.empty() ? std::nullopt : std::optional{stats::median(block)});
        }
    return values;
}

/// Extremes of all pairs, whatever is merged for drawing.
void add_extremes(const record::Table& table, Matrix& map) {
    std::vector<double> values;
    for (const auto& value : table.values)
        if (value && std::isfinite(*value)) values.push_back(*value);
    if (values.empty()) {
        map.extremes = say<text::chart::nothing_measured>();
        return;
    }
    const auto pair_with = [&](double wanted) {
        const auto at = static_cast<std::size_t>(
            std::ranges::find(table.values, std::optional{wanted}) - table.values.begin());
        return say<text::chart::pair>(table.rows[at / table.columns.size()],
                                      table.columns[at % table.columns.size()],
                                      record::human(wanted, table.unit));
    };
    const auto [least, most] = std::ranges::minmax(values);
    map.differs = least < most;
    map.extremes = say_count<text::chart::extremes>(
        values.size(), pair_with(map.higher_is_better ? most : least),
        pair_with(map.higher_is_better ? least : most),
        record::human(stats::median(values), table.unit));
}

} // namespace

FoundCurves find_curves(const record::Run& run) {
    FoundCurves found{.on_curve = std::vector<bool>(run.cases.size(), false)};
    // One chart for each benchmark and metric: curves share their axes.
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> kinds;
    for (std::size_t i = 0; i < run.cases.size(); ++i) {
        const auto& c = run.cases[i];
        const auto* metric = headline(c);
        if (metric == nullptr || !(*metric->value > 0)) continue;
        kinds[{c.benchmark, metric->name}].push_back(i);
    }
    for (const auto& [kind, cases] : kinds) {
        auto [swept, groups] = choose_sweep(run, cases);
        if (groups.empty()) continue;
        while (groups.size() > most_curves) groups.erase(std::prev(groups.end()));
        found.charts.push_back(chart_of(run, swept, groups));
        for (const auto& group : groups)
            for (const auto& point : group.second) found.on_curve[point.second] = true;
    }
    return found;
}

std::vector<Matrix> heat_maps(const Case& c) {
    std::vector<Matrix> maps;
    for (const auto& measured : c.tables) {
        if (measured.values.size() != measured.rows.size() * measured.columns.size()) continue;
        const bool is_list = is_list_of_pairs(measured);
        std::size_t nodes_of_cell = 1;
        const auto table = is_list ? map_of_pairs(c, measured, nodes_of_cell) : measured;
        const auto* definition = record::find_metric(table.metric);
        const std::size_t longest = std::max(table.rows.size(), table.columns.size());
        Matrix map;
        map.benchmark = c.benchmark;
        map.what = parameters_in_words(c);
        map.title = metric_title(table.metric);
        map.unit = table.unit;
        map.higher_is_better = definition == nullptr || definition->higher_is_better;
        map.row_title = table.row_title;
        map.column_title = table.column_title;
        map.merged = (longest + most_lines - 1) / most_lines;
        map.slow = is_list ? slow_in_fabric(c, measured).says : slow_pairs(c, table);
        map.rows = thinned(table.rows, map.merged);
        map.columns = thinned(table.columns, map.merged);
        map.values = merged_values(table, map.merged);
        add_extremes(table, map);
        if (is_list) map.merged = nodes_of_cell;
        maps.push_back(std::move(map));
    }
    return maps;
}

std::string sparkline(const Curve& curve) {
    static constexpr std::array<std::string_view, 8> heights{"▁", "▂", "▃", "▄",
                                                             "▅", "▆", "▇", "█"};
    constexpr double decade = 10; // what spans more is drawn by its logarithm
    const auto [least, most] = std::ranges::minmax(curve.points, {}, &Point::y);
    const bool logarithmic = least.y > 0 && most.y > least.y * decade;
    std::string out;
    for (const auto& point : curve.points) {
        const double share = logarithmic ? std::log(point.y / least.y) / std::log(most.y / least.y)
                                         : (point.y - least.y) / (most.y - least.y);
        const double height = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
        out += heights.at(static_cast<std::size_t>(
            std::lround(height * static_cast<double>(heights.size() - 1))));
    }
    return out;
}

namespace {

bool sends_messages(const Sweep& chart) {
    return chart.x_title == "bytes" && chart.unit == "B/s" && chart.higher_is_better &&
           is_about_links(chart.benchmark);
}

std::vector<stats::RatePoint> points_of(const Curve& curve) {
    std::vector<stats::RatePoint> points;
    for (const auto& point : curve.points)
        points.push_back({.size = point.x,
                          .rate = point.y,
                          .low = point.low.value_or(0),
                          .high = point.high.value_or(0)});
    return points;
}

} // namespace

std::vector<Finding> find_shapes(const std::vector<Sweep>& charts) {
    std::vector<Finding> found;
    for (const auto& chart : charts) {
        if (!sends_messages(chart)) continue;
        for (const auto& curve : chart.curves) {
            const auto points = points_of(curve);
            const auto name = join({chart.benchmark, curve.label});
            if (const auto fall = stats::find_fall(points))
                found.push_back(
                    {Severity::caution,
                     say<text::finding::rate_falls>(name, record::human_bytes(fall->size),
                                                    record::human(fall->rate, chart.unit),
                                                    record::human(fall->best_rate, chart.unit),
                                                    record::human_bytes(fall->best_size)),
                     say<text::finding::rate_falls_action>()});
            if (const auto step = stats::find_time_step(points))
                found.push_back(
                    {Severity::note,
                     say<text::finding::time_steps>(name, fmt::format("{:.2g}", step->ratio),
                                                    record::human_bytes(step->before),
                                                    record::human_bytes(step->after)),
                     say<text::finding::time_steps_action>()});
        }
    }
    return found;
}

} // namespace assay::report
