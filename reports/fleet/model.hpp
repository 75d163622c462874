// SPDX-License-Identifier: Apache-2.0
//
// What a look at a fleet consists of: nodes, what they are compared with, what is wrong with their results.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "decide/fleet.hpp"
#include "store/collection.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::fleet {

// --- level ---------------------------------------------------------------------------------------
// What nodes of a type reach in one case: their median, how much good ones differ, and by what. Limits and the
// screening of a fleet start from it.

inline constexpr std::size_t fewest_nodes = 5;

/// Question of each series for one node: without the index of its device, and without the conditions on numbers of
/// machines and ranks.
struct ItemName {
    decide::Series series; ///< so
    std::string name;
};
ItemName item_name(const decide::Series& series);

/// May it say what good nodes reach?
bool is_of_a_level(const decide::Observation& seen, const decide::Series& series);

/// One published value, and numbers of the node, device, day and run that it is of: equal for equal ones.
struct NodeValue {
    std::uint32_t node = 0;
    std::uint32_t place = 0;
    std::uint32_t day = 0;
    std::uint32_t run = 0;
    const decide::Observation* seen = nullptr;
};

struct ItemLevel {
    std::size_t nodes = 0;
    std::size_t places = 0;
    std::size_t runs = 0;
    decide::FleetLevel fleet;
    std::vector<double> kept; ///< logarithms, the worst first, without those left out
    std::vector<stats::VarianceEstimate> parts; ///< replica, run, day, device, node
    double noise = 0;                           ///< of one value at another time
    double error = 0;                           ///< of a node's value
};
/// 0 where nothing is known.
double known(const stats::VarianceEstimate& part);
ItemLevel level_of(std::span<const NodeValue> values, bool higher_is_better);

/// The variance of single values of good nodes in each item of a type, moderated over all of them.
std::vector<stats::VarianceEstimate> variances_of(std::span<const ItemLevel* const> levels);

// -------------------------------------------------------------------------------------------------

// --- names ---------------------------------------------------------------------------------------
// What nodes are called, and which of them are expected.

/// "n1", "node[01-40,43]" as Slurm and ClusterShell write it: each name once, in this order.
Result<std::vector<std::string>> expand_nodes(std::string_view text);
/// A name of a node that needs no quotes in a command: letters, digits and - _ . : alone.
bool is_node(const std::string& name);
/// A file of them, separated by blanks, commas or lines; # begins a comment.
Result<std::vector<std::string>> read_nodes(const std::filesystem::path& path);
Result<std::vector<std::string>> parse_nodes(std::string_view text, std::string_view source);

/// Where the name of a node is from.
enum class NameSource : std::uint8_t { tag, node, host, folder, machine };
struct NodeName {
    std::string name;
    NameSource source = NameSource::machine;
};

/// Names runs and files: by the tag `node` or --node, else by the host name, else by a folder that is called as an
/// expected node, else by the machine's id. "n1.cluster" and "n1" are the same if only one of them is expected.
class NodeNames {
public:
    explicit NodeNames(std::vector<std::string> expected);

    const std::vector<std::string>& expected() const { return expected_; }
    bool is_expected(const std::string& name) const;
    NodeName of_run(const store::Collection& collection, const store::RunInfo& run) const;
    /// Node of a file that does not name one; "" if no folder is called as a node. A node that is not expected has a
    /// folder with its name only if `also` has it.
    std::string of_path(const std::filesystem::path& path,
                        const std::vector<std::string>& also = {}) const;
    std::string of_host(std::string_view host) const;

private:
    std::vector<std::string> expected_;
    std::vector<std::string> sorted_;
};

// -------------------------------------------------------------------------------------------------

inline constexpr std::size_t retest_runs = 3;

/// State of a node; the later outweighs the earlier.
ASSAY_ENUM(NodeState, good,
           not_judged, // too few nodes of its type, or no values
           again,      // screened: to be measured again
           partial,    // cases are missing or have no value
           running,
           unreadable, // its files are damaged
           missing,
           slow,  // by its retests
           wrong) // a wrong result

/// A case of a type of nodes, and what its good nodes reach.
struct FleetItem {
    std::uint32_t type = 0;   ///< index into Fleet::types
    std::uint32_t column = 0; ///< index into Fleet::columns
    decide::Series series;
    std::string name;  ///< as series are told apart
    std::string what;  ///< "STREAM triad, all threads"
    std::string title; ///< no more of it than tells it from the others
    std::size_t nodes = 0;
    std::size_t left_out = 0;
    bool judged = false; ///< enough nodes
    double center = 0;   ///< of logarithms, above is good
    decide::FleetBounds bounds;
    double deviation = stats::unknown;     ///< between good nodes, of logarithms
    double deviation_low = stats::unknown; ///< 95% interval
    double deviation_high = stats::unknown;
    double p05 = stats::unknown; ///< as good as which 95% of the nodes are, over the median
};

/// A value of a node in an item, and its retests.
struct Suspect {
    std::uint32_t item = 0;
    std::string place;             ///< "host", "cuda:3"
    double ratio = 1;              ///< times as good as the median, when it was screened
    double again = stats::unknown; ///< the same of the median of the retests
    std::size_t replicas = 0;      ///< of the retests
    std::size_t runs = 0;
    bool decided = false; ///< there are enough of them
    bool slow = false;
    double shown() const { return decided ? again : ratio; }
};

struct MissingCase {
    std::string what;
    std::string title; ///< no more of it than tells it from the others
    std::string benchmark;
    record::Status status = record::Status::interrupted; ///< how it ended, unless
    bool absent = false;                                 ///< the node has not tried it
};

struct FleetNode {
    std::string name;
    NameSource source = NameSource::machine;
    NodeState state = NodeState::missing;
    bool expected = true;
    std::uint32_t type = 0;
    std::vector<std::uint32_t> runs; ///< of the sweep, the oldest first
    std::vector<Suspect> suspects;   ///< the worst first; those that retests cleared, too
    std::vector<MissingCase> missing;
    std::size_t cases = 0; ///< that nodes of its type have
    std::vector<std::string> wrong;
    std::vector<float> columns; ///< times as good as the median, NaN where it has nothing
    double worst = 1;           ///< the lowest of what is shown

    bool answered() const { return !runs.empty(); }
};

/// Faults in what nodes handed in; the README of this room has the table.
ASSAY_ENUM(FaultCode, one_machine_two_names, one_name_two_machines,
           one_id_two_machines, // parts that cannot have been exchanged in between
           runs_overlap, same_run_elsewhere, reported_twice, mixed_versions, mixed_plans,
           mixed_software, // kernel, drivers, firmware
           clock_ahead,
           clock_behind, // as a sweep saw it
           clock_not_set, clock_went_back, half_copied, changed, unreadable)
/// Does the fault take values away, or put one node's under the name of another?
bool is_serious(FaultCode code);

struct FleetFault {
    FaultCode code = FaultCode::unreadable;
    std::vector<std::string> nodes;
    std::vector<std::string> evidence; ///< ids, versions, files, times
};

/// A run that has a journal and no result.
struct Unfinished {
    std::string node;
    std::string suite;
    std::filesystem::path journal;
    std::size_t done = 0;             ///< cases, with all replicas
    std::optional<std::size_t> cases; ///< that were planned
    std::size_t measured = 0;         ///< replicas
    std::optional<double> left;       ///< seconds
    double silent = 0;                ///< seconds since its last line
    bool stalled = false;             ///< longer than a case takes
    double went_back = 0;             ///< seconds from a line to an earlier one after it
    std::size_t damaged = 0;          ///< lines
};

/// Nodes that slow others in a run that measured pairs of nodes, by the
/// names of this fleet where it knows their machines.
struct SlowPairs {
    std::string what;
    std::vector<std::string> nodes;  ///< called: the worst first
    std::vector<std::string> groups; ///< "switch leaf1"
    std::vector<std::string> says;   ///< in sentences
};

struct FleetType {
    std::string name;
    std::size_t nodes = 0;
    std::size_t tests = 0; ///< items of a node
};

struct Fleet {
    store::Collection collection;
    decide::FleetRule rule;
    double since = 0;
    double until = 0; ///< the start of the newest run
    bool has_expected = false;
    std::vector<FleetType> types;
    std::vector<FleetItem> items;
    std::vector<std::string> columns; ///< benchmarks, or families where these are many
    std::vector<FleetNode> nodes;     ///< the worst first
    std::vector<FleetFault> faults;
    std::vector<Unfinished> unfinished;
    std::vector<SlowPairs> pairs;
    std::size_t left_out = 0; ///< runs before the sweep
};

/// Nodes in this state.
std::size_t count_of(const Fleet& fleet, NodeState state);
bool has_slow(const Fleet& fleet);
/// Is anything not known: a node missing, running, partial, to be measured
/// again or unreadable, or nothing there at all?
bool is_open(const Fleet& fleet);

} // namespace assay::fleet
