// SPDX-License-Identifier: Apache-2.0
//
// What `assay run` measures: one run, or with --interleave a run for each variant with corresponding
// cases, so that cases with the same index make a pair.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "plan/plan.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

// --- variant -------------------------------------------------------------------------------------
// A variant of `assay run --interleave`: a label, and what its workers' environment changes. What a case
// computes is not a variant but a parameter, and part of its identity.

struct Variant {
    std::string label;
    record::NamedList variables; ///< of the environment, set before exec
    std::string library;         ///< that measures the cases; empty: as planned
    std::string via;             ///< a command that starts the worker: "numactl --interleave=all"
    std::string beside;          ///< of --while: the load that works at the same time
    bool operator==(const Variant&) const = default;
};

/// "new: OPENBLAS_CORETYPE=Haswell,library=openblas". A value with a comma needs double quotes.
Result<Variant> parse_variant(std::string_view text);

/// At least two, with different labels, and all or none of them with a library.
Result<std::vector<Variant>> parse_variants(const std::vector<std::string>& texts);

/// Changes in recorded form: environment.NAME, library, via.
record::NamedList changes_of(const Variant& variant);

/// The order of the variants in this pair (from 0): forward and back, so that a drift over a few seconds
/// affects all alike.
std::vector<std::size_t> order_of_turns(int pair, std::size_t variants);
/// The same as a word: "ABBA", "ABCCBA".
std::string order_word(std::size_t variants);

// -------------------------------------------------------------------------------------------------

/// Ten pairs: with a standard deviation of 1% between pairs, a 3% difference is practically always found.
inline constexpr int usual_pairs = 10;

struct PlannedRun {
    Plan plan;
    Variant variant{}; ///< empty in a single run
    std::optional<record::Pairing>
        pairing{}; ///< with the others; its id is chosen when they are opened
};

struct Interleaving {
    std::vector<PlannedRun> runs; ///< with equally many cases, and a replica for each pair
    double expected_seconds = 0;
    std::vector<std::string> notes;
};

/// The plan for each of the variants.
std::vector<PlannedRun> in_turns(const Plan& plan, const std::vector<Variant>& variants);

/// request.replicas is the number of pairs; a budget is for all variants together. An unknown library of a
/// variant is a usage error.
Result<Interleaving> interleave(const Catalogue& catalogue, const PlanRequest& request,
                                const std::vector<Variant>& variants);

// --- beside --------------------------------------------------------------------------------------
// What a case loses to a neighbour on the same machine: measured alone and beside a load, in turn, on the same CPUs.

/// `load`: "memory.stream kernel=triad on other cores" or "... on other devices", one case. request.replicas is the
/// number of pairs; a budget is for both variants together.
Result<Interleaving> beside(const Catalogue& catalogue, const PlanRequest& request,
                            const std::string& load);

} // namespace assay::plan
