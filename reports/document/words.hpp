// SPDX-License-Identifier: Apache-2.0
//
// Results in words: what a family asks, what parameters mean, what an interval covers.

#pragma once

#include "record/model.hpp"
#include "record/summary.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::document {

struct FamilyWords {
    std::string title;
    std::string question;
};
/// By the part of a benchmark's id before the dot. Families of other people get their own name.
FamilyWords family_words(std::string_view family);
/// "bandwidth": a metric by the name that a result has for it; unknown ones keep that name.
std::string metric_title(std::string_view name);
std::string family_of(std::string_view benchmark);

/// "working_set" as "working set".
std::string with_blanks(std::string_view name);
/// Is this parameter a number of bytes?
bool is_bytes(std::string_view name);
/// "64 KiB", and "100 kB" where that is the round number.
std::string size_in_words(double bytes);
/// Does the family measure what passes between parts of a system?
bool is_about_links(std::string_view benchmark);

/// "STREAM triad, all threads (2)": a case as people call it, by its benchmark and parameters; what symbols stand for
/// is in the settings. Parameters of `said` stand elsewhere, and are left out where the name does without them.
std::string case_name(std::string_view benchmark, const record::NamedList& parameters,
                      const record::NamedList& settings = {},
                      const std::set<std::string, std::less<>>& said = {});

/// A case among others.
struct NamedCase {
    std::string_view benchmark;
    const record::NamedList& parameters;
    std::string_view library;
    std::string more{}; ///< conditions: "ranks 4"
};
/// "GEMM fp64, openblas", "STREAM triad, one thread": of each no more than tells it from the others.
std::vector<std::string> short_names(const std::vector<NamedCase>& cases);

/// One parameter: "size 1024", "fp64". `setting`: what a symbolic value resolved to.
std::string parameter_in_words(const record::Named& parameter,
                               const record::Value* setting = nullptr);
/// "fp64, size 1024, all threads (2)": symbolic values with what they resolved to.
std::string parameters_in_words(const record::Case& c);
/// The same, one text for each parameter.
std::vector<std::string> parameter_parts(const record::Case& c);
/// Other choices: "core_type SkylakeX, algorithm ring". Leaves out those that the above has told.
std::string settings_in_words(const record::Case& c);

/// "±0.4%", or "-0.3% +0.9%" where the two sides differ; empty without an interval.
std::string interval_in_words(const record::Metric& metric);
/// "between 3 processes", "within one process only: the next run may differ more".
std::string covers_in_words(const record::Case& c, const record::Metric& metric);
/// Replicas that contributed a figure.
std::size_t measured_replicas(const record::Case& c);

/// "98%": how much of its ceiling the headline reaches; nothing where either is missing.
std::optional<double> ceiling_share(const record::Case& c);
/// "512 GFLOP/s measured: peak.fma ..." or why it is missing.
std::string ceiling_in_words(const record::Case& c);
/// The same of one of the others.
std::string ceiling_in_words(const record::Case& c, const record::Ceiling& ceiling);

/// "45.2 GB/s in 80% of replicas, else 27.1 GB/s": what one gets beside the value, where that is something else.
std::vector<std::string> levels_beside(const record::Case& c);

/// The first metric, where the status allows to show one.
const record::Metric* headline(const record::Case& c);
/// "not measured", "wrong result", ...: a status as people say it.
std::string_view status_in_words(record::Status status);
/// How well the value of a measured case is known. A limit from below is one from above where lower is better.
std::string_view knowledge_in_words(record::Knowledge knowledge, bool higher_is_better = true);

/// Why a case is not ok: the harness's English sentence, or in another language the text of its code and values.
std::string reason_in_words(const record::Case& c);
/// `text` with its places {name} filled; the end of a name gives the unit. [Parts in brackets] are left out if a
/// value of theirs is missing; if one outside them is missing, there is no text.
std::optional<std::string> filled(std::string_view text, const record::Values& values);
/// In a few words: "chromium used 21% of the CPU".
std::string cause_in_words(const record::Disturbance& cause);
/// Disturbances of the case, one of each kind: replicas report the same with values of their own.
std::vector<std::string> disturbances_in_words(const record::Telemetry& telemetry);
/// The same in a few words: "chromium used 21% of the CPU, the hypervisor took 2% of the CPU time".
std::string causes_in_words(const record::Telemetry& telemetry);

/// "2 x NVIDIA H200 (140 GiB)": a text for each kind of device.
std::vector<std::string> device_kinds(const record::Machine& machine);
/// "640 W (up to 690 W), 1.76 GHz, 61 °C, slowed by its power limit for 1.2 s": the device while it was measured; empty
/// where nothing is known.
std::string device_in_words(const record::Case& c);

} // namespace assay::document
