// SPDX-License-Identifier: Apache-2.0

#include "render/charts.hpp"

#include "base/terminal.hpp"
#include "language/language.hpp"
#include "model/text.hpp"
#include "model/words.hpp"
#include "record/format.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace assay::report {
namespace {

constexpr std::size_t colours = 6; // classes c0..c5 of the style sheet
constexpr double row_height = 40;  // pixels: a line of text and a bar
constexpr double bar_top = 19;
constexpr double bar_height = 11;
constexpr double axis_height = 24;
// Beyond this ratio short bars vanish on a linear axis.
constexpr double linear_span = 60;
// Characters of a label; the whole of it is in its tooltip and in the table.
constexpr std::size_t label_columns = 58;

/// Maps values to percent of the chart's width.
class Scale {
public:
    explicit Scale(const std::vector<const Row*>& rows) {
        double low = std::numeric_limits<double>::infinity();
        for (const Row* row : rows)
            for (const auto& value : {row->number, row->low, row->high, row->ceiling})
                // A file may hold any number; powers of ten beyond these overflow.
                if (value && *value > 1e-300 && *value < 1e300) {
                    high_ = std::max(high_, *value);
                    low = std::min(low, *value);
                }
        if (!(high_ > 0)) high_ = 1;
        logarithmic_ = low < high_ / linear_span;
        if (logarithmic_) {
            low_ = std::pow(10.0, std::floor(std::log10(low)));
            high_ = std::pow(10.0, std::ceil(std::log10(high_)));
        } else {
            // A little air behind the longest bar.
            high_ *= 1.03;
        }
    }
    bool logarithmic() const { return logarithmic_; }
    double percent(double value) const {
        if (!(value > 0)) return 0;
        double share = 0;
        if (logarithmic_)
            share = value > low_ ? std::log(value / low_) / std::log(high_ / low_) : 0;
        else
            share = value / high_;
        return std::clamp(share, 0.0, 1.0) * 100;
    }
    std::vector<double> ticks() const {
        std::vector<double> values;
        if (logarithmic_) {
            const double decades = std::round(std::log10(high_ / low_));
            // At most six labels fit on a telephone.
            const double step = std::pow(10.0, std::max(1.0, std::ceil(decades / 5)));
            const auto count = static_cast<int>(decades / std::log10(step));
            for (int i = 0; i <= count; ++i) values.push_back(low_ * std::pow(step, i));
            return values;
        }
        // 1, 2 or 5 times a power of ten, such that there are three to five of them.
        const double rough = high_ / 4;
        const double power = std::pow(10.0, std::floor(std::log10(rough)));
        const double digit = rough / power;
        const double step = (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10) * power;
        const auto count = static_cast<int>(high_ / step);
        for (int i = 0; i <= count; ++i) values.push_back(step * i);
        return values;
    }

private:
    double low_ = 0;
    double high_ = 0;
    bool logarithmic_ = false;
};

/// Without the zeros that three digits would add: "2", not "2.00".
std::string trimmed(std::string number) {
    if (number.find('.') == std::string::npos) return number;
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    return number;
}

/// "0", "200", "400 GFLOP/s": where all ticks have one prefix, the last one says it for all.
std::vector<std::string> tick_labels(const Scale& scale, const std::vector<double>& ticks,
                                     const std::string& unit) {
    std::vector<std::string> labels;
    const auto split = [&](double value) {
        const std::string text = record::human(value, unit);
        const auto blank = std::min(text.find(' '), text.size());
        return std::pair{trimmed(text.substr(0, blank)), text.substr(blank)};
    };
    if (scale.logarithmic()) {
        for (const double tick : ticks) {
            const auto [number, suffix] = split(tick);
            labels.push_back(number + suffix);
        }
        return labels;
    }
    const double last = ticks.back();
    const auto [number, suffix] = split(last);
    const double shown = std::strtod(number.c_str(), nullptr);
    for (const double tick : ticks) labels.push_back(fmt::format("{:.4g}", tick / last * shown));
    labels.back() += suffix;
    return labels;
}

void draw_axis(std::string& out, const Scale& scale, const std::string& unit, double height) {
    const auto ticks = scale.ticks();
    const auto labels = tick_labels(scale, ticks, unit);
    for (std::size_t i = 0; i < ticks.size(); ++i) {
        const double at = scale.percent(ticks[i]);
        const char* anchor = at < 4 ? "start" : at > 90 ? "end" : "middle";
        out +=
            fmt::format(R"(<line class="grid" x1="{0:.2f}%" x2="{0:.2f}%" y1="4" y2="{1}"/>)"
                        R"(<text class="tick" x="{0:.2f}%" y="{2}" text-anchor="{3}">{4}</text>)",
                        at, height - axis_height, height - 8, anchor, escape_html(labels[i]));
    }
}

/// What the rows of a chart have in common is said once, below it; labels say what differs.
class Labels {
public:
    explicit Labels(const std::vector<const Row*>& rows) {
        const Row& first = *rows.front();
        const auto all = [&](const auto& test) {
            return rows.size() > 1 && std::ranges::all_of(rows, test);
        };
        for (const auto& part : first.parts)
            if (all([&](const Row* row) { return has(row->parts, part); })) common_.push_back(part);
        same_library_ = all([&](const Row* row) { return row->library == first.library; });
        same_benchmark_ = rows.size() == 1 ||
                          all([&](const Row* row) { return row->benchmark == first.benchmark; });
        if (same_library_) common_.push_back(first.library);
    }

    std::string of(const Row& row) const {
        std::vector<std::string> words;
        for (const auto& part : row.parts)
            if (!has(common_, part)) words.push_back(part);
        std::string label = join(words);
        const auto add = [&](const std::string& text) {
            label += (label.empty() ? "" : " · ") + text;
        };
        if (!same_benchmark_) add(row.benchmark);
        if (!same_library_) add(row.library);
        if (label.empty()) label = row.what;
        return display_width(label) > label_columns ? fit(label, label_columns) : label;
    }
    std::string common() const {
        return common_.empty() ? "" : say<text::chart::all_share>(join(common_));
    }

private:
    static bool has(const std::vector<std::string>& list, const std::string& text) {
        return std::ranges::find(list, text) != list.end();
    }
    std::vector<std::string> common_;
    bool same_library_ = false;
    bool same_benchmark_ = false;
};

std::string tooltip(const Row& row) {
    std::vector<std::string> said{
        row.interval.empty()
            ? row.value
            : fmt::format("{} {}", row.value,
                          say<text::words::in_brackets>(row.interval, row.covers))};
    if (!row.share.empty()) said.push_back(say<text::facts::of_ceiling>(row.share));
    return say<text::words::labelled>(row.identity, join(said));
}

void draw_bar(std::string& out, const Row& row, const std::string& label, const Scale& scale,
              double top, std::size_t colour) {
    const double end = scale.percent(row.number.value_or(0));
    const double middle = top + bar_top + bar_height / 2;
    const bool unstable = row.status != record::Status::ok;
    out += fmt::format(R"(<g class="c{}{}"><title>{}</title>)", colour, unstable ? " unstable" : "",
                       escape_html(tooltip(row)));
    out += fmt::format(R"(<text class="name" x="0" y="{0}">{1}</text>)"
                       R"(<text class="value" x="100%" y="{0}" text-anchor="end">{2}{3}</text>)",
                       top + 13, escape_html(label), escape_html(row.value),
                       unstable ? fmt::format(" {}", status_in_words(row.status)) : "");
    // On a logarithmic axis a bar's length means nothing: a dot on a line does.
    if (scale.logarithmic())
        out += fmt::format(
            R"(<line class="stem" x1="0" x2="{0:.2f}%" y1="{1}" y2="{1}"/><circle cx="{0:.2f}%" cy="{1}" r="5"/>)",
            end, middle);
    else
        out += fmt::format(R"(<rect x="0" y="{}" width="{:.2f}%" height="{}" rx="2"/>)",
                           top + bar_top, end, bar_height);
    if (row.low && row.high)
        out += fmt::format(
            R"(<line class="whisker" x1="{0:.2f}%" x2="{1:.2f}%" y1="{2}" y2="{2}"/>)"
            R"(<line class="whisker" x1="{0:.2f}%" x2="{0:.2f}%" y1="{3}" y2="{4}"/>)"
            R"(<line class="whisker" x1="{1:.2f}%" x2="{1:.2f}%" y1="{3}" y2="{4}"/>)",
            scale.percent(*row.low), scale.percent(*row.high), middle, middle - 3.5, middle + 3.5);
    if (row.ceiling)
        out += fmt::format(
            R"(<line class="ceiling" x1="{0:.2f}%" x2="{0:.2f}%" y1="{1}" y2="{2}"/>)",
            scale.percent(*row.ceiling), top + bar_top - 4, top + bar_top + bar_height + 4);
    out += "</g>\n";
}

std::string caption(const std::vector<const Row*>& rows, std::size_t total, bool logarithmic,
                    const std::string& common) {
    const bool any_ceiling =
        std::ranges::any_of(rows, [](const Row* row) { return row->ceiling.has_value(); });
    const bool any_interval =
        std::ranges::any_of(rows, [](const Row* row) { return row->low && row->high; });
    const Row& first = *rows.front();
    const std::string title = capitalised(first.title);
    std::vector<std::string> said{first.higher_is_better ? say<text::chart::more_is_better>(title)
                                                         : say<text::chart::less_is_better>(title)};
    if (logarithmic) said.push_back(say<text::chart::logarithmic_axis>());
    if (any_interval) said.push_back(say<text::chart::whisker>());
    if (any_ceiling) said.push_back(say<text::chart::mark>());
    if (total > rows.size()) said.push_back(say<text::chart::first_cases>(rows.size(), total));
    if (!common.empty()) said.push_back(common);
    return escape_html(sentences(said));
}

std::string chart(const std::vector<const Row*>& all, const std::string& id, const Section& section,
                  Palette& palette) {
    const std::vector<const Row*> rows{
        all.begin(),
        all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), bars_per_chart))};
    const Scale scale{rows};
    const Labels labels{rows};
    const double height = row_height * static_cast<double>(rows.size()) + axis_height + 6;
    const std::string text = caption(rows, all.size(), scale.logarithmic(), labels.common());
    std::string out = fmt::format(
        "<figure>\n<svg class=\"bars\" width=\"100%\" height=\"{0}\" role=\"img\" "
        "aria-labelledby=\"{1}-t {1}-d\"><title id=\"{1}-t\">{2}</title><desc id=\"{1}-d\">{3}"
        "</desc>\n",
        height, id, escape_html(say<text::words::labelled>(section.title, rows.front()->title)),
        text);
    draw_axis(out, scale, rows.front()->unit, height);
    double top = 2;
    for (const Row* row : rows) {
        draw_bar(out, *row, labels.of(*row), scale, top, palette.colour(row->library));
        top += row_height;
    }
    return out + "</svg>\n<figcaption>" + text + "</figcaption>\n</figure>\n";
}

/// Range of the dots: the middle 96%, with some air, and never so narrow that plain noise looks wild.
struct Range {
    double low = 0;
    double high = 1;
};
Range range_of(std::vector<double> rates) {
    std::ranges::sort(rates);
    const auto at = [&](double share) {
        return rates[static_cast<std::size_t>(share * static_cast<double>(rates.size() - 1))];
    };
    const double middle = at(0.5);
    const double least = 0.02 * middle; // 2%: what differs by less is shown as level
    const double air = 0.15 * (at(0.98) - at(0.02));
    return {.low = std::min(at(0.02) - air, middle - least),
            .high = std::max(at(0.98) + air, middle + least)};
}

/// 0 for what is no time at all; such values are not drawn.
double rate_of(double seconds) {
    constexpr double shortest = 1e-15; // s: far below any clock
    return seconds > shortest && std::isfinite(seconds) ? 1 / seconds : 0;
}

} // namespace

std::string escape_html(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

std::size_t Palette::colour(const std::string& library) {
    return known_.try_emplace(library, known_.size() % colours).first->second;
}

std::string bar_charts(const Section& section, const std::string& id, Palette& palette) {
    std::vector<std::vector<const Row*>> groups; // one for each title and unit, in order
    for (const auto& row : section.rows) {
        if (row.on_curve || !row.number || !std::isfinite(*row.number)) continue;
        auto group = std::ranges::find_if(groups, [&](const auto& rows) {
            return rows.front()->unit == row.unit && rows.front()->title == row.title;
        });
        if (group == groups.end()) group = groups.insert(group, std::vector<const Row*>{});
        group->push_back(&row);
    }
    constexpr std::size_t charts_shown = 6; // metrics are a short table; more would be hostile
    std::string out;
    for (std::size_t i = 0; i < std::min(groups.size(), charts_shown); ++i)
        out += chart(groups[i], fmt::format("{}-{}", id, i), section, palette);
    return out;
}

std::string strip_chart(const Row& row) {
    std::vector<double> rates;
    for (const auto& strip : row.strips)
        for (const double seconds : strip.values)
            if (const double rate = rate_of(seconds); rate > 0) rates.push_back(rate);
    if (rates.empty()) return "";
    const std::size_t total = rates.size();
    const Range range = range_of(std::move(rates));
    constexpr double width = 168; // pixels of the table's column
    constexpr double height = 32;
    constexpr double gap = 5; // between replicas
    const auto count = static_cast<double>(row.strips.size());
    const double each = (width - gap * (count - 1)) / count;
    std::string out = fmt::format(
        R"(<svg class="strip" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img"><title>{2}</title>)",
        width, height,
        say<text::chart::strip>(
            say_count<text::chart::batch_values>(total),
            say_count<text::chart::processes>(row.strips.size()),
            record::human_percent(2 * (range.high - range.low) / (range.high + range.low))));
    double left = 0;
    for (const auto& strip : row.strips) {
        out += fmt::format(R"(<rect x="{:.1f}" y="0" width="{:.1f}" height="{}"/><path d=")", left,
                           each, height);
        const double step =
            (each - 4) / std::max<double>(1, static_cast<double>(strip.values.size()) - 1);
        for (std::size_t i = 0; i < strip.values.size(); ++i) {
            const double rate = rate_of(strip.values[i]);
            if (!(rate > 0)) continue;
            const double share = (rate - range.low) / (range.high - range.low);
            out += fmt::format("M{:.1f} {:.1f}h0", left + 2 + step * static_cast<double>(i),
                               height - 2 - (height - 4) * std::clamp(share, 0.0, 1.0));
        }
        out += "\"/>";
        left += each + gap;
    }
    return out + "</svg>";
}

} // namespace assay::report
