// SPDX-License-Identifier: Apache-2.0
//
// Results, compared with what is promised.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::truth {

/// A share, counted.
struct Count {
    double yes = 0;
    double all = 0;
    void add(bool is) {
        yes += is ? 1 : 0;
        ++all;
    }
    double share() const { return all == 0 ? 0 : yes / all; }
};

struct Figure {
    std::string what;
    double value = 0; ///< a share, 0..1
    double of = 0;    ///< tests behind it
    std::optional<double> at_most;
    std::optional<double> at_least;
    std::string note;

    bool met() const {
        return of > 0 && (!at_most || value <= *at_most) && (!at_least || value >= *at_least);
    }
};

/// How often something was so.
inline Figure figure_of(std::string what, const Count& count) {
    return {.what = std::move(what), .value = count.share(), .of = count.all};
}

} // namespace assay::truth
