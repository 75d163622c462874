// SPDX-License-Identifier: Apache-2.0

#include "document/words.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/status.hpp"
#include "document/texts/words.hpp"
#include "record/format.hpp"
#include "record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace assay::document {
namespace {

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
    if (const auto bytes = record::number(value); bytes && is_bytes(name))
        return size_in_words(*bytes);
    // Whole numbers that came through a double: 2, not 2.000000.
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.6g}", *real);
    return record::to_string(value);
}

std::string with_resolved(const std::string& text, const std::string& resolved) {
    return resolved.empty() ? text : say<text::words::in_brackets>(text, resolved);
}

std::string workers_in_words(bool threads, const std::string& value, const std::string& resolved) {
    if (value == "one" || value == "1")
        return threads ? say<text::words::one_thread>() : say<text::words::one_rank>();
    if (value == "all")
        return with_resolved(
            threads ? say<text::words::all_threads>() : say<text::words::all_ranks>(), resolved);
    return threads ? say<text::words::some_threads>(value) : say<text::words::some_ranks>(value);
}

/// "3.2 GHz" for hz and to_hz, "12%" for share; a reason of the driver or a phase in the language, another text as it is.
std::string value_in_words(const record::Named& value) {
    const auto number = record::number(value.value);
    auto text = record::to_string(value.value);
    if (!number) {
        auto key = text;
        std::ranges::replace(key, ' ', '_');
        if (value.name == "phase") return std::string{find_text("phase", key).value_or(text)};
        if (value.name == "reason") return std::string{find_text("throttle", key).value_or(text)};
        return text;
    }
    constexpr std::array<std::pair<std::string_view, const char*>, 3> units{
        {{"seconds", "s"}, {"hz", "Hz"}, {"watts", "W"}}};
    for (const auto& [end, unit] : units)
        if (value.name.ends_with(end)) return record::human(*number, unit);
    if (value.name.ends_with("share")) return record::human_percent(*number);
    if (value.name.ends_with("_bytes")) return record::human_bytes(*number);
    if (std::holds_alternative<std::int64_t>(value.value)) return text;
    return fmt::format("{:.3g}", *number);
}

/// Disturbances that differ in numbers alone, or in who caused them, are of one kind.
std::string kind_of(const record::Disturbance& disturbance) {
    std::string kind{record::to_string(disturbance.code)};
    for (const auto& value : disturbance.values)
        if (const auto* text = std::get_if<std::string>(&value.value);
            text != nullptr && value.name != "programs")
            kind += ' ' + *text;
    return kind;
}
/// The same of files from before there were codes.
std::string kind_by_text(std::string sentence) {
    std::erase_if(sentence, [](char letter) { return letter >= '0' && letter <= '9'; });
    return sentence;
}

/// What a model has unless something is said: all layers, on one device, a cache in bf16.
bool is_usual(const record::Named& parameter) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> values{
        {{"layers", "0"}, {"shards", "1"}, {"cache", "bf16"}}};
    return std::ranges::find(
               values, std::pair<std::string_view, std::string_view>{
                           parameter.name, record::to_string(parameter.value)}) != values.end();
}

/// The status word stands before it, and says the same as these sentences begin with.
std::string not_applicable(const record::Case& c) {
    const auto message = record::text(c.reason_values, "message");
    std::string text = message.empty() ? c.reason : message;
    const std::string said = fmt::format("{}: ", text::status::skipped.en);
    if (text.starts_with(said)) text.erase(0, said.size());
    return translated(text);
}

} // namespace

bool is_bytes(std::string_view name) {
    return contains(sizes_in_bytes, name) ||
           (name.size() > 6 && name.substr(name.size() - 6) == "_bytes");
}

std::string size_in_words(double bytes) {
    constexpr double kilo = 1000;
    auto text = record::human_bytes(bytes);
    if (text.find('.') == std::string::npos || std::fmod(bytes, kilo) != 0) return text;
    double scaled = bytes;
    std::string_view prefixes = "kMGTP";
    while ((scaled /= kilo) >= kilo && prefixes.size() > 1) prefixes.remove_prefix(1);
    return fmt::format("{:.6g} {}B", scaled, prefixes.front());
}

bool is_about_links(std::string_view benchmark) {
    static constexpr std::array<std::string_view, 3> families{"collective", "network", "transfer"};
    return contains(families, family_of(benchmark));
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
    if (family.empty()) return {.title = say<text::words::other_family>(), .question = ""};
    return {.title = std::string{find_text("family", family).value_or(family)},
            .question = std::string{find_text("question", family).value_or("")}};
}

std::string metric_title(std::string_view name) {
    if (const auto title = find_text("metric", name)) return std::string{*title};
    const auto dot = name.rfind('.'); // "latency.worst"; see store/metrics.hpp
    const auto which = dot == name.npos ? std::nullopt : find_text("metric", name.substr(dot + 1));
    if (!which) return std::string{name};
    return say<text::words::labelled>(metric_title(name.substr(0, dot)), *which);
}

std::vector<std::string> parameter_parts(const record::Case& c) {
    const record::NameIndex settings{c.settings};
    std::vector<std::string> parts;
    for (const auto& parameter : c.parameters)
        parts.push_back(parameter_in_words(parameter, settings.find(parameter.name)));
    return parts;
}

std::string parameter_in_words(const record::Named& parameter, const record::Value* setting) {
    const std::string& name = parameter.name;
    const std::string value = number_in_words(name, parameter.value);
    const std::string resolved = setting == nullptr ? "" : number_in_words(name, *setting);
    if (name == "threads" || name == "ranks")
        return workers_in_words(name == "threads", value, resolved);
    if (const auto* yes = std::get_if<bool>(&parameter.value))
        return *yes ? with_blanks(name) : say<text::words::not_so>(with_blanks(name));
    const bool symbolic = std::holds_alternative<std::string>(parameter.value);
    if (value == "beyond_cache") return with_resolved(say<text::words::beyond_caches>(), resolved);
    std::string text = with_resolved(with_blanks(value), resolved == value ? "" : resolved);
    if (contains(self_explaining, name) || (is_bytes(name) && !symbolic)) return text;
    return with_blanks(name) + " " + text;
}

std::string case_name(std::string_view benchmark, const record::NamedList& parameters,
                      const record::NamedList& settings,
                      const std::set<std::string, std::less<>>& said) {
    std::string key{benchmark};
    std::ranges::replace(key, '.', '_');
    auto text = std::string{find_text("case_name", key).value_or("")};
    if (parameters.empty()) { // what is left of the name without any
        for (const auto& [open, close] : {std::pair{'[', ']'}, std::pair{'{', '}'}})
            for (auto at = text.find(open); at != text.npos; at = text.find(open))
                text.erase(at, text.find(close, at) - at + 1);
        text.erase(text.find_last_not_of(", ") + 1);
        if (text.ends_with("，")) text.erase(text.size() - std::string_view{"，"}.size());
    }
    const record::NameIndex known{settings};
    record::Values values;
    std::vector<std::string> rest;
    for (const auto& parameter : parameters) {
        const auto at = text.find(fmt::format("{{{}}}", parameter.name));
        const auto bracket = at == text.npos ? text.npos : text.rfind('[', at);
        const bool needed =
            at != text.npos && (bracket == text.npos || text.find(']', bracket) < at);
        if (!needed && (said.contains(parameter.name) || is_usual(parameter))) continue;
        if (at == text.npos)
            rest.push_back(parameter_in_words(parameter, known.find(parameter.name)));
        else
            values.push_back(
                {parameter.name, with_blanks(number_in_words(parameter.name, parameter.value))});
    }
    const auto name = filled(text, values).value_or("");
    if (!name.empty()) {
        rest.insert(rest.begin(), name);
        return join(rest);
    }
    rest.assign(
        1, std::string{benchmark}); // of other people, or without a parameter that it had later
    for (const auto& parameter : parameters)
        if (!said.contains(parameter.name))
            rest.push_back(parameter_in_words(parameter, known.find(parameter.name)));
    return join(rest);
}

std::vector<std::string> short_names(const std::vector<NamedCase>& cases) {
    std::map<std::string_view, std::size_t> count; // cases of a benchmark
    std::map<std::tuple<std::string_view, std::string_view, std::string>, std::size_t> count_with;
    for (const auto& c : cases) {
        ++count[c.benchmark];
        for (const auto& parameter : c.parameters)
            ++count_with[{c.benchmark, parameter.name, record::to_string(parameter.value)}];
    }
    // From the shortest name to the whole one; each case has the first that no other has.
    constexpr std::size_t levels = 5;
    std::vector<std::array<std::string, levels>> names;
    std::array<std::map<std::string, std::size_t>, levels> seen;
    for (const auto& c : cases) {
        std::set<std::string, std::less<>> all;
        std::set<std::string, std::less<>> shared;
        for (const auto& parameter : c.parameters) {
            all.insert(parameter.name);
            if (count_with[{c.benchmark, parameter.name, record::to_string(parameter.value)}] ==
                count[c.benchmark])
                shared.insert(parameter.name);
        }
        const auto brief = case_name(c.benchmark, c.parameters, {}, all);
        auto apart = case_name(c.benchmark, c.parameters, {}, shared);
        auto whole = case_name(c.benchmark, c.parameters);
        if (!c.more.empty()) {
            apart = join({apart, c.more});
            whole = join({whole, c.more});
        }
        const std::string library{c.library};
        names.push_back(
            {brief, join({brief, library}), apart, join({apart, library}), join({whole, library})});
        for (std::size_t i = 0; i < levels; ++i) ++seen.at(i)[names.back().at(i)];
    }
    std::vector<std::string> out;
    for (const auto& of_case : names) {
        std::size_t i = 0;
        while (i + 1 < levels && seen.at(i)[of_case.at(i)] > 1) ++i;
        out.push_back(plain(of_case.at(i)));
    }
    return out;
}

std::string parameters_in_words(const record::Case& c) {
    const auto parts = parameter_parts(c);
    return parts.empty() ? say<text::words::no_parameters>() : join(parts);
}

std::string settings_in_words(const record::Case& c) {
    const record::NameIndex parameters{c.parameters};
    std::vector<std::string> parts;
    for (const auto& setting : c.settings) {
        if (parameters.find(setting.name) != nullptr) continue;
        // The worker's environment is in run.json; it follows from threads and tuning.
        if (setting.name.starts_with("environment.")) continue;
        if (setting.name == "trial") continue; // how far other kernels were behind, in run.json
        // One word for each of what may be a thousand hosts.
        if (setting.name.starts_with("job.groups.")) continue;
        parts.push_back(with_blanks(setting.name) + " " +
                        number_in_words(setting.name, setting.value));
    }
    return join(parts);
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
        return say<text::words::between_processes>(measured_replicas(c));
    case record::IntervalScope::within_process:
        return say<text::words::within_process>();
    case record::IntervalScope::none:
        break;
    }
    return say<text::words::no_interval>();
}

const record::Metric* headline(const record::Case& c) {
    const bool shown = is_measured(c.status);
    if (!shown || c.metrics.empty() || !c.metrics.front().value) return nullptr;
    // A result that was not found right has no rate, whatever the status says.
    if (c.verification && !c.verification->passed) return nullptr;
    return &c.metrics.front();
}

std::optional<double> ceiling_share(const record::Case& c) {
    if (headline(c) == nullptr || c.ceiling.kind == record::CeilingKind::none) return std::nullopt;
    return record::share_of_ceiling(c);
}

std::string ceiling_in_words(const record::Case& c) { return ceiling_in_words(c, c.ceiling); }

std::string ceiling_in_words(const record::Case& c, const record::Ceiling& ceiling) {
    const std::string& source = ceiling.source;
    if (!ceiling.value || ceiling.kind == record::CeilingKind::none)
        return source.empty() ? "" : say<text::words::no_ceiling>(source);
    const record::Metric* metric = headline(c);
    const std::string value = record::human(*ceiling.value, metric != nullptr ? metric->unit : "");
    if (ceiling.kind == record::CeilingKind::datasheet)
        return say<text::words::from_data_sheet>(value, source);
    return join({value, source.empty() ? say<text::words::measured>() : source});
}

std::string_view status_in_words(record::Status status) {
    // Those that were interrupted and those that were never begun are the same to a reader.
    return find_text("status", record::to_string(status)).value_or("");
}

std::string_view knowledge_in_words(record::Knowledge knowledge, bool higher_is_better) {
    const bool is_upper = knowledge == record::Knowledge::at_least && !higher_is_better;
    return find_text("status", is_upper ? "at_most" : to_string(knowledge)).value_or("");
}

std::optional<std::string> filled(std::string_view text, const record::Values& values) {
    std::string out;
    for (auto at = text.find_first_of("{["); at != text.npos; at = text.find_first_of("{[")) {
        out += text.substr(0, at);
        const bool optional = text[at] == '[';
        const auto end = text.find(optional ? ']' : '}', at);
        const auto inner = text.substr(at + 1, end - at - 1);
        text.remove_prefix(end + 1);
        if (optional) {
            out += filled(inner, values).value_or("");
        } else {
            const auto value = std::ranges::find(values, inner, &record::Named::name);
            if (value == values.end()) return {};
            out += value_in_words(*value);
        }
    }
    return out.append(text);
}

std::string cause_in_words(const record::Disturbance& cause) {
    auto values = cause.values;
    if (record::text(values, "programs").empty())
        values.push_back({"programs", say<text::words::other_programs>()});
    const auto text = find_text("cause", record::to_string(cause.code));
    return text ? filled(*text, values).value_or("") : "";
}

std::vector<std::string> levels_beside(const record::Case& c) {
    constexpr double least = 0.03; // of the value: below that they say the same
    std::vector<std::string> words;
    const auto* metric = headline(c);
    if (metric == nullptr || !metric->levels) return words;
    const auto& [mean, slow, share] = *metric->levels;
    const auto text = [&](double value) { return record::human(value, metric->unit); };
    if (slow && share)
        words.push_back(say<text::words::levels>(text(*metric->value),
                                                 record::human_percent(*share), text(*slow)));
    if (mean && std::fabs(*mean - *metric->value) > least * std::fabs(*metric->value))
        words.push_back(say<text::words::mean_of_all>(text(*mean)));
    return words;
}

std::string reason_in_words(const record::Case& c) {
    const bool of_rank = record::find(c.reason_values, "rank") != nullptr; // which is named
    if (c.reason_code == record::ReasonCode::not_applicable && !of_rank) return not_applicable(c);
    if (c.reason_code == record::ReasonCode::two_levels && !levels_beside(c).empty()) return "";
    const auto code = record::to_string(c.reason_code);
    const auto meaning = find_text("reason", code);
    // The sentence of the file is English; of these its numbers are better said here.
    using Code = record::ReasonCode;
    const bool numbers = c.reason_code == Code::drift || c.reason_code == Code::wide_interval ||
                         c.reason_code == Code::disturbed;
    if (!meaning || (language_in_use() == Language::en && !numbers)) return c.reason;
    if (const auto sentence = find_text("reason_values", code))
        if (auto whole = filled(*sentence, c.reason_values)) return *std::move(whole);
    return language_in_use() == Language::en ? c.reason
                                             : say<text::words::labelled>(*meaning, c.reason);
}

std::string causes_in_words(const record::Telemetry& telemetry) {
    if (telemetry.disturbed_by.empty()) return join(disturbances_in_words(telemetry));
    std::vector<std::string> words;
    std::set<record::DisturbanceCode> said;
    for (const auto& cause : telemetry.disturbed_by) {
        if (!said.insert(cause.code).second) continue;
        auto text = cause_in_words(cause);
        if (text.empty())
            text = filled(find_text("disturbance", record::to_string(cause.code)).value_or(""),
                          cause.values)
                       .value_or("");
        if (!text.empty()) words.push_back(std::move(text));
    }
    return join(words);
}

std::vector<std::string> disturbances_in_words(const record::Telemetry& telemetry) {
    std::vector<std::string> words;
    std::set<std::string> said;
    const bool has_codes = telemetry.disturbed_by.size() == telemetry.disturbances.size();
    for (std::size_t i = 0; i < telemetry.disturbances.size(); ++i) {
        const auto& sentence = telemetry.disturbances[i];
        const auto* cause = has_codes ? &telemetry.disturbed_by[i] : nullptr;
        if (!said.insert(cause != nullptr ? kind_of(*cause) : kind_by_text(sentence)).second)
            continue;
        std::optional<std::string> by_code;
        if (cause != nullptr && language_in_use() != Language::en)
            if (const auto text = find_text("disturbance", record::to_string(cause->code)))
                by_code = filled(*text, cause->values);
        words.push_back(by_code.value_or(translated(sentence)));
    }
    return words;
}

} // namespace assay::document
