// SPDX-License-Identifier: Apache-2.0
//
// Plain ASCII for a terminal whose locale says that it shows nothing else: LC_ALL=C. Texts are laid out with the widths
// of what stands for a character (base/terminal) and replaced where they are printed (base/console).

#pragma once

#include <string_view>

namespace assay {

/// For the whole program; the initial state is off. Chinese has no ASCII: who asks for it switches this off.
void use_ascii(bool only);
bool ascii_only();
/// Do LC_ALL, LC_CTYPE or LANG, the first that is set, name a locale without UTF-8? Not where none is set, as in
/// most containers.
bool locale_is_ascii();

/// "+-" for U+00B1; "?" for what has no likeness.
std::string_view ascii_of(char32_t code);

} // namespace assay
