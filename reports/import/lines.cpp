// SPDX-License-Identifier: Apache-2.0

#include "import/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

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
    if (text.starts_with('[')) { // MPICH and Intel MPI: "[0] "; others "[node7:0] "
        const auto end = text.find(']');
        const auto inner = text.substr(1, end == std::string_view::npos ? 0 : end - 1);
        const bool is_word =
            inner.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "._:-") == std::string_view::npos;
        const auto rest = text.substr(std::min(text.size(), end + 1));
        if (!inner.empty() && is_word && inner.size() < longest &&
            inner.find_first_of("0123456789") != std::string_view::npos &&
            (rest.empty() || rest[0] == ' '))
            return {.label = text.substr(0, end + 1), .rest = rest};
    } else if (const auto digits = at_digits(text); !digits.empty()) { // Slurm: "0: "
        const auto rest = text.substr(digits.size());
        if (rest.starts_with(':') && (rest.size() == 1 || rest[1] == ' '))
            return {.label = digits, .rest = rest.substr(1)};
    }
    return {.rest = line};
}

namespace {

/// "node7: ", as pdsh writes it in front of every line.
Labelled take_host(std::string_view line) {
    constexpr std::size_t longest = 64; // bytes
    const auto text = trimmed(line);
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon > longest) return {.rest = line};
    const auto rest = text.substr(colon + 1);
    if (text.substr(0, colon).find_first_of(" \t/=#") != std::string_view::npos ||
        !(rest.empty() || rest[0] == ' '))
        return {.rest = line};
    return {.label = text.substr(0, colon), .rest = rest};
}

/// A time in front of a line: "2026-01-31T12:34:56.789Z ", "[12:34:56] ", "2026/01/31 12:34:56 ".
std::size_t time_length(std::string_view line) {
    auto rest = line;
    const bool bracket = take(rest, "[");
    if (take_digits(rest, 4)) {
        if (!take(rest, "-/") || !take_digits(rest, 2) || !take(rest, "-/") ||
            !take_digits(rest, 2) || !take(rest, "T "))
            return 0;
    }
    if (!take_digits(rest, 2) || !take(rest, ":") || !take_digits(rest, 2) || !take(rest, ":") ||
        !take_digits(rest, 2))
        return 0;
    if (take(rest, ".,"))
        while (take(rest, "0123456789")) {
        }
    if (!take(rest, "Z")) take_zone(rest);
    if (bracket && !take(rest, "]")) return 0;
    return rest.empty() || take(rest, " \t") ? line.size() - rest.size() : 0;
}

/// Without colours, without what progress has overwritten in its line, and without times in front of most lines. Lines
/// keep their numbers.
std::string cleaned(std::string_view text) {
    constexpr char escape = '\x1b';
    std::size_t lines = 0;
    std::size_t timed = 0;
    for (auto rest = text; !rest.empty();) {
        const auto line = take_line(rest);
        lines += trimmed(line).empty() ? 0 : 1;
        timed += time_length(line) > 0 ? 1 : 0;
    }
    const bool has_times = timed * 2 > lines;
    const bool has_ends = text.find('\n') != std::string_view::npos;
    std::string out;
    out.reserve(text.size());
    for (auto rest = text; !rest.empty();) {
        const auto line = take_line(rest);
        const auto begin = out.size();
        for (std::size_t i = has_times ? time_length(line) : 0; i < line.size(); ++i) {
            if (line[i] == '\r') {
                if (!has_ends)
                    out += '\n';
                else if (i + 1 < line.size())
                    out.resize(begin);
            } else if (line[i] == escape) {
                const bool is_long = i + 1 < line.size() && line[i + 1] == '[';
                for (i += is_long ? 2 : 1; is_long && i < line.size(); ++i)
                    if (line[i] >= '@' && line[i] <= '~') break;
            } else {
                out += line[i];
            }
        }
        out += '\n';
    }
    return out;
}

bool is_plain(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '\x1b' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')))
            return false;
    std::size_t tried = 0;
    for (auto rest = text; !rest.empty() && tried < 20; ++tried) // lines: enough to see times
        if (time_length(take_line(rest)) > 0) return false;
    return true;
}

} // namespace

InputLines::InputLines(std::string_view text) {
    if (!is_plain(text)) {
        cleaned_ = cleaned(text);
        text = cleaned_;
    }
    rest_ = text;
    std::size_t all = 0;
    std::size_t certain = 0;
    std::size_t likely = 0;
    std::size_t hosts = 0;
    std::set<std::string_view> names;
    for (auto rest = text; !rest.empty();) {
        const auto line = trimmed(take_line(rest));
        if (line.empty()) continue;
        const auto labelled = take_label(line);
        ++all;
        certain += labelled.certain ? 1 : 0;
        likely += !labelled.certain && !labelled.label.empty() ? 1 : 0;
        const auto host = take_host(line).label;
        hosts += host.empty() ? 0 : 1;
        if (hosts == all) names.insert(host);
    }
    // A number in front is a label where most lines have one.
    const bool most = likely * 2 > all;
    constexpr std::size_t few = 4; // lines of each host at least
    const bool is_host = certain == 0 && !most && hosts == all && names.size() * few <= all;
    if (certain == 0 && !most && !is_host) return;
    sorted_.reserve(all);
    sort_by_label(text, is_host, !most);
}

void InputLines::sort_by_label(std::string_view text, bool by_host, bool only_certain) {
    std::map<std::string_view, std::size_t> labels; // in the order in which they come
    std::size_t number = 0;
    for (auto rest = text; !rest.empty();) {
        const auto line = take_line(rest);
        ++number;
        auto labelled = by_host ? take_host(line) : take_label(line);
        if (!by_host && only_certain && !labelled.certain) labelled = {.rest = line};
        const auto content = trimmed(labelled.rest);
        if (content.empty()) continue;
        const auto label = labels.try_emplace(labelled.label, labels.size()).first->second;
        sorted_.push_back({content, number, label,
                           static_cast<std::size_t>(content.data() - labelled.rest.data())});
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
        indent_ = sorted_[at_].indent;
        ++at_;
        return true;
    }
    while (!rest_.empty()) {
        const auto whole_line = take_line(rest_);
        content_ = trimmed(whole_line).substr(0, longest);
        indent_ = static_cast<std::size_t>(content_.data() - whole_line.data());
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
