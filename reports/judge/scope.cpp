// SPDX-License-Identifier: Apache-2.0

#include "judge/words.hpp"
#include "language/language.hpp"
#include "language/texts/judge_scope.hpp"
#include "report/text.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace assay::report {
namespace {

constexpr std::size_t most_named = 3;
constexpr std::size_t longest_name = 200; // characters

/// "1 file is not used: a", "5 files are not used: a, b, c and 2 more"; nothing where there is none.
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
        if (!problem.is_copy) left_out.push_back(plain(problem.where, longest_name));
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

} // namespace assay::report
