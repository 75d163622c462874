// SPDX-License-Identifier: Apache-2.0
#include "plan/interleaving.hpp"

#include "base/text.hpp"
#include "plan/filter.hpp"
#include "plan/manifest.hpp"
#include "plan/planner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace assay::harness {
namespace {

/// Identifies a case apart from its library: cases with equal keys make a pair.
std::string question_of(const PlannedCase& planned) {
    auto c = empty_case(planned);
    c.library.clear();
    return record::identity(c);
}

const Manifest* module_named(const Catalogue& catalogue, const std::string& name) {
    const auto found = std::ranges::find(catalogue.modules, name, &Manifest::module);
    return found == catalogue.modules.end() ? nullptr : &*found;
}

/// The cases of one question, by variant.
using Row = std::vector<const PlannedCase*>;

class ByLibrary {
public:
    ByLibrary(const Catalogue& catalogue, const std::vector<Variant>& variants)
        : catalogue_{catalogue}, variants_{variants} {}

    Result<void> check() const {
        for (const auto& variant : variants_)
            if (module_named(catalogue_, variant.library) == nullptr) {
                const auto known = module_names(catalogue_);
                return fail(fmt::format("--interleave: variant {}: there is no library {}{}",
                                        variant.label, variant.library,
                                        suggestion(variant.library, known)));
            }
        return {};
    }

    /// Gives each plan the cases of its variant's library.
    Result<void> deal(const Plan& all, Interleaving& into) const {
        std::vector<const PlannedCase*> questions; // the first case of each
        std::map<std::string, Row> rows;
        for (const auto& planned : all.cases) {
            auto [entry, is_new] = rows.try_emplace(question_of(planned), Row(variants_.size()));
            if (is_new) questions.push_back(&planned);
            for (std::size_t i = 0; i < variants_.size(); ++i)
                if (planned.module->module == variants_[i].library) entry->second[i] = &planned;
        }
        std::size_t left_out = 0;
        for (const auto* question : questions) {
            const auto& row = rows.at(question_of(*question));
            if (std::ranges::all_of(row, [](const auto* c) { return c == nullptr; }))
                ++left_out;
            else
                add(row, *question, into.runs);
        }
        std::vector<std::string> names;
        for (const auto& variant : variants_) names.push_back(variant.library);
        if (into.runs.front().plan.cases.empty())
            return fail(fmt::format("--interleave: none of these cases is measured by {}",
                                    fmt::join(names, " or ")));
        if (left_out > 0)
            into.notes.push_back(fmt::format("{} questions left out: measured by none of {}",
                                             left_out, fmt::join(names, ", ")));
        return {};
    }

private:
    /// A case that not every library measures is skipped in all: there is nothing to compare it with.
    void add(const Row& row, const PlannedCase& any, std::vector<PlannedRun>& runs) const {
        const auto lacking = std::ranges::find(row, nullptr);
        std::string reason;
        record::Values values;
        if (lacking != row.end()) {
            const auto& variant = variants_[static_cast<std::size_t>(lacking - row.begin())];
            reason = fmt::format("{} does not measure this, so variant {} has nothing to compare",
                                 variant.library, variant.label);
            values = {{"library", variant.library}, {"variant", variant.label}};
        }
        for (std::size_t i = 0; i < row.size(); ++i) {
            auto planned = row[i] == nullptr ? any : *row[i];
            planned.module = module_named(catalogue_, variants_[i].library);
            if (lacking != row.end()) {
                planned.skip_reason = reason;
                planned.skip_values = values;
                planned.skip_code = record::ReasonCode::nothing_to_compare;
            }
            runs[i].plan.cases.push_back(std::move(planned));
        }
    }

    const Catalogue& catalogue_;
    const std::vector<Variant>& variants_;
};

void note_equal_variants(Interleaving& turns) {
    for (std::size_t i = 1; i < turns.runs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (turns.runs[i].pairing->changes == turns.runs[j].pairing->changes)
                turns.notes.push_back(fmt::format(
                    "variants {} and {} are the same: any difference between them is "
                    "noise and shows the smallest detectable difference on this machine",
                    turns.runs[j].variant.label, turns.runs[i].variant.label));
}

} // namespace

std::vector<PlannedRun> in_turns(const Plan& plan, const std::vector<Variant>& variants) {
    std::vector<PlannedRun> runs;
    for (const auto& variant : variants)
        runs.push_back({.plan = plan,
                        .variant = variant,
                        .pairing = record::Pairing{.id = {},
                                                   .setting = variant.label,
                                                   .order = order_word(variants.size()),
                                                   .changes = changes_of(variant)}});
    return runs;
}

Result<Interleaving> interleave(const Catalogue& catalogue, const PlanRequest& request,
                                const std::vector<Variant>& variants) {
    const bool by_library = !variants.front().library.empty();
    const ByLibrary libraries{catalogue, variants};
    if (by_library) ASSAY_TRY(libraries.check());
    auto whole = request;
    whole.budget_seconds.reset();
    whole.replicas = request.replicas.value_or(usual_pairs);
    ASSAY_TRY(auto made, make_plan(catalogue, whole));
    Interleaving turns{.notes = std::exchange(made.notes, {})};
    made.fresh_workers = true;
    auto each = made;
    if (by_library) each.cases.clear();
    turns.runs = in_turns(each, variants);
    if (by_library) ASSAY_TRY(libraries.deal(made, turns));
    std::optional<double> budget = request.budget_seconds;
    if (budget) *budget /= static_cast<double>(variants.size());
    for (auto& [plan, variant, pairing] : turns.runs) {
        finish_plan(plan, budget, request.machine);
        turns.expected_seconds += plan.expected_seconds;
    }
    // Equal in all plans, because their protocols are.
    std::ranges::move(turns.runs.front().plan.notes, std::back_inserter(turns.notes));
    note_equal_variants(turns);
    return turns;
}

} // namespace assay::harness
