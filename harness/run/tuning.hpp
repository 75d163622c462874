// SPDX-License-Identifier: Apache-2.0
//
// Libraries that choose a kernel by the CPU's name choose badly on newer CPUs. If a module names the
// variable and its values, a short pre-run tries them, the fastest is used for all replicas, and the
// record has both it and the library's own choice.

#pragma once

#include "plan/plan.hpp"
#include "record/model.hpp"
#include "record/protocol.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::run {

struct TuningChoice {
    record::NamedList variables; ///< for the worker's environment; empty: the library's own choice
    record::NamedList settings;  ///< as recorded; the rest can be derived from these
    std::vector<std::string> warnings; ///< advice for the user
};

/// Cases of one group share a choice: the same benchmark, library and named parameters (precision and
/// the like). Sizes and threads do not need another kernel family.
std::string tuning_group(const plan::PlannedCase& planned);

/// The values that this CPU can run. A variable that the user has set is left alone.
std::vector<plan::Tuning> usable_tunings(const plan::Manifest& manifest,
                                         const record::Machine& machine,
                                         const std::vector<std::string>& environment);

/// Long enough to tell kernels apart, short enough to try six of them.
record::Protocol probe_protocol(const record::Protocol& protocol);

/// Seconds per call with this tuning, or with none; nothing if it cannot be measured.
using Probe = std::function<std::optional<double>(const plan::Tuning*)>;

/// A variable that tuning chooses, as the user's shell had it; it does not reach workers (environment.hpp).
struct Unset {
    std::string variable;
    std::string value;
};
/// Those that are set in `inherited` and not seen by workers.
std::vector<Unset> unset_tunings(const plan::Manifest& manifest,
                                 const std::vector<std::string>& inherited,
                                 const std::vector<std::string>& seen);

/// Tries the library's own choice and each tuning. A winner is tried again, and the library's own
/// choice after it; it must win with the slower of its tries against the faster of the other's, so that
/// a disturbance does not decide. Empty if the library's own choice
/// cannot be measured. Records the time of an unset value that was tried.
TuningChoice choose_tuning(const std::vector<plan::Tuning>& tunings, const Probe& probe,
                           const std::vector<Unset>& unset = {});
/// Warns of an unset value that costs time. `flops`: of a call that was probed, for rates; 0: in the settings, or unknown.
void warn_of_unset(TuningChoice& choice, double flops = 0);

/// The choice that a case was measured with, from its settings.
std::optional<TuningChoice> recorded_choice(const plan::Manifest& manifest,
                                            const record::NamedList& settings);

} // namespace assay::run
