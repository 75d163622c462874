// SPDX-License-Identifier: Apache-2.0
#include "predict/prediction.hpp"

#include "document/language.hpp"
#include "document/texts/predict.hpp"
#include "record/format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::predict {

using namespace document;
namespace {

// --- models --------------------------------------------------------------------------------------

// Algorithms that may explain measured times, and predict others: each as the terms that its latencies and bytes
// are multiplied with. Terms 0 and 1 are latency and bytes within a node, 2 and 3 between nodes.

struct Layout {
    double nodes = 1;
    double ranks_per_node = 1;
    auto operator<=>(const Layout&) const = default;
    double ranks() const { return nodes * ranks_per_node; }
};

/// "halving_doubling" in words.
std::string name_of(Algorithm algorithm) {
    return std::string{find_text("algorithm", to_string(algorithm)).value_or("")};
}

stats::Terms terms_within(const Steps& steps, double bytes) {
    return {steps.messages, steps.bytes * bytes, 0, 0};
}
stats::Terms terms_between(const Steps& steps, double bytes) {
    return {0, 0, steps.messages, steps.bytes * bytes};
}

/// One way to do a collective. Levels have an algorithm within nodes and one between; `over_all` alone is an
/// algorithm over all ranks, whichever node they are on; none of them is what was measured as it is.
struct CostWay {
    std::optional<Algorithm> within;
    std::optional<Algorithm> between;
    std::optional<Algorithm> over_all;

    bool is_whole() const { return !over_all && !(within && between); }
    /// Nothing where it cannot be done so.
    std::optional<stats::Terms> terms(Collective collective, const Layout& layout,
                                      double bytes) const {
        const bool alone = layout.nodes == 1;
        if (over_all) {
            const auto steps = steps_of(collective, *over_all, layout.ranks());
            if (!steps) return std::nullopt;
            return alone ? terms_within(*steps, bytes) : terms_between(*steps, bytes);
        }
        if (is_whole()) return stats::Terms{1, bytes, 0, 0};
        if (alone) {
            const auto steps = steps_of(collective, *within, layout.ranks());
            return steps ? std::optional{terms_within(*steps, bytes)} : std::nullopt;
        }
        const auto levels =
            levels_of(collective, *within, *between, layout.nodes, layout.ranks_per_node);
        if (!levels) return std::nullopt;
        return stats::Terms{levels->within.messages, levels->within.bytes * bytes,
                            levels->between.messages, levels->between.bytes * bytes};
    }

    std::string in_words() const {
        if (over_all) return say<text::predict::over_all>(name_of(*over_all));
        if (within && between)
            return say<text::predict::by_levels>(name_of(*within), name_of(*between));
        return say<text::predict::as_measured>();
    }
};

bool works_for(const CostWay& way, Collective collective, const std::vector<Layout>& layouts) {
    return std::ranges::all_of(layouts, [&](const Layout& layout) {
        return way.terms(collective, layout, 1).has_value();
    });
}

/// Do both ways say the same of every layout, but for a factor of a parameter? Where all nodes have as many
/// ranks a ring within them and a tree differ in nothing that a time could show.
bool are_alike(const CostWay& a, const CostWay& b, Collective collective,
               const std::vector<Layout>& layouts) {
    for (std::size_t term = 0; term < stats::most_terms; ++term) {
        std::optional<double> factor;
        for (const auto& layout : layouts) {
            const double in_a = (*a.terms(collective, layout, 1))[term];
            const double in_b = (*b.terms(collective, layout, 1))[term];
            if (in_a == 0 && in_b == 0) continue;
            if (in_a == 0 || in_b == 0) return false;
            if (!factor) factor = in_a / in_b;
            if (std::fabs(in_a / in_b / *factor - 1) > 1e-12) return false;
        }
    }
    return true;
}

/// Ways worth trying for the target, given that the layouts were measured; `wanted` alone where given.
/// Where the target was measured itself it is predicted from that, and no algorithm is assumed.
std::vector<CostWay> ways_for(Collective collective, const Layout& target,
                              const std::vector<Layout>& measured,
                              const std::optional<Algorithm>& wanted) {
    if (!wanted && std::ranges::find(measured, target) != measured.end()) return {CostWay{}};
    auto layouts = measured;
    layouts.push_back(target);
    const auto one_each = [](const Layout& layout) { return layout.ranks_per_node == 1; };
    const bool one_level = target.nodes == 1 || std::ranges::all_of(layouts, one_each);
    std::vector<CostWay> ways;
    const auto add = [&](const CostWay& way) {
        if (!works_for(way, collective, layouts)) return;
        const bool known = std::ranges::any_of(
            ways, [&](const CostWay& other) { return are_alike(way, other, collective, layouts); });
        if (!known) ways.push_back(way);
    };
    for (const auto algorithm : all_values<Algorithm>()) {
        if (wanted && *wanted != algorithm) continue;
        // Over ranks that share a node's link only neighbours keep out of each other's way.
        if (one_level || algorithm == Algorithm::ring || algorithm == Algorithm::direct)
            add({.within = {}, .between = {}, .over_all = algorithm});
        if (one_level) continue;
        for (const auto inside : {Algorithm::ring, Algorithm::halving_doubling})
            add({.within = inside, .between = algorithm, .over_all = {}});
    }
    return ways;
}

// -------------------------------------------------------------------------------------------------

using stats::Estimate;

// Up to a doubling of what was measured a formula has little room to be wrong.

std::string in_words(const Layout& layout) {
    return say<text::predict::layout>(fmt::format("{:.0f}", layout.nodes),
                                      fmt::format("{:.0f}", layout.ranks_per_node));
}

Layout layout_of(const TimedPoint& point) {
    return {.nodes = point.nodes, .ranks_per_node = point.ranks_per_node};
}

/// Those that say something of the target.
std::vector<TimedPoint> points_for(const std::vector<TimedPoint>& points, const Layout& target) {
    const auto keep = [&](const auto& wanted) {
        std::vector<TimedPoint> kept;
        std::ranges::copy_if(points, std::back_inserter(kept), wanted);
        return kept;
    };
    auto same = keep([&](const TimedPoint& p) { return layout_of(p) == target; });
    if (!same.empty()) return same;
    if (target.nodes == 1) return keep([](const TimedPoint& p) { return p.nodes == 1; });
    if (target.ranks_per_node > 1) return points;
    auto single = keep([](const TimedPoint& p) { return p.ranks_per_node == 1; });
    return single.empty() ? points : single;
}

std::vector<Layout> layouts_of(const std::vector<TimedPoint>& points) {
    std::set<Layout> layouts;
    for (const auto& point : points) layouts.insert(layout_of(point));
    return {layouts.begin(), layouts.end()};
}

class Predicting {
public:
    Predicting(const MeasuredCurve& measured, const PredictOptions& options)
        : options_{options},
          target_{.nodes = options.nodes, .ranks_per_node = options.ranks_per_node},
          points_{points_for(measured.points, target_)}, layouts_{layouts_of(points_)} {
        out_.machine = measured.machine;
        out_.place = measured.place;
        out_.library = measured.library;
        out_.what = measured.what;
        out_.runs = measured.runs.size();
        out_.machines = measured.machine_ids.size();
    }

    PredictedCurve take() {
        if (out_.reason = why_not(); out_.reason.empty()) predict_all();
        return std::move(out_);
    }

private:
    bool is_measured() const { return std::ranges::find(layouts_, target_) != layouts_.end(); }

    std::string why_not() const {
        if (points_.empty()) return say<text::predict::nothing_within>();
        const auto counts = [&](auto count) {
            std::set<double> different;
            for (const auto& layout : layouts_)
                if (target_.nodes == 1 || layout.nodes > 1) different.insert(count(layout));
            return different.size();
        };
        const bool alone = target_.nodes == 1;
        const auto different = alone ? counts([](const Layout& l) { return l.ranks_per_node; })
                                     : counts([](const Layout& l) { return l.nodes; });
        if (different == 0) return say<text::predict::nothing_between>();
        const bool has_choice = options_.collective != Collective::send_receive;
        if (different < 2 && !is_measured() && !options_.algorithm && has_choice)
            return say<text::predict::one_layout>(in_words(layouts_.back()),
                                                  to_string(Algorithm::ring));
        return "";
    }

    void predict_all() {
        ways_ = ways_for(options_.collective, target_, layouts_, options_.algorithm);
        if (ways_.empty()) {
            out_.reason = say<text::predict::no_algorithm>();
            return;
        }
        fit();
        describe();
        for (const double bytes : options_.sizes) {
            auto time = predict(bytes);
            if (!std::isfinite(time.seconds.value)) {
                out_.times.clear();
                out_.reason = say<text::predict::not_determined>();
                return;
            }
            out_.times.push_back(std::move(time));
        }
        const auto [least, most] = std::ranges::minmax(options_.sizes);
        for (double bytes = least; bytes > 0 && bytes < most; bytes *= 2)
            out_.line.push_back(predict(bytes));
        out_.line.push_back(predict(most));
        warn();
    }

    void fit() {
        std::vector<stats::CostPoint> points;
        for (const auto& point : points_) {
            stats::CostPoint cost{.size = point.bytes,
                                  .seconds = point.seconds,
                                  .terms = {},
                                  .log_error = point.log_error};
            for (const auto& way : ways_)
                cost.terms.push_back(
                    *way.terms(options_.collective, layout_of(point), point.bytes));
            points.push_back(std::move(cost));
        }
        fit_ = stats::fit_cost(points);
    }

    void describe() {
        out_.points = points_.size();
        out_.from = points_.front().bytes;
        out_.to = points_.back().bytes;
        out_.spread = fit_.spread;
        for (const auto& layout : layouts_) {
            out_.layouts.push_back(in_words(layout));
            out_.most_nodes = std::max(out_.most_nodes, layout.nodes);
        }
        for (const auto& segment : fit_.segments) {
            const auto& best = segment.models.front();
            FittedSegment fitted{.from = segment.from,
                                 .to = segment.to,
                                 .points = segment.points,
                                 .algorithm = ways_[best.model].in_words(),
                                 .possible = {},
                                 .links = {}};
            for (std::size_t i = 1; i < segment.models.size(); ++i)
                fitted.possible.push_back(ways_[segment.models[i].model].in_words());
            using Where = FittedLink::Where;
            const Where inside = ways_[best.model].is_whole() ? Where::whole : Where::within;
            for (const std::size_t first : {0U, 2U})
                if (best.scale[first] > 0)
                    fitted.links.push_back(
                        {.where = first == 0 ? inside : Where::between,
                         .latency = parameter_of(fit_, best, first),
                         .seconds_per_byte = parameter_of(fit_, best, first + 1)});
            out_.segments.push_back(std::move(fitted));
        }
    }

    PredictedTime predict(double bytes) const {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        PredictedTime time{.bytes = bytes,
                           .seconds = {.value = unknown, .low = unknown, .high = unknown}};
        const auto& segment = stats::segment_of(fit_, bytes);
        for (const auto& model : segment.models) {
            const auto terms = ways_[model.model].terms(options_.collective, target_, bytes);
            const auto one = stats::predict(fit_, model, *terms);
            if (!std::isfinite(one.value)) continue;
            if (!std::isfinite(time.seconds.value)) {
                time.seconds = one;
                time.algorithm = ways_[model.model].in_words();
            } else { // as likely, or nearly: the interval holds it too
                time.seconds.low = std::min(time.seconds.low, one.low);
                time.seconds.high = std::max(time.seconds.high, one.high);
            }
        }
        const double factor = bus_factor(options_.collective, target_.ranks());
        time.algorithm_rate = bytes / time.seconds.value;
        time.bus_rate = time.algorithm_rate * factor;
        if (const auto bandwidth = node_bandwidth(segment); bandwidth && target_.nodes > 1)
            time.most_bus_rate =
                *bandwidth * factor /
                least_bytes_of_node(options_.collective, target_.nodes, target_.ranks_per_node);
        return time;
    }

    /// Bandwidth of a node's link, as given or as fitted where links were told apart.
    std::optional<double> node_bandwidth(const stats::CostSegment& segment) const {
        if (options_.node_bandwidth) return options_.node_bandwidth;
        constexpr std::size_t between = 3;
        const double per_byte = segment.models.front().value[between];
        return per_byte > 0 ? std::optional{1 / per_byte} : std::nullopt;
    }

    void warn() {
        const auto factor_text = [](double factor) {
            constexpr double many = 100; // three digits
            return factor < many ? fmt::format("{:.3g}", factor) : fmt::format("{:.0f}", factor);
        };
        const auto most = [&](auto of) {
            double largest = 0;
            for (const auto& layout : layouts_) largest = std::max(largest, of(layout));
            return largest;
        };
        const double nodes = out_.most_nodes;
        const double per_node = most([](const Layout& l) { return l.ranks_per_node; });
        if (is_far(target_.nodes, nodes))
            out_.warnings.push_back(say<text::predict::more_nodes>(
                fmt::format("{:.0f}", target_.nodes), factor_text(target_.nodes / nodes),
                fmt::format("{:.0f}", nodes)));
        if (is_far(target_.ranks_per_node, per_node))
            out_.warnings.push_back(say<text::predict::more_ranks>(
                fmt::format("{:.0f}", target_.ranks_per_node),
                factor_text(target_.ranks_per_node / per_node), fmt::format("{:.0f}", per_node)));
        for (const auto& time : out_.times) {
            const auto size = record::human_bytes(time.bytes);
            if (is_far(time.bytes, out_.to))
                out_.warnings.push_back(say<text::predict::larger>(
                    size, factor_text(time.bytes / out_.to), record::human_bytes(out_.to)));
            if (is_far(out_.from, time.bytes))
                out_.warnings.push_back(say<text::predict::smaller>(
                    size, factor_text(out_.from / time.bytes), record::human_bytes(out_.from)));
            if (time.most_bus_rate && time.bus_rate > *time.most_bus_rate * 1.001)
                out_.warnings.push_back(
                    say<text::predict::above_bound>(size, record::human(time.bus_rate, "B/s"),
                                                    record::human(*time.most_bus_rate, "B/s")));
        }
        if (!std::isfinite(out_.times.front().seconds.low))
            out_.warnings.push_back(say<text::predict::no_interval>());
        if (options_.algorithm)
            out_.warnings.push_back(say<text::predict::assumed>(ways_.front().in_words()));
    }

    const PredictOptions& options_;
    Layout target_;
    std::vector<TimedPoint> points_;
    std::vector<Layout> layouts_;
    std::vector<CostWay> ways_;
    stats::CostFit fit_;
    PredictedCurve out_;
};

std::optional<HardBound> bound_of(const PredictOptions& options) {
    if (!options.node_bandwidth || options.nodes < 2) return std::nullopt;
    const double least =
        least_bytes_of_node(options.collective, options.nodes, options.ranks_per_node);
    if (!(least > 0)) return std::nullopt;
    HardBound bound{.node_bandwidth = *options.node_bandwidth, .sizes = options.sizes};
    const double factor = bus_factor(options.collective, options.nodes * options.ranks_per_node);
    bound.bus_rate = bound.node_bandwidth * factor / least;
    for (const double bytes : bound.sizes)
        bound.seconds.push_back(bytes * least / bound.node_bandwidth);
    return bound;
}

} // namespace

Result<Prediction> predict_collective(const store::Collection& collection,
                                      const PredictOptions& options) {
    ASSAY_TRY(const auto filters, make_filters(collection, options.filter));
    auto measured = measured_curves(collection, options.collective, filters);
    Prediction out{.collective = options.collective,
                   .nodes = options.nodes,
                   .ranks_per_node = options.ranks_per_node,
                   .bandwidth_given = options.node_bandwidth.has_value(),
                   .bound = bound_of(options),
                   .curves = {},
                   .not_used = collection.problems};
    std::ranges::move(measured.not_used, std::back_inserter(out.not_used));
    for (const auto& curve : measured.curves)
        out.curves.push_back(Predicting{curve, options}.take());
    // The first sentence of the answer.
    std::ranges::stable_partition(out.curves,
                                  [](const auto& curve) { return curve.reason.empty(); });
    return out;
}

bool is_far(double asked, double measured) {
    constexpr double far = 2;
    return asked > far * measured;
}

bool has_prediction(const Prediction& prediction) {
    return !prediction.curves.empty() && prediction.curves.front().reason.empty();
}

} // namespace assay::predict
