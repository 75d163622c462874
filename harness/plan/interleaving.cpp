// SPDX-License-Identifier: Apache-2.0
#include "plan/interleaving.hpp"

#include "base/text.hpp"
#include "json/words.hpp"
#include "plan/filter.hpp"
#include "plan/planner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

namespace assay::plan {
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
            return fail(fmt::format("--interleave: no selected case is measured by {}",
                                    fmt::join(names, " or ")));
        if (left_out > 0)
            into.notes.push_back(fmt::format("{} case{} left out: not measured by {}", left_out,
                                             left_out == 1 ? "" : "s", fmt::join(names, " or ")));
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
    std::ranges::copy_if(
        turns.runs.front().plan.notes, std::back_inserter(turns.notes),
        [&](const auto& note) { return std::ranges::count(turns.notes, note) == 0; });
    note_equal_variants(turns);
    return turns;
}

// --- variant -------------------------------------------------------------------------------------

namespace {

constexpr std::string_view form = "LABEL:[KEY=VALUE[,KEY=VALUE...]]";
/// Letters name the variants in the record: ABCCBA.
constexpr std::size_t most_variants = 26;
constexpr std::size_t longest_label = 64; // bytes: a heading of a column

/// The number of threads is a parameter, which these would contradict; the others would make a worker
/// take itself for a part of another job.
constexpr std::array not_to_be_set{"OMP_NUM_THREADS",  "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS",
                                   "GOTO_NUM_THREADS", "MKL_NUM_THREADS",  "BLIS_NUM_THREADS"};
constexpr std::array ours{"ASSAY_", "OMPI_COMM_", "PMIX_", "PMI_"};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_variable(std::string_view key) {
    const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
    return !key.empty() && letter(key.front()) &&
           std::ranges::all_of(key, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

/// The pieces between commas outside of quotes.
Result<std::vector<std::string_view>> pieces_of(std::string_view text) {
    std::vector<std::string_view> pieces;
    bool quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] == '"') quoted = !quoted;
        if (i < text.size() && (quoted || text[i] != ',')) continue;
        pieces.push_back(trimmed(text.substr(begin, i - begin)));
        begin = i + 1;
    }
    if (quoted) return fail("missing closing double quote");
    return pieces;
}

std::string unquoted(std::string_view value) {
    std::string text{value};
    std::erase(text, '"');
    return text;
}

Result<void> set_variable(Variant& variant, const std::string& name, std::string value) {
    if (std::ranges::find(not_to_be_set, name) != not_to_be_set.end())
        return fail(fmt::format("{} cannot be a variant: the number of threads is a parameter, as "
                                "in --set 'gemm.*.threads=1'",
                                name));
    if (std::ranges::any_of(ours, [&](const char* prefix) { return name.starts_with(prefix); }))
        return fail(fmt::format("{} is set by assay itself", name));
    if (record::find(variant.variables, name) != nullptr)
        return fail(fmt::format("{} is given twice", name));
    variant.variables.push_back({name, std::move(value)});
    return {};
}

Result<void> set(Variant& variant, const std::string& key, std::string value) {
    if (is_variable(key)) return set_variable(variant, key, std::move(value));
    if (key == "governor" || key == "image")
        return fail(fmt::format("{}= was removed from variants: measure once with each and compare "
                                "the runs: assay compare old=A/run.json new=B/run.json",
                                key));
    const std::vector<std::string> known{"library", "via"};
    const auto which = std::ranges::find(known, key);
    if (which == known.end())
        return fail(fmt::format("unknown key {}{}; write environment variables in capitals",
                                json::show_text(key), suggestion(key, known)));
    if (trimmed(value).empty()) return fail(fmt::format("{} needs a value", key));
    std::string& field = key == "library" ? variant.library : variant.via;
    if (!field.empty()) return fail(fmt::format("{} is given twice", key));
    field = std::move(value);
    return {};
}

Result<void> check_label(std::string_view label) {
    if (label.empty() || label.size() > longest_label || std::ranges::any_of(label, [](char c) {
            return is_control(c) || std::string_view{"=,/*?["}.find(c) != std::string_view::npos;
        }))
        return fail(
            fmt::format("invalid label (expected 1 to {} characters without = , / * ? [, then a "
                        "colon: {})",
                        longest_label, form));
    return {};
}

Result<Variant> read(std::string_view text) {
    if (std::ranges::any_of(text, is_control)) return fail("control characters are not allowed");
    const auto colon = text.find(':');
    Variant variant;
    variant.label = trimmed(text.substr(0, colon));
    if (colon == std::string_view::npos)
        return fail(fmt::format("missing colon after the label (expected {})", form));
    ASSAY_TRY(check_label(variant.label));
    const auto rest = trimmed(text.substr(colon + 1));
    if (rest.empty()) return variant;
    ASSAY_TRY(const auto pieces, pieces_of(rest));
    for (const auto piece : pieces) {
        const auto equals = piece.find('=');
        if (equals == std::string_view::npos || equals == 0)
            return fail(fmt::format("invalid {} (expected KEY=VALUE; quote a value with a comma: "
                                    "UCX_TLS=\"rc,sm\")",
                                    json::show_text(piece)));
        const std::string key{trimmed(piece.substr(0, equals))};
        ASSAY_TRY(set(variant, key, unquoted(trimmed(piece.substr(equals + 1)))));
    }
    return variant;
}

} // namespace

Result<Variant> parse_variant(std::string_view text) {
    auto variant = read(text);
    if (!variant)
        return fail(
            fmt::format("--interleave {}: {}", json::show_text(text), variant.error().message));
    return variant;
}

Result<std::vector<Variant>> parse_variants(const std::vector<std::string>& texts) {
    std::vector<Variant> variants;
    for (const auto& text : texts) {
        ASSAY_TRY(auto variant, parse_variant(text));
        if (std::ranges::find(variants, variant.label, &Variant::label) != variants.end())
            return fail(fmt::format("--interleave: the label {} is given twice",
                                    json::show_text(variant.label)));
        variants.push_back(std::move(variant));
    }
    if (variants.size() < 2 || variants.size() > most_variants)
        return fail(fmt::format("--interleave: give it 2 to {} times, once for each variant: "
                                "--interleave 'old:' --interleave 'new: OMP_WAIT_POLICY=active'",
                                most_variants));
    const auto without = std::ranges::find(variants, std::string{}, &Variant::library);
    const auto with = std::ranges::find_if(
        variants, [](const Variant& variant) { return !variant.library.empty(); });
    if (without != variants.end() && with != variants.end())
        return fail(fmt::format("--interleave: {} has a library and {} has none; give one in every "
                                "variant or in none",
                                json::show_text(with->label), json::show_text(without->label)));
    return variants;
}

record::NamedList changes_of(const Variant& variant) {
    record::NamedList changes;
    for (const auto& [name, value] : variant.variables)
        changes.push_back({fmt::format("environment.{}", name), value});
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) changes.push_back({name, value});
    };
    add("library", variant.library);
    add("via", variant.via);
    add("beside", variant.beside);
    return changes;
}

std::vector<std::size_t> order_of_turns(int pair, std::size_t variants) {
    std::vector<std::size_t> order(variants);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (pair % 2 != 0) std::ranges::reverse(order);
    return order;
}

std::string order_word(std::size_t variants) {
    std::string word;
    for (const int pair : {0, 1})
        for (const auto index : order_of_turns(pair, variants))
            word += static_cast<char>('A' + static_cast<int>(index));
    return word;
}

} // namespace assay::plan
