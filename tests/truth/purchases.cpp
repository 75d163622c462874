// SPDX-License-Identifier: Apache-2.0

#include "purchases.hpp"

#include "purchase/ranking.hpp"
#include "support/collection_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>

namespace assay::truth {
namespace {

using namespace purchase;

/// Machines of a type vary by 3% unless a row says otherwise, and the replicas of a run by 2%.
constexpr double usual = 0.03;
constexpr double replicas = 3;
constexpr double of_replicas = 0.02;

struct Design {
    std::size_t types = 2;
    std::size_t machines = 3; ///< of each
    double between = usual;   ///< machines of a type
};

/// Types of machines at one price, each with two measures; all of a machine vary together, and each by itself.
class Market {
public:
    Market(const Design& design, std::uint64_t seed) : design_{design}, random_{seed} {
        for (std::size_t t = 0; t < design.types; ++t) {
            const auto instance = fmt::format("type-{}", t);
            Offer offer;
            offer.id = instance;
            offer.provider = "aws";
            offer.instance = instance;
            offer.tariff = Tariff::on_demand;
            offer.price = Amount{.text = "2", .value = 2};
            offer.currency = "USD";
            offer.date = "2026-11-01";
            offers_.offers.push_back(std::move(offer));
            for (std::size_t m = 0; m < design.machines; ++m) {
                const auto run =
                    maker_.run({.machine = fmt::format("{}-{}", t, m), .instance = instance});
                for (const auto& series : {test::gemm("openblas", 1024), test::triad()})
                    maker_.observe(run, series, {1});
            }
        }
        profiles_.measures = {measure("gemm.square"), measure("memory.stream")};
        profiles_.profiles = {{.name = "half",
                               .title = {},
                               .title_zh = {},
                               .weights = {{"gemm.square", 0.5}, {"memory.stream", 0.5}}}};
        options_.costs.terms.now = seconds_of("2026-11-20").value();
        options_.costs.runs = &maker_.collection();
        auto costs = costs_of(offers_, options_.costs);
        if (!costs) throw std::runtime_error{costs.error().message};
        costs_ = std::move(*costs);
    }

    /// New machines of types that are as fast as these: logarithms.
    Ranking ranked(const std::vector<double>& truth) {
        auto& seen = maker_.collection().observations;
        std::size_t at = 0;
        for (const double type : truth)
            for (std::size_t m = 0; m < design_.machines; ++m) {
                const double machine = type + design_.between * normal_(random_);
                for (int i = 0; i < 2; ++i) // as the measures share the noise of replicas
                    seen[at++].value = std::exp(machine + of_replicas / std::sqrt(replicas / 2) *
                                                              normal_(random_));
            }
        auto ranking = rank(offers_, costs_, profiles_.profiles[0], profiles_, options_,
                            Measured{options_.costs.runs, options_.costs.hardware});
        if (!ranking) throw std::runtime_error{ranking.error().message};
        return std::move(*ranking);
    }
    std::vector<double> types(double deviation) {
        std::vector<double> truth(design_.types);
        for (auto& one : truth) one = deviation * normal_(random_);
        return truth;
    }
    /// The type that a ranking recommends.
    static std::size_t first(const Ranking& ranking) { return ranking.offers.front().type; }

private:
    static Measure measure(const std::string& benchmark) {
        return {.id = benchmark,
                .title = {},
                .title_zh = {},
                .where = {"benchmark=" + benchmark},
                .metric = {},
                .take = Take::best};
    }
    Design design_;
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    test::CollectionMaker maker_;
    Offers offers_;
    Profiles profiles_;
    RankingOptions options_;
    std::vector<Cost> costs_;
};

/// How often the recommended of equal offers is called sure.
Figure equal_offers(const Design& design, const Purchases& how, std::string note = "") {
    Market market{design, how.seed};
    const std::vector<double> truth(design.types, 0);
    Count sure;
    for (std::size_t i = 0; i < how.rankings; ++i) sure.add(market.ranked(truth).sure);
    auto figure = figure_of(
        fmt::format("{} equal offers, {} machines each: sure", design.types, design.machines),
        sure);
    figure.note = std::move(note);
    return figure;
}

/// How many of the printed probabilities are right?
std::vector<Figure> printed(std::size_t types, double apart, const Purchases& how) {
    constexpr std::size_t least = stats::sure_machines; // fewer have no probability
    constexpr std::size_t most = 10;
    std::deque<Market> markets; // they refer to themselves
    for (std::size_t n = least; n <= most; ++n)
        markets.emplace_back(Design{.types = types, .machines = n}, how.seed + n);
    double right = 0;
    double said = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; count < how.printed; ++i) {
        auto& market = markets[i % markets.size()];
        const auto truth = market.types(apart);
        const auto ranking = market.ranked(truth);
        const double best = ranking.offers.front().best.value_or(0);
        if (best < 0.85 || best > 0.95) continue;
        ++count;
        said += best;
        const auto really =
            static_cast<std::size_t>(std::ranges::max_element(truth) - truth.begin());
        right += Market::first(ranking) == really ? 1 : 0;
    }
    const auto of = static_cast<double>(count);
    const auto name =
        fmt::format("{} offers {:g}% apart: of 85 to 95% printed, right", types, 100 * apart);
    const auto note = fmt::format("{:.1f}% printed on average", 100 * said / of);
    return {{.what = name, .value = right / of, .of = of, .at_most = 0.95, .note = note},
            {.what = name, .value = right / of, .of = of, .at_least = 0.85, .note = note}};
}

} // namespace

std::vector<Figure> purchases(const Purchases& how) {
    std::vector<Figure> figures;
    for (std::size_t machines = 2; machines <= 10; ++machines) {
        figures.push_back(equal_offers({.machines = machines}, how));
        figures.back().at_most = 0.05;
    }
    figures.push_back(equal_offers({.types = 5, .machines = 3}, how));
    figures.back().at_most = 0.05;
    // The prior says 3%: what is it worth where it is wrong? To be read, without a limit.
    for (const double between : {0.01, 0.06})
        for (const std::size_t machines : {3, 10})
            figures.push_back(equal_offers({.machines = machines, .between = between}, how,
                                           fmt::format("machines vary by {:g}%", 100 * between)));
    for (const std::size_t types : {2, 5})
        for (auto& figure : printed(types, usual, how)) figures.push_back(std::move(figure));
    return figures;
}

} // namespace assay::truth
