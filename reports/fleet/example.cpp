// SPDX-License-Identifier: Apache-2.0

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/limits.hpp"
#include "fleet/derive.hpp"
#include "fleet/model.hpp"
#include "judge/judge.hpp"
#include "judge/lint.hpp"
#include "judge/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace assay::fleet {
namespace {

using document::say;
using judge::Limit;
using judge::Outcome;

/// Shares of the measured value: the largest counts that the same results clear by more than their noise.
constexpr std::array shares{0.95, 0.9, 0.85, 0.8, 0.7, 0.6};

/// To three digits, on the side that is easier to reach.
double rounded(double value, bool down) {
    const double step = std::pow(10, std::floor(std::log10(value)) - 2);
    return (down ? std::floor(value / step) : std::ceil(value / step)) * step;
}

judge::Selector machine_of(const record::Machine& machine, const decide::Series& series) {
    if (const auto* device = judge::device_of(machine, series); device != nullptr) {
        judge::Selector selector{{"device", device->name}};
        if (!device->mode.empty()) selector["mode"] = device->mode;
        return selector;
    }
    judge::Selector selector{{"cpu", machine.cpu_model}};
    if (machine.usable_cores) selector["cores"] = std::to_string(*machine.usable_cores);
    return selector;
}

/// A case of the run, with the value that all of its devices reach.
struct Measured {
    Limit limit;
    double worst = 0;
    bool higher_is_better = true;
    std::size_t share = 0; ///< of `shares`; beyond them: none
};

void set_bound(Measured& one) {
    const double share = shares.at(one.share);
    if (one.higher_is_better)
        one.limit.at_least = rounded(share * one.worst, true);
    else
        one.limit.at_most = rounded(one.worst / share, false);
}

std::vector<Measured> measured_in(const store::Collection& all, std::uint32_t run) {
    std::map<std::string, Measured> found;
    const auto& machine = all.machines[all.runs[run].machine];
    for (const auto& seen : all.observations) {
        if (seen.run != run || !seen.is_primary || !seen.value || !(*seen.value > 0)) continue;
        const auto item = item_name(all.series[seen.series]);
        const bool higher = item.series.higher_is_better;
        const double worst = (higher ? seen.low : seen.high).value_or(*seen.value);
        const auto [known, is_new] = found.try_emplace(item.name);
        auto& one = known->second;
        if (!is_new) {
            one.worst = higher ? std::min(one.worst, worst) : std::max(one.worst, worst);
            continue;
        }
        one = {.limit = limit_for(item.series), .worst = worst, .higher_is_better = higher};
        one.limit.id = plain(item.name);
        one.limit.kind = judge::LimitKind::contract;
        one.limit.machine = machine_of(machine, all.series[seen.series]);
        one.limit.source = fmt::format("measured on {}, {} replicas",
                                       all.runs[run].started.substr(0, 10), seen.replicas.size());
    }
    std::vector<Measured> list;
    for (auto& [name, one] : found)
        if (one.worst > 0) list.push_back(std::move(one));
    return list;
}

judge::LimitsFile file_of(const judge::LimitsFile& head, const std::vector<Measured>& list) {
    auto file = head;
    for (const auto& one : list) file.limits.push_back(one.limit);
    return file;
}

/// Ids of limits that these results do not pass.
Result<std::set<std::string>> open_of(const store::Collection& all, std::uint32_t run,
                                      const judge::LimitsFile& file, double now) {
    ASSAY_TRY(auto limits, judge::layered({file}));
    ASSAY_TRY(const auto judgement, judge::judge(all, std::move(limits), {.now = now}));
    std::set<std::string> open;
    for (const auto& node : judgement.nodes)
        if (std::ranges::find(node.runs, run) != node.runs.end())
            for (const auto& check : node.checks)
                if (check.limit && check.outcome != Outcome::pass) open.insert(check.id);
    return open;
}

/// Lower until the results pass, and none where they never do or the lint objects.
Result<void> settle(std::vector<Measured>& list, const store::Collection& all, std::uint32_t run,
                    const judge::LimitsFile& head, double now) {
    for (auto& one : list) set_bound(one);
    while (!list.empty()) {
        ASSAY_TRY(const auto open, open_of(all, run, file_of(head, list), now));
        if (open.empty()) break;
        std::erase_if(list, [&](Measured& one) {
            if (!open.contains(one.limit.id)) return false;
            if (++one.share == shares.size()) return true;
            set_bound(one);
            return false;
        });
    }
    const auto rows = judge::lint({{.file = "", .limits = file_of(head, list)}},
                                  {.now = now, .hardware = judge::installed_hardware()});
    std::erase_if(list, [&](const Measured& one) {
        return std::ranges::any_of(rows, [&](const document::LintRow& row) {
            return row.severity == document::Severity::serious && row.about == one.limit.id;
        });
    });
    return {};
}

/// Before all else in the object.
void comment(json::Value& object, json::Value text) {
    json::Value commented = {{comment_key, std::move(text)}};
    for (auto& item : object.items()) commented[item.key()] = std::move(item.value());
    object = std::move(commented);
}

} // namespace

Result<Example> example_of(const store::Collection& all, const ExampleOptions& options) {
    if (all.runs.empty()) return fail("no result found; measure one first: assay run acceptance");
    const auto newest = std::ranges::max_element(all.runs, {}, &store::RunInfo::started_seconds);
    const auto run = static_cast<std::uint32_t>(newest - all.runs.begin());
    const auto& machine = all.machines[newest->machine];
    const double now = options.now ? *options.now : seconds_now();
    constexpr double seconds_a_day = 86400;
    Example example;
    auto& head = example.file;
    head.schema = "assay.limits/1";
    head.name = options.name;
    head.description = fmt::format("made from {}", plain(newest->id));
    head.date = utc_of(now).substr(0, 10);
    head.author = options.author;
    head.expires = utc_of(now + (options.valid_days * seconds_a_day)).substr(0, 10);
    head.expect.push_back({.machine = {{"cpu", machine.cpu_model}}});
    if (!machine.devices.empty())
        head.expect.back().expect.push_back(fmt::format("gpu={}", machine.devices.size()));
    else if (machine.usable_cores)
        head.expect.back().expect.push_back(fmt::format("cores={}", *machine.usable_cores));
    else
        head.expect.clear();
    auto list = measured_in(all, run);
    const auto count = list.size();
    ASSAY_TRY(settle(list, all, run, head, now));
    if (list.empty())
        return fail(fmt::format("{}: none of {} cases has two verified replicas that agree; "
                                "measure again: assay run {}",
                                plain(newest->file.string()), count, plain(newest->suite)));
    example.left_out = count - list.size();
    head = file_of(head, list);
    return example;
}

json::Value to_json(const Example& example) {
    auto value = judge::to_json(example.file);
    if (value.contains("expect")) comment(value["expect"][0], say<text::limits::example_expect>());
    comment(value["limits"][0],
            {say<text::limits::example_case>(), say<text::limits::example_bound>(),
             say<text::limits::example_machine>()});
    comment(value, {say<text::limits::example_file>(), say<text::limits::example_layers>(),
                    say<text::limits::example_waivers>()});
    return value;
}

} // namespace assay::fleet
