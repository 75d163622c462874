// SPDX-License-Identifier: Apache-2.0
#include "attack/hostile.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <random>
#include <utility>

namespace assay::attack {
namespace {

using namespace std::string_literals;

std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    all.reserve(text.size() * times);
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

class Spoiler {
public:
    Spoiler(std::string_view good, std::uint64_t seed, std::size_t many)
        : text_{good}, random_{seed}, many_{many} {}

    std::string spoil(std::uint64_t way) {
        static const std::array<void (Spoiler::*)(), ways> all{
            &Spoiler::cut,       &Spoiler::numbers,     &Spoiler::nested,  &Spoiler::nulls,
            &Spoiler::encodings, &Spoiler::types,       &Spoiler::twice,   &Spoiler::blank_lines,
            &Spoiler::marks,     &Spoiler::long_words,  &Spoiler::escapes, &Spoiler::bits,
            &Spoiler::lines,     &Spoiler::almost_empty};
        std::invoke(all.at(way % ways), *this);
        return std::move(text_);
    }

private:
    std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }
    std::size_t place() { return below(text_.size() + 1); }
    template <std::size_t N>
    const std::string& one_of(const std::array<std::string, N>& all) {
        return all.at(below(N));
    }
    void insert(const std::string& part) { text_.insert(place(), part); }
    /// Replaces the word, number or string at a random place.
    void replace(auto&& admits, const std::string& by) {
        const auto at =
            std::find_if(text_.begin() + static_cast<std::ptrdiff_t>(place()), text_.end(), admits);
        text_.replace(at, std::find_if_not(at, text_.end(), admits), by);
    }

    void cut() { text_.resize(place()); }
    void numbers() {
        static const std::array all{"1e999"s,      "-1e308"s, "9223372036854775808"s,
                                    "-0"s,         "0"s,      "18446744073709551616"s,
                                    "1e-400"s,     "nan"s,    "-inf"s,
                                    "0x10"s,       "1,5"s,    "1" + repeated("0", 400),
                                    "2147483648"s, "-1"s};
        for (std::size_t i = 0; i < 1 + below(4); ++i)
            replace([](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; }, one_of(all));
    }
    void nested() {
        static const std::array all{"["s, "{\"a\":"s, "[{\"limits\":"s, "("s, "a["s, "{{"s};
        insert(repeated(one_of(all), many_ / 10));
    }
    void nulls() {
        for (std::size_t i = 0; i < 1 + below(8); ++i) insert("\0"s);
    }
    void encodings() {
        static const std::array all{"\xff\xfe"s,         "\xc3"s,    "\xed\xa0\x80"s, "\xc0\xaf"s,
                                    "\xf4\x90\x80\x80"s, "\\ud800"s, "\xe2\x80\xae"s};
        for (std::size_t i = 0; i < 1 + below(8); ++i) insert(one_of(all));
    }
    void types() {
        static const std::array all{"null"s, "[]"s, "{}"s, "true"s, "\"\""s, "0"s, "[[]]"s};
        const auto is_of_value = [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '"' || c == '.' || c == '-' || c == '_';
        };
        for (std::size_t i = 0; i < 1 + below(4); ++i) replace(is_of_value, one_of(all));
    }
    /// A stretch of it once more: keys, lines, whole results.
    void twice() {
        const auto begin = place();
        text_.insert(place(), text_.substr(begin, below(text_.size() - begin + 1)));
    }
    void blank_lines() { insert(repeated(below(2) == 0 ? "\n" : " \r\n", many_)); }
    void marks() {
        static const std::array all{"\xef\xbb\xbf"s, "\xff\xfe"s, "\xfe\xff"s,
                                    "\xef\xbb\xbf\xef\xbb\xbf"s};
        text_.insert(0, one_of(all));
        if (below(2) == 0) // as UTF-16
            for (std::size_t at = 2; at < text_.size(); at += 2) text_.insert(at, 1, '\0');
    }
    void long_words() { insert(repeated(below(2) == 0 ? "a" : "9", many_)); }
    void escapes() {
        static const std::array all{
            "\x1b[2J"s, "\x1b]0;title\x07"s, "\\u001b[31m"s, "\x9b"s, "\r"s, "../"s,
            "%n%s"s,    "<script>"s};
        for (std::size_t i = 0; i < 1 + below(8); ++i) insert(one_of(all));
    }
    void bits() {
        for (std::size_t i = 0; i < 8 && !text_.empty(); ++i)
            text_[below(text_.size())] ^= static_cast<char>(1U << below(8));
    }
    void lines() {
        const auto middle = text_.find('\n', place());
        if (middle != text_.npos) text_ = text_.substr(middle + 1) + text_.substr(0, middle + 1);
    }
    void almost_empty() {
        static const std::array all{""s, " "s, "\n"s, "{"s, "[]"s, "{}"s, "\0"s, "0"s, "\""s};
        text_ = one_of(all);
    }

    std::string text_;
    std::mt19937_64 random_;
    std::size_t many_;
};

} // namespace

std::string hostile_text(std::string_view good, std::uint64_t way, std::uint64_t seed,
                         std::size_t many) {
    return Spoiler{good, seed, many}.spoil(way);
}

} // namespace assay::attack
