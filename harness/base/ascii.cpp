// SPDX-License-Identifier: Apache-2.0
#include "base/ascii.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string>

namespace assay {
namespace {

struct Likeness {
    char32_t code;
    std::string_view ascii;
};
/// In the order of their codes. Blocks of a bar chart are digits: their heights.
constexpr std::array likenesses{
    Likeness{U'\u00A0', " "},   Likeness{U'\u00B0', ""},   // °
    Likeness{U'\u00B1', "+-"},                             // ±
    Likeness{U'\u00B2', "2"},                              // ²
    Likeness{U'\u00B3', "3"},                              // ³
    Likeness{U'\u00B5', "u"},                              // µ
    Likeness{U'\u00B7', "-"},                              // ·
    Likeness{U'\u00D7', "x"},                              // ×
    Likeness{U'\u03BC', "u"},                              // μ
    Likeness{U'\u2013', "-"},                              // –
    Likeness{U'\u2014', "-"},                              // —
    Likeness{U'\u2018', "'"},                              // ‘
    Likeness{U'\u2019', "'"},                              // ’
    Likeness{U'\u201C', "\""},                             // “
    Likeness{U'\u201D', "\""},                             // ”
    Likeness{U'\u2026', "..."},                            // …
    Likeness{U'\u202F', " "},   Likeness{U'\u2192', "->"}, // →
    Likeness{U'\u2212', "-"},                              // −
    Likeness{U'\u221E', "inf"},                            // ∞
    Likeness{U'\u2248', "~"},                              // ≈
    Likeness{U'\u2264', "<="},                             // ≤
    Likeness{U'\u2265', ">="},                             // ≥
    Likeness{U'\u2500', "-"},                              // ─
    Likeness{U'\u2502', "|"},                              // │
    Likeness{U'\u2581', "1"},                              // ▁
    Likeness{U'\u2582', "2"},                              // ▂
    Likeness{U'\u2583', "3"},                              // ▃
    Likeness{U'\u2584', "4"},                              // ▄
    Likeness{U'\u2585', "5"},                              // ▅
    Likeness{U'\u2586', "6"},                              // ▆
    Likeness{U'\u2587', "7"},                              // ▇
    Likeness{U'\u2588', "8"},                              // █
};
static_assert(std::ranges::is_sorted(likenesses, {}, &Likeness::code));

bool& only_ascii() {
    static bool only = false;
    return only;
}

} // namespace

void use_ascii(bool only) { only_ascii() = only; }
bool ascii_only() { return only_ascii(); }

bool locale_is_ascii() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): read only
        if (value == nullptr || *value == '\0') continue;
        std::string locale;
        for (const char c : std::string_view{value})
            if (std::isalnum(static_cast<unsigned char>(c)) != 0)
                locale += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return locale.find("utf8") == std::string::npos;
    }
    return false;
}

std::string_view ascii_of(char32_t code) {
    const auto* const found = std::ranges::lower_bound(likenesses, code, {}, &Likeness::code);
    return found != likenesses.end() && found->code == code ? found->ascii : "?";
}

} // namespace assay
