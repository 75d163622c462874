// SPDX-License-Identifier: Apache-2.0
#include "run/ceilings.hpp"

#include "record/summary.hpp"
#include "reference/sheet_bounds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace assay::run {
namespace {

bool is_measured(const record::Case& c) {
    const bool verified = is_measured(c.status);
    return verified && !c.metrics.empty() && c.metrics.front().value.has_value();
}

const plan::Benchmark* find_benchmark(const plan::Catalogue& catalogue, const record::Case& c) {
    const auto module = std::ranges::find(catalogue.modules, c.library, &plan::Manifest::module);
    if (module == catalogue.modules.end()) return nullptr;
    const auto found = std::ranges::find(module->benchmarks, c.benchmark, &plan::Benchmark::id);
    return found == module->benchmarks.end() ? nullptr : &*found;
}

/// Must the bound have the same value of this parameter? Parameters of both must agree, so that fp64 is
/// compared with fp64. A benchmark that is its own bound ("the best of these loops") is compared with
/// the best choice, and only amounts (threads, bytes) must agree.
bool must_agree(const plan::Benchmark& benchmark, const record::Case& ceiling,
                std::string_view parameter) {
    if (ceiling.benchmark != benchmark.id) return true;
    const auto known = std::ranges::find(benchmark.parameters, parameter, &plan::Parameter::name);
    return known != benchmark.parameters.end() && known->kind != plan::ParameterKind::name;
}

bool comparable(const plan::Benchmark& benchmark, const record::Case& judged,
                const record::Case& ceiling) {
    return std::ranges::all_of(judged.parameters, [&](const record::Named& parameter) {
        const auto* other = record::find(ceiling.parameters, parameter.name);
        if (const auto fixed = ceiling_value(benchmark, ceiling.benchmark, parameter.name))
            return other != nullptr && record::to_string(*other) == *fixed;
        return other == nullptr || *other == parameter.value ||
               !must_agree(benchmark, ceiling, parameter.name);
    });
}

/// Parts of a host bound themselves alone, and who has siblings is bounded by who had them too.
bool have_equal_siblings(const record::Case& a, const record::Case& b) {
    return record::text(a.parameters, "together") == record::text(b.parameters, "together") &&
           record::text(a.parameters, "part") == record::text(b.parameters, "part");
}

/// "precision=bf16 threads=all": what a bound would have to match.
std::string shared_words(const record::Case& judged, const record::Case* example) {
    std::string words;
    for (const auto& parameter : judged.parameters) {
        if (example != nullptr && record::find(example->parameters, parameter.name) == nullptr)
            continue;
        if (!words.empty()) words += ' ';
        words += fmt::format("{}={}", parameter.name, record::to_string(parameter.value));
    }
    return words;
}

/// ", times the work per byte of this case"
std::string scaled_words(const record::Metric& headline, const record::Metric& roof) {
    if (roof.unit == headline.unit) return {};
    return fmt::format(", times the {} per {} of this case",
                       headline.unit == "B/s" ? "bytes" : "work", reference::work_unit(roof));
}

record::Ceiling ceiling_of(const record::Run& run, const record::Case& judged,
                           const plan::Benchmark& benchmark) {
    const auto ids = ceiling_ids(benchmark);
    const auto& headline = judged.metrics.front();
    struct Best {
        const record::Case* of = nullptr;
        double value = 0;
    };
    std::map<std::string_view, Best> roofs; // by unit
    const record::Case* example = nullptr;  // any measured one, for the parameters in common
    bool disturbed = false;
    for (const auto& c : run.cases) {
        if (std::ranges::find(ids, c.benchmark) == ids.end() || !is_measured(c)) continue;
        example = &c;
        if (c.status == record::Status::disturbed) { // not what the machine can do
            disturbed = true;
            continue;
        }
        // One device does not bound another one or the host.
        const auto& metric = c.metrics.front();
        const double value = *metric.value * reference::per_unit(judged, metric);
        if (c.place != judged.place || !have_equal_siblings(c, judged)) continue;
        if (reference::is_sparse(c) && !reference::is_sparse(judged)) continue;
        if (!(value > 0) || !comparable(benchmark, judged, c)) continue;
        Best& roof = roofs[metric.unit];
        if (roof.of == nullptr || value > roof.value) roof = {&c, value};
    }
    // The best of alternatives of one unit counts; of arithmetic and memory the one that is reached first.
    const auto lowest =
        std::ranges::min_element(roofs, {}, [](const auto& roof) { return roof.second.value; });
    const auto [best, bound] = lowest == roofs.end() ? Best{} : lowest->second;
    if (best == &judged) return {.source = "it is the fastest of its kind in this run"};
    if (best != nullptr)
        return {.value = bound,
                .kind = record::CeilingKind::measured,
                .source = fmt::format("measured in this run: {}{}", record::identity(*best),
                                      scaled_words(headline, best->metrics.front())),
                .measured_by = record::identity(*best)};
    const auto names = fmt::format("{}", fmt::join(ids, " or "));
    if (example == nullptr)
        return {.source = fmt::format("{} was not measured in this run", names)};
    if (disturbed) return {.source = fmt::format("{} was disturbed in this run", names)};
    return {.source = fmt::format("{} was not measured in {} with {} in this run", names,
                                  headline.unit, shared_words(judged, example))};
}

/// A bound measured in this run precedes a data sheet's: it had the same clock.
record::Ceiling measured_ceiling(const record::Run& run, const record::Case& judged,
                                 const plan::Benchmark& benchmark) {
    if (!benchmark.ceiling.empty()) return ceiling_of(run, judged, benchmark);
    return {.source = benchmark.is_ceiling ? "it is a roofline bound itself" : "none is known"};
}

void add_limits(record::Case& c, reference::DeviceLimits limits) {
    std::ranges::move(limits.warnings, std::back_inserter(c.warnings));
    const bool on_host = c.place.kind == "host";
    if (!limits.reason.empty()) {
        if (!c.ceiling.value)
            c.ceiling.source += "; " + limits.reason;
        else if (!on_host)
            c.other_ceilings.push_back({.source = std::move(limits.reason)});
    }
    auto rest = limits.ceilings.begin();
    // An exceeded bound of a device does not count: libraries use instructions that portable peak code lacks.
    if (!on_host && record::share_of_ceiling(c).value_or(0) > 1 && rest != limits.ceilings.end())
        c.other_ceilings.push_back(std::exchange(c.ceiling, {}));
    if (!c.ceiling.value && rest != limits.ceilings.end()) c.ceiling = std::move(*rest++);
    c.other_ceilings.insert(c.other_ceilings.end(), std::move_iterator{rest},
                            std::move_iterator{limits.ceilings.end()});
}

/// Beyond any doubt about a data sheet's clock or count of units.
constexpr double impossible = 1.5;

/// Faster than the hardware can be: then something else was measured. A bound that a benchmark measured does not prove
/// that: data may stay in a cache, and libraries use instructions that portable peak code lacks; nor does the name of
/// a processor, which a hypervisor may give to another one.
void refuse_impossible(record::Case& c) {
    if (c.ceiling.kind != record::CeilingKind::datasheet || c.place.kind == "host") return;
    const double share = record::share_of_ceiling(c).value_or(0);
    if (share <= impossible) return;
    record::set_conclusion(
        c, {.status = record::Status::incorrect,
            .code = record::ReasonCode::above_bound,
            .reason = fmt::format("{:.3g} times the bound of the hardware ({}): not a "
                                  "measurement of this hardware",
                                  share, c.ceiling.source),
            .values = {{"share", share}}});
    record::summarise(c);
}

void warn_above(record::Case& c) {
    if (const auto wordings = record::above_ceiling(c); !wordings.empty())
        c.warnings.push_back(wordings.front());
    if (c.place.kind != "host" || c.ceiling.kind != record::CeilingKind::measured) return;
    const auto sheet =
        std::ranges::find(c.other_ceilings, record::CeilingKind::datasheet, &record::Ceiling::kind);
    constexpr double doubtful = 1.03;
    if (sheet == c.other_ceilings.end()) return;
    if (const auto share = record::share_of_ceiling(c, *sheet).value_or(0); share > doubtful)
        c.warnings.push_back(fmt::format("{:.1f}% of its data-sheet bound ({}): the bound is of "
                                         "another processor, or the clock was higher",
                                         share * 100, sheet->source));
}

} // namespace

void assign_ceilings(record::Run& run, const plan::Catalogue& catalogue,
                     const Result<reference::Hardware>& hardware) {
    for (auto& c : run.cases) {
        const auto* benchmark = find_benchmark(catalogue, c);
        if (benchmark == nullptr || !is_measured(c)) continue;
        c.ceiling = measured_ceiling(run, c, *benchmark);
        c.other_ceilings.clear();
        add_limits(c, sheet_limits(benchmark->bound, c, run.machine, hardware));
        refuse_impossible(c);
        warn_above(c);
    }
}

void assign_ceilings(record::Run& run, const plan::Catalogue& catalogue) {
    assign_ceilings(run, catalogue, reference::installed_hardware());
}

} // namespace assay::run
