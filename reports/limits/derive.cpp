// SPDX-License-Identifier: Apache-2.0

#include "limits/derive.hpp"

#include "judge/evidence.hpp"
#include "judge/match.hpp"
#include "record/metrics.hpp"
#include "report/text.hpp"
#include "report/words.hpp"
#include "store/keys.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <tuple>
#include <utility>

namespace assay::report {
namespace {

using stats::VarianceEstimate;

/// Conditions that a limit names beside the parameters.
constexpr std::array team{"machines", "ranks"};

/// "cuda" of "cuda:3": a limit is for each device.
std::string kind_of(const std::string& place) { return place.substr(0, place.find(':')); }

/// One published value, by the node and device that it is of.
struct Value {
    std::string node;
    std::string place;
    std::string day;
    std::uint32_t run = 0;
    const Observation* seen = nullptr;
};

struct TestItem {
    std::string group;
    Series series; ///< its place without an index
    std::vector<Value> values;
};

/// What is known of an item before all items of its type are looked at together.
struct Level {
    const TestItem* item = nullptr;
    std::size_t nodes = 0;
    std::size_t places = 0;
    std::size_t runs = 0;
    stats::FleetLevel fleet;
    std::vector<double> kept;            ///< values, the worst first, without those left out
    std::vector<VarianceEstimate> parts; ///< replica, run, day, device, node
    double noise = 0;                    ///< of one value at another time
    double error = 0;                    ///< of a node's value
};

double known(const VarianceEstimate& part) {
    return part.degrees > 0 && part.variance > 0 ? part.variance : 0;
}
std::optional<double> deviation(const VarianceEstimate& part) {
    return known(part) > 0 ? std::optional{std::sqrt(part.variance)} : std::nullopt;
}

std::string day_text(double seconds) {
    const std::chrono::sys_seconds time{
        std::chrono::seconds{static_cast<std::int64_t>(std::floor(seconds))}};
    return fmt::format("{:%Y-%m-%d}", time);
}

class Deriving {
public:
    Deriving(const Collection& collection, const DeriveOptions& options)
        : all_{collection}, options_{options},
          now_{options.now.value_or(
              std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
                  .count())} {}

    Result<Derivation> take() {
        out_.rule = options_.rule;
        out_.problems = all_.problems;
        if (auto sorted = sort(); !sorted) return tl::unexpected{std::move(sorted).error()};
        std::map<std::string, std::vector<Level>> groups;
        std::map<std::string, std::size_t> most;
        for (const auto& [key, item] : items_) {
            auto level = level_of(item);
            most[item.group] = std::max(most[item.group], level.nodes);
            if (level.nodes < fewest_nodes)
                ++out_.too_few;
            else
                groups[item.group].push_back(std::move(level));
        }
        if (groups.empty()) return nothing(most);
        std::set<std::string> nodes;
        std::set<std::uint32_t> runs;
        for (const auto& [group, levels] : groups) {
            for (const auto& level : levels)
                for (const auto& value : level.item->values) {
                    nodes.insert(value.node);
                    runs.insert(value.run);
                }
            add(levels);
        }
        out_.nodes = nodes.size();
        out_.runs = runs.size();
        out_.file.schema = "assay.limits/1";
        out_.file.name = options_.name;
        out_.file.description =
            fmt::format("derived from {} runs of {} nodes", out_.runs, out_.nodes);
        out_.file.date = day_text(now_);
        out_.file.author = options_.author;
        constexpr double seconds_a_day = 86400;
        out_.file.expires = day_text(now_ + (options_.valid_days * seconds_a_day));
        for (const auto& derived : out_.limits) out_.file.limits.push_back(derived.limit);
        return std::move(out_);
    }

private:
    /// The type of the hardware; "" where the run does not say.
    std::string group_of(const Observation& seen, const Series& series, const Key* key) const {
        const auto& machine = all_.machines[all_.runs[seen.run].machine];
        if (key == nullptr) {
            const auto* device = device_of(machine, series);
            return device == nullptr ? std::string{} : plain(device->name);
        }
        const auto& text = key->texts[key->of(seen)];
        return text == "unknown" ? std::string{} : text;
    }

    Result<void> sort() {
        std::optional<Key> key;
        if (options_.by != "device") {
            auto made = make_key(all_, options_.by);
            if (!made) return tl::unexpected{made.error()};
            key = std::move(*made);
        }
        const auto filters = make_filters(all_, options_.filter);
        if (!filters) return tl::unexpected{filters.error()};
        for (const auto& seen : all_.observations) {
            const auto& series = all_.series[seen.series];
            if (!seen.is_primary || !seen.value || !(*seen.value > 0) || seen.two_levels ||
                !seen.verified || !counts(seen, Trust::ok) || is_executed_on_cpu(series) ||
                std::ranges::any_of(*filters, [&](const auto& f) { return !f.admits(seen); }))
                continue;
            const bool ours = record::find_metric(series.metric) != nullptr;
            if (!ours) {
                ++out_.not_ours;
                continue;
            }
            const auto group = group_of(seen, series, key ? &*key : nullptr);
            if (group.empty()) {
                ++nameless_;
                continue;
            }
            auto own = series;
            own.place = kind_of(series.place);
            own.conditions.clear();
            for (const auto* name : team)
                if (const auto* value = record::find(series.conditions, name);
                    value != nullptr && record::find(series.parameters, name) == nullptr)
                    own.conditions.push_back({name, *value});
            const auto& run = all_.runs[seen.run];
            auto& item = items_[{group, name_of(own) + record_of(own.conditions)}];
            if (item.values.empty()) {
                item.group = group;
                item.series = std::move(own);
            }
            item.values.push_back({.node = all_.machines[run.machine].id,
                                   .place = series.place,
                                   .day = run.started.substr(0, 10),
                                   .run = seen.run,
                                   .seen = &seen});
        }
        return {};
    }
    static std::string record_of(const record::NamedList& conditions) {
        std::string text;
        for (const auto& [name, value] : conditions)
            text += fmt::format(" {}={}", name, record::to_string(value));
        return text;
    }

    Result<Derivation> nothing(const std::map<std::string, std::size_t>& most) const {
        if (most.empty() && nameless_ > 0)
            return fail(fmt::format("no run says its {0}: name another type with --by ({0} is the "
                                    "one in use; instance, cpu and device are possible)",
                                    options_.by));
        if (most.empty())
            return fail(
                "no run has a result that counts: verified, status ok, a primary metric above 0");
        const auto best =
            std::ranges::max_element(most, {}, [](const auto& one) { return one.second; });
        return fail(fmt::format(
            "limits need {} nodes of one type or more; {} \"{}\" has {}: measure {} more",
            fewest_nodes, options_.by, best->first, best->second, fewest_nodes - best->second));
    }

    static Level level_of(const TestItem& item) {
        Level level{.item = &item};
        const double sign = item.series.higher_is_better ? 1 : -1;
        std::map<std::string, std::uint32_t> numbers;
        const auto number = [&](const std::string& text) {
            return numbers.try_emplace(text, static_cast<std::uint32_t>(numbers.size()))
                .first->second;
        };
        std::vector<stats::Nested> nested;
        std::map<std::pair<std::string, std::string>, std::vector<double>> values;
        std::set<std::string> nodes;
        std::set<std::string> places;
        std::set<std::uint32_t> runs;
        double replicas = 0;
        for (const auto& value : item.values) {
            const std::vector<std::uint32_t> groups{number(value.node), number(value.place),
                                                    number(value.day), value.run};
            const auto add = [&](double one) {
                if (one > 0) nested.push_back({groups, sign * std::log(one)});
            };
            for (const auto& replica : value.seen->replicas) add(replica.value);
            if (value.seen->replicas.empty()) add(*value.seen->value);
            replicas += static_cast<double>(std::max<std::size_t>(1, value.seen->replicas.size()));
            values[{value.node, value.place}].push_back(sign * std::log(*value.seen->value));
            nodes.insert(value.node);
            places.insert(value.place);
            runs.insert(value.run);
        }
        level.nodes = nodes.size();
        level.places = places.size();
        level.runs = runs.size();
        level.parts = stats::nested_variances(nested);
        auto& of_run = level.parts[1];
        if (auto& of_day = level.parts[2]; of_run.degrees == 0) // a run a day: one is the other
            std::swap(of_run, of_day);
        const auto count = static_cast<double>(item.values.size());
        level.noise = (known(level.parts[0]) / (replicas / count)) + known(level.parts[1]) +
                      known(level.parts[2]);
        const double each = count / static_cast<double>(values.size()); // values of a device
        level.error = level.noise / each * (each > 2 ? std::numbers::pi / 2 : 1);
        for (auto& [of, list] : values) level.kept.push_back(stats::median(list));
        level.fleet = stats::fleet_level(level.kept);
        level.fleet.variance.degrees =
            std::min(level.fleet.variance.degrees, static_cast<double>(level.nodes) - 1);
        std::ranges::sort(level.kept);
        level.kept.erase(level.kept.begin(),
                         level.kept.begin() + static_cast<std::ptrdiff_t>(level.fleet.left_out));
        return level;
    }

    void add(const std::vector<Level>& levels) {
        std::vector<VarianceEstimate> variances;
        std::size_t tests = 0; // of one node
        for (const auto& level : levels) {
            variances.push_back(level.fleet.variance);
            tests += level.places;
        }
        const auto prior = stats::fit_prior(variances);
        out_.items = std::max(out_.items, tests);
        for (const auto& level : levels) {
            auto variance = stats::moderate(level.fleet.variance, prior);
            variance.variance = std::max(0.0, variance.variance - level.error) + level.noise;
            out_.limits.push_back(limit_of(level, variance, tests));
        }
    }

    DerivedLimit limit_of(const Level& level, const VarianceEstimate& variance,
                          std::size_t tests) const {
        const auto& series = level.item->series;
        DerivedLimit derived{.group = level.item->group,
                             .what = case_name(series.benchmark, series.parameters),
                             .left_out = level.fleet.left_out,
                             .bounds = stats::fleet_bounds(variance, level.noise, level.nodes,
                                                           tests, options_.rule)};
        if (const auto rank = stats::rank_without_distribution(
                level.kept.size(), options_.rule.accuse / static_cast<double>(tests))) {
            derived.bounds.accuse = level.fleet.center - level.kept[*rank - 1];
            derived.without_distribution = true;
        }
        derived.slowdown = stats::fleet_slowdown(derived.bounds, level.nodes, options_.rule);
        const stats::AcceptanceNoise noise{
            .replica = {.variance = known(level.parts[0]),
                        .degrees = std::max(1.0, level.parts[0].degrees)},
            .run = {.variance = known(level.parts[1]) + known(level.parts[2]),
                    .degrees = std::max(1.0, level.parts[1].degrees)}};
        for (std::size_t i = 0; i < derived.by_replicas.size(); ++i) {
            const double below = stats::decided_distance(
                noise, stats::acceptance_looks[i],
                options_.rule.accuse / static_cast<double>(tests), options_.rule.power);
            derived.by_replicas[i] = -std::expm1(std::log1p(-below) - derived.bounds.accuse);
        }
        derived.limit = written(level, derived, variance, tests);
        return derived;
    }

    Limit written(const Level& level, const DerivedLimit& derived, const VarianceEstimate& variance,
                  std::size_t tests) const {
        const auto& series = level.item->series;
        const double sign = series.higher_is_better ? 1 : -1;
        const auto rounded = [](double value) { // to six digits, as people write them
            const double step = std::pow(10, std::floor(std::log10(value)) - 5);
            return std::round(value / step) * step;
        };
        Limit limit;
        limit.id = fmt::format("{}: {}{}", derived.group, plain(name_of(series)),
                               record_of(series.conditions));
        limit.title = derived.what;
        limit.kind = LimitKind::fleet;
        limit.machine[options_.by] = derived.group;
        limit.cases["benchmark"] = series.benchmark;
        if (!series.library.empty()) limit.cases["library"] = series.library;
        limit.cases["place"] =
            series.place == "host" ? series.place : fmt::format("{0}|{0}:*", series.place);
        for (const auto* list : {&series.parameters, &series.conditions})
            for (const auto& [name, value] : *list) limit.cases[name] = record::to_string(value);
        limit.metric = series.metric;
        limit.unit = series.unit;
        limit.center = rounded(std::exp(sign * level.fleet.center));
        const double bound = rounded(std::exp(sign * (level.fleet.center - derived.bounds.accuse)));
        (series.higher_is_better ? limit.at_least : limit.at_most) = bound;
        limit.action = Action::retest;
        limit.source = fmt::format("{} runs of {} nodes", level.runs, level.nodes);
        if (derived.without_distribution) limit.source += ", without a distribution";
        if (options_.by != "instance") limit.measured_on = derived.group;
        limit.samples = level.nodes;
        Components spread{.replica = deviation(level.parts[0]),
                          .run = deviation(level.parts[1]),
                          .day = deviation(level.parts[2]),
                          .device = deviation(level.parts[3])};
        const double node = variance.variance - level.noise - known(level.parts[3]);
        if (node > 0) spread.node = std::sqrt(node);
        double degrees = level.parts[0].degrees;
        if (spread.run)
            degrees =
                std::min(degrees > 0 ? degrees : level.parts[1].degrees, level.parts[1].degrees);
        spread.degrees = std::max(1.0, degrees);
        limit.spread = spread;
        limit.errors = ErrorRates{.false_reject = options_.rule.accuse / static_cast<double>(tests),
                                  .false_accept = 1 - options_.rule.power,
                                  .slowdown = derived.slowdown};
        return limit;
    }

    const Collection& all_;
    const DeriveOptions& options_;
    double now_;
    std::map<std::pair<std::string, std::string>, TestItem> items_;
    std::size_t nameless_ = 0;
    Derivation out_;
};

} // namespace

Result<Derivation> derive(const Collection& collection, const DeriveOptions& options) {
    return Deriving{collection, options}.take();
}

} // namespace assay::report
