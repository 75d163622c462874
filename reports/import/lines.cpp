// SPDX-License-Identifier: Apache-2.0

#include "import/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>

namespace assay::imports {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

template <class Number>
std::optional<Number> whole(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

/// Takes `count` digits off the front.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
    if (text.size() < count) return std::nullopt;
    const auto digits = text.substr(0, count);
    if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    text.remove_prefix(count);
    return whole<int>(digits);
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<std::chrono::minutes> take_zone(std::string_view& text) {
    const bool east = text.starts_with('+');
    if (!take(text, "+-")) return std::nullopt;
    const auto hours = take_digits(text, 2);
    take(text, ":");
    const auto minutes = take_digits(text, 2);
    if (!hours || !minutes || *hours > 14 || *minutes > 59) return std::nullopt;
    const std::chrono::minutes zone{*hours * 60 + *minutes};
    return east ? zone : -zone;
}

} // namespace

std::string_view take_line(std::string_view& rest) {
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

Labelled take_label(std::string_view line) {
    const auto at_digits = [](std::string_view text) {
        return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
    };
    // Open MPI: "[1,0]<stdout>:", "[prterun-node7-99@1,0]<stdout>: ", with a time in front on request.
    constexpr std::size_t longest = 200; // bytes of a label
    const auto head = line.substr(0, longest);
    for (const std::string_view stream : {"<stdout>", "<stderr>"}) {
        const auto end = head.find(stream);
        const auto begin = head.substr(0, end).rfind('[');
        if (end == std::string_view::npos || begin == std::string_view::npos) continue;
        auto rest = line.substr(end + stream.size());
        take(rest, ":");
        return {.label = head.substr(begin, end - begin), .rest = rest, .certain = true};
    }
    const auto text = trimmed(line);
    if (text.starts_with('[')) { // MPICH and Intel MPI: "[0] "
        const auto digits = at_digits(text.substr(1));
        const auto rest = text.substr(1 + digits.size());
        if (!digits.empty() && rest.starts_with(']') && (rest.size() == 1 || rest[1] == ' '))
            return {.label = text.substr(0, digits.size() + 2), .rest = rest.substr(1)};
    } else if (const auto digits = at_digits(text); !digits.empty()) { // Slurm: "0: "
        const auto rest = text.substr(digits.size());
        if (rest.starts_with(':') && (rest.size() == 1 || rest[1] == ' '))
            return {.label = digits, .rest = rest.substr(1)};
    }
    return {.rest = line};
}

InputLines::InputLines(std::string_view text) : rest_{text} {
    std::size_t all = 0;
    std::size_t certain = 0;
    std::size_t likely = 0;
    for (auto rest = text; !rest.empty();) {
        const auto line = trimmed(take_line(rest));
        if (line.empty()) continue;
        const auto labelled = take_label(line);
        ++all;
        certain += labelled.certain ? 1 : 0;
        likely += !labelled.certain && !labelled.label.empty() ? 1 : 0;
    }
    // A number in front is a label where most lines have one.
    const bool most = likely * 2 > all;
    if (certain == 0 && !most) return;
    sorted_.reserve(all);
    sort_by_label(text, !most);
}

void InputLines::sort_by_label(std::string_view text, bool only_certain) {
    std::map<std::string_view, std::size_t> labels; // in the order in which they come
    std::size_t number = 0;
    for (auto rest = text; !rest.empty();) {
        const auto line = take_line(rest);
        ++number;
        auto labelled = take_label(line);
        if (only_certain && !labelled.certain) labelled = {.rest = line};
        const auto content = trimmed(labelled.rest);
        if (content.empty()) continue;
        const auto label = labels.try_emplace(labelled.label, labels.size()).first->second;
        sorted_.push_back({content, number, label});
    }
    if (!std::ranges::is_sorted(sorted_, {}, &Line::label))
        std::ranges::stable_sort(sorted_, {}, &Line::label);
    rest_ = {};
}

bool InputLines::next() {
    // Longer than any result, and short enough to be taken apart.
    constexpr std::size_t longest = std::size_t{64} << 10U; // bytes
    if (at_ < sorted_.size()) {
        content_ = sorted_[at_].content.substr(0, longest);
        number_ = sorted_[at_].number;
        ++at_;
        return true;
    }
    while (!rest_.empty()) {
        content_ = trimmed(take_line(rest_)).substr(0, longest);
        ++number_;
        if (!content_.empty()) return true;
    }
    return false;
}

std::string InputLines::where() const { return fmt::format("line {}", number_); }

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    std::size_t i = 0;
    while (i < text.size()) {
        while (i < text.size() && is_blank(text[i])) ++i;
        const std::size_t begin = i;
        while (i < text.size() && !is_blank(text[i])) ++i;
        if (i > begin) words.push_back(text.substr(begin, i - begin));
    }
    return words;
}

std::vector<std::string_view> columns_of(std::string_view text) {
    std::vector<std::string_view> columns;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const bool end = i == text.size() || text[i] == '\t' ||
                         (is_blank(text[i]) && i + 1 < text.size() && is_blank(text[i + 1]));
        if (!end) continue;
        if (const auto column = trimmed(text.substr(begin, i - begin)); !column.empty())
            columns.push_back(column);
        begin = i;
    }
    return columns;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = separator.empty() ? std::string_view::npos : text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + separator.size());
    }
}

std::optional<double> number_of(std::string_view text) {
    const auto value = whole<double>(text);
    if (!value || !std::isfinite(*value)) return std::nullopt;
    return value;
}

std::optional<std::int64_t> integer_of(std::string_view text) { return whole<std::int64_t>(text); }

std::string word_of(std::string_view text) {
    std::string word;
    for (const char c : text) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (letter)
            word += c;
        else if (c >= 'A' && c <= 'Z')
            word += static_cast<char>(c - 'A' + 'a');
        else if (!word.empty() && word.back() != '_')
            word += '_';
    }
    while (word.ends_with('_')) word.pop_back();
    return word;
}

namespace {

/// "Sat Jan 31 12:34:56 2026", as ctime() of C writes it.
std::optional<std::string> iso_of(std::string_view text) {
    static constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const auto words = words_of(text);
    if (words.size() != 5 || words[1].size() != 3) return std::nullopt;
    const auto at = months.find(words[1]);
    if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
    return fmt::format("{}-{:02}-{:0>2}T{}", words[4], at / 3 + 1, words[2], words[3]);
}

} // namespace

std::string utc_of(std::int64_t seconds) {
    using namespace std::chrono;
    const sys_seconds time{std::chrono::seconds{seconds}};
    const auto date = floor<days>(time);
    const year_month_day utc{date};
    const auto rest = (time - date).count();
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(utc.year()),
                       static_cast<unsigned>(utc.month()), static_cast<unsigned>(utc.day()),
                       rest / 3600, rest / 60 % 60, rest % 60);
}

std::optional<Moment> moment_of(std::string_view text) {
    using namespace std::chrono;
    if (const auto iso = iso_of(text)) return moment_of(*iso);
    const auto y = take_digits(text, 4);
    take(text, "-");
    const auto m = take_digits(text, 2);
    take(text, "-");
    const auto d = take_digits(text, 2);
    if (!y || !m || !d) return std::nullopt;
    const year_month_day day{year{*y}, month{static_cast<unsigned>(*m)},
                             std::chrono::day{static_cast<unsigned>(*d)}};
    if (!day.ok()) return std::nullopt;
    int seconds_of_day = 0;
    if (take(text, "T ")) {
        const auto hour = take_digits(text, 2);
        take(text, ":");
        const auto minute = take_digits(text, 2);
        take(text, ":");
        const auto second = take_digits(text, 2);
        if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60)
            return std::nullopt;
        seconds_of_day = *hour * 3600 + *minute * 60 + *second;
    }
    if (take(text, ".")) // parts of a second are of no use here
        while (take(text, "0123456789")) {
        }
    Moment moment;
    auto time = sys_days{day} + seconds{seconds_of_day};
    if (take(text, "Z")) {
        moment.has_zone = true;
    } else if (const auto zone = take_zone(text)) {
        moment.has_zone = true;
        time -= *zone;
    }
    if (!text.empty()) return std::nullopt;
    moment.utc = utc_of(time.time_since_epoch().count());
    return moment;
}

} // namespace assay::imports
