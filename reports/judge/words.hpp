// SPDX-License-Identifier: Apache-2.0
//
// A judgement in words, in the language in use, for documents and for tools that watch nodes. Made when something is
// shown: a fleet has a hundred checks for each that people read.

#pragma once

#include "document/document.hpp"
#include "judge/judge.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace assay::judge {

/// Title of a limit, in the language in use; empty where it has none.
const std::string& title_of(const Limit& limit);
std::string outcome_in_words(Outcome outcome);
/// "below the limit"
std::string cause_in_words(Cause cause);
/// "The value is below the limit, and noise does not explain it."
std::string cause_sentence(Cause cause);
/// Empty where there is nothing to do.
std::string action_in_words(Action action);
document::Tone tone_of(Outcome outcome);

/// Subject of a check.
enum class Stage : std::uint8_t { setup, correctness, telemetry, speed, heat };
inline constexpr std::size_t stages = 5;
Stage stage_of(const Check& check);

/// By its label or host name, where runs have one, otherwise by its id.
std::string machine_name(const Judgement& judgement, const Node& node);
/// The same with its campaign.
std::string name_of(const Judgement& judgement, const Node& node);
/// "STREAM triad on cuda:0", "gpu=8"
std::string name_of(const Judgement& judgement, const Check& check);
/// The same without the device.
std::string case_of(const Judgement& judgement, const Check& check);
/// "505 GFLOP/s", "0.12" without a unit
std::string quantity(double value, const std::string& unit);
/// "+17%" for a share of 1.17
std::string margin_in_words(double share);
/// "at least 500 GB/s"; empty without a bound.
std::string bar_in_words(const Check& check);
/// "STREAM triad on cuda:0: below the limit (410 GB/s, limit 500 GB/s, margin -18%)"
std::string finding_of(const Judgement& judgement, const Check& check);
/// The next step: the action, and how often to repeat or that this does not help.
std::string next_of(const Judgement& judgement, const Check& check);
/// Meaning of the cause, and the action without the command.
std::string why_of(const Judgement& judgement, const Check& check);
bool is_of_soak(const Check& check);
/// "undisturbed visits: 3 / 8", "-12%"
std::string detail_of_soak(const Check& check);
/// A FAIL stays until a run says what was repaired.
bool needs_repair(const Check& check);
/// Does a run settle it, at once or after its action?
bool has_command(const Check& check);
/// Meaning of the cause, and the action with the command.
std::string explained(const Judgement& judgement, const Check& check);
/// Value over bound, so that more is better; nothing without both.
std::optional<double> share_of_bar(const Check& check);

/// The check that its verdict comes from; null where nothing is wrong.
const Check* worst_of(const Node& node);
/// Nodes of each outcome.
std::array<std::size_t, 6> counts_of(const Judgement& judgement);

/// The answer, the worst finding, what was not checked: a line each.
struct Answer {
    std::string verdict;
    std::string worst;
    std::string next;  ///< the command that settles what is open; empty where nothing is
    std::string takes; ///< "about 40 s": time that it takes; empty where that is not known
    std::string missing;
};
/// "host", "cuda:0", ... of one node with their verdicts, in a line.
std::string parts_in_words(const Node& node);
/// Those that measure what these checks need; none: the whole suite does.
std::vector<std::string> benchmarks_of(const Judgement& judgement,
                                       const std::vector<const Check*>& checks);
/// Seconds of another soak with enough visits for these checks; nothing where none of them is about a soak.
std::optional<double> soak_to_settle(const Judgement& judgement, const Node& node,
                                     const std::vector<const Check*>& checks);
/// Measures what these checks need.
std::string command_for(const Judgement& judgement, const Node& node,
                        const std::vector<const Check*>& checks);
Answer answer_of(const Judgement& judgement);

/// Filter and campaign, files that are not used, runs that began and have no result, waivers, replaced limits: a
/// sentence each. None where the verdict is on all that there is, by the limits as they are.
std::vector<std::string> scope_of(const Judgement& judgement);

std::string kind_in_words(LimitKind kind);

} // namespace assay::judge
