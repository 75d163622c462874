// SPDX-License-Identifier: Apache-2.0
//
// In which order cases are measured, and which are measured again.

#pragma once

#include "plan/interleaving.hpp"
#include "plan/plan.hpp"
#include "record/model.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::run {

/// The judge's answer on a case that limits are about.
struct Judged {
    bool is_open = false; ///< a check of it is not decided
    int replicas = 0;     ///< with which the open checks may be; 0: more of them would not help
};
/// By record::identity. No limit is about a case that is not in it.
using Judgement = std::map<std::string, Judged, std::less<>>;

/// Expected seconds of the steps of all runs, one run after the other.
std::vector<double> steps_of(const std::vector<plan::PlannedRun>& runs);

/// Indexes of the plan's cases for one replica, of siblings the first. With a seed the blocks
/// are shuffled, otherwise for each replica, so that no case always follows the same one;
/// inside a block the order is the plan's. The same on every machine.
std::vector<std::size_t> order_of(const plan::Plan& plan, std::optional<std::int64_t> seed,
                                  int replica);

/// Must this case still be measured for `replica` (from 0)? Not if it was, if fewer are wanted, or if an earlier
/// replica decided the case: skipped, incorrect, failed.
bool is_open(const record::Case& c, int replica);

/// Replicas measured on all sides of one case, which take turns (one side in a run that is not interleaved), and
/// disturbed on none.
int undisturbed_on_all(const std::vector<const record::Case*>& sides);

/// Is another replica worth its time? Not if enough are undisturbed, the fastest agree within the
/// target, a side ended badly, or none is undisturbed after two more: what disturbs this case does
/// not go away. `again`: how many more there were since the run was (re)started. `judgement`: only
/// while a check is open, and then also where more replicas may decide it.
bool wants_another(const std::vector<const record::Case*>& sides, int again = 0,
                   const Judgement* judgement = nullptr);
/// Does the case need no more of its planned replicas? With a judgement: its checks are decided, or it has two replicas
/// and no limit is about it. Otherwise: at least `fewest` replicas, none of them disturbed, agree within the target.
bool is_enough(const std::vector<const record::Case*>& sides, std::optional<int> fewest,
               const Judgement* judgement = nullptr);
/// The index of that replica.
int next_index(const std::vector<const record::Case*>& sides);

/// Is there time for a step of this case that is expected to end after `end` seconds of the
/// run? Not behind the time limit; not behind the plan's own end, if it is not the first of
/// its case; not behind a budget, if its calls cannot be cut short.
struct Room {
    bool is_there = true;
    bool is_over = false; ///< time that was promised: the case is not measured at all
};
Room room_for(const plan::Plan& plan, std::size_t index, int replica, double end,
              std::optional<double> limit_seconds, std::size_t variants = 1);

/// At most one in twenty of three or more measured replicas was undisturbed: waiting would not help.
bool is_always_busy(const std::vector<const record::Case*>& cases);

// --- stages --------------------------------------------------------------------------------------
// The stages of an acceptance run: sanity (what --expect asks of the machine), validation (every case once),
// performance (the other replicas), stress (cases of the suite that load the machine for long). Where a stage shows
// that the node fails anyway, the later ones are not begun.

/// Replicas first to last - 1 of some of the cases.
struct Rounds {
    record::StageName stage = record::StageName::performance;
    int first = 0;
    int last = 0;
    bool of_stress = false;
    bool has(const plan::PlannedCase& planned) const { return planned.is_stress == of_stress; }
};
/// The parts of a plan, in this order; one entry for a plan without stages.
std::vector<Rounds> rounds_of(const plan::Plan& plan);

/// Sanity: done, or part_missing where an expectation is not met.
record::StageEnd sanity_of(const record::Machine& machine,
                           const std::vector<std::string>& expected);
/// The end of measured cases: done, or wrong_result where one of them is incorrect.
record::StageEnd end_of(const std::vector<const record::Case*>& cases);

/// For people: why later stages were not begun, with the cases or parts that failed; empty for other ends.
std::string why_stopped(record::StageEnd end, const std::vector<const record::Case*>& cases,
                        const record::Machine& machine, const std::vector<std::string>& expected);

} // namespace assay::run
