// SPDX-License-Identifier: Apache-2.0

#include "series.hpp"
#include "stats/difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace assay::stats {
namespace {

using namespace testing;
using List = std::vector<double>;

std::vector<stats::VarianceEstimate> estimates(const List& variances, const List& degrees) {
    std::vector<stats::VarianceEstimate> result;
    for (std::size_t i = 0; i < variances.size(); ++i)
        result.push_back({.variance = variances[i], .degrees = degrees[i]});
    return result;
}

// R: limma::fitFDist(c(.8,1.7,.4,2.2,1.1,.05,3.9,.6), c(4,4,4,4,6,3,2,4)), then squeezeVar of the same
TEST(Prior, AgreesWithLimma) {
    const auto series =
        estimates({0.8, 1.7, 0.4, 2.2, 1.1, 0.05, 3.9, 0.6}, {4, 4, 4, 4, 6, 3, 2, 4});
    const stats::Prior prior = moment_prior(series);
    EXPECT_NEAR(prior.variance, 0.7140196045965953, 1e-9);
    EXPECT_NEAR(prior.degrees, 2.7106624950364755, 1e-8);
    EXPECT_EQ(prior.most_degrees, 31);
    const List moderated{0.7652696237814374, 1.3017293254372322, 0.5268430897121952,
                         1.5997624930237850, 0.9798871403598129, 0.3651881309241065,
                         2.0666872596283046, 0.6460563567468163};
    for (std::size_t i = 0; i < series.size(); ++i)
        EXPECT_NEAR(moderate(series[i], prior).variance, moderated[i], 1e-9) << i;
}

// R: y <- rbind(...); eBayes(lmFit(y, cbind(1, c(0,0,0,1,1,1)))), topTable(coef=2, confint=TRUE)
TEST(Difference, AgreesWithLimma) {
    const std::array<List, 4> a{List{1.02, 0.98, 1.05}, List{2.0, 2.2, 1.9}, List{5.01, 5.02, 4.99},
                                List{0.3, 0.7, 0.5}};
    const std::array<List, 4> b{List{1.31, 1.29, 1.36}, List{2.1, 2.3, 1.8}, List{5.03, 5.06, 5.05},
                                List{0.9, 0.2, 0.6}};
    const List p{0.0001855148602120938, 0.8392183177119036941, 0.0678933950709197931,
                 0.7677824678694719074};
    const List low{0.226816561966395658, -0.371791178176800130, -0.004351065892736761,
                   -0.488626662020075431};
    std::vector<stats::VarianceEstimate> variances;
    for (std::size_t i = 0; i < a.size(); ++i)
        variances.push_back(stats::pooled_variance(a[i], b[i]));
    const stats::Prior prior = moment_prior(variances);
    EXPECT_NEAR(prior.degrees, 0.801741935910808889, 1e-9);
    EXPECT_NEAR(prior.variance, 0.001444243691459219, 1e-11);
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto found = difference(a[i], b[i], moderate(variances[i], prior));
        EXPECT_NEAR(found.p, p[i], 1e-9) << i;
        EXPECT_NEAR(found.low, low[i], 1e-8) << i;
        EXPECT_NEAR(found.degrees, 4.801741935910809, 1e-8) << i;
    }
}

// R: t.test(log(b), log(a), var.equal=TRUE); t.test(c(.01,.03,.02,.015,.022))
TEST(Difference, AgreesWithStudentsTestWithoutAPrior) {
    List a{10.1, 10.2, 9.9};
    List b{10.6, 10.4, 10.9, 10.5};
    for (double& value : a) value = std::log(value);
    for (double& value : b) value = std::log(value);
    const auto found = difference(a, b, moderate(stats::pooled_variance(a, b), {}));
    EXPECT_NEAR(found.p, 0.01449771010424702, 1e-12);
    EXPECT_NEAR(found.low, 0.01540637952030729, 1e-12);
    EXPECT_NEAR(found.high, 0.08768727979299920, 1e-12);
    const List pairs{.01, .03, .02, .015, .022};
    const auto paired = paired_difference(pairs, stats::own_variance(pairs));
    EXPECT_NEAR(paired.p, 0.004518548184688977, 1e-12);
    EXPECT_NEAR(paired.high, 0.028757896917359600, 1e-12);
    EXPECT_EQ(paired.degrees, 4);
}

TEST(Prior, OfSeriesThatDifferByChanceOnlyIsTheirMean) {
    const auto series = estimates({1, 1.1, 0.9, 1.05, 0.95}, {4, 4, 4, 4, 4});
    const stats::Prior prior = moment_prior(series);
    EXPECT_DOUBLE_EQ(prior.variance, 1);
    EXPECT_EQ(prior.degrees, infinity);
    // Five estimates of four degrees are worth twenty, not the normal distribution.
    EXPECT_EQ(moderate(series[1], prior).degrees, 20);
    EXPECT_DOUBLE_EQ(moderate(series[1], prior).variance, 1);
}

TEST(Prior, LeavesOutWhatIsNoEstimate) {
    const auto good = moment_prior(estimates({1, 4, 0.5}, {4, 4, 4}));
    const auto mixed =
        moment_prior(estimates({nan, 1, 7, 4, infinity, 0.5, -1, 3}, {4, 4, 0, 4, 4, 4, 4, nan}));
    EXPECT_EQ(good.variance, mixed.variance);
    EXPECT_EQ(good.degrees, mixed.degrees);
    EXPECT_EQ(moment_prior({}).degrees, 0);
    EXPECT_EQ(moment_prior(estimates({2}, {4})).degrees, 0); // one series knows nothing of others
    EXPECT_EQ(moment_prior(estimates({0, 0, 0}, {4, 4, 4})).degrees, 0);
    const auto with_zero = moment_prior(estimates({0, 0, 0, 1e-4, 2e-4}, {4, 4, 4, 4, 4}));
    EXPECT_GT(with_zero.degrees, 0);
    EXPECT_LT(with_zero.degrees, 2); // they are unlike, and say little of each other
}

TEST(Prior, OfFewSeriesIsHeldBack) {
    // Quantiles of the variance of five values: as unlike as chance makes them.
    const List by_chance{0.14, 0.27, 0.38, 0.49, 0.60, 0.72, 0.84, 0.98, 1.15, 1.37, 1.68, 2.30};
    const auto twelve = estimates(by_chance, List(12, 4.0));
    EXPECT_EQ(moment_prior(twelve).degrees, infinity);
    const stats::Prior held = fit_prior(twelve);
    EXPECT_LT(held.degrees, 100);
    EXPECT_GT(held.degrees, 4);
    EXPECT_EQ(held.variance, moment_prior(twelve).variance);
    List often;
    for (int i = 0; i < 50; ++i) often.insert(often.end(), by_chance.begin(), by_chance.end());
    EXPECT_GT(fit_prior(estimates(often, List(600, 4.0))).degrees, 2 * held.degrees);
    EXPECT_EQ(fit_prior(std::span{twelve}.first(4)).degrees, 0);
    EXPECT_GT(fit_prior(std::span{twelve}.first(5)).degrees, 0);
}

TEST(Moderate, StandsBetweenOwnAndPrior) {
    const stats::Prior prior{.variance = 1, .degrees = 4};
    EXPECT_DOUBLE_EQ(moderate({.variance = 3, .degrees = 4}, prior).variance, 2);
    EXPECT_EQ(moderate({.variance = 3, .degrees = 4}, prior).degrees, 8);
    EXPECT_EQ(moderate({.variance = 3, .degrees = 4}, {}).variance, 3);
    const auto alone = moderate({.variance = nan, .degrees = 0}, prior); // one replica a side
    EXPECT_EQ(alone.variance, 1);
    EXPECT_EQ(alone.degrees, 4);
    EXPECT_EQ(moderate({.variance = nan, .degrees = 0}, {}).degrees, 0);
    EXPECT_TRUE(std::isnan(moderate({.variance = nan, .degrees = 0}, {}).variance));
}

TEST(Difference, OfTooLittleCannotBeTested) {
    const List one{1.0};
    const List two{1.0, 2.0};
    const List holed{1.0, nan};
    for (const auto& found :
         {difference(one, one, stats::pooled_variance(one, one)),
          difference({}, two, stats::own_variance(two)),
          difference(two, holed, stats::pooled_variance(two, holed)), paired_difference({}, {1, 5}),
          paired_difference(one, stats::own_variance(one))}) {
        EXPECT_TRUE(std::isnan(found.p));
        EXPECT_TRUE(std::isnan(found.low));
        EXPECT_EQ(classify(found, found.p), stats::Verdict::cannot_tell);
        EXPECT_TRUE(std::isnan(detectable_change(found, 0.01)));
    }
    EXPECT_EQ(stats::pooled_variance(one, two).degrees, 1);
    EXPECT_TRUE(std::isfinite(difference(one, one, {.variance = 0.1, .degrees = 6}).p));
}

TEST(Difference, WithoutAnyNoiseIsCertain) {
    const List a{1, 1, 1};
    const List b{1.5, 1.5, 1.5};
    EXPECT_EQ(difference(a, b, stats::pooled_variance(a, b)).p, 0);
    EXPECT_EQ(difference(a, a, stats::pooled_variance(a, a)).p, 1);
    EXPECT_EQ(classify(difference(a, a, stats::pooled_variance(a, a)), 1), stats::Verdict::same);
}

// R: p.adjust(c(.001,.04,.012,.3,.0004,NA,.04,.9), "BH") and "holm"
TEST(Adjusted, AgreesWithR) {
    const List p{0.001, 0.04, 0.012, 0.3, 0.0004, nan, 0.04, 0.9};
    const List bh{0.0035, 0.056, 0.028, 0.35, 0.0028, nan, 0.056, 0.9};
    const List family{0.006, 0.16, 0.06, 0.6, 0.0028, nan, 0.16, 0.9};
    const auto adjusted = stats::benjamini_hochberg(p);
    const auto stricter = stats::holm(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (std::isnan(p[i])) {
            EXPECT_TRUE(std::isnan(adjusted[i]) && std::isnan(stricter[i]));
            continue;
        }
        EXPECT_NEAR(adjusted[i], bh[i], 1e-15) << i;
        EXPECT_NEAR(stricter[i], family[i], 1e-15) << i;
    }
    EXPECT_THAT(stats::benjamini_hochberg({}), IsEmpty());
}

TEST(Adjusted, TheNextLevelIsWhatOneMoreSeriesNeeds) {
    std::mt19937_64 random{5};
    std::uniform_real_distribution<> uniform;
    for (int round = 0; round < 200; ++round) {
        List p(12);
        for (double& value : p) value = std::pow(uniform(random), 6);
        p[3] = 0.5; // not called
        for (const bool strict : {false, true}) {
            const double level =
                strict ? stats::level_of_next_holm(p) : stats::level_of_next_discovery(p);
            List with = p;
            with[3] = level * 0.999;
            EXPECT_LE((strict ? stats::holm(with) : stats::benjamini_hochberg(with))[3], 0.01);
            if (!strict) continue;
            with[3] = level * 1.001;
            EXPECT_GT(stats::holm(with)[3], 0.01);
        }
    }
    EXPECT_EQ(stats::level_of_next_discovery(List{0.5, nan}), 0.01);
    EXPECT_EQ(stats::level_of_next_holm({}), 0.01);
}

stats::Difference measured(double log_ratio, double error, double degrees = 9) {
    const double n = 10;
    const List pairs(10, log_ratio);
    return paired_difference(pairs, {.variance = error * error * n, .degrees = degrees});
}

TEST(Classify, CallsWhatIsSureAndLargeEnough) {
    const double up = std::log(1.03);
    EXPECT_EQ(classify(measured(up, 0.003), 0.001), stats::Verdict::better);
    EXPECT_EQ(classify(measured(-up, 0.003), 0.001), stats::Verdict::worse);
    EXPECT_EQ(classify(measured(up, 0.003), 0.0101), stats::Verdict::cannot_tell); // not sure
    EXPECT_EQ(classify(measured(up, 0.003), nan), stats::Verdict::cannot_tell);
    // Sure, and smaller than anybody minds.
    EXPECT_EQ(classify(measured(0.005, 0.0001), 1e-9), stats::Verdict::same);
    EXPECT_EQ(classify(measured(0.0098, 0.0005), 1e-9),
              stats::Verdict::cannot_tell); // 0.87% to 1.09%
    EXPECT_EQ(classify(measured(0.0098, 0.0005), 1e-9, {.minimum_effect = 0.005}),
              stats::Verdict::better);
}

TEST(Classify, SameNeedsAnIntervalWithinTheMinimum) {
    EXPECT_EQ(classify(measured(0, 0.004), 1), stats::Verdict::same);        // +-0.9%
    EXPECT_EQ(classify(measured(0, 0.005), 1), stats::Verdict::cannot_tell); // +-1.1%
    EXPECT_EQ(classify(measured(0.004, 0.004), 0.3), stats::Verdict::cannot_tell);
}

TEST(DetectableChange, IsTheLevelPlusTheNoise) {
    // t(0.995, 9) = 3.2498, t(0.95, 9) = 1.8331
    EXPECT_NEAR(detectable_change(measured(0.2, 0.01), 0.01), std::expm1(0.050829), 1e-6);
    // Where the test alone would find less than the minimum effect, that is what must be passed.
    EXPECT_NEAR(detectable_change(measured(0, 0.001), 0.01), std::expm1(0.00995033 + 0.0018331),
                1e-7);
    // Normal: 2.5758 + 1.6449.
    EXPECT_NEAR(detectable_change(measured(0, 0.01, infinity), 0.01), std::expm1(0.042207), 1e-6);
    EXPECT_GT(detectable_change(measured(0, 0.01, 1), 1e-3), 100); // a factor of a thousand
    EXPECT_TRUE(std::isnan(detectable_change(measured(0, 0.01, 1), 1e-9))); // none at all
    for (const double level : {0.0, 1.0, nan})
        EXPECT_TRUE(std::isnan(detectable_change(measured(0, 0.01), level)));
}

// --- error rates -------------------------------------------------------------------------------------

// How often are the verdicts wrong? Seeded simulations of whole tables, with bounds about three standard errors
// of the simulation from what is promised (level 1%, power 95%).

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
    std::vector<stats::VarianceEstimate> moderated;
    std::vector<stats::Difference> differences;
    List p;
};

class Machine {
public:
    explicit Machine(std::uint64_t seed) : random_{seed} {}

    /// A against A; about 1% of noise.
    Table measure(const Design& design) {
        Table table;
        std::vector<stats::VarianceEstimate> variances;
        for (std::size_t i = 0; i < design.series; ++i) {
            const double deviation = 0.01 * deviation_of(design.noise);
            List a = values(design, deviation);
            List b = values(design, deviation);
            if (design.paired)
                for (std::size_t k = 0; k < a.size(); ++k) a[k] = b[k] - a[k];
            variances.push_back(design.paired ? stats::own_variance(a)
                                              : stats::pooled_variance(a, b));
            table.a.push_back(std::move(a));
            table.b.push_back(std::move(b));
        }
        const stats::Prior prior = fit_prior(variances);
        for (std::size_t i = 0; i < design.series; ++i) {
            table.moderated.push_back(moderate(variances[i], prior));
            table.differences.push_back(tested(design, table, i, 0));
            table.p.push_back(table.differences.back().p);
        }
        return table;
    }

    /// Difference of series i if B were larger by `change`.
    static stats::Difference tested(const Design& design, const Table& table, std::size_t i,
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
        const List adjusted = stats::benjamini_hochberg(table.p);
        const List stricter = stats::holm(table.p);
        const double level = stats::level_of_next_discovery(table.p);
        bool any = false;
        bool any_strict = false;
        for (std::size_t i = 0; i < design.series; ++i) {
            any = any || adjusted[i] <= 0.01;
            any_strict = any_strict || stricter[i] <= 0.01;
            const stats::Difference& difference = table.differences[i];
            if (difference.low <= 0 && difference.high >= 0) ++covered;
            // The same data, had there been a change as large as is said to be needed.
            const double change = detectable_change(difference, level);
            const stats::Difference changed =
                Machine::tested(design, table, i, change * (1 + 1e-9));
            List p = table.p;
            p[i] = changed.p;
            if (classify(changed, stats::benjamini_hochberg(p)[i]) == stats::Verdict::better)
                ++found;
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
        const List adjusted = stats::benjamini_hochberg(p);
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
                const stats::Difference changed = Machine::tested(design, table, i, change);
                List p = table.p;
                p[i] = changed.p;
                const stats::Verdict verdict = classify(changed, stats::benjamini_hochberg(p)[i]);
                if (change < 0 && verdict == stats::Verdict::worse) ++found;
                if (change > 0 && verdict == stats::Verdict::better) ++small;
            }
        }
    }
    EXPECT_GE(found / 720, 0.98); // pairs deviate by 1.4% here: sides by 1% each
    EXPECT_LE(small / 720, 0.05);
}

} // namespace
} // namespace assay::stats
