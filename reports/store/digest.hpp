// SPDX-License-Identifier: Apache-2.0
//
// What is kept of one result file. What many files have in common (machines, series, settings) is kept once and
// referred to by number, so that a digest takes about 2 kB where the file takes 200.

#pragma once

#include "record/layout.hpp"
#include "store/collection.hpp"
#include "store/metrics.hpp"
#include "store/pack.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::report {

/// Different byte strings, numbered as they come.
class Pool {
public:
    Pool() = default;
    ~Pool() = default;
    Pool(Pool&&) noexcept = default;
    Pool& operator=(Pool&&) noexcept = default;
    Pool(const Pool&) = delete; ///< the map would look at the other's items
    Pool& operator=(const Pool&) = delete;

    std::uint32_t add(std::string_view bytes);
    std::size_t size() const { return items_.size(); }
    const std::string& operator[](std::size_t number) const { return items_[number]; }

private:
    std::deque<std::string> items_; ///< stay where they are: the map looks at them
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// What digests refer to: packed record::Machine, Series, record::NamedList, and what other metrics cases have.
struct Pools {
    Pool machines;
    Pool series;
    Pool settings;
    Pool others; ///< lists of MetricKind
};

/// Why an ok or unstable case says nothing.
enum class Defect : std::uint8_t { none, no_value, other_metric, other_unit, other_direction };
template <>
inline constexpr auto last_of<Defect> = Defect::other_direction;

struct CaseDigest {
    std::uint32_t series = 0;
    std::uint32_t settings = 0;
    record::Status status = record::Status::interrupted;
    std::string reason;
    Defect defect = Defect::none;
    std::string found; ///< the metric or unit that is not the right one
    std::optional<double> value;
    std::optional<double> low;
    std::optional<double> high;
    record::IntervalScope scope = record::IntervalScope::none;
    std::vector<ReplicaValue> replicas;
    int planned = 0;
    std::optional<double> warm_seconds;
    std::optional<double> ceiling;
    bool disturbed = false;
    std::optional<record::Disturbance> cause;
    bool two_levels = false;
    std::optional<double> core_latency;
    std::optional<double> between_runs;
    std::optional<double> between_replicas;
    std::optional<double> degrees;
    std::optional<double> alone_between_replicas;
    std::optional<double> alone_between_runs;
    std::optional<double> datasheet;
    bool verified = false;
    std::optional<std::uint32_t> events;
    std::uint32_t others = 0;  ///< which metrics beside the primary one
    std::string others_values; ///< packed MetricValues of those, which few readers look at
};

struct RunDigest {
    record::Run run; ///< without machine and cases
    std::optional<double> core_clock_hz;
    double strayed_seconds = 0;
    std::uint32_t machine = 0;
    std::vector<CaseDigest> cases;
};

/// What a result file says, packed. Only adding to the pools needs them for itself: the caller holds a
/// lock during the second.
class Digester {
public:
    explicit Digester(record::Run run);
    std::string finish(Pools& pools);

private:
    RunDigest digest_;
    std::string machine_;
    std::vector<std::string> series_;
    std::vector<std::string> settings_;
    std::vector<std::string> others_;
};

/// The shape of everything that is packed; see Shape.
std::string digest_shape();

/// What identifies it; the words follow from that.
template <class Visit>
void each_field(Visit&& visit, Maybe<Series> auto& series) {
    visit("benchmark", series.benchmark);
    visit("version", series.version);
    visit("place", series.place);
    visit("library", series.library);
    visit("parameters", series.parameters);
    visit("conditions", series.conditions);
    visit("metric", series.metric);
    visit("unit", series.unit);
    visit("higher_is_better", series.higher_is_better);
    visit("is_headline", series.is_headline);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<CaseDigest> auto& c) {
    visit("series", c.series);
    visit("settings", c.settings);
    visit("status", c.status);
    visit("reason", c.reason);
    visit("defect", c.defect);
    visit("found", c.found);
    visit("value", c.value);
    visit("low", c.low);
    visit("high", c.high);
    visit("scope", c.scope);
    visit("replicas", c.replicas);
    visit("planned", c.planned);
    visit("warm_seconds", c.warm_seconds);
    visit("ceiling", c.ceiling);
    visit("disturbed", c.disturbed);
    visit("cause", c.cause);
    visit("two_levels", c.two_levels);
    visit("core_latency", c.core_latency);
    visit("between_runs", c.between_runs);
    visit("between_replicas", c.between_replicas);
    visit("degrees", c.degrees);
    visit("alone_between_replicas", c.alone_between_replicas);
    visit("alone_between_runs", c.alone_between_runs);
    visit("datasheet", c.datasheet);
    visit("verified", c.verified);
    visit("events", c.events);
    visit("others", c.others);
    visit("others_values", c.others_values);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<RunDigest> auto& digest) {
    visit("run", digest.run);
    visit("core_clock_hz", digest.core_clock_hz);
    visit("strayed_seconds", digest.strayed_seconds);
    visit("machine", digest.machine);
    visit("cases", digest.cases);
}

} // namespace assay::report
