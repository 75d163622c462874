// SPDX-License-Identifier: Apache-2.0
//
// Does this text look as FFTW writes it? FFTW's reader aborts the process where a number exceeds its
// bit field, so nothing is handed to it that it could not have written itself.

#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace assay::fft {

/// The grammar of FFTW 3.3:
///   (fftw-3.3.10 fftw_wisdom #x706526c0 #x2f8b6c85 #x8cd1bb1a #x7c96e03d
///     (fftw_codelet_n1fv_64_avx 0 #x10fdd #x10fdd #x0 #x3d805cbb #x09d523a3 #x5d359e61 #xff701d01)
///   )
/// A solver and its number, three sets of flags, four words of a hash.
class WisdomText {
public:
    explicit WisdomText(std::string_view text) : rest_{text} {}

    bool is_sound() {
        if (!take('(') || !name() || !name() || !numbers(4, word_bits)) return false;
        while (take('(')) {
            // Bits of the fields in flags_t of FFTW's kernel/ifftw.h.
            constexpr int flag_bits = 20;
            constexpr int time_bits = 9;
            if (!name() || !registration() || !numbers(2, flag_bits) || !numbers(1, time_bits) ||
                !numbers(4, word_bits) || !take(')'))
                return false;
        }
        return take(')') && is_at_end();
    }

private:
    static constexpr int word_bits = 32;

    void skip_blanks() {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
            rest_.remove_prefix(1);
    }
    bool take(char wanted) {
        skip_blanks();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool is_at_end() {
        skip_blanks();
        return rest_.empty();
    }
    bool name() {
        constexpr std::size_t most = 60; // its reader's buffer has 64 characters
        skip_blanks();
        std::size_t length = 0;
        while (length < rest_.size() && is_of_name(rest_[length])) ++length;
        rest_.remove_prefix(length);
        return length > 0 && length <= most;
    }
    static bool is_of_name(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    }
    bool registration() {
        constexpr std::uint64_t most = 4096; // solvers there can be: 12 bits
        skip_blanks();
        std::uint64_t value = 0;
        return digits(value, 10) && value < most;
    }
    bool numbers(int count, int bits) {
        for (int i = 0; i < count; ++i) {
            std::uint64_t value = 0;
            if (!take('#') || rest_.empty() || rest_.front() != 'x') return false;
            rest_.remove_prefix(1);
            if (!digits(value, 16) || value >> static_cast<unsigned>(bits) != 0) return false;
        }
        return true;
    }
    bool digits(std::uint64_t& value, int base) {
        const auto [end, error] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
        if (error != std::errc{}) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return true;
    }

    std::string_view rest_;
};

} // namespace assay::fft
