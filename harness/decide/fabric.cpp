// SPDX-License-Identifier: Apache-2.0
#include "decide/fabric.hpp"

#include "stats/difference.hpp"
#include "stats/summary.hpp"

#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace assay::decide {
namespace {

/// A standard deviation of normal values is so many median absolute deviations.
constexpr double of_mad = 1.4826;
/// The median of many normal values has this times the standard error of their mean.
constexpr double of_median = 1.2533;
/// Groups, or pairs of groups: with fewer their own spread is not known.
constexpr std::size_t enough_for_spread = 5;
constexpr std::size_t fewest_of_trunk = 3; ///< pairs: the median of three survives one slow node
constexpr std::size_t fewest_shared = 3;   ///< links
constexpr std::size_t fewest_both_ways = 5;

double middle_of(std::vector<double> values) {
    return values.empty() ? stats::unknown : stats::median(values);
}
double spread_of(const std::vector<double>& values) {
    const double center = middle_of(values);
    std::vector<double> away;
    for (const double value : values) away.push_back(std::fabs(value - center));
    return away.empty() ? 0 : of_mad * stats::median(away);
}

using Ends = std::pair<std::size_t, std::size_t>;
Ends ordered(std::size_t a, std::size_t b) { return {std::min(a, b), std::max(a, b)}; }

double slowness_of(double rate) {
    return rate > 0 && std::isfinite(rate) ? -std::log(rate) : stats::unknown;
}
/// Mean of both ways, or the one that is known.
double mean_slowness(double there, double back) {
    const double a = slowness_of(there);
    const double b = slowness_of(back);
    return std::isnan(a) ? b : std::isnan(b) ? a : (a + b) / 2;
}
double at_once(const FabricPair& pair) { return mean_slowness(pair.there, pair.back); }
double alone(const FabricPair& pair) { return mean_slowness(pair.there_alone, pair.back_alone); }

class FabricSearch {
public:
    FabricSearch(std::span<const FabricPair> pairs, std::size_t nodes,
                 std::span<const FabricKind> kinds, double log_noise, const CulpritRule& rule)
        : pairs_{pairs}, nodes_{nodes}, kinds_{kinds}, log_noise_{log_noise}, rule_{rule},
          least_{std::log1p(rule.least)}, of_groups_(nodes, 0) {}

    FabricFindings run() {
        count();
        const auto whole = find_culprits(measured(), nodes_, log_noise_, rule_);
        out_.is_enough = !whole.effects.empty();
        if (!out_.is_enough) {
            find_blocking();
            return std::move(out_);
        }
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind) slow_groups(kind, whole);
        std::ranges::stable_sort(out_.groups, std::ranges::greater{}, &SlowGroup::slowdown);
        const auto rest =
            out_.groups.empty() ? whole : find_culprits(measured(), nodes_, log_noise_, rule_);
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind) slow_trunks(kind, rest);
        std::ranges::stable_sort(out_.trunks, std::ranges::greater{}, &SlowTrunk::slowdown);
        auto links = rest.links;
        std::erase_if(links, [&](const auto& link) { return is_of_trunk(link); });
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind) share(kind, links);
        for (const auto& node : rest.nodes) out_.nodes.push_back({node});
        for (const auto& link : links) out_.links.push_back({link});
        out_.one_way = rest.one_way;
        find_blocking();
        compare_alone();
        return std::move(out_);
    }

private:
    std::size_t group_of(std::size_t kind, std::size_t node) const {
        const auto& groups = kinds_[kind].of_node;
        return node < groups.size() && groups[node] < kinds_[kind].groups ? groups[node]
                                                                          : FabricKind::none;
    }
    /// Both ends in groups of this kind, and not in the same.
    bool crosses(std::size_t kind, std::size_t from, std::size_t to) const {
        const auto a = group_of(kind, from);
        const auto b = group_of(kind, to);
        return a != FabricKind::none && b != FabricKind::none && a != b;
    }

    void count() {
        std::vector<bool> seen(nodes_, false);
        for (const auto& pair : pairs_) {
            if (pair.from >= nodes_ || pair.to >= nodes_ || std::isnan(at_once(pair))) continue;
            ++out_.pairs;
            seen[pair.from] = seen[pair.to] = true;
        }
        for (std::size_t i = 0; i < nodes_; ++i)
            if (!seen[i]) out_.never.push_back(i);
    }

    /// Without what slow groups explain.
    std::vector<MeasuredPair> measured() const {
        std::vector<MeasuredPair> measured;
        for (const auto& pair : pairs_) {
            if (pair.from >= nodes_ || pair.to >= nodes_) continue;
            const double explained = of_groups_[pair.from] + of_groups_[pair.to];
            measured.push_back({.from = pair.from,
                                .to = pair.to,
                                .there = slowness_of(pair.there) - explained,
                                .back = slowness_of(pair.back) - explained});
        }
        return measured;
    }

    /// Each against the median of the others.
    void slow_groups(std::size_t kind, const Culprits& whole) {
        std::vector<std::vector<double>> effects(kinds_[kind].groups);
        for (std::size_t node = 0; node < nodes_; ++node)
            if (const auto group = group_of(kind, node);
                group != FabricKind::none && !std::isnan(whole.effects[node]))
                effects[group].push_back(whole.effects[node]);
        std::vector<std::size_t> which;
        std::vector<double> levels;
        std::vector<double> within;
        for (std::size_t group = 0; group < effects.size(); ++group) {
            if (effects[group].size() < 2) continue; // then it is the node
            which.push_back(group);
            levels.push_back(stats::median(effects[group]));
            for (const double effect : effects[group]) within.push_back(effect - levels.back());
        }
        if (which.size() < 2) return;
        // The median of two is their mean, which is off by as much as either: hence the groups' sizes.
        const double single = std::max(spread_of(within), whole.noise / 2);
        const auto degrees = static_cast<double>(within.size() - which.size());
        std::vector<double> excess;
        std::vector<double> p;
        for (std::size_t i = 0; i < which.size(); ++i) {
            auto others = levels;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            const double between = which.size() > enough_for_spread ? spread_of(others) : 0;
            const auto size = static_cast<double>(effects[which[i]].size());
            excess.push_back(levels[i] - stats::median(others));
            p.push_back(p_of_excess(excess.back() /
                                        std::hypot(between, of_median * single / std::sqrt(size)),
                                    degrees));
        }
        const auto sure = stats::holm(p);
        for (std::size_t i = 0; i < which.size(); ++i) {
            if (!(excess[i] >= least_) || !(sure[i] <= rule_.alpha) ||
                !is_common(effects[which[i]], excess[i]))
                continue;
            out_.groups.push_back(
                {.kind = kind, .group = which[i], .slowdown = std::exp(excess[i]), .p = sure[i]});
            for (std::size_t node = 0; node < nodes_; ++node)
                if (group_of(kind, node) == which[i])
                    of_groups_[node] = std::max(of_groups_[node], excess[i]);
        }
    }
    /// One slow node of two would make a median, not a slow group.
    static bool is_common(const std::vector<double>& effects, double excess) {
        const auto slow =
            std::ranges::count_if(effects, [&](double effect) { return effect >= excess / 2; });
        return 3 * static_cast<std::size_t>(slow) >= 2 * effects.size() &&
               (effects.size() > 2 || slow == 2);
    }

    void slow_trunks(std::size_t kind, const Culprits& rest) {
        std::map<Ends, std::vector<double>> cells;
        for (const auto& pair : rest.rests)
            if (crosses(kind, pair.from, pair.to))
                cells[ordered(group_of(kind, pair.from), group_of(kind, pair.to))].push_back(
                    pair.rest);
        std::erase_if(cells, [](const auto& cell) { return cell.second.size() < fewest_of_trunk; });
        if (cells.size() <= enough_for_spread) return; // the nodes' effects hold them
        std::vector<double> levels;
        for (const auto& [groups, values] : cells) levels.push_back(stats::median(values));
        const double between = spread_of(levels);
        const auto degrees = static_cast<double>(rest.rests.size() - cells.size());
        std::vector<double> p;
        std::size_t at = 0;
        for (const auto& [groups, values] : cells) {
            const auto size = static_cast<double>(values.size());
            // `between` holds the medians' own error already where cells are alike in size.
            const double error = std::max(between, of_median * rest.noise / std::sqrt(size));
            p.push_back(p_of_excess(levels[at++] / error, degrees));
        }
        const auto sure = stats::holm(p);
        at = 0;
        for (const auto& [groups, values] : cells) {
            const std::size_t i = at++;
            if (levels[i] >= least_ && sure[i] <= rule_.alpha)
                out_.trunks.push_back({.kind = kind,
                                       .from = groups.first,
                                       .to = groups.second,
                                       .slowdown = std::exp(levels[i]),
                                       .p = sure[i],
                                       .pairs = values.size()});
        }
    }
    bool is_of_trunk(const SlowLink& link) const {
        return std::ranges::any_of(out_.trunks, [&](const SlowTrunk& trunk) {
            return ordered(group_of(trunk.kind, link.from), group_of(trunk.kind, link.to)) ==
                   Ends{trunk.from, trunk.to};
        });
    }

    /// Takes the links that it explains away.
    void share(std::size_t kind, std::vector<SlowLink>& links) {
        const auto touches = [&](std::size_t group, std::size_t from, std::size_t to) {
            return crosses(kind, from, to) &&
                   (group_of(kind, from) == group || group_of(kind, to) == group);
        };
        std::size_t of = 0;
        for (const auto& link : links) of += crosses(kind, link.from, link.to) ? 1U : 0U;
        if (of < fewest_shared) return;
        std::vector<std::size_t> slow(kinds_[kind].groups, 0);
        std::vector<std::size_t> all(kinds_[kind].groups, 0);
        std::size_t crossing = 0;
        const auto add = [&](std::vector<std::size_t>& counts, std::size_t from, std::size_t to) {
            if (!crosses(kind, from, to)) return;
            ++counts[group_of(kind, from)];
            ++counts[group_of(kind, to)];
        };
        for (const auto& link : links) add(slow, link.from, link.to);
        for (const auto& pair : pairs_) {
            if (std::isnan(at_once(pair))) continue;
            add(all, pair.from, pair.to);
            crossing += crosses(kind, pair.from, pair.to) ? 1U : 0U;
        }
        std::vector<double> p;
        for (std::size_t group = 0; group < slow.size(); ++group) {
            const double each = static_cast<double>(all[group]) / static_cast<double>(crossing);
            const auto most = static_cast<double>(slow[group]);
            p.push_back(slow[group] < fewest_shared || !(each < 1)
                            ? 1.0
                            : cdf(complement(boost::math::binomial{static_cast<double>(of), each},
                                             most - 1)));
        }
        const auto sure = stats::holm(p);
        for (std::size_t group = 0; group < slow.size(); ++group) {
            if (!(sure[group] <= rule_.alpha)) continue;
            std::vector<double> slowdowns;
            std::erase_if(links, [&](const SlowLink& link) {
                if (!touches(group, link.from, link.to)) return false;
                slowdowns.push_back(link.slowdown);
                return true;
            });
            if (slowdowns.size() < fewest_shared) continue;
            out_.shared.push_back({.kind = kind,
                                   .group = group,
                                   .links = slow[group],
                                   .of = of,
                                   .slowdown = stats::median(slowdowns),
                                   .p = sure[group]});
        }
    }

    // --- at once against alone ---------------------------------------------------------------------------

    bool is_accused(std::size_t node) const {
        return of_groups_[node] > 0 ||
               std::ranges::any_of(out_.nodes, [&](const auto& one) { return one.node == node; });
    }
    bool is_good(const FabricPair& pair) const {
        return pair.from < nodes_ && pair.to < nodes_ && !is_accused(pair.from) &&
               !is_accused(pair.to) &&
               std::ranges::none_of(
                   out_.links,
                   [&](const auto& link) {
                       return ordered(link.from, link.to) == ordered(pair.from, pair.to);
                   });
    }

    void find_blocking() {
        std::vector<double> slower;
        for (const auto& pair : pairs_)
            if (is_good(pair)) {
                const double by = at_once(pair) - alone(pair);
                if (std::isfinite(by)) slower.push_back(by);
            }
        out_.blocking.pairs = slower.size();
        if (slower.size() < fewest_both_ways) return;
        constexpr double of_95 = 1.96;
        const double half =
            of_95 * of_median * spread_of(slower) / std::sqrt(static_cast<double>(slower.size()));
        const double level = stats::median(slower);
        out_.blocking.slowdown = std::exp(level);
        out_.blocking.low = std::exp(level - half);
        out_.blocking.high = std::exp(level + half);
    }

    /// Alone, is what it has to do with slower than good pairs are, by half of its slowdown at least?
    Alone judge(double slowdown, const std::function<bool(const FabricPair&)>& has_it) const {
        std::vector<double> good;
        std::vector<double> own;
        for (const auto& pair : pairs_) {
            const double log = alone(pair);
            if (std::isnan(log)) continue;
            if (has_it(pair))
                own.push_back(log);
            else if (is_good(pair))
                good.push_back(log);
        }
        if (own.empty() || good.empty()) return Alone::not_measured;
        return stats::median(own) - stats::median(good) >= std::log(slowdown) / 2 ? Alone::slow
                                                                                  : Alone::fine;
    }
    void compare_alone() {
        for (auto& group : out_.groups)
            group.alone = judge(group.slowdown, [&](const FabricPair& pair) {
                return (group_of(group.kind, pair.from) == group.group) !=
                       (group_of(group.kind, pair.to) == group.group);
            });
        for (auto& node : out_.nodes)
            node.alone = judge(node.slowdown, [&](const FabricPair& pair) {
                return pair.from == node.node || pair.to == node.node;
            });
        for (auto& link : out_.links)
            link.alone = judge(link.slowdown, [&](const FabricPair& pair) {
                return ordered(link.from, link.to) == ordered(pair.from, pair.to);
            });
    }

    std::span<const FabricPair> pairs_;
    std::size_t nodes_;
    std::span<const FabricKind> kinds_;
    double log_noise_;
    CulpritRule rule_;
    double least_;
    std::vector<double> of_groups_; ///< of each node, logarithm
    FabricFindings out_;
};

} // namespace

FabricFindings find_in_fabric(std::span<const FabricPair> pairs, std::size_t nodes,
                              std::span<const FabricKind> kinds, double log_noise,
                              const CulpritRule& rule) {
    return FabricSearch{pairs, nodes, kinds, log_noise, rule}.run();
}

} // namespace assay::decide
