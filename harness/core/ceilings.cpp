// SPDX-License-Identifier: Apache-2.0
#include "core/ceilings.hpp"

#include "record/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace assay::core {
namespace {

bool is_measured(const record::Case& c) {
    const bool verified = c.status == record::Status::ok || c.status == record::Status::unstable;
    return verified && !c.metrics.empty() && c.metrics.front().value.has_value();
}

const Benchmark* find_benchmark(const Catalogue& catalogue, const record::Case& c) {
    const auto module = std::ranges::find(catalogue.modules, c.library, &Manifest::module);
    if (module == catalogue.modules.end()) return nullptr;
    const auto found = std::ranges::find(module->benchmarks, c.benchmark, &Benchmark::id);
    return found == module->benchmarks.end() ? nullptr : &*found;
}

/// Must the ceiling have the same value of this parameter? Of those that both have, all, so that fp64 is
/// held against fp64; but a benchmark that is its own ceiling ("the best of these loops") is held
/// against the best choice, and only amounts (threads, bytes) must agree.
bool must_agree(const Benchmark& benchmark, const record::Case& ceiling,
                std::string_view parameter) {
    if (ceiling.benchmark != benchmark.id) return true;
    const auto known = std::ranges::find(benchmark.parameters, parameter, &Parameter::name);
    return known != benchmark.parameters.end() && known->kind != ParameterKind::name;
}

bool comparable(const Benchmark& benchmark, const record::Case& judged,
                const record::Case& ceiling) {
    return std::ranges::all_of(judged.parameters, [&](const record::Named& parameter) {
        const auto* other = record::find(ceiling.parameters, parameter.name);
        return other == nullptr || *other == parameter.value ||
               !must_agree(benchmark, ceiling, parameter.name);
    });
}

/// "precision=bf16 threads=all": what a ceiling would have to match.
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

record::Ceiling ceiling_of(const record::Run& run, const record::Case& judged,
                           const Benchmark& benchmark) {
    const auto ids = ceiling_ids(benchmark);
    const auto& headline = judged.metrics.front();
    const record::Case* best = nullptr;
    const record::Case* example = nullptr; // any measured one, to say what it has in common
    for (const auto& c : run.cases) {
        if (std::ranges::find(ids, c.benchmark) == ids.end() || !is_measured(c)) continue;
        example = &c;
        const auto& metric = c.metrics.front();
        if (metric.unit != headline.unit || !comparable(benchmark, judged, c)) continue;
        if (best == nullptr || *metric.value > *best->metrics.front().value) best = &c;
    }
    if (best != nullptr)
        return {.value = best->metrics.front().value,
                .kind = record::CeilingKind::measured,
                .source = fmt::format("measured in this run: {}", record::identity(*best))};
    const auto names = fmt::format("{}", fmt::join(ids, " or "));
    if (example == nullptr)
        return {.source = fmt::format("{} was not measured in this run", names)};
    return {.source = fmt::format("{} was not measured in {} with {} in this run", names,
                                  headline.unit, shared_words(judged, example))};
}

void warn_above(record::Case& c) {
    const auto share = record::share_of_ceiling(c);
    if (!share || *share <= 1) return;
    c.warnings.push_back(
        fmt::format("{:.1f}% of its ceiling: the ceiling ({}) is not the limit it was taken for",
                    *share * 100, c.ceiling.source));
}

} // namespace

void assign_ceilings(record::Run& run, const Catalogue& catalogue) {
    for (auto& c : run.cases) {
        const auto* benchmark = find_benchmark(catalogue, c);
        if (benchmark == nullptr || !is_measured(c)) continue;
        if (benchmark->ceiling.empty()) {
            const bool itself = benchmark->is_ceiling;
            c.ceiling = {.source = itself ? "it is a ceiling itself" : "none is known"};
            continue;
        }
        c.ceiling = ceiling_of(run, c, *benchmark);
        warn_above(c);
    }
}

} // namespace assay::core
