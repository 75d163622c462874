// SPDX-License-Identifier: Apache-2.0
//
// A prediction in words: what every output of it says, whatever it looks like.

#pragma once

#include "predict/prediction.hpp"

#include <string>
#include <vector>

namespace assay::report {

std::string title_in_words(const Prediction& prediction);
std::string name_in_words(const PredictedCurve& curve);

/// A row for each size; columns that are empty everywhere are left out.
struct TimesTable {
    std::vector<std::string> titles;
    std::vector<std::vector<std::string>> rows;
};
TimesTable times_in_words(const PredictedCurve& curve);

/// What a curve rests on: its data and scatter, then each range of sizes with the links fitted there.
struct BasisLine {
    std::string text;
    bool is_link = false; ///< belongs to the range before it
};
std::vector<BasisLine> basis_in_words(const PredictedCurve& curve);

/// Why nothing at all can be predicted; "" where a curve says something, if only why not.
std::string nothing_in_words(const Prediction& prediction);
/// How to read the figures; where there are none, what the given bandwidth alone says.
std::vector<std::string> method_in_words(const Prediction& prediction);

/// Runs and figures that were not used: a reason, and where. `more`: those beyond `shown`.
struct NotUsedWords {
    std::vector<Problem> shown;
    std::string more;
};
NotUsedWords not_used_in_words(const Prediction& prediction);

} // namespace assay::report
