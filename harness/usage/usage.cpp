// SPDX-License-Identifier: Apache-2.0
#include "usage/usage.hpp"

#include <algorithm>

namespace assay::usage {

std::vector<std::string> choices(std::string_view value) {
    std::vector<std::string> found;
    value = value.substr(0, value.find(' '));
    while (!value.empty()) {
        const auto part = value.substr(0, value.find('|'));
        value.remove_prefix(std::min(value.size(), part.size() + 1));
        const auto is_literal = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        };
        if (!part.empty() && std::ranges::all_of(part, is_literal)) found.emplace_back(part);
    }
    return found;
}

Kind kind_of(const Option& option) {
    const std::string_view value = option.value;
    const auto has = [&](std::string_view word) { return value.find(word) != value.npos; };
    if (!choices(value).empty()) return Kind::choice;
    for (const auto* word : {"FILE", "DIR", "PATH", "FOLDER", "MODULE.so"})
        if (has(word)) return Kind::file;
    return value == "ID" || has("SUITE") || value.starts_with("ID.") ? Kind::benchmark
                                                                     : Kind::other;
}

} // namespace assay::usage
