// SPDX-License-Identifier: Apache-2.0

#include "simulate.hpp"

#include "made.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace assay::truth {
namespace {

constexpr double planted = 1 / 1.03; // of the speed: 3% more time
constexpr double steady = 0.01;      // paired deviation up to which a planted change must be found

struct Design {
    const char* name;
    std::size_t replicas;
    bool paired;
};
constexpr Design designs[] = {
    {"10 pairs", 10, true}, {"3 replicas", 3, false}, {"10 replicas", 10, false}};

class Table {
public:
    Table(const std::vector<Recorded>& recorded, const Design& design, std::uint64_t seed)
        : recorded_{recorded}, design_{design}, random_{seed} {
        test::CollectionMaker maker;
        for (std::size_t i = 0; i < recorded.size(); ++i)
            maker.sides(test::series_of("recorded.series", "host",
                                        {{"number", static_cast<std::int64_t>(i)}}, "bandwidth"),
                        {std::vector(design.replicas, 1.0), std::vector(design.replicas, 1.0)});
        collection_ = std::move(maker.collection());
        for (auto& run : collection_.runs)
            if (design.paired)
                run.pairing = record::Pairing{
                    .id = "pairs", .setting = run.label, .order = "ABBA", .changes = {}};
    }

    void draw() {
        for (std::size_t i = 0; i < recorded_.size(); ++i) {
            const auto& pairs = recorded_[i].pairs;
            std::uniform_int_distribution<std::size_t> any{0, pairs.size() - 1};
            for (std::size_t k = 0; k < design_.replicas; ++k) {
                const auto& pair = pairs[any(random_)];
                // Sides are the same, so either value may stand for either. Unpaired values are drawn twice.
                const auto& other = design_.paired ? pair : pairs[any(random_)];
                const bool swapped = (random_() & 1U) != 0;
                value(0, i, k) = swapped ? pair.second : pair.first;
                value(1, i, k) = swapped ? other.first : other.second;
            }
        }
    }
    /// Series i of B, by a factor; above 1 is faster.
    void change(std::size_t i, double factor) {
        for (std::size_t k = 0; k < design_.replicas; ++k) value(1, i, k) *= factor;
    }

    /// Results for B, series by series.
    std::vector<compare::Contrast> compared() const {
        return contrasts_of(collection_, recorded_.size());
    }

private:
    double& value(std::size_t side, std::size_t series, std::size_t replica) {
        return collection_.observations[2 * series + side].replicas[replica].value;
    }

    const std::vector<Recorded>& recorded_;
    Design design_;
    std::mt19937_64 random_;
    store::Collection collection_;
};

std::vector<Figure> simulate(const std::vector<Recorded>& recorded, const Design& design,
                             const Simulation& simulation) {
    Table table{recorded, design, simulation.seed};
    std::mt19937_64 random{simulation.seed + 1};
    std::uniform_int_distribution<std::size_t> any{0, recorded.size() - 1};
    Count false_alarms;
    Count found;
    Count true_limits;
    double limits = 0;
    for (std::size_t round = 0; round < simulation.comparisons; ++round) {
        table.draw();
        const auto nothing = table.compared();
        for (const auto& contrast : nothing) false_alarms.add(is_called(contrast));
        const std::size_t chosen = any(random);
        if (recorded[chosen].paired_deviation() <= steady) {
            table.change(chosen, planted);
            found.add(table.compared()[chosen].outcome == compare::ContrastOutcome::worse);
            table.change(chosen, 1 / planted);
        }
        if (const auto least = nothing[chosen].detectable) {
            table.change(chosen, 1 / (1 + *least * (1 + 1e-6)));
            true_limits.add(table.compared()[chosen].outcome == compare::ContrastOutcome::worse);
            limits += std::log1p(*least);
        }
    }
    const std::string name = design.name;
    std::vector<Figure> figures{
        figure_of(name + ": called different, nothing changed", false_alarms),
        figure_of(name + ": a lone 3% found, pairs within 1%", found),
        figure_of(name + ": \"cannot tell below x\" is true", true_limits)};
    figures[0].at_most = 0.01;
    // With three replicas, 3% is too little to be asked for.
    if (design.paired) figures[1].at_least = 0.95;
    figures[2].at_least = 0.945; // 95%, and what ten thousand draws leave open
    figures[2].note = fmt::format("x {:.1f}% on (geometric) average",
                                  100 * std::expm1(limits / std::max(true_limits.all, 1.0)));
    return figures;
}

} // namespace

std::vector<Figure> simulate(const std::vector<Recorded>& recorded, const Simulation& simulation) {
    std::vector<Figure> figures;
    for (const Design& design : designs) {
        auto more = simulate(recorded, design, simulation);
        figures.insert(figures.end(), more.begin(), more.end());
    }
    return figures;
}

} // namespace assay::truth
