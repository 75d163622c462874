// SPDX-License-Identifier: Apache-2.0

#include "predict/models.hpp"

#include "document/language.hpp"
#include "document/texts/predict.hpp"

#include <algorithm>
#include <cmath>

namespace assay::report {
namespace {

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

} // namespace

std::optional<stats::Terms> CostWay::terms(Collective collective, const Layout& layout,
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

std::string CostWay::in_words() const {
    if (over_all) return say<text::predict::over_all>(name_of(*over_all));
    if (within && between)
        return say<text::predict::by_levels>(name_of(*within), name_of(*between));
    return say<text::predict::as_measured>();
}

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

} // namespace assay::report
