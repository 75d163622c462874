// SPDX-License-Identifier: Apache-2.0
//
// The statistics of a comparison: every row of every side against the first, with variances moderated
// over all rows and p values adjusted for their number; and geometric means of ratios.

#pragma once

#include "compare/comparison.hpp"
#include "compare/units.hpp"
#include "stats/difference.hpp"

#include <cmath>
#include <optional>
#include <vector>

namespace assay::compare {

inline constexpr double confidence = 0.95; ///< of every interval

inline std::optional<double> known(double value) {
    return std::isfinite(value) ? std::optional{value} : std::nullopt;
}

/// Values of one row, side by side.
struct MeasuredRow {
    bool higher_is_better = true;
    std::vector<Sample> sides;
    std::vector<Quality> quality{}; ///< for each side; none: all is known
    std::vector<double>
        core_latency{};         ///< for each side: between virtual CPUs; NaN where it is not known
    std::vector<Times> times{}; ///< for each side
    std::vector<double> all_pairs{}; ///< for each side: Units::of_all_pairs with the first
};

/// The row with these two sides alone.
MeasuredRow of_two(const MeasuredRow& row, std::size_t first, std::size_t second);

struct TestOptions {
    double alpha = 0.01;
    Correction correction = Correction::false_discovery;
    double minimum_effect = 0.01;
    std::vector<bool> paired;        ///< for each side: with the first
    std::vector<bool> interleaved{}; ///< for each side: measured at the same times as the first
    Unit unit = Unit::replica;
    bool one_machine = true; ///< all sides are of the same one
};

/// Does this side, or the first, have fewer runs than show how runs at different times differ?
bool needs_times(const MeasuredRow& row, std::size_t side, const TestOptions& options);

/// A contrast and what means of ratios need of it.
struct TestedSide {
    Contrast contrast;
    /// For sides with zeros: above 0 where all of this one is better than all of the first, below where worse.
    int apart = 0;
    NoVerdict doubt = NoVerdict::none; ///< why differences of up to `hidden` are not called
    double hidden = 0;                 ///< logarithm
    double log_ratio = 0;
    double standard_error = 0; ///< not finite where it is not known
    double degrees = 0;
    double between_times = 0; ///< the same of what lies between times; not in standard_error
    double times_degrees = 0;
    /// How far each unit of the first side, and of this one (or each pair), lies from the mean of this
    /// row: oriented logarithms over their number, so that their sum over units is the error of the mean.
    std::vector<UnitValue> first;
    std::vector<UnitValue> second;
};

/// Does it take part in means? Only exact ratios do, and none that levels or moved CPUs may have made.
bool is_counted(const Contrast& contrast);

/// A row of a mean, and how much it counts.
struct WeightedRow {
    std::size_t row = 0;
    double weight = 1;
};

/// The first against the other: A is half as fast as B where B is twice as fast as A.
MeanRatio mirrored(MeanRatio mean);

class Tests {
public:
    Tests(const std::vector<MeasuredRow>& rows, TestOptions options);

    /// The result for row and side; the first side has none.
    const TestedSide& of(std::size_t row, std::size_t side) const { return rows_[row][side]; }
    /// How many p values were adjusted together.
    std::size_t count() const { return count_; }
    /// 95% interval of the geometric mean of a sample.
    std::optional<std::pair<double, double>> interval(const Sample& sample) const;
    /// Geometric mean of the ratios of these rows, which both sides must have, judged as one more row would be.
    MeanRatio mean(const std::vector<WeightedRow>& rows, std::size_t side) const;

private:
    void test(const std::vector<MeasuredRow>& rows, std::size_t side);
    void judge();
    void judge_order(TestedSide& tested, double p) const;
    static void bound(TestedSide& tested, const stats::Difference& difference);
    void judge(Contrast& contrast, const stats::Difference& difference, double p) const;
    std::optional<MoreValues> more(const stats::VarianceEstimate& own,
                                   const stats::VarianceEstimate& times, std::size_t first,
                                   std::size_t second, const Contrast& contrast) const;

    TestOptions options_;
    double level_ = 0; ///< of one more test
    std::vector<std::vector<TestedSide>> rows_;
    std::vector<std::vector<stats::Difference>> differences_; ///< by row and side
    std::size_t count_ = 0;
    stats::Prior within_; ///< what all rows say of the variance on one side
};

/// See stats::average.
double average(const Sample& sample);
/// Is any value zero? Then there are no logarithms, and no ratio.
bool has_zero(const Sample& sample);

} // namespace assay::compare
