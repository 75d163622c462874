// SPDX-License-Identifier: Apache-2.0
//
// What a good node must reach: files of limits (configs/limits, schema assay.limits/1), layered into one list. A limit
// says for which machines and cases it is, what its bound is and where that comes from. Units are SI.

#pragma once

#include "base/result.hpp"
#include "json/codec.hpp"
#include "judge/causes.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// What a bound is derived from.
enum class LimitKind : std::uint8_t { spec, fleet, contract };
std::string_view to_string(LimitKind kind);
bool from_text(std::string_view text, LimitKind& out);
std::string_view expected_text(LimitKind kind);

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
    /// What the bounds are a share of: "datasheet" (the case's roofline bound by a data sheet), "datasheet:BENCHMARK" (that of
    /// this benchmark's case at the same place), "siblings" (the median of the node's other devices), "limit:ID" (the bound
    /// of another limit). Empty: the bounds are absolute.
    std::string share_of;
    /// What a unit of another benchmark's bound allows here: FLOP a byte, pairs a FLOP.
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
    std::string file; ///< that it came from
};

/// What the machines must consist of, as of `assay run --expect`: "gpu=8", "memory>=1TiB".
struct Expectation {
    Selector machine;
    std::vector<std::string> expect;
};

/// Is `now` (seconds since 1970) after the last day on which it holds? Without a date it never expires.
bool is_expired(const std::string& expires, double now);

/// The benchmark of "datasheet:BENCHMARK", the limit of "limit:ID"; empty for other shares.
std::string_view sheet_of(const Limit& limit);
std::string_view base_of(const Limit& limit);

/// A finding that is accepted until a day.
struct Waiver {
    std::string limit;   ///< id of a limit, or
    std::string cause;   ///< a cause code
    std::string machine; ///< id of the machine or one of its serials; every machine where empty
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
/// The file for a name on the command line: a path, or the name of an installed one ("spec").
Result<std::filesystem::path> find_limits(const std::string& name);
/// As JSON of the same schema.
json::Value to_json(const LimitsFile& file);

template <class Visit>
void each_field(Visit&& visit, Maybe<Components> auto& spread) {
    visit("replica", spread.replica);
    visit("run", spread.run);
    visit("day", spread.day);
    visit("device", spread.device);
    visit("node", spread.node);
    visit("degrees", spread.degrees);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<ErrorRates> auto& errors) {
    visit("false_reject", errors.false_reject);
    visit("false_accept", errors.false_accept);
    visit("slowdown", errors.slowdown);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Limit> auto& limit) {
    visit("id", limit.id);
    visit("title", limit.title);
    visit("title_zh", limit.title_zh);
    visit("kind", limit.kind);
    visit("machine", limit.machine);
    visit("case", limit.cases);
    visit("metric", limit.metric);
    visit("unit", limit.unit);
    visit("at_least", limit.at_least);
    visit("at_most", limit.at_most);
    visit("warn_at_least", limit.warn_at_least);
    visit("warn_at_most", limit.warn_at_most);
    visit("share_of", limit.share_of);
    visit("per_unit", limit.per_unit);
    visit("optional", limit.optional);
    visit("action", limit.action);
    visit("source", limit.source);
    visit("measured_on", limit.measured_on);
    visit("samples", limit.samples);
    visit("center", limit.center);
    visit("spread", limit.spread);
    visit("errors", limit.errors);
    visit("date", limit.date);
    visit("author", limit.author);
    visit("expires", limit.expires);
    visit("note", limit.note);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Expectation> auto& expectation) {
    visit("machine", expectation.machine);
    visit("expect", expectation.expect);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<Waiver> auto& waiver) {
    visit("limit", waiver.limit);
    visit("cause", waiver.cause);
    visit("machine", waiver.machine);
    visit("owner", waiver.owner);
    visit("reason", waiver.reason);
    visit("expires", waiver.expires);
}
template <class Visit>
void each_field(Visit&& visit, Maybe<LimitsFile> auto& file) {
    visit("schema", file.schema);
    visit("name", file.name);
    visit("description", file.description);
    visit("date", file.date);
    visit("author", file.author);
    visit("expires", file.expires);
    visit("sources", file.sources);
    visit("expect", file.expect);
    visit("limits", file.limits);
    visit("waivers", file.waivers);
}

} // namespace assay::report

namespace assay::json {
template <>
inline constexpr bool is_lenient<report::Components> = true;
template <>
inline constexpr bool is_lenient<report::ErrorRates> = true;
template <>
inline constexpr bool is_lenient<report::Limit> = true;
template <>
inline constexpr bool is_lenient<report::Expectation> = true;
template <>
inline constexpr bool is_lenient<report::Waiver> = true;
template <>
inline constexpr bool is_lenient<report::LimitsFile> = true;
} // namespace assay::json
