// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.hpp"

#include "base/console.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr double largest = std::numeric_limits<double>::max();
constexpr std::array durations{Unit{"", 1},   Unit{"ms", 1e-3}, Unit{"s", 1},
                               Unit{"m", 60}, Unit{"h", 3600},  Unit{"d", 86400}};
constexpr std::array sizes{Unit{"", 1},
                           Unit{"B", 1},
                           Unit{"KiB", 1024.0},
                           Unit{"MiB", 1048576.0},
                           Unit{"GiB", 1073741824.0},
                           Unit{"TiB", 1099511627776.0},
                           Unit{"kB", 1e3},
                           Unit{"KB", 1e3},
                           Unit{"MB", 1e6},
                           Unit{"GB", 1e9},
                           Unit{"TB", 1e12}};
/// Suffixes of whole numbers: "M" alone is never a power of two.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 13> multiples{
    {{"", 1},
     {"KiB", std::int64_t{1} << 10U},
     {"MiB", std::int64_t{1} << 20U},
     {"GiB", std::int64_t{1} << 30U},
     {"TiB", std::int64_t{1} << 40U},
     {"Ki", std::int64_t{1} << 10U},
     {"Mi", std::int64_t{1} << 20U},
     {"Gi", std::int64_t{1} << 30U},
     {"Ti", std::int64_t{1} << 40U},
     {"k", 1000},
     {"M", 1'000'000},
     {"G", 1'000'000'000},
     {"T", 1'000'000'000'000}}};
constexpr std::array rates{Unit{"B/s", 1},          Unit{"MB/s", 1e6},
                           Unit{"GB/s", 1e9},       Unit{"TB/s", 1e12},
                           Unit{"Mb/s", 1e6 / 8},   Unit{"Gb/s", 1e9 / 8},
                           Unit{"Tb/s", 1e12 / 8},  Unit{"Mbit/s", 1e6 / 8},
                           Unit{"Gbit/s", 1e9 / 8}, Unit{"Tbit/s", 1e12 / 8}};

/// The number that `text` begins with; what follows it stays in `text`.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
    Number number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

std::optional<std::int64_t> product_of(std::int64_t number, std::int64_t factor) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(number, factor, &product)) return std::nullopt;
    return product;
}

/// Above 0, and from `least` to `most`.
Result<double> parse(std::string_view text, std::span<const Unit> units, double least, double most,
                     std::string_view expected) {
    auto rest = text;
    if (const auto number = take_number<double>(rest))
        for (const auto& [unit, factor] : units)
            if (const double value = *number * factor;
                trim(rest) == unit && value >= least && value > 0 && value <= most)
                return value;
    return fail(fmt::format("\"{}\" is no {}", text, expected));
}

} // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
    const auto number = take_number<std::int64_t>(text);
    if (!number) return std::nullopt;
    if (text.starts_with('e')) { // "1e6"
        text.remove_prefix(1);
        const auto power = take_number<std::uint8_t>(text);
        auto product = power && text.empty() ? number : std::nullopt;
        for (int i = 0; product && i < *power; ++i) product = product_of(*product, 10);
        return product;
    }
    for (const auto& [suffix, factor] : multiples)
        if (text == suffix) return product_of(*number, factor);
    return std::nullopt;
}

std::optional<std::vector<std::int64_t>> parse_version(std::string_view text) {
    std::vector<std::int64_t> numbers;
    constexpr std::size_t longest = 9;
    while (true) {
        const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
        if (end == 0 || end > longest) return {};
        std::int64_t number = 0;
        for (const char digit : text.substr(0, end)) number = 10 * number + (digit - '0');
        numbers.push_back(number);
        if (end == text.size() || text[end] != '.') return numbers;
        text.remove_prefix(end + 1);
    }
}

std::optional<double> parse_real(std::string_view text) {
    const auto number = take_number<double>(text);
    return text.empty() ? number : std::nullopt;
}

Result<double> parse_duration(std::string_view text) {
    return parse(text, durations, 0, largest, "duration: write 90s, 15m or 1h");
}

Result<double> parse_bytes(std::string_view text) {
    constexpr double most = 0x1p60; // 1 EiB
    return parse(text, sizes, 1, most, "size of a message; write 8, 64KiB, 100MB, 1GiB");
}

Result<double> parse_rate(std::string_view text) {
    return parse(text, rates, 0, largest, "bandwidth; write 50GB/s or 400Gb/s");
}

// --- ranges --------------------------------------------------------------------------------------

namespace {

tl::unexpected<Error> too_many(std::size_t most) {
    return fail(fmt::format("more than {} names", most));
}

constexpr std::size_t longest = 255; // characters of a name: more is neither a host nor a file

tl::unexpected<Error> too_long(std::string_view text) {
    return fail(
        fmt::format("invalid name \"{}\": longer than {} characters", plain(text, 60), longest));
}

/// "01-03" makes 01, 02, 03: numbers have at least as many digits as the first one was written with.
Result<void> add_range(std::string_view range, std::size_t most,
                       std::vector<std::string>& numbers) {
    const auto dash = range.find('-');
    const auto first = range.substr(0, dash);
    if (first.size() > longest) return too_long(first);
    const auto low = to_number(first);
    const auto high = dash == range.npos ? low : to_number(range.substr(dash + 1));
    if (!low || !high || *low < 0 || *high < *low)
        return fail(fmt::format("invalid range \"{}\" (expected node[01-40] or node[1-3,7])",
                                plain(range, 60)));
    if (static_cast<std::size_t>(*high - *low) >= most - numbers.size()) return too_many(most);
    for (auto i = *low; i <= *high; ++i) numbers.push_back(fmt::format("{:0{}}", i, first.size()));
    return {};
}

} // namespace

Result<std::vector<std::string>> expand_ranges(std::string_view text, std::size_t most) {
    std::vector<std::string> made{""};
    while (true) {
        const auto begin = text.find_first_of("[]");
        const auto literal = text.substr(0, begin);
        if (made.front().size() + literal.size() > longest) return too_long(literal);
        for (auto& name : made) name += literal;
        if (begin == text.npos) return made;
        const auto end = text.find_first_of("[]", begin + 1);
        if (text[begin] != '[' || end == text.npos || text[end] != ']')
            return fail(fmt::format("invalid name \"{}\": missing bracket (expected node[01-40])",
                                    plain(text, 60)));
        std::vector<std::string> numbers;
        for (const auto range : split(text.substr(begin + 1, end - begin - 1), ','))
            ASSAY_TRY(add_range(range, most, numbers));
        if (made.size() > most / numbers.size()) return too_many(most);
        std::vector<std::string> more;
        for (const auto& name : made)
            for (const auto& number : numbers) more.push_back(name + number);
        made = std::move(more);
        text.remove_prefix(end + 1);
    }
}

namespace {

/// A name with a number in it: the last one that it has.
struct Numbered {
    std::string_view before;
    std::string_view digits;
    std::string_view after;
};
std::optional<Numbered> numbered(std::string_view name) {
    constexpr std::string_view digits = "0123456789";
    constexpr std::size_t longest = 9;
    const auto last = name.find_last_of(digits);
    if (last == name.npos || name.find_first_of("[],") != name.npos) return {};
    const auto first = name.find_last_not_of(digits, last) + 1; // npos + 1 is 0
    if (last + 1 - first > longest) return {};
    return Numbered{name.substr(0, first), name.substr(first, last + 1 - first),
                    name.substr(last + 1)};
}

/// "07-09,12" of 07, 08, 09 and 12.
std::string ranges_of(const std::vector<std::string_view>& sorted, std::size_t dropped) {
    std::string out;
    for (std::size_t i = 0; i < sorted.size();) {
        const auto number = *to_number(sorted[i]);
        std::size_t end = i + 1;
        while (end < sorted.size() &&
               sorted[end] == fmt::format("{:0{}}", number + static_cast<std::int64_t>(end - i),
                                          sorted[i].size()))
            ++end;
        out += fmt::format("{}{}", out.empty() ? "" : ",", sorted[i].substr(dropped));
        if (end - i > 1) out += fmt::format("-{}", sorted[end - 1].substr(dropped));
        i = end;
    }
    return out;
}

/// Zeros that all numbers begin with, if they are several, so that two digits are left: 00007 and 00012 have three.
std::size_t common_zeros(const std::vector<std::string_view>& numbers) {
    std::size_t zeros = numbers.front().size();
    for (const auto number : numbers) {
        if (number.size() != numbers.front().size()) return 0;
        zeros = std::min(zeros, std::min(number.find_first_not_of('0'), number.size()));
    }
    constexpr std::size_t kept = 2;
    zeros = std::min(zeros, numbers.front().size() - std::min(numbers.front().size(), kept));
    return zeros > 1 ? zeros : 0;
}

} // namespace

std::vector<std::string> fold_ranges(const std::vector<std::string>& names) {
    struct Group {
        std::string_view first; ///< name
        Numbered like;
        std::vector<std::string_view> numbers;
    };
    std::vector<Group> groups;
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> known;
    for (const std::string_view name : names) {
        const auto parts = numbered(name);
        const auto key = parts ? std::pair{parts->before, parts->after} : std::pair{name, name};
        const auto [at, is_new] = known.try_emplace(key, groups.size());
        if (is_new) groups.push_back({name, parts.value_or(Numbered{}), {}});
        if (parts) groups[at->second].numbers.push_back(parts->digits);
    }
    std::vector<std::string> out;
    for (auto& [first, like, numbers] : groups) {
        std::ranges::sort(numbers, {},
                          [](std::string_view one) { return std::pair{*to_number(one), one}; });
        const auto [end, last] = std::ranges::unique(numbers);
        numbers.erase(end, last);
        if (numbers.size() < 2) {
            out.emplace_back(first);
            continue;
        }
        const auto dropped = common_zeros(numbers);
        out.push_back(fmt::format("{}{}[{}]{}", like.before, std::string(dropped, '0'),
                                  ranges_of(numbers, dropped), like.after));
    }
    return out;
}

std::size_t find_outside_brackets(std::string_view text, std::string_view ends) {
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == ']') inside = text[i] == '[';
        if (!inside && contains(ends, text.substr(i, 1))) return i;
    }
    return text.npos;
}

} // namespace assay
