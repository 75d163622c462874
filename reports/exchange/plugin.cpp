// SPDX-License-Identifier: Apache-2.0

#include "exchange/plugin.hpp"

#include "document/text.hpp"
#include "judge/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace assay::exchange {
namespace {

constexpr std::array styles{"assay", "nagios", "npd"};
constexpr std::size_t longest_message = 80; // bytes of npd, as its configuration has it
constexpr std::size_t longest_line = 1000;  // of nagios
constexpr std::size_t most = 50;            // values, findings

std::string_view state_of(int code) {
    static constexpr std::array<std::string_view, 4> states{"OK", "WARNING", "CRITICAL", "UNKNOWN"};
    return states.at(static_cast<std::size_t>(code));
}

/// A "|" ends the words of a line, and quotes and = a label.
std::string without(std::string text, std::string_view signs) {
    std::ranges::replace_if(text, [&](char c) { return signs.find(c) != signs.npos; }, '/');
    return text;
}

/// 'label'=value[unit];warn;crit: of one node its values with their bars, of many the counts.
std::string perfdata(const judge::Judgement& judgement) {
    std::string out;
    if (judgement.nodes.size() != 1) {
        const auto counts = counts_of(judgement);
        for (std::size_t i = 0; i < counts.size(); ++i)
            out += fmt::format(" '{}'={}", to_string(static_cast<judge::Outcome>(i)), counts.at(i));
        return out;
    }
    std::set<std::string> labels;
    for (const auto& check : judgement.nodes.front().checks) {
        if (!check.value || !std::isfinite(*check.value) || labels.size() == most) continue;
        auto label = check.id;
        if (check.series) label += "." + judgement.collection.series[*check.series].place;
        const auto name = label;
        for (int n = 2; !labels.insert(label).second; ++n) label = fmt::format("{}.{}", name, n);
        const auto* const unit = check.unit == "s" ? "s" : check.unit == "B" ? "B" : "";
        out += fmt::format(" '{}'={:.6g}{}", without(plain(label, 200), "'=|"), *check.value, unit);
        if (check.bound) out += fmt::format(";;{:.6g}{}", *check.bound, check.at_least ? ":" : "");
    }
    return out;
}

std::string nagios(const judge::Judgement& judgement) {
    const auto answer = answer_of(judgement);
    const auto code = exit_code_of(judgement.outcome, ExitStyle::nagios);
    auto out = fmt::format(
        "ASSAY {} - {} |{}\n", state_of(code),
        without(plain(document::sentences({document::as_sentence(answer.verdict), answer.worst}),
                      longest_line),
                "|"),
        perfdata(judgement));
    std::size_t shown = 0;
    for (const auto& node : judgement.nodes)
        for (const auto& check : node.checks) {
            if (check.outcome == judge::Outcome::pass || check.outcome == judge::Outcome::skip)
                continue;
            if (++shown > most) return out;
            out += without(fmt::format("{}: {}: {}\n", outcome_in_words(check.outcome),
                                       machine_name(judgement, node), finding_of(judgement, check)),
                           "|");
        }
    return out;
}

/// Whole characters, and no more bytes than npd takes.
std::string message(std::string_view text) {
    std::size_t characters = longest_message;
    auto out = plain(text, characters);
    while (out.size() > longest_message) out = plain(text, --characters);
    return out + "\n";
}

std::string npd(const judge::Judgement& judgement) {
    const auto answer = answer_of(judgement);
    const auto* const worst = judgement.nodes.empty() ? nullptr : worst_of(judgement.nodes.front());
    if (worst == nullptr || exit_code_of(judgement.outcome, ExitStyle::npd) == 0)
        return message(answer.verdict);
    const auto blame = meaning_of(worst->cause).blame;
    const auto mark = blame == judge::Blame::node || blame == judge::Blame::user
                          ? fmt::format("[{}] ", to_string(blame))
                          : std::string{};
    return message(
        fmt::format("{}{}: {}", mark, to_string(worst->cause), finding_of(judgement, *worst)));
}

} // namespace

std::optional<ExitStyle> exit_style_from(std::string_view name) {
    const auto* const found = std::ranges::find(styles, name);
    if (found == styles.end()) return {};
    return static_cast<ExitStyle>(found - styles.begin());
}

int exit_code_of(judge::Outcome outcome, ExitStyle style) {
    // PASS, SKIP, WARN, INCONCLUSIVE, ERROR, FAIL
    static constexpr std::array<std::array<int, 6>, styles.size()> codes{
        {{0, 3, 0, 3, 4, 1}, {0, 3, 1, 3, 3, 2}, {0, 2, 0, 2, 2, 1}}};
    return codes.at(static_cast<std::size_t>(style)).at(static_cast<std::size_t>(outcome));
}

std::string plugin_output(const judge::Judgement& judgement, ExitStyle style) {
    return style == ExitStyle::npd ? npd(judgement) : nagios(judgement);
}
std::string plugin_output(const Error& error, ExitStyle style) {
    if (style == ExitStyle::npd) return message(error.message);
    return fmt::format("ASSAY UNKNOWN - {}\n", without(plain(error.message, longest_line), "|"));
}

} // namespace assay::exchange
