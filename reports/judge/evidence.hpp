// SPDX-License-Identifier: Apache-2.0
//
// The evidence of a node's runs, by series: the values that count, their noise and their bounds.

#pragma once

#include "decide/acceptance.hpp"
#include "judge/limits.hpp"
#include "judge/parts.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace assay::judge {

/// An observation, and which of the node's runs it is of, the oldest 0.
struct Seen {
    const decide::Observation* observation = nullptr;
    std::uint32_t run = 0;
};

/// All observations of a series on a node, the oldest first.
struct Item {
    std::uint32_t series = 0;
    std::uint32_t group = 0; ///< see groups_of()
    std::vector<Seen> seen;
};

/// The series of the node that an observation of a run counts for; nothing where it is of another part.
using CountsFor =
    std::function<std::optional<std::uint32_t>(std::uint32_t run, std::uint32_t series)>;
/// Items of these runs (indices into Collection::runs), by series.
/// Observations of run r are `first[r]` to `first[r + 1]`.
std::vector<Item> items_of(const store::Collection& collection,
                           const std::vector<std::size_t>& first,
                           const std::vector<std::uint32_t>& groups,
                           const std::vector<std::uint32_t>& runs, const CountsFor& counts_for);

/// A number for each series, equal for those that differ in the index of their device only.
std::vector<std::uint32_t> groups_of(const std::vector<decide::Series>& series);

/// Parameters of each series in which these differ, or that some do not have.
std::vector<record::NamedList> differences_of(const std::vector<const decide::Series*>& series);

/// Does one process measure it on one device? A team over several devices is not asked of each of them.
bool is_of_one_device(const decide::Series& series);
/// Device code that was executed on a CPU, for tests.
bool is_executed_on_cpu(const decide::Series& series);

/// Is it of the last stage of an acceptance run?
bool is_under_stress(const decide::Series& series);

/// Was it measured? Its replicas are verified values, whatever its status.
bool counts(const decide::Observation& seen);

/// The replicas, each compared with the bound of its observation.
struct Held {
    std::vector<decide::Margin> margins; ///< in order of measurement
    std::optional<double>
        value; ///< geometric mean of the undisturbed ones, or of all where none is
    std::optional<double> bound; ///< of the newest observation
    std::size_t runs = 0;
};
using BoundOf = std::function<std::optional<double>(const decide::Observation&)>;
Held held_against(const Item& item, bool at_least, const BoundOf& bound);
/// Without those that something outside the node disturbed.
std::vector<decide::Margin> undisturbed(std::span<const decide::Margin> margins);

/// Value of the newest run: as published if it has one, else the mean of its replicas.
struct ItemValue {
    std::optional<double> value;
    std::optional<double> low; ///< 95% interval within the run
    std::optional<double> high;
};
ItemValue newest_value(const Item& item);

/// By the limit's recorded components, or without them by what the runs themselves say.
struct ItemNoise {
    decide::AcceptanceNoise fail;
    decide::AcceptanceNoise pass; ///< upwards, which neighbours on a shared host do not cause
};
ItemNoise noise_of(const Limit& limit, const Item& item, bool feels_neighbours);

/// May neighbours on the same host or its network slow a run as a whole, unseen
/// by any counter? Not the work of devices of one machine.
bool feels_neighbours(const record::Machine& machine, const decide::Series& series);

/// Cause of a case under stress, with one replica of 40 s in each run. Nothing needs another: the ratio of its late
/// rate to its early one is of a single process, and a rate is compared with its limit by a margin, which covers what
/// that ratio may lose.
Cause cause_under_stress(std::span<const decide::Margin> margins,
                         const decide::AcceptanceNoise& noise, bool is_ratio, bool feels_neighbours,
                         Cause disturbed_by);

/// The cause that disturbed the replicas of an observation.
Cause cause_of_disturbance(const decide::Observation& seen);
/// Why an item without a value has none: the worst that its observations say (it has one at least).
Cause why_nothing(const Item& item);

// --- bound ---------------------------------------------------------------------------------------
// What a limit asks of one observation: an amount, or a share of a data sheet's bound, of siblings, of another limit.

/// Basis of the bounds of one node.
struct BoundBasis {
    const store::Collection& collection;
    const Limits& limits;
    std::span<const Item> items;
};
/// Nothing where what it is a share of is not known.
std::optional<double> bound_of_limit(const BoundBasis& basis, const Limit& limit, const Item& item,
                                     bool at_least, const decide::Observation& seen);

/// Does the bound of this benchmark's series hold for another one: at the same place, and with the same value of each
/// parameter that both have?
bool bounds(const decide::Series& series, std::string_view benchmark, const decide::Series& other);

} // namespace assay::judge
