// SPDX-License-Identifier: Apache-2.0
//
// Limits for a good node: files of limits (configs/limits, schema assay.limits/1), layered into one list. A limit
// says for which machines and cases it is, what its bound is and where that comes from. Units are SI; a file may write
// them with a prefix ("GB/s", "GiB/s", "Gbit/s", "TFLOP/s", "us"), which is resolved when it is read.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "json/codec.hpp"
#include "judge/parts.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::judge {

/// Origin of a bound.
ASSAY_ENUM(LimitKind, spec, fleet, contract)

/// Patterns by key; a pattern is alternatives with * and ?: "NVIDIA H200*|NVIDIA H100*". Empty admits everything.
struct Selector : std::map<std::string, std::string, std::less<>> {
    using map::map;
};
json::Value encode_value(const Selector& selector);
void decode_value(const json::Object& object, std::string_view key, Selector& out);

/// Does one of the alternatives match?
bool matches(std::string_view patterns, const std::string& text);

/// Standard deviations of the logarithm, each from its own cause, and the degrees of freedom behind them.
struct Components {
    std::optional<double> replica; ///< between processes of one run
    std::optional<double> run;     ///< between runs at different times
    std::optional<double> day;     ///< between days
    std::optional<double> device;  ///< between devices of a node
    std::optional<double> node;    ///< between healthy nodes
    std::optional<double> degrees;
    bool operator==(const Components&) const = default;
};

/// How often the bound is wrong: about healthy nodes, and about nodes that are slower by `slowdown`.
struct ErrorRates {
    std::optional<double> false_reject;
    std::optional<double> false_accept;
    std::optional<double> slowdown;
    bool operator==(const ErrorRates&) const = default;
};

struct Limit {
    std::string id; ///< a later layer replaces the limit of the same id
    std::string title;
    std::string title_zh;
    LimitKind kind = LimitKind::spec;
    Selector machine;
    Selector cases;     ///< key `case`
    std::string metric; ///< the primary one where empty
    std::string unit;   ///< of the bounds; empty where they are shares
    std::optional<double> at_least;
    std::optional<double> at_most;
    std::optional<double> warn_at_least; ///< WARN beyond it, where the bound itself holds
    std::optional<double> warn_at_most;
    /// Base of the bounds: "datasheet" (the case's roofline bound by a data sheet), "datasheet:BENCHMARK" (that of this
    /// benchmark's case at the same place), "siblings" (the median of the node's other devices), "limit:ID" (the bound
    /// of another limit). Empty: the bounds are absolute.
    std::string share_of;
    /// Factor from a unit of another benchmark's bound: FLOP a byte, pairs a FLOP.
    std::optional<double> per_unit;
    bool optional = false; ///< not measured is SKIP, not INCONCLUSIVE
    Action action = Action::none;
    std::string source;
    std::string measured_on;              ///< the machine or device that the bound was measured on
    std::optional<std::uint64_t> samples; ///< nodes behind it
    std::optional<double> center;         ///< of these nodes: the median
    std::optional<Components> spread;
    std::optional<ErrorRates> errors;
    std::string date; ///< 2026-11-23
    std::string author;
    std::string expires; ///< the last day on which it holds
    std::string note;
    std::string file;    ///< that it came from
    std::string written; ///< "3700 GB/s": the bound as the file has it, where its unit has a prefix
};

/// Requirements on the machines, as of `assay run --expect`: "gpu=8", "memory>=1TiB".
struct Expectation {
    Selector machine;
    std::vector<std::string> expect;
};

/// The benchmark of "datasheet:BENCHMARK", the limit of "limit:ID"; empty for other shares.
std::string_view sheet_of(const Limit& limit);
std::string_view base_of(const Limit& limit);

/// s. From the day of the judgement on.
inline constexpr double longest_waiver = 366 * 86400.0;
/// A finding on one machine that is accepted until a day within a year.
struct Waiver {
    std::string limit;   ///< id of a limit, or
    std::string cause;   ///< a cause code
    std::string machine; ///< id of the machine or one of its serials
    std::string owner;
    std::string reason;
    std::string expires;
};

struct LimitsFile {
    std::string schema;
    std::string name;
    std::string description;
    std::string date;
    std::string author;
    std::string expires;
    Selector sources; ///< public ones by short name
    std::vector<Expectation> expect;
    std::vector<Limit> limits;
    std::vector<Waiver> waivers;
};

/// Several files, the later ones on top.
struct Limits {
    std::vector<Limit> limits;
    std::vector<Expectation> expect;
    std::vector<Waiver> waivers;
    std::vector<std::string> names; ///< of the files, in order
    /// Limits that a later layer replaced: id, and both files.
    struct Replaced {
        std::string id;
        std::string file;
        std::string by;
    };
    std::vector<Replaced> replaced;
};

/// One file: obeys the schema, ids are unique, bounds are there and do not contradict each other, `limit:ID` is known
/// or may be (it may be in another layer).
Result<LimitsFile> parse_limits(std::string_view text, const std::string& source);
Result<LimitsFile> read_limits(const std::filesystem::path& path);
/// Expectations about the same thing of the same machines are replaced as limits are. Fails where a `limit:ID` is of no
/// layer or goes round in a circle, and where two limits of the same cases contradict each other.
Result<Limits> layered(std::vector<LimitsFile> files);
/// Names of the benchmarks of assay that limits may use (configs/limits/benchmarks.json).
struct KnownBenchmark {
    std::string unit;  ///< of the primary metric
    std::string items; ///< "keys/s", where the unit is "1/s"
    /// By parameter its values; "#" stands for any number, "*" for any text.
    std::map<std::string, std::vector<std::string>, std::less<>> parameters;
};
/// By id; empty where the file cannot be read.
const std::map<std::string, KnownBenchmark, std::less<>>& known_benchmarks();

/// The file for a name on the command line: a path, or the name of an installed one ("spec").
Result<std::filesystem::path> find_limits(const std::string& name);
/// JSON of the same schema.
json::Value to_json(const LimitsFile& file);

ASSAY_FIELDS(Components, replica, run, day, device, node, degrees)
ASSAY_FIELDS(ErrorRates, false_reject, false_accept, slowdown)
ASSAY_FIELDS(Limit, id, title, title_zh, kind, machine, (record.cases, "case"), metric, unit,
             at_least, at_most, warn_at_least, warn_at_most, share_of, per_unit, optional, action,
             source, measured_on, samples, center, spread, errors, date, author, expires, note)
ASSAY_FIELDS(Expectation, machine, expect)
ASSAY_FIELDS(Waiver, limit, cause, machine, owner, reason, expires)
ASSAY_FIELDS(LimitsFile, schema, name, description, date, author, expires, sources, expect, limits,
             waivers)

template <OneOf<Components, ErrorRates, Limit, Expectation, Waiver, LimitsFile> T>
void json_lenient(const T&);

} // namespace assay::judge
