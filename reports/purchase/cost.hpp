// SPDX-License-Identifier: Apache-2.0
//
// The cost of an offer per hour, job, month and term, with energy, time lost to failures and the eight parts of a
// cluster's bill, as a calculation (purchase/calculation.hpp) whose lines show the origin of each figure. The rate of a
// job comes from runs on machines of the same provider and type, on the same number of nodes, without scaling.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "document/document.hpp"
#include "purchase/calculation.hpp"
#include "purchase/offer.hpp"
#include "reference/hardware.hpp"
#include "stats/forecast.hpp"
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

namespace assay::purchase {

/// A part of a job: so much of what a case does. FLOP of a rate in
/// FLOP/s, bytes of B/s; calls where a time is measured.
struct Work {
    std::string pattern; ///< "gemm.square*size=4096*": of names of series, with * and ?
    double amount = 0;
};
/// "gemm.square/*=1e18": the amount stands behind the last =.
Result<Work> parse_work(const std::string& text);

struct WorkRate {
    std::string series; ///< that the pattern means; empty: none
    std::string unit;   ///< of the amount: "FLOP", "calls"
    /// Amount a second: the median over machines, and the lowest and highest that one of them has, with its interval.
    std::optional<Quantity> rate;
    std::optional<Quantity> watts; ///< of the host or device of the case, while it runs
    bool on_device = false;
    std::size_t machines = 0;
    std::size_t runs = 0;
    std::string why; ///< reason code without a rate
};
/// A host that shares its processors is paid for what it delivers, not for what it can do; nothing of others.
std::optional<decide::Delivered> delivered_in(const decide::Observation& seen,
                                              const store::Collection& runs);
/// Fails if a pattern matches several cases, since the rate would be ambiguous.
Result<WorkRate> rate_of(const Work& work, const Offer& offer, double nodes,
                         const store::Collection& runs,
                         const reference::Hardware* hardware = nullptr);

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
/// A line for each: given, published, usual or not known. `money` takes the place of that unit; `source` is that of
/// what is published.
void add_inputs(Calculation& lines, std::span<const Setting> table, const Given& given,
                const std::string& money = {}, const Given& published = {},
                const std::string& source = {}, Basis basis = Basis::datasheet);

// -------------------------------------------------------------------------------------------------

/// Inputs of a buyer. Meanings: cost_line.json of document/texts.
std::span<const Setting> cost_settings();

struct CostOptions {
    PriceTerms terms;
    Given given;
    std::optional<double> nodes; ///< those of each offer otherwise, 1 where it has none
    double term_months = 12;
    std::vector<Work> work;
    const std::vector<Region>* regions = nullptr;  ///< electricity of the buyer's table
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

/// `explain`: every line of each calculation, with formula and source.
document::Document make_document(const std::vector<Cost>& costs, bool explain);
/// `usage`: of plan_usage(); null: not asked for.
std::string to_json(const std::vector<Cost>& costs, const json::Value& usage = {});

// --- usage ---------------------------------------------------------------------------------------
// How many nodes to reserve, and for which term, from past hours in a table of the user, their forecast
// (stats/forecast.hpp), and the offered tariffs.

/// Hours of one type in consecutive months.
struct Usage {
    std::string provider; ///< empty: any
    std::string region;   ///< the same
    std::string instance;
    std::string first; ///< month: "2023-11"
    std::vector<double> hours;
};
/// CSV with the columns month (2026-01), instance, hours, and optional provider
/// and region.
Result<std::vector<Usage>> parse_usage(std::string_view text, const std::string& source);

/// For programs: these stay as they are. What each means: usage_state.json of
/// document/texts.
ASSAY_ENUM(UsageState, planned, nothing, short_history, not_offered, no_on_demand, no_commitment)

/// Nodes that are paid for every hour of a term, the rest on demand.
struct Commitment {
    std::string offer;
    std::string currency;
    Tariff tariff = Tariff::unset;
    double months = 0;     ///< the term
    double break_even = 0; ///< share of hours from which a reserved node costs
                           ///< less than one on demand
    double nodes = 0;      ///< with the least expected cost over the term
    double with = 0;       ///< that cost, in the currency of the price
    double without = 0;    ///< all on demand
    double saving = 0;
    std::optional<double> saving_low; ///< 80% interval
    std::optional<double> saving_high;
};

struct UsagePlan {
    Usage used;
    UsageState state = UsageState::planned;
    double nodes_used = 0; ///< on average of the last twelve months
    std::optional<stats::Forecast> forecast;
    std::string on_demand;        ///< the cheapest offer
    std::vector<Commitment> plan; ///< the most saved a month first
};
/// Fails where no type has enough months, or prices of one are in several
/// currencies.
Result<std::vector<UsagePlan>> plan_usage(const std::vector<Usage>& used,
                                          const std::vector<Cost>& costs);

document::Section section_of(const std::vector<UsagePlan>& plans);
json::Value to_json(const std::vector<UsagePlan>& plans);

// -------------------------------------------------------------------------------------------------
// Shared by all documents of calculations.

/// "USD 12.34/h", "67%", "5.05e+11 FLOP": with the interval behind it where it has one.
std::string in_words(const Quantity& quantity, const std::string& unit);
/// The title of a line: cost_line.json of document/texts.
std::string name_of_line(const std::string& key);
/// "Power usage effectiveness: not given"
std::string reason_in_words(const Line& line);
/// Collects all missing inputs of lines, so that people can give them at once.
class MissingInputs {
public:
    explicit MissingInputs(std::span<const Setting> settings) : settings_{settings} {}
    void add(const Calculation& lines, const std::vector<std::string>& keys);
    bool empty() const { return options_.empty() && fields_.empty(); }
    /// "--set storage_gb=N --set setup=USD; in the offers file: egress_per_gb"
    std::string text() const;

private:
    std::span<const Setting> settings_;
    std::vector<std::string> options_;
    std::vector<std::string> fields_;
};
/// The value, or why it is missing.
document::Cell cell_of(const Line* line);
/// All lines, each with its formula or source. `of`: what they are about.
document::Table explained(const Calculation& lines, const std::string& of = {},
                          const std::string& folded = {});
json::Value to_json(const Calculation& lines);

} // namespace assay::purchase
