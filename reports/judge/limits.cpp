// SPDX-License-Identifier: Apache-2.0

#include "judge/limits.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "record/metrics.hpp"
#include "record/model.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

namespace assay::judge {
namespace {

constexpr std::string_view of_limit = "limit:";
constexpr std::string_view of_sheet = "datasheet:";

std::string_view after(std::string_view start, std::string_view share) {
    return share.starts_with(start) ? share.substr(start.size()) : std::string_view{};
}

bool contradicts(const std::optional<double>& low, const std::optional<double>& high) {
    return low && high && *low > *high;
}

bool is_si(std::string_view unit) {
    return std::ranges::any_of(record::metric_table,
                               [&](const auto& metric) { return metric.unit == unit; });
}

/// 1e9 of "GB/s" for "B/s", also of other spellings.
std::optional<double> factor_of(std::string_view text, std::string_view unit) {
    struct Spelling {
        std::string_view unit;
        std::string_view written;
        double scale = 1;
    };
    static constexpr std::array spellings{Spelling{"B/s", "bit/s", 0.125},
                                          Spelling{"B/s", "b/s", 0.125},
                                          Spelling{"FLOP/s", "FLOPS"},
                                          Spelling{"FLOP/s", "flop/s"},
                                          Spelling{"OP/s", "OPS"},
                                          Spelling{"1", "%", 0.01},
                                          Spelling{"1/s", "/s"}}; // as reports have it: "k/s"
    static constexpr std::string_view prefixes = "num kMGTPE";    // powers of 1000 from -3 on
    constexpr int none = 3;
    const auto with_prefix = [&](const Spelling& one) -> std::optional<double> {
        if (!text.ends_with(one.written)) return {};
        auto prefix = text.substr(0, text.size() - one.written.size());
        if (prefix == "\u00B5" || prefix == "\u03BC") prefix = "u"; // micro, mu
        if (prefix.empty()) return one.scale;
        const auto at = prefixes.find(prefix.front() == 'K' ? 'k' : prefix.front());
        const bool is_binary = prefix.ends_with('i');
        if (at == prefixes.npos || at == none || prefix.size() != (is_binary ? 2U : 1U)) return {};
        return one.scale * std::pow(is_binary ? 1024 : 1000, static_cast<int>(at) - none);
    };
    if (const auto factor = with_prefix({unit, unit})) return factor;
    for (const auto& one : spellings)
        if (one.unit == unit)
            if (const auto factor = with_prefix(one)) return factor;
    return {};
}

/// In SI units, as results are; an unknown unit stays as it is.
void to_si(Limit& limit) {
    if (limit.unit.empty() || is_si(limit.unit)) return;
    const auto take = [&](std::string_view from, std::string_view unit) {
        const auto factor = factor_of(limit.unit, from);
        if (!factor) return false;
        if (const auto bound = limit.at_least ? limit.at_least : limit.at_most; *factor != 1)
            limit.written = fmt::format("{:g} {}", bound.value_or(0), limit.unit);
        limit.unit = unit;
        for (auto* value : {&limit.at_least, &limit.at_most, &limit.warn_at_least,
                            &limit.warn_at_most, &limit.center})
            if (*value) **value *= *factor;
        return true;
    };
    const auto* const own = record::find_metric(limit.metric);
    const auto benchmark = limit.cases.find("benchmark");
    const auto known = benchmark == limit.cases.end() ? known_benchmarks().end()
                                                      : known_benchmarks().find(benchmark->second);
    if ((own == nullptr || own->name == "item_rate") && known != known_benchmarks().end() &&
        !known->second.items.empty() && take(known->second.items, "1/s"))
        return;
    for (const auto& metric : record::metric_table)
        if ((own == nullptr || own->unit == metric.unit) && take(metric.unit, metric.unit)) return;
}

/// Problems that the schema cannot express: the key and what is wrong with it; empty if valid.
std::pair<std::string_view, std::string> fault_of(const Limit& limit) {
    if (contradicts(limit.at_least, limit.at_most))
        return {"at_least", fmt::format("{:g} is above at_most, {:g}: no value can pass",
                                        *limit.at_least, *limit.at_most)};
    if (contradicts(limit.at_least, limit.warn_at_least))
        return {"warn_at_least", "is below at_least, so it never warns"};
    if (contradicts(limit.warn_at_most, limit.at_most))
        return {"warn_at_most", "is above at_most, so it never warns"};
    if (limit.share_of.empty() == limit.unit.empty())
        return {limit.unit.empty() ? "at_least" : "unit",
                limit.unit.empty() ? "has neither a unit nor share_of"
                                   : "a share has no unit: leave out unit or share_of"};
    if (!limit.share_of.empty() && limit.share_of != "datasheet" && limit.share_of != "siblings" &&
        base_of(limit).empty() && sheet_of(limit).empty())
        return {"share_of",
                "unknown base (expected datasheet, datasheet:BENCHMARK, siblings or limit:ID)"};
    if (limit.per_unit.has_value() == sheet_of(limit).empty())
        return {"per_unit", limit.per_unit
                                ? "needs share_of datasheet:BENCHMARK"
                                : "is missing (expected how much of this metric a unit of "
                                  "that benchmark's bound allows, such as FLOP per byte)"};
    const auto* metric = record::find_metric(limit.metric);
    if (metric == nullptr && !limit.metric.empty()) {
        std::vector<std::string> names;
        for (const auto& known : record::metric_table) names.emplace_back(known.name);
        return {"metric", fmt::format("unknown metric \"{}\"{}: assay list --metrics names all",
                                      plain(limit.metric, 60), suggestion(limit.metric, names))};
    }
    const bool counts_items = metric == nullptr || metric->name == "item_rate"; // keys/s, frames/s
    const bool is_unit = limit.unit.empty() || (counts_items && limit.unit.ends_with("/s")) ||
                         (metric == nullptr ? is_si(limit.unit) : limit.unit == metric->unit);
    if (!is_unit && metric != nullptr)
        return {"unit", fmt::format("invalid unit \"{}\" of {} (expected {})",
                                    plain(limit.unit, 60), metric->name, metric->unit)};
    if (!is_unit)
        return {"unit", fmt::format("unknown unit \"{}\" (expected B/s, FLOP/s, s or another of "
                                    "assay list --metrics; a prefix may precede it: GB/s)",
                                    plain(limit.unit, 60))};
    return {};
}

/// Subject of an expectation: "gpu" of "gpu=8".
std::string subject_of(const std::string& text) {
    return text.substr(0, text.find_first_of("=<>"));
}

/// An amount that must be two at once, if any.
std::string expected_twice(const LimitsFile& file) {
    std::map<Selector, std::map<std::string, std::string>> exact; // by machine and name
    for (const auto& [machine, texts] : file.expect)
        for (const auto& text : texts) {
            if (text.find('=') != subject_of(text).size()) continue;
            const auto [known, is_new] = exact[machine].try_emplace(subject_of(text), text);
            if (known->second != text) return fmt::format("{} and {}", known->second, text);
        }
    return {};
}

/// Can no value hold both bounds?
bool contradicts(const Limit& lower, const Limit& upper) {
    return contradicts(lower.at_least, upper.at_most) && lower.share_of.empty() &&
           upper.share_of.empty() && lower.cases == upper.cases && lower.machine == upper.machine &&
           lower.metric == upper.metric && lower.unit == upper.unit;
}

std::vector<std::string> all_causes() {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(last_cause); ++i)
        names.emplace_back(to_string(static_cast<Cause>(i)));
    return names;
}

bool is_day(const std::string& text) { return text.empty() || seconds_of(text).has_value(); }

} // namespace

std::string_view sheet_of(const Limit& limit) { return after(of_sheet, limit.share_of); }
std::string_view base_of(const Limit& limit) { return after(of_limit, limit.share_of); }

json::Value encode_value(const Selector& selector) {
    json::Value object = json::Value::object();
    for (const auto& [key, pattern] : selector) object[key] = pattern;
    return object;
}

void decode_value(const json::Object& object, std::string_view key, Selector& out) {
    out.clear();
    const auto inner = object.object(key);
    if (object.failed()) return;
    for (const auto& item : inner.value().items()) {
        const auto scalar = json::scalar_from(item.value());
        if (!scalar) return inner.expected(item.key(), json::scalar_words);
        out.emplace(item.key(), record::to_string(*scalar));
    }
}

bool matches(std::string_view patterns, const std::string& text) {
    for (std::string_view rest = patterns;;) {
        const auto bar = rest.find('|');
        const auto pattern = rest.substr(0, bar);
        // Most patterns are plain, and all limits ask all machines of a fleet.
        const bool is_plain = pattern.find_first_of("*?[\\") == std::string_view::npos;
        if (pattern == text || pattern == "*") return true;
        if (!is_plain && fnmatch(std::string{pattern}.c_str(), text.c_str(), 0) == 0) return true;
        if (bar == std::string_view::npos) return false;
        rest.remove_prefix(bar + 1);
    }
}

namespace {

/// Fills in what limits inherit from their file, and says what is wrong with any of them.
void check_limits(const json::Object& root, LimitsFile& file, const std::string& source) {
    std::set<std::string> ids;
    std::size_t number = 0;
    root.each("limits", [&](const json::Object& item) {
        Limit& limit = file.limits[number++];
        limit.file = source;
        to_si(limit);
        for (const auto inherited : {&Limit::date, &Limit::author, &Limit::expires})
            if ((limit.*inherited).empty())
                limit.*inherited = inherited == &Limit::date     ? file.date
                                   : inherited == &Limit::author ? file.author
                                                                 : file.expires;
        if (!ids.insert(limit.id).second) return item.problem("id", "occurs twice");
        if (const auto [key, fault] = fault_of(limit); !fault.empty())
            return item.problem(key, fault);
        for (const auto* day : {&limit.date, &limit.expires})
            if (!is_day(*day))
                item.problem(day == &limit.date ? "date" : "expires",
                             "invalid date (expected YYYY-MM-DD)");
    });
}
void check_waivers(const json::Object& root, const LimitsFile& file) {
    root.each("waivers", [waiver = file.waivers.begin()](const json::Object& item) mutable {
        Cause cause{};
        if (!is_day(waiver->expires)) item.problem("expires", "invalid date (expected YYYY-MM-DD)");
        if (!waiver->cause.empty() && !from_text(waiver->cause, cause))
            item.problem("cause", fmt::format("unknown cause \"{}\"{}", plain(waiver->cause, 60),
                                              suggestion(waiver->cause, all_causes())));
        else if (!may_be_waived(cause))
            item.problem("cause", fmt::format("\"{}\" cannot be waived", waiver->cause));
        ++waiver;
    });
}

} // namespace

const std::map<std::string, KnownBenchmark, std::less<>>& known_benchmarks() {
    static const auto all = [] {
        std::map<std::string, KnownBenchmark, std::less<>> known;
        const auto file = json::read_file(layout().share / "benchmarks.json");
        if (!file) return known;
        for (const auto& benchmark : file->at("benchmarks").items()) {
            auto& one = known[benchmark.key()];
            one.unit = benchmark.value().at("unit").get<std::string>();
            if (!is_si(one.unit)) one.items = std::exchange(one.unit, "1/s");
            for (const auto& parameter : benchmark.value().at("parameters").items())
                one.parameters[parameter.key()] = parameter.value().get<std::vector<std::string>>();
        }
        return known;
    }();
    return all;
}

Result<LimitsFile> parse_limits(std::string_view text, const std::string& source) {
    static const auto schema = json::read_file(layout().share / "schema" / "limit.json");
    if (!schema) return tl::unexpected{schema.error()};
    ASSAY_TRY(const auto value, json::parse(text, source));
    ASSAY_TRY(json::check_schema(value, *schema, source));
    json::Document document{value, source};
    const auto root = document.root();
    LimitsFile file;
    json::decode(root, file);
    if (root.has("limits")) check_limits(root, file, source);
    if (root.has("waivers")) check_waivers(root, file);
    if (const auto twice = expected_twice(file); !twice.empty())
        return fail(fmt::format("{}: expect: {}", source, twice));
    ASSAY_TRY(document.result());
    return file;
}

Result<LimitsFile> read_limits(const std::filesystem::path& path) {
    ASSAY_TRY(const auto text, read_whole(path, json::Limits{}.bytes));
    return parse_limits(text, plain(path.string()));
}

Result<Limits> layered(std::vector<LimitsFile> files) {
    Limits all;
    const auto expect = [&](Expectation&& on_top) {
        for (auto& below : all.expect)
            if (below.machine == on_top.machine)
                std::erase_if(below.expect, [&](const std::string& text) {
                    return std::ranges::find(on_top.expect, subject_of(text), &subject_of) !=
                           on_top.expect.end();
                });
        all.expect.push_back(std::move(on_top));
    };
    std::map<std::string, std::size_t, std::less<>> known;
    for (auto& file : files) {
        all.names.push_back(file.name);
        for (auto& expectation : file.expect) expect(std::move(expectation));
        std::ranges::move(file.waivers, std::back_inserter(all.waivers));
        for (auto& limit : file.limits) {
            const auto [entry, is_new] = known.try_emplace(limit.id, all.limits.size());
            if (is_new) {
                all.limits.push_back(std::move(limit));
                continue;
            }
            auto& below = all.limits[entry->second];
            all.replaced.push_back({.id = limit.id, .file = below.file, .by = limit.file});
            below = std::move(limit);
        }
    }
    for (const auto& limit : all.limits) {
        const auto* at = &limit;
        for (std::size_t steps = 0; !base_of(*at).empty(); ++steps) {
            const auto base = known.find(base_of(*at));
            if (base == known.end())
                return fail(fmt::format("{}: limit {}: share_of: unknown limit \"{}\"", at->file,
                                        plain(at->id), plain(base_of(*at))));
            if (steps == all.limits.size())
                return fail(
                    fmt::format("{}: limit {}: share_of is circular", limit.file, plain(limit.id)));
            at = &all.limits[base->second];
        }
    }
    for (const auto& a : all.limits)
        for (const auto& b : all.limits)
            if (contradicts(a, b))
                return fail(
                    fmt::format("{}: limit {}: at_least {:g} is above at_most {:g} of limit {} "
                                "in {}, which is for the same cases and machines",
                                a.file, plain(a.id), *a.at_least, *b.at_most, plain(b.id), b.file));
    for (const auto& waiver : all.waivers)
        if (!waiver.limit.empty() && !known.contains(waiver.limit)) {
            std::vector<std::string> ids;
            for (const auto& limit : all.limits) ids.push_back(limit.id);
            return fail(fmt::format("a waiver names the unknown limit \"{}\"{}",
                                    plain(waiver.limit), suggestion(waiver.limit, ids)));
        }
    return all;
}

Result<std::filesystem::path> find_limits(const std::string& name) {
    std::error_code ignored;
    if (name.find('/') != std::string::npos || name.ends_with(".json") ||
        std::filesystem::exists(name, ignored))
        return std::filesystem::path{name};
    const auto folder = layout().share / "limits";
    auto path = folder / (name + ".json");
    if (std::filesystem::exists(path, ignored)) return path;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator item{folder, ignored}, end; !ignored && item != end;
         item.increment(ignored))
        names.push_back(item->path().stem().string());
    std::ranges::sort(names);
    return fail(fmt::format("unknown limits \"{}\"{} (a path has a / or ends in .json)",
                            plain(name), suggestion(name, names)));
}

json::Value to_json(const LimitsFile& file) {
    auto value = json::encode(file);
    // The first of its values, which is left out of a list of what may be left out.
    for (std::size_t i = 0; i < file.limits.size(); ++i)
        value["limits"][i]["kind"] = std::string{to_string(file.limits[i].kind)};
    return value;
}

} // namespace assay::judge
