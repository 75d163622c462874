// SPDX-License-Identifier: Apache-2.0
#include "base/ranges.hpp"

#include "base/console.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace assay {
namespace {

tl::unexpected<Error> too_many(std::size_t most) {
    return fail(fmt::format("more than {} names", most));
}

/// "01-03" makes 01, 02, 03: numbers have at least as many digits as the first one was written with.
Result<void> add_range(std::string_view range, std::size_t most,
                       std::vector<std::string>& numbers) {
    const auto dash = range.find('-');
    const auto first = range.substr(0, dash);
    const auto low = to_number(first);
    const auto high = dash == range.npos ? low : to_number(range.substr(dash + 1));
    if (!low || !high || *low < 0 || *high < *low)
        return fail(fmt::format("\"{}\": a range should be two rising numbers, as in node[01-40], "
                                "or a list, as in node[1-3,7]",
                                plain(range, 60)));
    if (static_cast<std::size_t>(*high - *low) >= most - numbers.size()) return too_many(most);
    for (auto i = *low; i <= *high; ++i) numbers.push_back(fmt::format("{:0{}}", i, first.size()));
    return {};
}

} // namespace

Result<std::vector<std::string>> expand_ranges(std::string_view text, std::size_t most) {
    std::vector<std::string> made{""};
    while (true) {
        const auto begin = text.find_first_of("[]");
        for (auto& name : made) name += text.substr(0, begin);
        if (begin == text.npos) return made;
        const auto end = text.find_first_of("[]", begin + 1);
        if (text[begin] != '[' || end == text.npos || text[end] != ']')
            return fail(fmt::format("\"{}\": a bracket is open; it should be as in node[01-40]",
                                    plain(text, 60)));
        std::vector<std::string> numbers;
        for (const auto range : split(text.substr(begin + 1, end - begin - 1), ','))
            ASSAY_TRY(add_range(range, most, numbers));
        if (made.size() > most / numbers.size()) return too_many(most);
        std::vector<std::string> more;
        for (const auto& name : made)
            for (const auto& number : numbers) more.push_back(name + number);
        made = std::move(more);
        text.remove_prefix(end + 1);
    }
}

std::size_t find_outside_brackets(std::string_view text, std::string_view ends) {
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == ']') inside = text[i] == '[';
        if (!inside && contains(ends, text.substr(i, 1))) return i;
    }
    return text.npos;
}

} // namespace assay
