// SPDX-License-Identifier: Apache-2.0
//
// What is said of cases that were measured at once: how far the slowest is behind, whether one was missing, and what
// the same case reaches alone.

#pragma once

#include "launch/session.hpp"
#include "plan/plan.hpp"
#include "process/message.hpp"
#include "record/model.hpp"
#include "record/protocol.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::run {

/// One case, to be measured once.
struct Errand {
    const plan::PlannedCase& planned;
    record::Protocol protocol;
    int replica = 0; ///< counts from 0
    std::filesystem::path log;
    std::string expected{}; ///< see message::Measure
};

/// The loads of all of them; each has a log of its own.
std::vector<Errand> loads_of(const std::vector<Errand>& errands);
/// Without its load a case was not measured as asked.
void judge_load(const process::message::Result& load,
                std::vector<process::message::Result>& results);
/// The metric `slowest_sibling` of cases that are named as measured together, where all were measured; otherwise those
/// that were are disturbed.
void compare_siblings(std::vector<process::message::Result>& results);
/// The metric `together_to_alone` for replicas of the same index.
void compare_with_alone(record::Case& together, const record::Case& alone);
/// The metric `late_to_early`: the rate of the window's last quarter over
/// that of its first tenth, by the batches that are kept.
void add_course(record::Replica& replica);

// --- siblings ------------------------------------------------------------------------------------
// Several workers measure at once: they begin together, and each that has measured goes on working until all have. One
// that dies, hangs or gives up is waited for no more.

struct Sibling {
    launch::Session* session = nullptr;
    process::message::Measure request; ///< with its role
};

/// An answer for each, as Session::measure() gives it.
std::vector<process::message::Result> measure_together(const std::vector<Sibling>& siblings,
                                                       const launch::Watch& watch);

} // namespace assay::run
