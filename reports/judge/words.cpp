// SPDX-License-Identifier: Apache-2.0

#include "judge/words.hpp"

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/judge.hpp"
#include "document/texts/judge_scope.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "judge/match.hpp"
#include "record/format.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace assay::judge {

using namespace document;
namespace {

using document::Tone;
using record::human;

constexpr std::size_t listed = 3; // names that one reads in a line

std::string quantity(double value, const std::string& unit) {
    return unit.empty() ? fmt::format("{:.3g}", value) : human(value, unit);
}

/// Is it neither decided nor tested, as NodeJudge counts?
bool is_missing(const Check& check) {
    const bool open = check.outcome == Outcome::inconclusive || check.outcome == Outcome::error ||
                      check.outcome == Outcome::skip;
    return check.required && open && !check.p_pass;
}

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

/// By the limit's title or id: names of cases have commas, and a limit may have many cases.
std::string short_name(const Judgement& judgement, const Check& check) {
    const auto* limit = limit_of(judgement, check);
    return limit == nullptr || !limit->title.empty() ? case_of(judgement, check)
                                                     : plain(limit->id, 100);
}
void add_once(std::vector<std::string>& names, std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

/// A FAIL stays until a run says what was repaired.
bool needs_repair(const Check& check) {
    return check.outcome == Outcome::fail && check.action > Action::fix_setup;
}

std::string missing_of(const Judgement& judgement) {
    std::vector<std::string> names;
    if (judgement.nodes.size() == 1) {
        const auto& node = judgement.nodes.front();
        if (node.required == 0) return say<text::judge::no_checks>();
        if (node.ran >= node.required) return "";
        for (const auto& check : node.checks)
            if (is_missing(check)) add_once(names, short_name(judgement, check));
        return say<text::judge::not_run>(
            names.empty() ? say<text::judge::of>(node.required - node.ran, node.required)
                          : list_of(names, listed));
    }
    if (judgement.nodes.empty()) return say<text::judge::no_checks>();
    for (const auto& node : judgement.nodes)
        if (node.ran < node.required) names.push_back(name_of(judgement, node));
    if (names.empty()) return "";
    return say_count<text::judge::nodes_lack>(names.size(), list_of(names, listed));
}

} // namespace

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
    if (check.value && check.bound)
        evidence =
            say<text::judge::value_to_bar>(quantity(*check.value, check.unit), bar_in_words(check));
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
    // "cuda:0,1 PASS": those of one kind and verdict together, in the order of their first.
    std::vector<std::pair<std::string, std::string>> groups; // name, verdict
    for (const auto& part : node.parts) {
        const auto colon = part.part.find(':');
        const auto verdict = part.measured || part.outcome > Outcome::inconclusive
                                 ? outcome_in_words(part.outcome)
                                 : cause_in_words(Cause::not_measured);
        const auto kind = part.part.substr(0, colon);
        const auto known = std::ranges::find_if(groups, [&](const auto& group) {
            return colon != std::string::npos && group.second == verdict &&
                   group.first.starts_with(fmt::format("{}:", kind));
        });
        if (known == groups.end())
            groups.emplace_back(part.part, verdict);
        else
            known->first += fmt::format(",{}", std::string_view{part.part}.substr(colon + 1));
    }
    std::vector<std::string> texts;
    for (const auto& [name, verdict] : groups) texts.push_back(part_in_words(name, verdict));
    return join(texts);
}

std::string command_for(const Judgement& judgement, const Node& node,
                        const std::vector<const Check*>& checks) {
    constexpr std::size_t most = 4;
    std::vector<std::string> benchmarks;
    bool is_of_node = false; // and not of some cases
    for (const auto* check : checks) {
        const auto* series = series_of(judgement, *check);
        const auto* limit = limit_of(judgement, *check);
        is_of_node |= series == nullptr && limit == nullptr;
        if (series != nullptr)
            add_once(benchmarks, series->benchmark);
        else if (limit != nullptr)
            for (const auto& one : alternatives(pattern_of(limit->cases, "benchmark")))
                add_once(benchmarks, one);
    }
    const auto suite =
        node.runs.empty() ? std::string{} : judgement.collection.runs[node.runs.back()].suite;
    // A run of single benchmarks has no suite of this name.
    auto command =
        fmt::format("assay run {} --check", suite.empty() ? "acceptance" : plain(suite, 60));
    if (benchmarks.size() <= most && !is_of_node)
        for (const auto& one : benchmarks)
            command += one.find_first_of("*?[") == std::string::npos
                           ? fmt::format(" --only {}", plain(one, 60))
                           : fmt::format(" --only '{}'", plain(one, 60));
    std::size_t replicas = 0;
    for (const auto* check : checks) replicas = std::max(replicas, check->repeats.value_or(0));
    if (replicas > 0) command += fmt::format(" --replicas {}", replicas);
    if (const auto repaired =
            std::ranges::find_if(checks, [](const Check* check) { return needs_repair(*check); });
        repaired != checks.end())
        command += fmt::format(" --tag repair={}", to_string((*repaired)->action));
    return say<text::judge::run>(command);
}

namespace {

/// That its newest run took.
double seconds_of_newest(const Judgement& judgement, const Node& node) {
    if (node.runs.empty()) return 0;
    const auto& run = judgement.collection.runs[node.runs.back()];
    return seconds_of(run.ended).value_or(0) - run.started_seconds;
}

/// The required checks by what they come to: "3 PASS", "12 not measured", "5 with too few replicas".
std::vector<std::string> counted(const Node& node) {
    std::vector<std::pair<std::string, std::size_t>> counts{{outcome_in_words(Outcome::pass), 0}};
    for (const auto& check : node.checks) {
        if (!check.required) continue;
        const bool is_open =
            check.outcome == Outcome::inconclusive || check.outcome == Outcome::error;
        const auto what = is_open ? cause_in_words(check.cause) : outcome_in_words(check.outcome);
        const auto known =
            std::ranges::find(counts, what, &std::pair<std::string, std::size_t>::first);
        if (known == counts.end())
            counts.emplace_back(what, 1);
        else
            ++known->second;
    }
    std::vector<std::string> texts;
    for (const auto& [what, count] : counts)
        if (count > 0) texts.push_back(say<text::judge::count_of_checks>(count, what));
    return texts;
}

} // namespace

Answer answer_of(const Judgement& judgement) {
    Answer answer{
        .verdict = "", .worst = say<text::judge::no_finding>(), .missing = missing_of(judgement)};
    const auto outcome = outcome_in_words(judgement.outcome);
    const bool one = judgement.nodes.size() == 1;
    if (one) {
        const auto& node = judgement.nodes.front();
        std::vector<std::string> about{node.ran < node.required
                                           ? say<text::judge::coverage>(node.ran, node.required)
                                           : say_count<text::judge::all_checks>(node.required)};
        if (const auto seconds = seconds_of_newest(judgement, node); seconds > 0)
            about.push_back(human(seconds, "s"));
        if (judgement.part != PartChoice::all)
            about.push_back(say<text::judge::only_part>(to_string(judgement.part)));
        auto name = machine_name(judgement, node);
        if (const auto parts = parts_in_words(node); !parts.empty())
            name = say<text::words::labelled>(name, parts);
        answer.verdict = say<text::judge::verdict_of_node>(outcome, name, join(about));
    } else {
        const auto counts = counts_of(judgement);
        std::vector<std::string> parts;
        for (const auto each : {Outcome::pass, Outcome::skip, Outcome::warn, Outcome::fail,
                                Outcome::inconclusive, Outcome::error})
            if (const auto count = counts.at(static_cast<std::size_t>(each)); count > 0)
                parts.push_back(say<text::judge::count>(count, outcome_in_words(each)));
        answer.verdict = say<text::judge::verdict>(
            outcome, parts.empty()
                         ? say<text::judge::no_node>()
                         : say_count<text::judge::counts>(judgement.nodes.size(), join(parts)));
    }
    // Files that were not used may belong to any node: `judge` takes no PASS from the others.
    const auto lost =
        std::ranges::count(judgement.collection.problems, false, &store::Problem::is_copy);
    if (lost > 0)
        answer.worst =
            say<text::judge::worst>(say_count<text::judge::lost>(static_cast<std::size_t>(lost)));
    if (judgement.nodes.empty()) return answer;
    const auto& node = judgement.nodes.front();
    std::vector<const Check*> open;
    for (const auto& check : node.checks)
        if (has_command(check) && !needs_repair(check)) open.push_back(&check);
    if (one && !open.empty()) answer.next = command_for(judgement, node, open);
    if (const auto* worst = worst_of(node); worst != nullptr) {
        auto found = finding_of(judgement, *worst);
        if (!one) found = say<text::words::labelled>(name_of(judgement, node), found);
        answer.worst = worst->cause == Cause::not_measured && one && lost == 0
                           ? say<text::judge::nothing_failed>(join(counted(node)))
                           : say<text::judge::worst>(found);
    }
    return answer;
}

std::string kind_in_words(LimitKind kind) {
    return std::string{find_text("limit_kind", to_string(kind)).value_or("")};
}

namespace {

constexpr std::size_t most_named = 3;
constexpr std::size_t longest_name = 200; // characters

/// "1 file is not used: a", "5 files are not used: a, b, c and 2 more"; nothing without names.
template <const Entry& text>
void add_names(std::vector<std::string>& parts, const std::vector<std::string>& names) {
    if (!names.empty()) parts.push_back(say_count<text>(names.size(), list_of(names, most_named)));
}

} // namespace

std::vector<std::string> scope_of(const Judgement& judgement) {
    std::vector<std::string> parts;
    std::vector<std::string> filters;
    for (const auto& filter : judgement.filter) filters.push_back(plain(filter, longest_name));
    if (!filters.empty()) parts.push_back(say<text::judge_scope::filter>(join(filters)));
    if (!judgement.campaign.empty())
        parts.push_back(say<text::judge_scope::campaign>(plain(judgement.campaign, longest_name)));

    std::vector<std::string> left_out;
    for (const auto& problem : judgement.collection.problems)
        if (!problem.is_copy)
            left_out.push_back(
                say<text::words::in_brackets>(plain(problem.where, longest_name),
                                              translated(plain(problem.reason, longest_name))));
    add_names<text::judge_scope::left_out>(parts, left_out);
    std::vector<std::string> unfinished;
    for (const auto& journal : judgement.collection.unfinished)
        unfinished.push_back(plain(journal.parent_path().string(), longest_name));
    add_names<text::judge_scope::unfinished>(parts, unfinished);

    std::size_t partial = 0;
    for (const auto& node : judgement.nodes)
        if (!node.runs.empty() && judgement.collection.runs[node.runs.back()].partial) ++partial;
    if (partial > 0) parts.push_back(say_count<text::judge_scope::partial>(partial));

    std::size_t waived = 0;
    for (const auto& node : judgement.nodes)
        for (const auto& check : node.checks)
            if (check.waiver && check.cause != Cause::waiver_unused) ++waived;
    if (waived > 0) parts.push_back(say_count<text::judge_scope::waivers>(waived));
    std::vector<std::string> replaced;
    for (const auto& one : judgement.limits.replaced)
        replaced.push_back(plain(one.id, longest_name));
    add_names<text::judge_scope::replaced>(parts, replaced);
    return parts;
}

} // namespace assay::judge
