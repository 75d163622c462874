// SPDX-License-Identifier: Apache-2.0

#include "extract/lines.hpp"

#include "extract/text.hpp"
#include "extract/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace assay::extract {

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
        if (rest.starts_with(':')) rest.remove_prefix(1);
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
        const auto whole_line = take_line(rest);
        const auto line = has_ends ? written_last(whole_line) : whole_line;
        for (std::size_t i = has_times ? time_length(line) : 0; i < line.size(); ++i) {
            if (line[i] == '\r') {
                out += '\n';
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

} // namespace assay::extract
