// SPDX-License-Identifier: Apache-2.0
//
// How often are the verdicts wrong? Seeded simulations of whole tables, with bounds about three standard errors
// of the simulation from what is promised (level 1%, power 95%).

#include "series.hpp"
#include "stats/difference.hpp"
#include "stats/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace assay::stats {
namespace {

using List = std::vector<double>;

/// How the noise of single series differs. `inverse_chi2` is what the prior takes for granted.
enum class Noise : unsigned char { equal, inverse_chi2, log_normal, heavy_tails };

struct Design {
    std::size_t replicas;
    std::size_t series;
    bool paired;
    Noise noise;
};
void PrintTo(const Design& design, std::ostream* out) {
    *out << design.replicas << (design.paired ? " pairs" : " replicas") << " of " << design.series
         << " series, noise " << static_cast<int>(design.noise);
}

struct Table {
    std::vector<List> a; ///< differences of pairs where paired
    std::vector<List> b;
    std::vector<VarianceEstimate> moderated;
    std::vector<Difference> differences;
    List p;
};

class Machine {
public:
    explicit Machine(std::uint64_t seed) : random_{seed} {}

    /// A against A; about 1% of noise.
    Table measure(const Design& design) {
        Table table;
        std::vector<VarianceEstimate> variances;
        for (std::size_t i = 0; i < design.series; ++i) {
            const double deviation = 0.01 * deviation_of(design.noise);
            List a = values(design, deviation);
            List b = values(design, deviation);
            if (design.paired)
                for (std::size_t k = 0; k < a.size(); ++k) a[k] = b[k] - a[k];
            variances.push_back(design.paired ? own_variance(a) : pooled_variance(a, b));
            table.a.push_back(std::move(a));
            table.b.push_back(std::move(b));
        }
        const Prior prior = fit_prior(variances);
        for (std::size_t i = 0; i < design.series; ++i) {
            table.moderated.push_back(moderate(variances[i], prior));
            table.differences.push_back(tested(design, table, i, 0));
            table.p.push_back(table.differences.back().p);
        }
        return table;
    }

    /// Of series i, had B been larger by `change`.
    static Difference tested(const Design& design, const Table& table, std::size_t i,
                             double change) {
        List later = design.paired ? table.a[i] : table.b[i];
        for (double& value : later) value += std::log1p(change);
        return design.paired ? paired_difference(later, table.moderated[i])
                             : difference(table.a[i], later, table.moderated[i]);
    }

private:
    double deviation_of(Noise noise) {
        if (noise == Noise::equal) return 1;
        if (noise == Noise::inverse_chi2) return std::sqrt(4 / chi2_(random_));
        return std::exp(normal_(random_));
    }
    List values(const Design& design, double deviation) {
        List values(design.replicas);
        for (double& value : values)
            value =
                deviation * (design.noise == Noise::heavy_tails ? student_(random_) * std::sqrt(0.6)
                                                                : normal_(random_));
        return values;
    }

    std::mt19937_64 random_;
    std::normal_distribution<> normal_;
    std::chi_squared_distribution<> chi2_{4};
    std::student_t_distribution<> student_{5};
};

class ErrorRates : public testing::TestWithParam<Design> {};

TEST_P(ErrorRates, KeepTheirLevel) {
    const Design design = GetParam();
    Machine machine{design.replicas + 1000 * design.series};
    const int rounds = static_cast<int>(4000 / design.series);
    int tables_with_a_discovery = 0;
    int tables_with_a_strict_one = 0;
    double covered = 0;
    double found = 0;
    for (int round = 0; round < rounds; ++round) {
        const Table table = machine.measure(design);
        const List adjusted = benjamini_hochberg(table.p);
        const List stricter = holm(table.p);
        const double level = level_of_next_discovery(table.p);
        bool any = false;
        bool any_strict = false;
        for (std::size_t i = 0; i < design.series; ++i) {
            any = any || adjusted[i] <= 0.01;
            any_strict = any_strict || stricter[i] <= 0.01;
            const Difference& difference = table.differences[i];
            if (difference.low <= 0 && difference.high >= 0) ++covered;
            // The same data, had there been a change as large as is said to be needed.
            const double change = detectable_change(difference, level);
            const Difference changed = Machine::tested(design, table, i, change * (1 + 1e-9));
            List p = table.p;
            p[i] = changed.p;
            if (classify(changed, benjamini_hochberg(p)[i]) == Verdict::better) ++found;
        }
        tables_with_a_discovery += any ? 1 : 0;
        tables_with_a_strict_one += any_strict ? 1 : 0;
    }
    const double comparisons = rounds * static_cast<double>(design.series);
    // Where nothing differs every discovery is false, and both corrections promise 1% of tables.
    const double allowed = 0.013 + 3 * std::sqrt(0.013 / rounds);
    EXPECT_LE(tables_with_a_discovery / double(rounds), allowed);
    EXPECT_LE(tables_with_a_strict_one, tables_with_a_discovery);
    EXPECT_NEAR(covered / comparisons, 0.955, 0.018);
    EXPECT_NEAR(found / comparisons, 0.95, 0.012);
}

INSTANTIATE_TEST_SUITE_P(Tables, ErrorRates,
                         testing::Values(Design{2, 12, false, Noise::equal},
                                         Design{3, 12, false, Noise::inverse_chi2},
                                         Design{3, 12, false, Noise::log_normal},
                                         Design{3, 4, false, Noise::log_normal},
                                         Design{5, 12, false, Noise::heavy_tails},
                                         Design{10, 12, true, Noise::inverse_chi2},
                                         Design{5, 40, true, Noise::heavy_tails},
                                         Design{3, 200, false, Noise::inverse_chi2},
                                         Design{10, 200, true, Noise::log_normal}));

TEST(ErrorRates, FalseDiscoveriesStayAShareOfAll) {
    // A quarter of the series are slower by a lot: of what is called, 1% may be wrong.
    const Design design{5, 40, false, Noise::inverse_chi2};
    Machine machine{77};
    double called = 0;
    double wrong = 0;
    for (int round = 0; round < 150; ++round) {
        const Table table = machine.measure(design);
        List p = table.p;
        for (std::size_t i = 0; i < 10; ++i) p[i] = Machine::tested(design, table, i, 0.2).p;
        const List adjusted = benjamini_hochberg(p);
        for (std::size_t i = 0; i < p.size(); ++i) {
            if (!(adjusted[i] <= 0.01)) continue;
            ++called;
            if (i >= 10) ++wrong;
        }
    }
    EXPECT_GT(called, 1400);
    EXPECT_LE(wrong / called, 0.015);
}

TEST(ErrorRates, ThreePercentAreFoundWithTenPairsOfOnePercent) {
    const Design design{10, 12, true, Noise::equal};
    Machine machine{3};
    double found = 0;
    double small = 0;
    for (int round = 0; round < 60; ++round) {
        const Table table = machine.measure(design);
        for (std::size_t i = 0; i < design.series; ++i) { // each the only one that is slower
            for (const double change : {-0.0291, 0.008}) {
                const Difference changed = Machine::tested(design, table, i, change);
                List p = table.p;
                p[i] = changed.p;
                const Verdict verdict = classify(changed, benjamini_hochberg(p)[i]);
                if (change < 0 && verdict == Verdict::worse) ++found;
                if (change > 0 && verdict == Verdict::better) ++small;
            }
        }
    }
    EXPECT_GE(found / 720, 0.98); // pairs deviate by 1.4% here: sides by 1% each
    EXPECT_LE(small / 720, 0.05);
}

} // namespace
} // namespace assay::stats
