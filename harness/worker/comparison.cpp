// SPDX-License-Identifier: Apache-2.0
#include "worker/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace assay::worker {
namespace {

using record::HeldAgainst;
using record::Replay;

/// More tell nothing new about one visit, and each costs calls.
constexpr std::size_t most_located = 10;

std::size_t first_difference(const Digest& a, const Digest& b) {
    const auto [at, other] = std::ranges::mismatch(a, b);
    return static_cast<std::size_t>(at - a.begin());
}

std::int64_t differing(const Digest& a, const Digest& b) {
    const auto common = std::min(a.size(), b.size());
    std::int64_t count = static_cast<std::int64_t>(std::max(a.size(), b.size()) - common);
    for (std::size_t i = 0; i < common; ++i) count += a[i] != b[i] ? 1 : 0;
    return count;
}

/// The most significant byte first, as numbers are written; memory has the least significant first.
std::string hexadecimal(std::span<const std::byte> bytes) {
    std::string text;
    for (std::size_t i = bytes.size(); i-- > 0;)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
    return text;
}

void locate(const OutputBlock& wrong, const OutputBlock& right, record::Corruption& into) {
    const std::size_t size = wrong.element_bytes;
    if (size == 0 || wrong.bytes.size() != right.bytes.size()) return;
    std::int64_t elements = 0;
    std::int64_t bits = 0;
    for (std::size_t at = 0; at + size <= wrong.bytes.size(); at += size) {
        const auto got = std::span{wrong.bytes}.subspan(at, size);
        const auto expected = std::span{right.bytes}.subspan(at, size);
        if (std::ranges::equal(got, expected)) continue;
        std::vector<std::byte> difference;
        for (std::size_t i = 0; i < size; ++i) {
            difference.push_back(got[i] ^ expected[i]);
            bits += std::popcount(std::to_integer<unsigned>(difference.back()));
        }
        if (elements++ > 0) continue;
        into.element = static_cast<std::int64_t>(wrong.first_element + (at / size));
        into.expected = hexadecimal(expected);
        into.got = hexadecimal(got);
        into.bits = hexadecimal(difference);
    }
    into.wrong_elements = elements;
    into.wrong_bits = bits;
}

} // namespace

record::Corruption* Comparison::add(HeldAgainst held, Replay right_again) {
    if (found_.corruptions.size() >= most_located) return nullptr;
    return &found_.corruptions.emplace_back(
        record::Corruption{.of = {},
                           .at = hooks_.utc ? hooks_.utc() : std::string{},
                           .call = found_.calls,
                           .held_against = held,
                           .right_again = right_again});
}

Result<Digest> Comparison::again() {
    if (subject_.rewinds) ASSAY_TRY(subject_.rewind());
    ASSAY_TRY(subject_.sample(1));
    return subject_.digest();
}

Result<Comparison::Wrong> Comparison::taken(Digest digest, const Digest& right) {
    Wrong wrong{.digest = std::move(digest)};
    wrong.first = first_difference(wrong.digest, right);
    if (found_.corruptions.size() >= most_located || wrong.first >= wrong.digest.size())
        return wrong;
    ASSAY_TRY(wrong.block, subject_.block(wrong.first));
    return wrong;
}

/// Leaves the right result in the subject, if there is a way to it.
Result<Replay> Comparison::replay(const Digest& right) {
    auto next = again();
    if (!next) return tl::unexpected{next.error()};
    if (*next == right) return Replay::same_state;
    ASSAY_TRY(subject_.renew());
    next = again();
    if (!next) return tl::unexpected{next.error()};
    return *next == right ? Replay::fresh_state : Replay::none;
}

Result<void> Comparison::record_wrong(const Wrong& wrong, const Digest& right, HeldAgainst held,
                                      Replay right_again) {
    auto* const entry = add(held, right_again);
    if (entry == nullptr) return {};
    entry->block = static_cast<std::int64_t>(wrong.first);
    entry->wrong_blocks = differing(wrong.digest, right);
    if (!wrong.block) return {};
    entry->output = static_cast<std::int64_t>(wrong.block->output);
    if (right_again == Replay::none) return {};
    ASSAY_TRY(const auto block, subject_.block(wrong.first));
    locate(*wrong.block, block, *entry);
    return {};
}

Result<void> Comparison::begin() {
    if (!subject_.has_digest) return {};
    ASSAY_TRY(auto first, again());
    ASSAY_TRY(auto second, again());
    reference_ = first;
    if (first != second) {
        // The third decides which of them was wrong.
        ASSAY_TRY(auto wrong, taken(second, first));
        ASSAY_TRY(auto third, again());
        ++found_.wrong;
        if (third == first) {
            if (auto done = record_wrong(wrong, first, HeldAgainst::calls, Replay::same_state);
                !done)
                return done;
        } else {
            Wrong other{.digest = first, .first = wrong.first};
            reference_ = third;
            if (auto done = record_wrong(other, third, HeldAgainst::calls,
                                         third == second ? Replay::same_state : Replay::none);
                !done)
                return done;
        }
    }
    if (!subject_.reproducible || hooks_.expected.empty() || hooks_.expected == reference_)
        return {};
    ++found_.wrong;
    ASSAY_TRY(const auto wrong, taken(reference_, hooks_.expected));
    ASSAY_TRY(const auto right_again, replay(hooks_.expected));
    if (right_again != Replay::none) reference_ = hooks_.expected;
    return record_wrong(wrong, hooks_.expected, HeldAgainst::others, right_again);
}

Result<void> Comparison::look() {
    if (!subject_.has_digest) return {};
    ASSAY_TRY(auto digest, subject_.digest());
    ++found_.compared;
    if (digest == reference_) return {};
    ++found_.wrong;
    ASSAY_TRY(const auto wrong, taken(std::move(digest), reference_));
    if (!wrong.block) return {}; // enough are located
    ASSAY_TRY(const auto right_again, replay(reference_));
    return record_wrong(wrong, reference_, HeldAgainst::calls, right_again);
}

Result<void> Comparison::judge(const record::Verification& verification) {
    ++found_.checked;
    if (verification.passed) return {};
    ++found_.wrong;
    const auto passes = [&](bool fresh) -> Result<bool> {
        if (fresh) ASSAY_TRY(subject_.renew());
        ASSAY_TRY(again());
        ASSAY_TRY(const auto verified, subject_.verify());
        return verified.passed;
    };
    auto right = passes(false);
    if (!right) return tl::unexpected{right.error()};
    auto right_again = *right ? Replay::same_state : Replay::none;
    if (!*right) {
        right = passes(true);
        if (!right) return tl::unexpected{right.error()};
        if (*right) right_again = Replay::fresh_state;
    }
    if (auto* const entry = add(HeldAgainst::check, right_again)) {
        entry->detail = verification.detail;
        if (verification.error && verification.bound)
            entry->detail += fmt::format("{}error {:.3g} is above the bound {:.3g}",
                                         entry->detail.empty() ? "" : "; ", *verification.error,
                                         *verification.bound);
    }
    return {};
}

} // namespace assay::worker
