// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace assay {
namespace {

/// Letters to insert, delete, replace or swap with their neighbour (restricted Damerau-Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

constexpr std::size_t longest_name = 200; // bytes; what is longer was no slip of the finger
constexpr std::size_t short_list = 12;    // names that still fit a message

} // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
    if (name.size() > longest_name) return {};
    std::string best;
    std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        if (candidate.size() > longest_name) continue;
        const std::size_t edits = distance(name, candidate);
        if (edits < least) {
            least = edits;
            best = candidate;
        }
    }
    if (!best.empty() || name.size() < 3) return best;
    // "stream" for "memory.stream".
    const auto holds = [&](const std::string& c) { return c.find(name) != std::string::npos; };
    const auto found = std::ranges::find_if(candidates, holds);
    return found == candidates.end() ? std::string{} : *found;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
    if (const auto best = nearest(name, candidates); !best.empty())
        return fmt::format(" (did you mean \"{}\"?)", best);
    if (candidates.empty() || candidates.size() > short_list) return {};
    return fmt::format(" (known: {})", fmt::join(candidates, ", "));
}

} // namespace assay
