// SPDX-License-Identifier: Apache-2.0

#include "language/language.hpp"

namespace assay::report {
namespace {

Language language = Language::en;

} // namespace

std::string_view to_string(Language name) { return name == Language::zh ? "zh" : "en"; }

std::optional<Language> language_from(std::string_view name) {
    if (name == "en") return Language::en;
    if (name == "zh") return Language::zh;
    return std::nullopt;
}

void use_language(Language chosen) { language = chosen; }
Language language_in_use() { return language; }

} // namespace assay::report
