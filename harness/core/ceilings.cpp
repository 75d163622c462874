// SPDX-License-Identifier: Apache-2.0
#include "core/ceilings.hpp"

#include "record/format.hpp"

#include <fmt/format.h>

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

/// Same precision, same threads: every parameter that both have.
bool comparable(const record::Case& judged, const record::Case& ceiling) {
    return std::ranges::all_of(judged.parameters, [&](const record::Named& parameter) {
        const auto* other = record::find(ceiling.parameters, parameter.name);
        return other == nullptr || *other == parameter.value;
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
                           std::string_view id) {
    const auto& headline = judged.metrics.front();
    const record::Case* best = nullptr;
    const record::Case* example = nullptr; // any measured one, to say what it has in common
    for (const auto& c : run.cases) {
        if (c.benchmark != id || !is_measured(c)) continue;
        example = &c;
        const auto& metric = c.metrics.front();
        if (metric.unit != headline.unit || !comparable(judged, c)) continue;
        if (best == nullptr || *metric.value > *best->metrics.front().value) best = &c;
    }
    if (best != nullptr)
        return {.value = best->metrics.front().value,
                .kind = record::CeilingKind::measured,
                .source = fmt::format("measured in this run: {}", record::identity(*best))};
    if (example == nullptr) return {.source = fmt::format("{} was not measured in this run", id)};
    return {.source = fmt::format("no {} in {} was measured for {} in this run", id, headline.unit,
                                  shared_words(judged, example))};
}

void warn_above(record::Case& c) {
    const auto& headline = c.metrics.front();
    if (!c.ceiling.value || *c.ceiling.value <= 0 || *headline.value <= *c.ceiling.value) return;
    c.warnings.push_back(
        fmt::format("{} of its ceiling: the ceiling ({}) is not the limit it was taken for",
                    record::human_percent(*headline.value / *c.ceiling.value), c.ceiling.source));
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
        c.ceiling = ceiling_of(run, c, benchmark->ceiling);
        warn_above(c);
    }
}

} // namespace assay::core
