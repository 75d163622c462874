// SPDX-License-Identifier: Apache-2.0

#include "plan/filter.hpp"

#include "base/text.hpp"
#include "json/words.hpp"
#include "plan/parameter.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

namespace assay::plan {
namespace {

bool has_module(const Catalogue& catalogue, std::string_view name) {
    return std::ranges::find(catalogue.modules, name, &Manifest::module) != catalogue.modules.end();
}

/// Calls `visit` with every benchmark that the selector matches.
template <class Visit>
void each_match(const Catalogue& catalogue, const Selector& selector, Visit&& visit) {
    for (const auto& module : catalogue.modules)
        for (const auto& benchmark : module.benchmarks)
            if (selector.matches(module, benchmark)) visit(benchmark);
}

std::optional<double> number_of(const record::Value& value, const record::Machine& machine) {
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
    const auto* symbol = std::get_if<std::string>(&value);
    const auto number = symbol == nullptr ? std::nullopt : number_of_symbol(*symbol, machine);
    return number ? std::optional{static_cast<double>(*number)} : std::nullopt;
}

} // namespace

/// One of the alternatives: a value, or a range whose ends may be left out.
Result<void> Filter::take(const Parameter& parameter, std::string_view word,
                          Condition& into) const {
    const bool is_number =
        parameter.kind == ParameterKind::integer || parameter.kind == ParameterKind::real;
    if (!is_number || !is_range(word)) {
        ASSAY_TRY(into.values.emplace_back(), parse_value(parameter, word));
        return {};
    }
    Range range;
    const auto end_of = [&](std::string_view text, std::optional<double>& to) -> Result<void> {
        if (text.empty()) return {};
        // Cases may be asked for up to a size that no case can have.
        auto wide = parameter;
        wide.integer_low = 0;
        wide.integer_high = std::numeric_limits<std::int64_t>::max();
        wide.real_low = std::numeric_limits<double>::lowest();
        wide.real_high = std::numeric_limits<double>::max();
        ASSAY_TRY(const auto value, parse_value(wide, text));
        to = number_of(value, *machine_);
        return {};
    };
    const auto at = word.find(range_dots);
    ASSAY_TRY(end_of(word.substr(0, at), range.low));
    ASSAY_TRY(end_of(word.substr(at + range_dots.size()), range.high));
    if (range.low && range.high && *range.low > *range.high)
        return fail(fmt::format("empty range {} (expected low..high)", word));
    into.ranges.push_back(range);
    return {};
}

/// "size=512..|128"
Result<Filter::Condition> Filter::condition(const Catalogue& catalogue,
                                            std::string_view word) const {
    const auto equals = std::min(word.find('='), word.size() - 1);
    Condition found{.parameter = std::string{word.substr(0, equals)}};
    const auto alternatives = word.substr(equals + 1);
    if (alternatives.empty())
        return fail(
            fmt::format("invalid {} (expected PARAMETER=VALUES: size=512.. or precision=fp64|fp32)",
                        json::show_text(word)));
    std::vector<std::string> known;
    std::vector<const Parameter*> parameters;
    each_match(catalogue, selector_, [&](const Benchmark& benchmark) {
        for (const auto& parameter : benchmark.parameters) {
            known.push_back(parameter.name);
            if (parameter.name == found.parameter) parameters.push_back(&parameter);
        }
    });
    if (parameters.empty())
        return fail(fmt::format("{} has no parameter {}{}", selector_.id(),
                                json::show_text(found.parameter),
                                suggestion(found.parameter, known)));
    for (const auto alternative : split(alternatives, '|')) {
        // Libraries need not know the same values: one that knows it is enough.
        std::optional<Error> refusal;
        bool taken = false;
        for (const auto* parameter : parameters) {
            if (taken) break;
            auto done = take(*parameter, alternative, found);
            taken = done.has_value();
            if (!done) refusal = done.error();
        }
        if (!taken) return tl::unexpected{*refusal};
    }
    return found;
}

bool Filter::meets(const Condition& condition, const record::Value& value) const {
    if (std::ranges::find(condition.values, value) != condition.values.end()) return true;
    const auto number = number_of(value, *machine_);
    return number && std::ranges::any_of(condition.ranges, [&](const Range& range) {
               return *number >= range.low.value_or(*number) &&
                      *number <= range.high.value_or(*number);
           });
}

bool Filter::matches(const PlannedCase& planned) const {
    return matches(*planned.module, *planned.benchmark) &&
           std::ranges::all_of(conditions_, [&](const Condition& condition) {
               const auto* value = record::find(planned.parameters, condition.parameter);
               return value != nullptr && meets(condition, *value);
           });
}

Result<Filter> Filter::parse(const Catalogue& catalogue, std::string_view option,
                             const std::string& text, const record::Machine& machine) {
    const auto pieces = words(text);
    const std::string name{pieces.empty() ? "" : pieces.front()};
    ASSAY_TRY(auto selector,
              Selector::parse(has_module(catalogue, name) ? fmt::format("*[{}]", name) : name));
    bool any = false;
    each_match(catalogue, selector, [&](const Benchmark&) { any = true; });
    if (!any) {
        auto known = benchmark_ids(catalogue);
        std::ranges::move(module_names(catalogue), std::back_inserter(known));
        return fail(fmt::format("{} {}: there is no such benchmark, family or library{}", option,
                                json::show_text(name), suggestion(name, known)));
    }
    Filter filter{std::move(selector), machine};
    for (std::size_t i = 1; i < pieces.size(); ++i) {
        auto condition = filter.condition(catalogue, pieces[i]);
        if (!condition)
            return fail(
                fmt::format("{} {}: {}", option, json::show_text(text), condition.error().message));
        filter.conditions_.push_back(std::move(*condition));
    }
    return filter;
}

namespace {

constexpr std::size_t longest = 200; // bytes; ids are short, and fnmatch is slow on long patterns

} // namespace

Result<Selector> Selector::parse(std::string_view text) {
    Selector selector;
    const auto bracket = text.find('[');
    selector.id_ = text.substr(0, bracket);
    if (bracket != std::string_view::npos) {
        if (!text.ends_with(']') || text.size() - bracket < 3)
            return fail(fmt::format("invalid benchmark {} (expected gemm.square or "
                                    "gemm.square[openblas])",
                                    json::show_text(text)));
        selector.library_ = text.substr(bracket + 1, text.size() - bracket - 2);
    }
    if (selector.id_.empty() || text.size() > longest)
        return fail(fmt::format("invalid benchmark {} (expected an id such as gemm.square)",
                                json::show_text(text)));
    return selector;
}

bool Selector::is_pattern() const { return id_.find_first_of("*?") != std::string::npos; }

bool Selector::matches(const Manifest& module, const Benchmark& benchmark) const {
    if (!library_.empty() && library_ != module.module) return false;
    const auto family = std::string_view{benchmark.id}.substr(0, benchmark.id.find('.'));
    return id_ == family || ::fnmatch(id_.c_str(), benchmark.id.c_str(), FNM_NOESCAPE) == 0;
}

std::vector<std::string> benchmark_ids(const Catalogue& catalogue) {
    std::vector<std::string> ids;
    for (const auto& module : catalogue.modules)
        for (const auto& benchmark : module.benchmarks) ids.push_back(benchmark.id);
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    return ids;
}

std::vector<std::string> module_names(const Catalogue& catalogue) {
    std::vector<std::string> names;
    for (const auto& module : catalogue.modules) names.push_back(module.module);
    return names;
}

Error no_such_benchmark(const Catalogue& catalogue, std::string_view name) {
    const auto ids = benchmark_ids(catalogue);
    if (ids.empty())
        return {fmt::format("there is no benchmark {}: no module was found; ASSAY_MODULE_PATH "
                            "names folders to look in",
                            json::show_text(name)),
                Fault::environment};
    return {fmt::format("there is no benchmark {}{}; `assay list` shows all", json::show_text(name),
                        suggestion(name, ids))};
}

} // namespace assay::plan
