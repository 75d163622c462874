// SPDX-License-Identifier: Apache-2.0
//
// The first lines: the answer, the worst finding, the command that settles what is open, and on how much this rests.

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/judge.hpp"
#include "document/texts/judge_scope.hpp"
#include "document/texts/words.hpp"
#include "judge/lint.hpp"
#include "judge/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace assay::judge {

using namespace document;
namespace {

constexpr std::size_t listed = 3; // names that one reads in a line

/// Is it neither decided nor tested, as NodeJudge counts?
bool is_missing(const Check& check) {
    const bool open = check.outcome == Outcome::inconclusive || check.outcome == Outcome::error ||
                      check.outcome == Outcome::skip;
    return check.required && open && !check.p_pass;
}

/// By the limit's title or id: names of cases have commas, and a limit may have many cases.
std::string short_name(const Judgement& judgement, const Check& check) {
    const bool has_title = !check.limit || !judgement.limits.limits[*check.limit].title.empty();
    return has_title ? case_of(judgement, check)
                     : plain(judgement.limits.limits[*check.limit].id, 100);
}
void add_once(std::vector<std::string>& names, std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

std::string missing_of(const Judgement& judgement) {
    std::vector<std::string> names;
    if (judgement.nodes.size() == 1) {
        const auto& node = judgement.nodes.front();
        if (node.required == 0) return say<text::judge::no_checks>();
        if (node.ran >= node.required) return "";
        for (const auto& check : node.checks)
            if (is_missing(check) && !is_of_soak(check))
                add_once(names, short_name(judgement, check));
        // Where all were tried, the counts of the first lines say what they lack.
        return names.empty() ? "" : say<text::judge::not_run>(list_of(names, listed));
    }
    if (judgement.nodes.empty()) return say<text::judge::no_checks>();
    for (const auto& node : judgement.nodes)
        if (node.ran < node.required) names.push_back(name_of(judgement, node));
    if (names.empty()) return "";
    return say_count<text::judge::nodes_lack>(names.size(), list_of_nodes(names));
}

/// That its newest run took.
double seconds_of_newest(const Judgement& judgement, const Node& node) {
    if (node.runs.empty()) return 0;
    const auto& run = judgement.collection.runs[node.runs.back()];
    return seconds_of(run.ended).value_or(0) - run.started_seconds;
}

/// Can its words follow a number of checks: "5 with too few replicas"?
bool follows_number(Cause cause) {
    constexpr std::array causes{Cause::not_measured, Cause::no_datasheet, Cause::too_few_replicas,
                                Cause::undecided,    Cause::unsettled,    Cause::unstable,
                                Cause::disturbed,    Cause::not_verified};
    return std::ranges::find(causes, cause) != causes.end();
}

/// The required checks by what they come to: "3 PASS", "12 not measured", "5 with too few replicas".
std::vector<std::string> counted(const Node& node) {
    std::vector<std::pair<std::string, std::size_t>> counts{{outcome_in_words(Outcome::pass), 0}};
    for (const auto& check : node.checks) {
        if (!check.required) continue;
        const bool is_open =
            check.outcome == Outcome::inconclusive || check.outcome == Outcome::error;
        auto what = is_open ? cause_in_words(check.cause) : outcome_in_words(check.outcome);
        if (check.cause == Cause::too_few_replicas && is_of_soak(check))
            what = say<text::judge::too_few_visits>();
        // "3 driver does not respond" is no English.
        if (is_open && !follows_number(check.cause))
            what = say<text::words::in_brackets>(outcome_in_words(check.outcome), what);
        const auto known =
            std::ranges::find(counts, what, &std::pair<std::string, std::size_t>::first);
        if (known == counts.end())
            counts.emplace_back(std::move(what), 1);
        else
            ++known->second;
    }
    std::vector<std::string> texts;
    for (const auto& [what, count] : counts)
        if (count > 0) texts.push_back(say<text::judge::count_of_checks>(count, what));
    return texts;
}

/// Time for as many replicas of these checks as the command measures, at the pace of the newest run; 0: not known.
double seconds_to_settle(const Judgement& judgement, const Node& node,
                         const std::vector<const Check*>& checks) {
    const auto& collection = judgement.collection;
    if (const auto soak = soak_to_settle(judgement, node, checks)) return *soak;
    if (node.runs.empty() || collection.runs[node.runs.back()].partial) return 0;
    std::map<std::uint32_t, std::size_t> measured; // replicas by series
    std::size_t all = 0;
    for (const auto& seen : collection.observations)
        if (seen.run == node.runs.back() && seen.is_primary) {
            measured[seen.series] += seen.replicas.size();
            all += seen.replicas.size();
        }
    const auto seconds = seconds_of_newest(judgement, node);
    if (all == 0) return 0;
    if (benchmarks_of(judgement, checks).empty()) return seconds;
    std::size_t most = 0;
    for (const auto* check : checks) most = std::max(most, check->repeats.value_or(0));
    std::size_t replicas = 0;
    std::set<std::string> benchmarks;
    for (const auto* check : checks) {
        if (!check->series) return 0; // not measured: nobody knows how long it takes
        benchmarks.insert(collection.series[*check->series].benchmark);
    }
    for (const auto& [series, count] : measured)
        if (benchmarks.contains(collection.series[series].benchmark))
            replicas += std::max(count, most);
    return seconds * static_cast<double>(replicas) / static_cast<double>(all);
}

/// "about 40 s", "about 5 min"
std::string about(double seconds) {
    constexpr double minute = 60;
    constexpr double step = 10;
    const double rounded = seconds < minute ? std::max(1.0, std::ceil(seconds / step)) * step
                                            : std::ceil(seconds / minute) * minute;
    return say<text::judge::takes>(duration_in_words(rounded));
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
            about.push_back(duration_in_words(seconds));
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
    if (one && !open.empty()) {
        answer.next = command_for(judgement, node, open);
        if (const auto seconds = seconds_to_settle(judgement, node, open); seconds > 0)
            answer.takes = about(seconds);
    }
    if (const auto* worst = worst_of(node); worst != nullptr) {
        auto found = finding_of(judgement, *worst);
        if (!one) found = say<text::words::labelled>(name_of(judgement, node), found);
        answer.worst =
            worst->outcome == Outcome::inconclusive && worst->required && one && lost == 0
                ? say<text::judge::nothing_failed>(join(counted(node)))
                : say<text::judge::worst>(found);
    }
    return answer;
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
    // Installed ones are for all machines that are sold.
    const auto installed = layout().share / "limits";
    std::vector<std::string> others;
    for (const auto& limit : judgement.limits.limits)
        if (std::filesystem::path{limit.file}.parent_path() != installed &&
            !is_for_any(limit, judgement.collection))
            others.push_back(plain(limit.id, longest_name));
    add_names<text::judge_scope::fits_nothing>(parts, others);
    return parts;
}

} // namespace assay::judge
