// SPDX-License-Identifier: Apache-2.0
#include "trouble_plan.hpp"

#include "worker/module.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace assay::trouble_test {

namespace fs = std::filesystem;

Trouble load_trouble(const fs::path& module) {
    const auto loaded = worker::Module::load(module);
    if (!loaded) throw std::runtime_error{loaded.error().message};
    auto manifest = worker::describe(*loaded);
    if (!manifest) throw std::runtime_error{manifest.error().message};
    return {std::make_unique<plan::Manifest>(std::move(*manifest))};
}

plan::Plan Trouble::plan(const std::vector<std::string>& what, int replicas) const {
    plan::Plan plan{.suite = "trouble", .protocol = fast_protocol(), .replicas = replicas};
    for (const auto& item : what) {
        plan::PlannedCase planned{.module = manifest.get(),
                                  .benchmark = &manifest->benchmarks.front(),
                                  .protocol = plan.protocol};
        for (const auto& parameter : planned.benchmark->parameters)
            planned.parameters.push_back({parameter.name, parameter.defaults.front()});
        planned.parameters[0].value = item;
        planned.parameters[1].value = static_cast<std::int64_t>(plan.cases.size() + 1);
        plan.cases.push_back(std::move(planned));
        plan.digest = fmt::format("{}-{}", plan.digest, item);
    }
    return plan;
}

plan::Plan Trouble::together(const std::vector<std::string>& what, int replicas) const {
    auto one = plan(what, replicas);
    const auto shares = machine::even_shares(machine::read_shape(), what.size());
    for (std::size_t i = 0; i < what.size(); ++i) {
        one.cases[i].with_previous = i > 0;
        one.cases[i].together = {{"together", fmt::format("cpus:{}", what.size())},
                                 {"part", fmt::format("{}/{}", i + 1, what.size())}};
        one.cases[i].share = shares[i % shares.size()];
    }
    return one;
}

plan::Plan Trouble::soak(const std::string& what, std::int64_t every, double seconds,
                         std::size_t parts) const {
    const auto& benchmark =
        *std::ranges::find(manifest->benchmarks, "trouble.soaker", &plan::Benchmark::id);
    plan::Plan plan{.suite = "soak", .protocol = fast_protocol()};
    plan.soak_seconds = seconds;
    plan.digest = what;
    const auto shares = machine::even_shares(machine::read_shape(), parts);
    for (std::size_t i = 0; i < parts; ++i) {
        plan::PlannedCase planned{
            .module = manifest.get(),
            .benchmark = &benchmark,
            .parameters = {{"what", what}, {"every", every}, {"threads", std::int64_t{1}}},
            .protocol = plan.protocol};
        planned.protocol.soaks = true;
        planned.protocol.budget_seconds = 1;
        planned.protocol.limit_seconds = 300; // of a machine that is busy with other tests
        if (parts > 1) {
            planned.with_previous = i > 0;
            planned.together = {{"together", std::string{"cpus:2"}},
                                {"part", i == 0 ? std::string{"1/2"} : std::string{"2/2"}}};
            planned.share = shares[i % shares.size()];
        }
        planned.together.push_back({"soak", true});
        plan.cases.push_back(std::move(planned));
    }
    return plan;
}

std::vector<plan::PlannedRun> Trouble::turns(const std::vector<std::string>& what,
                                             const std::vector<std::string>& variants,
                                             int pairs) const {
    auto parsed = plan::parse_variants(variants);
    if (!parsed) throw std::runtime_error{parsed.error().message};
    auto one = plan(what, pairs);
    one.fresh_workers = true;
    return plan::in_turns(one, *parsed);
}

Result<run::Outcome> run(const plan::Plan& plan, const run::RunOptions& options,
                         run::Observer& observer) {
    auto outcomes = run::run({{.plan = plan}}, options, observer);
    if (!outcomes) return tl::unexpected{outcomes.error()};
    return std::move(outcomes->front());
}

record::Protocol fast_protocol(double limit_seconds) {
    return {.target = 0.5,
            .min_seconds = 0.01,
            .budget_seconds = 0.02,
            .limit_seconds = limit_seconds,
            .min_batches = 10,
            .few_batches = 3,
            .warmup_seconds = 0.005};
}

} // namespace assay::trouble_test
