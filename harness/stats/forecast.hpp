// SPDX-License-Identifier: Apache-2.0
//
// The next year of a monthly series that is never negative, such as hours of
// use: seasonal naive or damped additive Holt-Winters, whichever made the
// smaller errors at earlier months of the same series.

#pragma once

#include "stats/summary.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::stats {

inline constexpr std::size_t months_ahead = 12;
/// Below, there is neither a trend nor an error to learn from.
inline constexpr std::size_t fewest_months = 6;

/// Forecast of a month, or of the sum of several.
struct Expected {
    double value = 0;
    double low = 0; ///< 80% interval; NaN where fewer than six errors are known
    double high = 0;
};

enum class Method : std::uint8_t { seasonal_naive, damped_holt_winters };

struct Forecast {
    Method method = Method::seasonal_naive;
    double naive_error = 0;  ///< mean absolute error over horizons 1 to 12, as far as the data go
    double damped_error = 0; ///< the same
    std::vector<Expected> months;   ///< the next twelve
    std::vector<Expected> quarters; ///< three months each
};

/// `values`: fewest_months or more, without gaps.
///
/// Seasonal naive repeats the last twelve months, with fewer than 18 of them
/// the last month. Holt-Winters has a season from 24 months on (Hyndman and
/// Athanasopoulos, Forecasting: Principles and Practice, 3rd ed., 8.2 and 8.3):
///
///     e_t = y_t - l_{t-1} - phi b_{t-1} - s_{t-12}
///     l_t = l_{t-1} + phi b_{t-1} + alpha e_t,  b_t = phi b_{t-1} + alpha beta
///     e_t,  s_t = s_{t-12} + gamma e_t forecast(h) = l + (phi + phi^2 + ... +
///     phi^h) b + s
///
/// with the parameters of a grid that have the least sum of squared e. A
/// forecast from each earlier month, by what was known then, is compared with
/// what came (rolling origin, 5.10 there). The interval is the root mean square
/// of the errors at that horizon times Student's t, and never narrower than at
/// a shorter one.
Forecast forecast_months(Values values);

} // namespace assay::stats
