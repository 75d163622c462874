// SPDX-License-Identifier: Apache-2.0
//
// What an offer costs: per hour, job, month and term, with the energy, the time that failures take and the eight parts of
// a cluster's bill, as a calculation (offers/calculation.hpp) whose lines say how each figure came about.

#pragma once

#include "base/result.hpp"
#include "offers/calculation.hpp"
#include "offers/offer.hpp"
#include "offers/price.hpp"
#include "offers/rates.hpp"
#include "reference/hardware.hpp"
#include "store/collection.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::offers {

// --- settings ------------------------------------------------------------------------------------
// Inputs of calculations that people give: `--set NAME=VALUE`.

struct Setting {
    std::string_view key;
    std::string_view unit;       ///< "money/h": in the currency that is shown
    std::optional<double> usual; ///< taken where it is not given, and marked as assumed
    double least = 0;
    double most = 1e12;
};
using Given = std::map<std::string, double, std::less<>>;

/// "pue=1.3"; fails with the names there are, or the range.
Result<void> add_setting(const std::string& text, std::span<const Setting> table, Given& given);
/// A line for each: given, published, usual or not known. `money` takes the place of that unit; `source` is that of what
/// is published.
void add_inputs(Calculation& lines, std::span<const Setting> table, const Given& given,
                const std::string& money = {}, const Given& published = {},
                const std::string& source = {});

// -------------------------------------------------------------------------------------------------

/// What a buyer says of the use. Meanings: cost_line.json of document/texts.
std::span<const Setting> cost_settings();

struct CostOptions {
    PriceTerms terms;
    Given given;
    std::optional<double> nodes; ///< those of each offer otherwise, 1 where it has none
    double term_months = 12;
    std::vector<Work> work;
    const store::Collection* runs = nullptr;       ///< no job without
    const reference::Hardware* hardware = nullptr; ///< no power by data sheets without
};

struct Cost {
    Offer offer;
    Price price;
    Calculation lines;
    std::vector<WorkRate> rates; ///< one for each work
};

/// The parts of a cluster's bill, in order: keys of lines.
inline constexpr std::array cost_parts{"part_gpu",           "part_storage",  "part_network",
                                       "part_control_plane", "part_support",  "part_goodput",
                                       "part_setup",         "part_debugging"};

Result<Cost> cost_of(const Offer& offer, const std::vector<ExchangeRate>& rates,
                     const CostOptions& options);
/// The cost lines of an offer take about 45 kB: those of a cloud's whole price list would not fit into memory.
inline constexpr std::size_t most_offers = 20'000;
Result<std::vector<Cost>> costs_of(const Offers& offers, const CostOptions& options);

/// After how many months buying has cost no more than renting: where both are offered in one currency, with as many
/// GPUs (or nodes without).
struct BreakEven {
    std::size_t bought; ///< which of the costs
    std::size_t rented;
    Calculation lines; ///< its result is "break_even_months"
};
std::vector<BreakEven> break_evens(const std::vector<Cost>& costs);

/// Lines of goodput after Daly: "failure_hours", "checkpoint_hours" and "restart_hours" must be there.
void add_goodput(Calculation& lines);

} // namespace assay::offers
