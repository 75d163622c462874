// SPDX-License-Identifier: Apache-2.0
#include "document/text.hpp"

#include "base/quantity.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/texts/duration.hpp"
#include "document/texts/list.hpp"
#include "record/format.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace assay::document {
namespace {

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool ends_in_ascii(std::string_view text) { return !text.empty() && is_ascii(text.back()); }

/// " and "; the Chinese one has blanks only towards Latin letters and digits.
std::string last_separator(std::string_view before, std::string_view after) {
    std::string last = say<text::list::last>();
    if (language_in_use() != Language::zh) return last;
    const bool ascii_follows = !after.empty() && is_ascii(after.front());
    return fmt::format("{}{}{}", ends_in_ascii(before) ? " " : "", last, ascii_follows ? " " : "");
}

/// Older files have the address of a public data sheet as "https:/<path:0c108e>", which nobody can follow.
std::string without_hidden_address(std::string text) {
    for (const std::string_view address : {": https:/<path:", ": http:/<path:"})
        for (auto at = text.find(address); at != text.npos; at = text.find(address, at)) {
            const auto end = text.find('>', at);
            if (end == text.npos) break;
            text.erase(at, end + 1 - at);
        }
    return text;
}

} // namespace

void translate(record::Run& run) {
    const auto say_it = [](std::string& text) {
        text = translated(without_hidden_address(std::move(text)));
    };
    for (auto& left_out : run.left_out) say_it(left_out.note);
    for (auto& c : run.cases) {
        say_it(c.reason);
        std::ranges::for_each(c.warnings, say_it);
        say_it(c.ceiling.source);
        for (auto& other : c.other_ceilings) say_it(other.source);
        if (c.verification) {
            say_it(c.verification->method);
            say_it(c.verification->detail);
        }
    }
}

std::string list_of(const std::vector<std::string>& items, std::size_t shown) {
    const std::size_t count = std::min(items.size(), shown);
    const std::size_t left = items.size() - count;
    std::string out;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0 && i + 1 == count && left == 0)
            out += last_separator(out, items[i]);
        else if (i > 0)
            out += say<text::list::separator>();
        out += items[i];
    }
    if (left == 0) return out;
    if (language_in_use() == Language::zh && ends_in_ascii(out)) out += ' ';
    return say<text::list::more>(out, left);
}

std::string list_of_nodes(const std::vector<std::string>& names) {
    constexpr std::size_t longest = 60; // characters
    constexpr std::size_t few = 2;
    if (names.size() <= few) return list_of(names, few);
    const auto first = [&](std::size_t count) {
        const std::vector<std::string> some(names.begin(),
                                            names.begin() + static_cast<std::ptrdiff_t>(count));
        return list_of(fold_ranges(some), count);
    };
    auto text = first(names.size());
    std::size_t fits = names.size();
    if (text.size() > longest) { // the most names that fit; one is always there
        std::size_t too_many = std::exchange(fits, 1);
        while (too_many - fits > 1) {
            const auto middle = fits + (too_many - fits) / 2;
            (first(middle).size() <= longest ? fits : too_many) = middle;
        }
        text = first(fits);
    }
    const auto left = names.size() - fits;
    if (left == 0) return text;
    if (language_in_use() == Language::zh && ends_in_ascii(text)) text += ' ';
    return say<text::list::more>(text, left);
}

std::string join(const std::vector<std::string>& parts) {
    return fmt::format("{}", fmt::join(parts, say<text::list::comma>()));
}

std::string duration_in_words(double seconds) {
    seconds = std::fabs(seconds);
    constexpr double minute = 60;
    if (!(seconds >= minute - 0.5)) // below that, three digits
        return seconds < 1 ? record::human(seconds, "s")
                           : say<text::duration::seconds>(fmt::format(
                                 "{:.3g}", seconds < 10 ? seconds : std::round(seconds)));
    constexpr long long in_hour = 60;
    constexpr long long in_day = 24 * in_hour;
    const auto minutes = std::llround(seconds / minute);
    if (const auto whole = std::llround(seconds); whole < 60 * in_hour) {
        return whole % 60 == 0 ? say<text::duration::minutes>(whole / 60)
                               : say<text::duration::minutes_seconds>(whole / 60, whole % 60);
    }
    if (minutes < 2 * in_day)
        return minutes % in_hour == 0
                   ? say<text::duration::hours>(minutes / in_hour)
                   : say<text::duration::hours_minutes>(minutes / in_hour, minutes % in_hour);
    const auto hours = (minutes + in_hour / 2) / in_hour;
    return hours % 24 == 0 ? say<text::duration::days>(hours / 24)
                           : say<text::duration::days_hours>(hours / 24, hours % 24);
}

std::string capitalised(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string as_sentence(std::string text) {
    static constexpr std::array<std::string_view, 6> ends{".", "!", "?", "。", "！", "？"};
    const auto ends_with = [&](std::string_view end) { return text.ends_with(end); };
    if (text.empty() || std::ranges::any_of(ends, ends_with)) return text;
    return text + (language_in_use() == Language::zh && !ends_in_ascii(text) ? "。" : ".");
}

std::string sentences(const std::vector<std::string>& parts) {
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool chinese = language_in_use() == Language::zh && !ends_in_ascii(out);
        if (i > 0 && !chinese) out += ' ';
        out += parts[i];
    }
    return out;
}

// --- dates ---------------------------------------------------------------------------------------

namespace {

namespace chrono = std::chrono;

constexpr double day_seconds = 86400;
/// Year 9999, the last that four digits can say: what a hostile file claims stays printable.
constexpr double latest_seconds = 253402300799.0;

chrono::year_month_day calendar(double seconds) {
    return chrono::sys_days{chrono::days{day_of(seconds)}};
}

} // namespace

std::int64_t day_of(double seconds) {
    const double known = std::isfinite(seconds) ? std::clamp(seconds, 0.0, latest_seconds) : 0;
    return static_cast<std::int64_t>(std::floor(known / day_seconds));
}

std::string date_of(double seconds) { return utc_of(seconds).substr(0, 10); }

std::int64_t quarter_of(double seconds) {
    const auto date = calendar(seconds);
    return std::int64_t{4} * static_cast<int>(date.year()) +
           (static_cast<unsigned>(date.month()) - 1) / 3;
}

std::string quarter_name(std::int64_t quarter) {
    return fmt::format("{:04} Q{}", quarter / 4, quarter % 4 + 1);
}

std::optional<double> seconds_of_date(std::string_view date) {
    return date.size() == 10 ? seconds_of(date) : std::nullopt;
}

} // namespace assay::document
