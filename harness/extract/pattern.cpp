// SPDX-License-Identifier: Apache-2.0

#include "extract/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace assay::extract {
namespace {

re2::StringPiece piece_of(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view_of(const re2::StringPiece& piece) { return {piece.data(), piece.size()}; }

} // namespace

std::string Pattern::set(std::string text) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(std::int64_t{8} << 20U);        // bytes
    options.set_encoding(RE2::Options::EncodingLatin1); // outputs are bytes
    const auto compiled = std::make_shared<const RE2>(text, options);
    if (!compiled->ok()) return compiled->error();
    text_ = std::move(text);
    compiled_ = compiled;
    return {};
}

bool Pattern::matches(std::string_view text) const {
    return compiled_ && RE2::FullMatch(piece_of(text), *compiled_);
}

bool Pattern::match(std::string_view text, Groups& groups) const {
    if (!compiled_) return false;
    constexpr int most = 24;
    std::array<re2::StringPiece, most> parts;
    const int count = std::min(compiled_->NumberOfCapturingGroups() + 1, most);
    if (!compiled_->Match(piece_of(text), 0, text.size(), RE2::ANCHOR_BOTH, parts.data(), count))
        return false;
    for (const auto& [name, index] : compiled_->NamedCapturingGroups()) {
        if (index >= count) continue;
        const auto& part = parts.at(static_cast<std::size_t>(index));
        if (part.data() != nullptr) groups.emplace_back(name, view_of(part));
    }
    return true;
}

void Pattern::find_all(std::string_view text, Groups& groups) const {
    constexpr std::size_t most = 1000;
    auto rest = piece_of(text);
    re2::StringPiece part;
    if (!compiled_ || compiled_->NumberOfCapturingGroups() != 1) return;
    const auto name = compiled_->CapturingGroupNames().empty()
                          ? std::string{"value"}
                          : compiled_->CapturingGroupNames().begin()->second;
    for (std::size_t i = 0; i < most && RE2::FindAndConsume(&rest, *compiled_, &part); ++i)
        groups.emplace_back(fmt::format("{}.{}", name, i), view_of(part));
}

std::optional<std::string_view> Pattern::value_in(std::string_view text) const {
    std::array<re2::StringPiece, 2> parts; // the whole, and the group
    const auto last = static_cast<std::size_t>(std::min(groups(), 1));
    if (!compiled_->Match(piece_of(text), 0, text.size(), RE2::ANCHOR_BOTH, parts.data(),
                          static_cast<int>(last) + 1) ||
        parts.at(last).data() == nullptr) // an alternative without the group
        return std::nullopt;
    return view_of(parts.at(last));
}

} // namespace assay::extract
