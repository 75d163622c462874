// SPDX-License-Identifier: Apache-2.0

#include "document/document.hpp"

namespace assay::document {

Cell count_cell(std::size_t value) {
    return {
        .text = std::to_string(value), .number = static_cast<double>(value), .unit = unit_count};
}

std::string with_words(std::string_view formula, const SayWord& say) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
    std::string out;
    for (std::size_t i = 0; i < formula.size();) {
        // A word or a number, whose exponent is no word.
        std::size_t end = i + 1;
        while (end < formula.size() && (is_letter(formula[i]) || is_digit(formula[i])) &&
               (is_letter(formula[end]) || is_digit(formula[end])))
            ++end;
        const auto word = formula.substr(i, end - i);
        const auto next = formula.find_first_not_of(' ', end);
        if (is_letter(formula[i]))
            out += say(word, next != std::string_view::npos && formula[next] == '(');
        else
            out += word;
        i = end;
    }
    return out;
}

} // namespace assay::document
