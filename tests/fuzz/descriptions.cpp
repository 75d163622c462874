// SPDX-License-Identifier: Apache-2.0
//
// Whatever a description of another program says, it is refused with a message, or each of its cases has a command, and
// values are found in what a program wrote, or are not, without harm. The input: a description, a NUL, an output.
#include "external/fill.hpp"
#include "external/output.hpp"
#include "fuzz.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace {

using namespace assay;

std::string default_of(const external::Parameter& parameter) {
    const auto& value = parameter.defaults.front();
    const auto* const number = std::get_if<std::int64_t>(&value);
    return number != nullptr ? std::to_string(*number) : std::get<std::string>(value);
}

template <class Do>
void or_a_problem(Do&& attempt) {
    try {
        attempt();
    } catch (const external::Problem& problem) {
        fuzz::expect(*problem.what() != '\0');
    }
}

void read(const external::Outputs& outputs, const external::Metric& metric) {
    or_a_problem([&] {
        if (metric.where.kind == external::Where::Kind::elapsed) return;
        fuzz::expect(external::value_of(outputs, metric) >= 0);
    });
}

/// A spoiled description can be spoiled and judged again.
void check(external::Outputs outputs, const external::Check& check) {
    or_a_problem([&] {
        const bool holds = external::judge(outputs, check).holds;
        if (!holds) return;
        external::spoil(outputs, check);
        static_cast<void>(external::judge(outputs, check));
    });
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto input = fuzz::text(data, size);
    const auto end = std::min(input.find('\0'), input.size());
    external::Description description;
    try {
        description = external::parse_description(input.substr(0, end), "input");
    } catch (const external::Problem& problem) {
        fuzz::expect(std::string_view{problem.what()}.starts_with("input"));
        return 0;
    }
    fuzz::expect(!description.command.empty() && !description.metrics.empty() &&
                 !description.checks.empty());
    std::map<std::string, std::string> values;
    for (const auto name : external::built_in) values.emplace(name, "1");
    for (const auto& parameter : description.parameters)
        values.emplace(parameter.name, default_of(parameter));
    const external::Fill fill{description, std::move(values)};
    or_a_problem([&] { fuzz::expect(!fill.arguments(description.command).empty()); });
    for (const auto& file : description.inputs)
        or_a_problem([&] { static_cast<void>(fill.file(file.text)); });
    const auto output = std::string{input.substr(std::min(end + 1, input.size()))};
    const external::Outputs outputs{{"stdout", output}, {"stderr", ""}, {"inspect", output}};
    for (const auto& metric : description.metrics)
        or_a_problem([&] { read(outputs, fill.metric(metric)); });
    for (const auto& one : description.checks)
        or_a_problem([&] { check(outputs, fill.check(one)); });
    return 0;
}
