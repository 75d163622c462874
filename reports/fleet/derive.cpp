// SPDX-License-Identifier: Apache-2.0

#include "fleet/derive.hpp"

#include "base/utc.hpp"
#include "document/text.hpp"
#include "document/words.hpp"
#include "judge/match.hpp"
#include "record/metrics.hpp"
#include "store/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace assay::fleet {
namespace {

using stats::VarianceEstimate;

struct TestItem {
    std::string group;
    decide::Series series; ///< its place without an index
    std::string name;
    std::vector<NodeValue> values;
};

/// An item before all items of its type are looked at together.
struct Level : ItemLevel {
    const TestItem* item = nullptr;
};

std::optional<double> deviation(const VarianceEstimate& part) {
    return known(part) > 0 ? std::optional{std::sqrt(part.variance)} : std::nullopt;
}

class Deriving {
public:
    Deriving(const store::Collection& collection, const DeriveOptions& options)
        : all_{collection}, options_{options}, now_{options.now ? *options.now : seconds_now()} {}

    Result<Derivation> take() {
        out_.rule = options_.rule;
        out_.problems = all_.problems;
        ASSAY_TRY(sort());
        std::map<std::string, std::vector<Level>> groups;
        std::map<std::string, std::size_t> most;
        for (const auto& [key, item] : items_) {
            Level level{level_of(item.values, item.series.higher_is_better), &item};
            most[item.group] = std::max(most[item.group], level.nodes);
            if (level.nodes < fewest_nodes)
                ++out_.too_few;
            else
                groups[item.group].push_back(std::move(level));
        }
        if (groups.empty()) return nothing(most);
        std::set<std::uint32_t> nodes;
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
        out_.file.date = utc_of(now_).substr(0, 10);
        out_.file.author = options_.author;
        constexpr double seconds_a_day = 86400;
        out_.file.expires = utc_of(now_ + (options_.valid_days * seconds_a_day)).substr(0, 10);
        for (const auto& derived : out_.limits) out_.file.limits.push_back(derived.limit);
        return std::move(out_);
    }

private:
    /// The type of the hardware; "" where the run does not say.
    std::string group_of(const decide::Observation& seen, const decide::Series& series,
                         const store::Key* key) const {
        const auto& machine = all_.machines[all_.runs[seen.run].machine];
        if (key == nullptr) {
            const auto* device = judge::device_of(machine, series);
            return device == nullptr ? std::string{} : plain(device->name);
        }
        const auto& text = key->texts[key->of(seen)];
        return text == "unknown" ? std::string{} : text;
    }

    Result<void> sort() {
        std::optional<store::Key> key;
        if (options_.by != "device") {
            ASSAY_TRY(key, make_key(all_, options_.by));
        }
        ASSAY_TRY(const auto filters, make_filters(all_, options_.filter));
        for (const auto& seen : all_.observations) {
            const auto& series = all_.series[seen.series];
            if (!is_of_a_level(seen, series) ||
                std::ranges::any_of(filters, [&](const auto& f) { return !f.admits(seen); }))
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
            auto own = item_name(series);
            const auto& run = all_.runs[seen.run];
            auto& item = items_[{group, own.name}];
            if (item.values.empty()) {
                item.group = group;
                item.series = std::move(own.series);
                item.name = std::move(own.name);
            }
            item.values.push_back({.node = number(all_.machines[run.machine].id),
                                   .place = number(series.place),
                                   .day = number(run.started.substr(0, 10)),
                                   .run = seen.run,
                                   .seen = &seen});
        }
        return {};
    }
    std::uint32_t number(const std::string& text) {
        return numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size()))
            .first->second;
    }

    Result<Derivation> nothing(const std::map<std::string, std::size_t>& most) const {
        if (most.empty() && nameless_ > 0)
            return fail(fmt::format(
                "--by: no run records its {} (use instance, cpu, device or another key)",
                options_.by));
        if (most.empty())
            return fail("no run has a usable result (verified, status ok, primary metric above 0)" +
                        (all_.problems.empty()
                             ? std::string{}
                             : fmt::format("; not used: {}: {}", all_.problems.front().where,
                                           all_.problems.front().reason)));
        const auto best =
            std::ranges::max_element(most, {}, [](const auto& one) { return one.second; });
        return fail(fmt::format(
            "limits need at least {} nodes of one type; {} \"{}\" has {}: measure {} more",
            fewest_nodes, options_.by, best->first, best->second, fewest_nodes - best->second));
    }

    void add(const std::vector<Level>& levels) {
        std::vector<const ItemLevel*> of_type;
        std::size_t tests = 0; // of one node
        for (const auto& level : levels) {
            of_type.push_back(&level);
            tests += level.places;
        }
        out_.items = std::max(out_.items, tests);
        const auto variances = variances_of(of_type);
        for (std::size_t i = 0; i < levels.size(); ++i)
            out_.limits.push_back(limit_of(levels[i], variances[i], tests));
    }

    DerivedLimit limit_of(const Level& level, const VarianceEstimate& variance,
                          std::size_t tests) const {
        const auto& series = level.item->series;
        DerivedLimit derived{.group = level.item->group,
                             .what = document::case_name(series.benchmark, series.parameters),
                             .left_out = level.fleet.left_out,
                             .bounds = decide::fleet_bounds(variance, level.noise, level.nodes,
                                                            tests, options_.rule)};
        if (const auto rank = decide::rank_without_distribution(
                level.kept.size(), options_.rule.accuse / static_cast<double>(tests))) {
            derived.bounds.accuse = level.fleet.center - level.kept[*rank - 1];
            derived.without_distribution = true;
        }
        derived.slowdown = decide::fleet_slowdown(derived.bounds, level.nodes, options_.rule);
        const decide::AcceptanceNoise noise{
            .replica = {.variance = known(level.parts[0]),
                        .degrees = std::max(1.0, level.parts[0].degrees)},
            .run = {.variance = known(level.parts[1]) + known(level.parts[2]),
                    .degrees = std::max(1.0, level.parts[1].degrees)}};
        for (std::size_t i = 0; i < derived.by_replicas.size(); ++i) {
            const double below = decide::decided_distance(
                noise, decide::fail_looks[i], options_.rule.accuse / static_cast<double>(tests),
                options_.rule.power);
            derived.by_replicas[i] = -std::expm1(std::log1p(-below) - derived.bounds.accuse);
        }
        derived.limit = written(level, derived, variance, tests);
        return derived;
    }

    judge::Limit written(const Level& level, const DerivedLimit& derived,
                         const VarianceEstimate& variance, std::size_t tests) const {
        const auto& series = level.item->series;
        const double sign = series.higher_is_better ? 1 : -1;
        const auto rounded = [](double value) { // to six digits, as people write them
            const double step = std::pow(10, std::floor(std::log10(value)) - 5);
            return std::round(value / step) * step;
        };
        auto limit = limit_for(series);
        limit.id = fmt::format("{}: {}", derived.group, plain(level.item->name));
        limit.kind = judge::LimitKind::fleet;
        limit.machine[options_.by] = derived.group;
        limit.center = rounded(std::exp(sign * level.fleet.center));
        const double bound = rounded(std::exp(sign * (level.fleet.center - derived.bounds.accuse)));
        (series.higher_is_better ? limit.at_least : limit.at_most) = bound;
        limit.action = judge::Action::retest;
        limit.source = fmt::format("{} runs of {} nodes", level.runs, level.nodes);
        if (derived.without_distribution) limit.source += ", without a distribution";
        if (options_.by != "instance") limit.measured_on = derived.group;
        limit.samples = level.nodes;
        judge::Components spread{.replica = deviation(level.parts[0]),
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
        limit.errors =
            judge::ErrorRates{.false_reject = options_.rule.accuse / static_cast<double>(tests),
                              .false_accept = 1 - options_.rule.power,
                              .slowdown = derived.slowdown};
        return limit;
    }

    const store::Collection& all_;
    const DeriveOptions& options_;
    double now_;
    std::map<std::pair<std::string, std::string>, TestItem> items_;
    std::map<std::string, std::uint32_t> numbers_; ///< of nodes, devices and days
    std::size_t nameless_ = 0;
    Derivation out_;
};

} // namespace

judge::Limit limit_for(const decide::Series& series) {
    judge::Limit limit{.title = document::case_name(series.benchmark, series.parameters)};
    limit.cases["benchmark"] = series.benchmark;
    if (!series.library.empty()) limit.cases["library"] = series.library;
    limit.cases["place"] =
        series.place == "host" ? series.place : fmt::format("{0}|{0}:*", series.place);
    for (const auto* list : {&series.parameters, &series.conditions})
        for (const auto& [name, value] : *list) limit.cases[name] = record::to_string(value);
    limit.metric = series.metric;
    limit.unit = series.unit;
    return limit;
}

Result<Derivation> derive(const store::Collection& collection, const DeriveOptions& options) {
    return Deriving{collection, options}.take();
}

} // namespace assay::fleet
