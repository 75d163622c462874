// SPDX-License-Identifier: Apache-2.0
//
// Says a text of the catalogue in the language in use.

#pragma once

#include "base/names.hpp"
#include "document/entry.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::document {

ASSAY_ENUM(Language, en, zh)
/// "en", "zh".

/// Sets the language of the whole program from now on; English until then. Not while other threads say something.
void use_language(Language language);
Language language_in_use();

/// E with its places filled. Arguments that do not fit a language's text do not compile.
template <const Entry& E, class... Args>
std::string say(const Args&... args) {
    constexpr fmt::format_string<const Args&...> en{E.en};
    constexpr fmt::format_string<const Args&...> zh{E.zh};
    return fmt::format(language_in_use() == Language::zh ? zh : en, args...);
}

/// The same of a number of things, which is {0}: "1 case", "3 cases".
template <const Entry& E, class... Args>
std::string say_count(const std::size_t count, const Args&... args) {
    constexpr fmt::format_string<const std::size_t&, const Args&...> one{E.one};
    if (count == 1 && language_in_use() == Language::en) return fmt::format(one, count, args...);
    return say<E>(count, args...);
}

/// A text named by what a result file holds: find_text("metric", "bandwidth"). Nothing where the
/// catalogue has none; people outside have metrics and families of their own.
std::optional<std::string_view> find_text(std::string_view area, std::string_view name);

/// A sentence of the harness or a benchmark, which result files hold in English: in the language in use where the area
/// "said" has it, otherwise as it is. Sentences that "; " joins are looked up one by one.
std::string translated(std::string_view sentence);

} // namespace assay::document
