// SPDX-License-Identifier: Apache-2.0

#include "model/words.hpp"

#include "model/text.hpp"
#include "record/format.hpp"
#include "record/metrics.hpp"
#include "record/summary.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace assay::report {
namespace {

struct Family {
    std::string_view name;
    std::string_view title;
    std::string_view question;
};
constexpr std::array families{
    Family{"gemm", "Matrix multiplication",
           "How fast are dense matrices multiplied, and how near is that to the peak?"},
    Family{"peak", "Peak arithmetic",
           "How many operations per second can the cores do when nothing else holds them up?"},
    Family{"memory", "Memory", "How fast does data move between memory and the cores?"},
    Family{"fft", "Fourier transforms", "How fast are Fourier transforms of the usual sizes?"},
    Family{"md", "Molecular dynamics", "How many atom steps per second does a simulation make?"},
    Family{"stencil", "Stencils", "How fast are grid cells updated from their neighbours?"},
    Family{"transfer", "Transfers", "How fast do the parts of this machine exchange data?"},
    Family{"collective", "Collective communication",
           "How fast do several processes combine and exchange data?"},
    Family{"network", "Network", "How fast do machines exchange data?"},
    Family{"latency", "Latency", "How long do the smallest operations take?"},
    Family{"workload", "Workloads", "How fast are typical pieces of real work?"},
    Family{"external", "External programs", "What do other people's benchmarks say?"},
};

/// Parameters whose value says it all.
constexpr std::array self_explaining{"precision", "operation",  "kernel", "isa",
                                     "type",      "datatype",   "mode",   "stores",
                                     "algorithm", "dimensions", "stencil"};
/// Parameters that are a number of bytes.
constexpr std::array sizes_in_bytes{"footprint", "bytes", "message", "working_set"};

template <class List>
bool contains(const List& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
}
std::string number_in_words(std::string_view name, const record::Value& value) {
    if (is_bytes(name)) {
        if (const auto* bytes = std::get_if<std::int64_t>(&value))
            return record::human_bytes(static_cast<double>(*bytes));
        if (const auto* bytes = std::get_if<double>(&value)) return record::human_bytes(*bytes);
    }
    // Whole numbers that came through a double: 2, not 2.000000.
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.6g}", *real);
    return record::to_string(value);
}

std::string workers_in_words(std::string_view name, const std::string& value,
                             const std::string& resolved) {
    const std::string_view plural = name;
    const std::string_view singular = name.substr(0, name.size() - 1);
    if (value == "one" || value == "1") return fmt::format("one {}", singular);
    if (value == "all")
        return fmt::format("all {}{}", plural, resolved.empty() ? "" : " (" + resolved + ")");
    return fmt::format("{} {}", value, plural);
}

std::string parameter_in_words(const record::Case& c, const record::Named& parameter) {
    const std::string& name = parameter.name;
    const record::Value* setting = record::find(c.settings, name);
    const std::string value = number_in_words(name, parameter.value);
    const std::string resolved = setting == nullptr ? "" : number_in_words(name, *setting);
    if (name == "threads" || name == "ranks") return workers_in_words(name, value, resolved);
    if (const auto* yes = std::get_if<bool>(&parameter.value))
        return (*yes ? "" : "not ") + with_blanks(name);
    const bool symbolic = std::holds_alternative<std::string>(parameter.value);
    if (value == "beyond_cache")
        return "beyond the caches" + (resolved.empty() ? "" : " (" + resolved + ")");
    const bool says_more = !resolved.empty() && resolved != value;
    const std::string text = with_blanks(value) + (says_more ? " (" + resolved + ")" : "");
    if (contains(self_explaining, name) || (is_bytes(name) && !symbolic)) return text;
    return with_blanks(name) + " " + text;
}

} // namespace

bool is_bytes(std::string_view name) {
    return contains(sizes_in_bytes, name) ||
           (name.size() > 6 && name.substr(name.size() - 6) == "_bytes");
}

std::string with_blanks(std::string_view name) {
    std::string out{name};
    std::ranges::replace(out, '_', ' ');
    return out;
}

std::string family_of(std::string_view benchmark) {
    return std::string{benchmark.substr(0, benchmark.find('.'))};
}

FamilyWords family_words(std::string_view family) {
    for (const auto& known : families)
        if (known.name == family)
            return {.title = std::string{known.title}, .question = std::string{known.question}};
    return {.title = family.empty() ? "Other" : std::string{family}, .question = ""};
}

std::vector<std::string> parameter_parts(const record::Case& c) {
    std::vector<std::string> parts;
    for (const auto& parameter : c.parameters) parts.push_back(parameter_in_words(c, parameter));
    return parts;
}

std::string parameters_in_words(const record::Case& c) {
    const auto parts = parameter_parts(c);
    return parts.empty() ? "as it is" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string settings_in_words(const record::Case& c) {
    std::string out;
    for (const auto& setting : c.settings) {
        if (record::find(c.parameters, setting.name) != nullptr) continue;
        // The worker's environment is in run.json; it follows from threads and tuning.
        if (setting.name.starts_with("environment.")) continue;
        if (!out.empty()) out += ", ";
        out += with_blanks(setting.name) + " " + number_in_words(setting.name, setting.value);
    }
    return out;
}

std::string interval_in_words(const record::Metric& metric) {
    if (!metric.value || !metric.low || !metric.high || *metric.value == 0) return "";
    const double below = (*metric.value - *metric.low) / std::fabs(*metric.value);
    const double above = (*metric.high - *metric.value) / std::fabs(*metric.value);
    const std::string minus = record::human_percent(below);
    const std::string plus = record::human_percent(above);
    // Asymmetric by less than a quarter of itself reads the same; the larger side is the honest one.
    const double larger = std::max(below, above);
    if (std::fabs(below - above) <= 0.25 * larger) return "±" + record::human_percent(larger);
    return fmt::format("−{} +{}", minus, plus);
}

std::size_t measured_replicas(const record::Case& c) {
    return static_cast<std::size_t>(
        std::ranges::count_if(c.replicas, [](const auto& r) { return r.seconds.has_value(); }));
}

std::string covers_in_words(const record::Case& c, const record::Metric& metric) {
    switch (metric.interval_scope) {
    case record::IntervalScope::between_replicas:
        return fmt::format("between {} processes", measured_replicas(c));
    case record::IntervalScope::within_process:
        return "within one process only: the next run may differ more";
    case record::IntervalScope::none:
        break;
    }
    return "no interval: too little data";
}

const record::Metric* headline(const record::Case& c) {
    const bool shown = c.status == record::Status::ok || c.status == record::Status::unstable;
    if (!shown || c.metrics.empty() || !c.metrics.front().value) return nullptr;
    // A result that was not found right has no rate, whatever the status says.
    if (c.verification && !c.verification->passed) return nullptr;
    return &c.metrics.front();
}

std::optional<double> ceiling_share(const record::Case& c) {
    if (headline(c) == nullptr || c.ceiling.kind == record::CeilingKind::none) return std::nullopt;
    return record::share_of_ceiling(c);
}

std::string ceiling_in_words(const record::Case& c) {
    const std::string& source = c.ceiling.source;
    if (!c.ceiling.value || c.ceiling.kind == record::CeilingKind::none)
        return source.empty() ? "" : "no ceiling: " + source;
    const record::Metric* metric = headline(c);
    const std::string value =
        record::human(*c.ceiling.value, metric != nullptr ? metric->unit : "");
    if (c.ceiling.kind == record::CeilingKind::datasheet)
        return fmt::format("{} from the data sheet: {}", value, source);
    return source.empty() ? value + ", measured" : value + ", " + source;
}

std::string_view status_in_words(record::Status status) {
    switch (status) {
    case record::Status::ok:
        return "ok";
    case record::Status::unstable:
        return "unstable";
    case record::Status::incorrect:
        return "incorrect";
    case record::Status::skipped:
        return "not applicable";
    case record::Status::failed:
        return "failed";
    case record::Status::timed_out:
        return "timed out";
    case record::Status::crashed:
        return "crashed";
    case record::Status::interrupted:
        break;
    }
    return "not reached";
}

} // namespace assay::report
