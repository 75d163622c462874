// SPDX-License-Identifier: Apache-2.0

#include "base/csv.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

/// More than any table has: guards against a file of separators alone.
constexpr std::size_t most_cells = 10'000;

} // namespace

CsvRows::CsvRows(std::string_view text) : rest_{without_mark(text)} {
    const auto first = rest_.substr(0, rest_.find('\n'));
    for (const char candidate : {';', '\t'})
        if (std::ranges::count(first, candidate) > std::ranges::count(first, separator_))
            separator_ = candidate;
}

/// The cell behind an opening quote; false where it has no end.
bool CsvRows::quoted(std::string& cell) {
    const auto begun = lines_ + 1;
    rest_.remove_prefix(1);
    while (true) {
        const auto end = rest_.find('"');
        const auto part = rest_.substr(0, end);
        lines_ += static_cast<std::size_t>(std::ranges::count(part, '\n'));
        cell += part;
        if (end == std::string_view::npos) {
            problem_ =
                fmt::format("missing closing quote of the cell that begins in line {}", begun);
            return false;
        }
        rest_.remove_prefix(end + 1);
        if (!rest_.starts_with('"')) return true;
        cell += '"';
        rest_.remove_prefix(1);
    }
}

bool CsvRows::next() {
    const char ends[] = {separator_, '\n'};
    while (!rest_.empty() && problem_.empty()) {
        cells_.clear();
        line_ = lines_ + 1;
        for (bool more = true; more;) {
            if (cells_.size() == most_cells) {
                problem_ = fmt::format("line {} has more than {} cells", line_, most_cells);
                return false;
            }
            auto& cell = cells_.emplace_back();
            if (rest_.starts_with('"') && !quoted(cell)) return false;
            const auto end = std::min(rest_.find_first_of({ends, 2}), rest_.size());
            cell += rest_.substr(0, end); // nothing behind a closing quote, in a file that is right
            more = end < rest_.size() && rest_[end] == separator_;
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
            if (!more && cell.ends_with('\r')) cell.pop_back();
            // A separator that ends the text has an empty cell behind it, which the next turn adds.
        }
        ++lines_;
        if (std::ranges::any_of(cells_, [](const auto& cell) { return !cell.empty(); }))
            return true;
    }
    return false;
}

} // namespace assay
