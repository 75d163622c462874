// SPDX-License-Identifier: Apache-2.0

#include "judge/words.hpp"

#include "base/quantity.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/judge.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "judge/match.hpp"
#include "record/format.hpp"
#include "record/same_machine.hpp"
#include "record/soak.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace assay::judge {

using namespace document;
namespace {

using document::Tone;
using record::human;

/// The cause, whether it is accepted or not.
Cause real_cause(const Check& check) {
    return check.waived == Cause::none ? check.cause : check.waived;
}

std::string part_in_words(const std::string& part, const std::string& verdict) {
    if (part == "host") return say<text::judge::host_part>(verdict);
    if (part == "devices") return say<text::judge::devices_part>(verdict);
    if (part == "fabric") return say<text::judge::fabric_part>(verdict);
    return say<text::judge::part>(plain(part, 200), verdict);
}

/// Is it a finding that is called by its cause? Others are called by what they look at.
bool is_called_by_cause(const Check& check) {
    const std::string_view id = check.id;
    return !check.limit && !id.starts_with("expect:") && !id.starts_with("case:") &&
           !id.starts_with("soak:");
}

const decide::Series* series_of(const Judgement& judgement, const Check& check) {
    return check.series ? &judgement.collection.series[*check.series] : nullptr;
}
const Limit* limit_of(const Judgement& judgement, const Check& check) {
    return check.limit ? &judgement.limits.limits[*check.limit] : nullptr;
}

void add_once(std::vector<std::string>& names, std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

} // namespace

std::string quantity(double value, const std::string& unit) {
    return unit.empty() ? fmt::format("{:.3g}", value) : human(value, unit);
}

std::string margin_in_words(double share) {
    return fmt::format("{}{}", share < 1 ? "-" : "+", record::human_percent(std::fabs(share - 1)));
}

bool is_of_soak(const Check& check) { return check.id.starts_with("soak:"); }

std::string detail_of_soak(const Check& check) {
    auto detail = plain(check.detail, 300);
    return check.cause == Cause::too_few_replicas ? say<text::judge::visits>(detail) : detail;
}

bool needs_repair(const Check& check) {
    return check.outcome == Outcome::fail && check.action > Action::fix_setup;
}

bool has_command(const Check& check) {
    return check.outcome > Outcome::skip && check.action >= Action::retest &&
           check.action <= Action::reseat;
}

const std::string& title_of(const Limit& limit) {
    return language_in_use() == Language::zh && !limit.title_zh.empty() ? limit.title_zh
                                                                        : limit.title;
}
std::string outcome_in_words(Outcome outcome) {
    return std::string{find_text("judge_outcome", to_string(outcome)).value_or("")};
}
std::string cause_in_words(Cause cause) {
    return std::string{find_text("judge_cause", to_string(cause)).value_or("")};
}
std::string cause_sentence(Cause cause) {
    return std::string{find_text("judge_sentence", to_string(cause)).value_or("")};
}
std::string action_in_words(Action action) {
    return std::string{find_text("judge_action", to_string(action)).value_or("")};
}

Tone tone_of(Outcome outcome) {
    switch (outcome) {
    case Outcome::pass:
        return Tone::good;
    case Outcome::skip:
        return Tone::quiet;
    case Outcome::warn:
    case Outcome::inconclusive:
        return Tone::weak;
    case Outcome::error:
    case Outcome::fail:
        break;
    }
    return Tone::bad;
}

Stage stage_of(const Check& check) {
    const std::string_view id = check.id;
    const auto cause = real_cause(check);
    if (check.is_hot) return Stage::heat;
    if (cause == Cause::wrong_result || id.starts_with("case:") || id == "soak:results")
        return Stage::correctness;
    if (id.starts_with("expect:") || meaning_of(cause).blame == Blame::user) return Stage::setup;
    const bool watched = id.starts_with("telemetry:") || id.starts_with("counter:");
    return watched ? Stage::telemetry : Stage::speed;
}

std::string machine_name(const Judgement& judgement, const Node& node) {
    const auto& collection = judgement.collection;
    const auto& machine = collection.machines[node.machine];
    std::string label;
    for (const auto run : node.runs) {
        const auto& own = collection.runs[run].label;
        if (!label.empty() && own != label) {
            label.clear();
            break;
        }
        label = own;
    }
    if (label.empty()) label = record::node_name(machine);
    if (label.empty()) label = machine.hostname;
    if (label.empty()) label = machine.id;
    return plain(label, 200);
}
std::string name_of(const Judgement& judgement, const Node& node) {
    auto label = machine_name(judgement, node);
    return node.campaign.empty() ? label
                                 : say<text::judge::of_campaign>(label, plain(node.campaign, 200));
}

std::string case_of(const Judgement& judgement, const Check& check) {
    if (check.id == "soak:results") return say<text::judge::soak_results>();
    if (check.id == "soak:time") return say<text::judge::soak_time>();
    if (check.id == "soak:speed") {
        const auto* series = series_of(judgement, check);
        if (series == nullptr) return say<text::judge::soak_speed>(plain(check.detail, 200));
        auto parameters = series->parameters;
        std::erase_if(parameters, [](const record::Named& one) { return one.name == "soak"; });
        return say<text::judge::soak_speed>(say<text::words::in_brackets>(
            plain(case_name(series->benchmark, parameters), 200), plain(series->library, 60)));
    }
    if (is_called_by_cause(check)) return capitalised(cause_in_words(real_cause(check)));
    if (const auto* limit = limit_of(judgement, check); limit != nullptr && !limit->title.empty()) {
        auto title = plain(title_of(*limit), 200);
        std::vector<std::string> which;
        for (const auto& parameter : check.which) which.push_back(parameter_in_words(parameter));
        return which.empty() ? title
                             : say<text::words::in_brackets>(title, plain(join(which), 200));
    }
    if (const auto* series = series_of(judgement, check); series != nullptr)
        return plain(case_name(series->benchmark, series->parameters), 200);
    const auto colon = check.limit ? check.id.npos : check.id.find(':');
    return plain(std::string_view{check.id}.substr(colon == check.id.npos ? 0 : colon + 1), 200);
}

std::string name_of(const Judgement& judgement, const Check& check) {
    const auto* series = series_of(judgement, check);
    if (series == nullptr || series->place == "host") return case_of(judgement, check);
    return say<text::judge::on>(case_of(judgement, check), plain(series->place, 60));
}

std::string bar_in_words(const Check& check) {
    if (!check.bound) return "";
    const auto bound = quantity(*check.bound, check.unit);
    return check.at_least ? say<text::judge::at_least>(bound) : say<text::judge::at_most>(bound);
}

std::string finding_of(const Judgement& judgement, const Check& check) {
    auto found = name_of(judgement, check);
    const auto cause = cause_in_words(real_cause(check));
    if (!cause.empty() && !is_called_by_cause(check))
        found = say<text::words::labelled>(found, cause);
    std::string evidence;
    if (const auto share = share_of_bar(check))
        evidence = say<text::judge::value_to_bar>(quantity(*check.value, check.unit),
                                                  quantity(*check.bound, check.unit),
                                                  margin_in_words(*share));
    if (!check.detail.empty())
        evidence = evidence.empty() ? plain(check.detail, 300)
                                    : join({evidence, plain(check.detail, 300)});
    return evidence.empty() ? found : say<text::words::in_brackets>(found, evidence);
}

namespace {

const Node* node_of(const Judgement& judgement, const Check& check) {
    const auto has = [&](const Node& node) {
        return !node.checks.empty() && &check >= &node.checks.front() &&
               &check <= &node.checks.back();
    };
    const auto found = std::ranges::find_if(judgement.nodes, has);
    return found == judgement.nodes.end() ? nullptr : &*found;
}

/// The action, without the command.
std::vector<std::string> steps_of(const Judgement& judgement, const Check& check) {
    std::vector<std::string> parts;
    if (check.waiver) {
        const auto& waiver = judgement.limits.waivers[*check.waiver];
        parts.push_back(as_sentence(say<text::judge::waived_by>(
            plain(waiver.owner, 100), plain(waiver.reason, 300), plain(waiver.expires, 40))));
    }
    if (check.outcome == Outcome::inconclusive && check.repeats)
        parts.push_back(say<text::judge::repeats>(*check.repeats, check.replicas));
    else if (check.cause == Cause::unsettled)
        parts.push_back(say<text::judge::cannot_settle>());
    if (auto action = action_in_words(check.action);
        !action.empty() && check.outcome != Outcome::skip &&
        !(has_command(check) && check.action == Action::retest))
        parts.push_back(std::move(action));
    return parts;
}

} // namespace

std::string next_of(const Judgement& judgement, const Check& check) {
    auto parts = steps_of(judgement, check);
    if (const auto* node = node_of(judgement, check); node != nullptr && has_command(check))
        parts.push_back(command_for(judgement, *node, {&check}));
    return sentences(parts);
}

std::string why_of(const Judgement& judgement, const Check& check) {
    std::vector<std::string> parts;
    const bool is_soak = check.cause == Cause::too_few_replicas && check.id.starts_with("soak:");
    for (auto part : {is_soak ? say<text::judge::few_visits>() : cause_sentence(check.cause),
                      check.waived == Cause::none ? std::string{} : cause_sentence(check.waived)})
        if (!part.empty()) parts.push_back(std::move(part));
    std::ranges::move(steps_of(judgement, check), std::back_inserter(parts));
    return sentences(parts);
}

std::string explained(const Judgement& judgement, const Check& check) {
    const auto* node = node_of(judgement, check);
    auto why = why_of(judgement, check);
    if (node == nullptr || !has_command(check)) return why;
    const auto command = command_for(judgement, *node, {&check});
    return why.empty() ? command : sentences({why, command});
}

std::optional<double> share_of_bar(const Check& check) {
    if (!check.value || !check.bound || !(*check.value > 0) || !(*check.bound > 0)) return {};
    return check.at_least ? *check.value / *check.bound : *check.bound / *check.value;
}

const Check* worst_of(const Node& node) {
    if (node.checks.empty() || node.checks.front().outcome == Outcome::pass ||
        node.checks.front().outcome == Outcome::skip)
        return nullptr;
    return &node.checks.front();
}

std::array<std::size_t, 6> counts_of(const Judgement& judgement) {
    std::array<std::size_t, 6> counts{};
    for (const auto& node : judgement.nodes) ++counts.at(static_cast<std::size_t>(node.outcome));
    return counts;
}

std::string parts_in_words(const Node& node) {
    // "cuda:0-2,4 PASS": those of one kind and verdict together, in the order of their first.
    struct Group {
        std::string kind;
        std::string verdict;
        std::vector<std::string> parts;
    };
    std::vector<Group> groups;
    for (const auto& part : node.parts) {
        const auto verdict = part.measured || part.outcome > Outcome::inconclusive
                                 ? outcome_in_words(part.outcome)
                                 : cause_in_words(Cause::not_measured);
        const auto kind = part.part.substr(0, part.part.find(':'));
        const auto known = std::ranges::find_if(groups, [&](const Group& group) {
            return group.kind == kind && group.verdict == verdict;
        });
        if (known == groups.end())
            groups.push_back({.kind = kind, .verdict = verdict, .parts = {part.part}});
        else
            known->parts.push_back(part.part);
    }
    std::vector<std::string> texts;
    for (const auto& group : groups)
        for (auto name : fold_ranges(group.parts)) {
            std::erase_if(name, [](char c) { return c == '[' || c == ']'; });
            texts.push_back(part_in_words(name, group.verdict));
        }
    return join(texts);
}

std::vector<std::string> benchmarks_of(const Judgement& judgement,
                                       const std::vector<const Check*>& checks) {
    constexpr std::size_t most = 4;
    std::vector<std::string> benchmarks;
    bool is_of_node = false; // and not of some cases
    for (const auto* check : checks) {
        const auto* series = series_of(judgement, *check);
        const auto* limit = limit_of(judgement, *check);
        is_of_node |= (series == nullptr && limit == nullptr) || is_of_soak(*check);
        if (series != nullptr)
            add_once(benchmarks, series->benchmark);
        else if (limit != nullptr)
            for (const auto& one : alternatives(pattern_of(limit->cases, "benchmark")))
                add_once(benchmarks, one);
    }
    return benchmarks.size() <= most && !is_of_node ? benchmarks : std::vector<std::string>{};
}

std::optional<double> soak_to_settle(const Judgement& judgement, const Node& node,
                                     const std::vector<const Check*>& checks) {
    if (node.runs.empty() ||
        std::ranges::none_of(checks, [](const Check* check) { return is_of_soak(*check); }))
        return {};
    const auto& soak = judgement.collection.runs[node.runs.back()].soak;
    if (!soak) return {};
    double times = 1;
    for (const auto& phase : soak->phases)
        times = std::max(times, static_cast<double>(record::fewest_points) /
                                    static_cast<double>(
                                        std::max<std::size_t>(record::course_of(phase).points, 1)));
    constexpr double minute = 60;
    return std::ceil(soak->asked_seconds * times / minute) * minute;
}

std::string command_for(const Judgement& judgement, const Node& node,
                        const std::vector<const Check*>& checks) {
    const auto suite =
        node.runs.empty() ? std::string{} : judgement.collection.runs[node.runs.back()].suite;
    // A run of single benchmarks has no suite of this name.
    auto command =
        fmt::format("assay run {} --check", suite.empty() ? "acceptance" : plain(suite, 60));
    for (const auto& one : benchmarks_of(judgement, checks))
        command += one.find_first_of("*?[") == std::string::npos
                       ? fmt::format(" --only {}", plain(one, 60))
                       : fmt::format(" --only '{}'", plain(one, 60));
    if (const auto seconds = soak_to_settle(judgement, node, checks))
        command += fmt::format(" --for {:.0f}m", *seconds / 60);
    std::size_t replicas = 0;
    for (const auto* check : checks) replicas = std::max(replicas, check->repeats.value_or(0));
    if (replicas > 0) command += fmt::format(" --replicas {}", replicas);
    if (const auto repaired =
            std::ranges::find_if(checks, [](const Check* check) { return needs_repair(*check); });
        repaired != checks.end())
        command += fmt::format(" --tag repair={}", to_string((*repaired)->action));
    return say<text::judge::run>(command);
}

std::string kind_in_words(LimitKind kind) {
    return std::string{find_text("limit_kind", to_string(kind)).value_or("")};
}

} // namespace assay::judge
