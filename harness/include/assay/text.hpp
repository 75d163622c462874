// SPDX-License-Identifier: Apache-2.0
//
// Messages composed of texts and numbers.

#pragma once

#include <array>
#include <charconv>
#include <string>
#include <type_traits>

namespace assay {
namespace detail {

/// The shortest decimal text that is read back as the same number.
inline std::string number_text(double value) {
    std::array<char, 32> text{}; // the longest has 24 characters
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

} // namespace detail

/// Concatenates texts and numbers.
template <class... Pieces>
std::string joined(const Pieces&... pieces) {
    std::string text;
    const auto add = [&text]<class Piece>(const Piece& piece) {
        if constexpr (std::is_floating_point_v<Piece>)
            text += detail::number_text(piece);
        else if constexpr (std::is_integral_v<Piece> && !std::is_same_v<Piece, char>)
            text += std::to_string(piece);
        else
            text += piece;
    };
    (add(pieces), ...);
    return text;
}

} // namespace assay
