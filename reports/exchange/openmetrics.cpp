// SPDX-License-Identifier: Apache-2.0

#include "exchange/openmetrics.hpp"

#include "base/utc.hpp"
#include "document/words.hpp"
#include "record/conditions.hpp"
#include "record/metrics.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace assay::exchange {

using namespace document;
namespace {

/// Lower case letters and digits, with one _ between them.
std::string name_part(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            out += upper ? static_cast<char>(c - 'A' + 'a') : c;
        else if (!out.empty() && out.back() != '_')
            out += '_';
    }
    while (!out.empty() && out.back() == '_') out.pop_back();
    return out;
}

std::string unit_part(std::string_view part, bool one) {
    struct Unit {
        std::string_view symbol, many, one;
    };
    static constexpr std::array known{
        Unit{"s", "seconds", "second"},
        Unit{"B", "bytes", "byte"},
        Unit{"W", "watts", "watt"},
        Unit{"J", "joules", "joule"},
        Unit{"Hz", "hertz", "hertz"},
        Unit{"FLOP", "flops", "flop"},
        Unit{"OP", "operations", "operation"},
        Unit{"1", "", ""},
    };
    const auto* const found = std::ranges::find(known, part, &Unit::symbol);
    if (found != known.end()) return std::string{one ? found->one : found->many};
    return name_part(part);
}

/// Escaped like label values and help texts.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out;
}

std::string labels_of(const record::Run& run, const record::Case& c) {
    return Gauges::labels({{"machine", record::own_id(run.machine)},
                           {"provider", run.machine.provider},
                           {"instance_type", run.machine.instance},
                           {"benchmark", c.benchmark},
                           {"version", std::to_string(c.version)},
                           {"device", record::words_of(c.place)},
                           {"library", c.library},
                           {"parameters", store::joined(c.parameters)},
                           {"conditions", store::joined(record::conditions(c, run.machine))}});
}

struct Sample {
    std::string name; ///< of the metric; with the unit it makes the family's
    std::string unit; ///< as in the family's name
    std::string help;
    std::string labels; ///< beside those of the series
    double value;
};
/// The newest run's value of one series.
struct Newest {
    std::optional<double> started;
    std::vector<Sample> samples;
};

class Samples {
public:
    Samples(const record::Run& run, const record::Case& c) : started_{seconds_of(run.started)} {
        const auto* primary = headline(c);
        add({"case_measured", "", "has the case a value?",
             Gauges::labels({{"status", std::string{record::to_string(c.status)}},
                             {"reason_code", c.reason_code == record::ReasonCode::none
                                                 ? ""
                                                 : std::string{record::to_string(c.reason_code)}}}),
             primary == nullptr ? 0.0 : 1.0});
        if (started_) add({"run_time", "seconds", "start of the run, since 1970", "", *started_});
        if (primary == nullptr) return;
        for (const auto& metric : c.metrics)
            if (metric.value) add_metric(metric.name, metric.unit, "", *metric.value);
        if (const auto share = ceiling_share(c))
            add({"bound_share", "ratio", "primary metric over its roofline bound", "", *share});
        if (primary->value && primary->low && primary->high && *primary->value != 0)
            add({"interval", "ratio", "half width of the 95% interval, relative to the value", "",
                 (*primary->high - *primary->low) / 2 / std::fabs(*primary->value)});
        for (const auto& table : c.tables) add_table(table);
    }
    Newest take() && { return {.started = started_, .samples = std::move(samples_)}; }

private:
    void add(Sample sample) {
        if (std::isfinite(sample.value)) samples_.push_back(std::move(sample));
    }
    void add_metric(const std::string& name, std::string_view unit, std::string labels,
                    double value) {
        add({name_part(name), openmetrics_unit(unit), metric_title(name), std::move(labels),
             value});
    }
    void add_table(const record::Table& table) {
        std::optional<double> lowest, highest;
        for (const auto& value : table.values) {
            if (!value) continue;
            lowest = std::min(*value, lowest.value_or(*value));
            highest = std::max(*value, highest.value_or(*value));
        }
        for (const auto& [cells, value] : {std::pair{"lowest", lowest}, {"highest", highest}})
            if (value)
                add_metric(table.metric, table.unit, Gauges::labels({{"cells", cells}}), *value);
    }

    std::optional<double> started_;
    std::vector<Sample> samples_;
};

} // namespace

std::string Gauges::labels(const Labels& labels) {
    std::string out;
    for (const auto& [name, value] : labels)
        if (!value.empty())
            out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped(value));
    return out;
}

void Gauges::add(std::string_view name, std::string_view unit, std::string_view help,
                 std::string_view labels, double value, std::optional<double> timestamp) {
    const auto full = fmt::format("assay_{}{}{}", name, unit.empty() ? "" : "_", unit);
    auto found = families_.find(full);
    if (found == families_.end())
        found = families_.emplace(full, Family{std::string{unit}, std::string{help}, ""}).first;
    auto out = std::back_inserter(found->second.samples);
    fmt::format_to(out, "{}{{{}}} {}", full, labels, value);
    if (timestamp) fmt::format_to(out, " {}", *timestamp);
    found->second.samples += '\n';
}

std::string Gauges::text() const {
    std::string out;
    for (const auto& [name, family] : families_) {
        out += fmt::format("# TYPE {} gauge\n", name);
        if (!family.unit.empty()) out += fmt::format("# UNIT {} {}\n", name, family.unit);
        out += fmt::format("# HELP {} {}\n{}", name, escaped(family.help), family.samples);
    }
    return out + "# EOF\n";
}

std::string openmetrics_unit(std::string_view unit) {
    std::string out;
    for (bool first = true; !unit.empty() || first; first = false) {
        const auto part = unit.substr(0, unit.find('/'));
        unit.remove_prefix(std::min(unit.size(), part.size() + 1));
        const auto word = unit_part(part, !first);
        if (word.empty()) continue;
        out += fmt::format("{}{}{}", out.empty() ? "" : "_", first ? "" : "per_", word);
    }
    return out;
}

std::string to_openmetrics(const store::FoundFiles& files, const OpenMetricsOptions& options,
                           store::EachRun& read) {
    std::map<std::string, Newest> series; // by labels
    read = each_run(files, [&](const record::Run& run, const store::FoundFile&) {
        for (const auto& c : run.cases) {
            auto& newest = series[labels_of(run, c)];
            auto mine = Samples{run, c}.take();
            if (newest.samples.empty() || mine.started >= newest.started) newest = std::move(mine);
        }
        return true;
    });
    Gauges gauges;
    for (const auto& [labels, newest] : series)
        for (const auto& sample : newest.samples)
            gauges.add(sample.name, sample.unit, sample.help,
                       sample.labels.empty() ? labels : fmt::format("{},{}", labels, sample.labels),
                       sample.value, options.timestamps ? newest.started : std::nullopt);
    return gauges.text();
}

} // namespace assay::exchange
