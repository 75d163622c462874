// SPDX-License-Identifier: Apache-2.0

#include "write/workbook_file.hpp"

#include "base/console.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <xlsxwriter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace assay::write {
namespace {

constexpr std::size_t widest = 60;        // characters; longer texts run on behind the next cell
constexpr std::size_t widest_frozen = 36; // so that the others have room beside them
constexpr std::size_t narrowest = 9;      // of a number with its unit
constexpr std::size_t most_title_lines = 3;
constexpr std::size_t longest = 32'000;        // characters; Excel takes 32,767 in a cell
constexpr std::size_t longest_formula = 8'000; // and 8,192 in a formula
constexpr std::size_t most_bytes = std::size_t{1} << 30U;
constexpr double seconds_of_day = 86400;
constexpr double day_of_1970 = 25569; // Excel counts days from the end of 1899
// Data without a date get 2000-01-01, because "now" would make every file different.
constexpr double no_date = 946684800;
// Green and red of Excel's own styles "Good" and "Bad".
constexpr std::uint32_t good_fill = 0xC6EFCE;
constexpr std::uint32_t good_text = 0x006100;
constexpr std::uint32_t bad_fill = 0xFFC7CE;
constexpr std::uint32_t bad_text = 0x9C0006;

std::string in_quotes(std::string_view unit) {
    std::string text;
    for (const char c : unit)
        if (c != '"') text += c;
    return text.empty() ? "" : fmt::format("\" {}\"", text);
}

} // namespace

std::string sheet_name(std::string_view name) {
    std::string out;
    for (const char c : plain(name, LXW_SHEETNAME_MAX))
        out += std::string_view{"[]:*?/\\"}.find(c) == std::string_view::npos ? c : ' ';
    // Neither end may be an apostrophe.
    while (!out.empty() && (out.front() == '\'' || out.front() == ' ')) out.erase(0, 1);
    while (!out.empty() && (out.back() == '\'' || out.back() == ' ')) out.pop_back();
    return out.empty() ? "Sheet" : out;
}

std::string cell_name(std::uint32_t row, std::size_t column, std::string_view sheet) {
    std::array<char, LXW_MAX_CELL_NAME_LENGTH> name{};
    lxw_rowcol_to_cell_abs(name.data(), row, static_cast<lxw_col_t>(column), 1, 1);
    if (sheet.empty()) return name.data();
    std::string quoted;
    for (const char c : sheet_name(sheet)) quoted += c == '\'' ? "''" : std::string(1, c);
    return fmt::format("'{}'!{}", quoted, name.data());
}

std::string number_format(double value, std::string_view unit) {
    static constexpr std::array prefixes{"", "k", "M", "G", "T", "P", "E"};
    const double size = std::fabs(value);
    const bool rate = unit.starts_with("1/");
    const auto named = [&](std::string_view prefix) {
        // "1/s" is read as "k/s", as everywhere.
        return in_quotes(fmt::format("{}{}", prefix, rate ? unit.substr(1) : unit));
    };
    if (unit == "1") return "0.000"; // a ratio
    // Money, by its code of ISO 4217, and units that take no prefix; an hour's price has more digits than a month's.
    const auto is_money =
        unit.size() >= 3 && (unit.size() == 3 || unit[3] == '/') &&
        std::ranges::all_of(unit.substr(0, 3), [](char c) { return c >= 'A' && c <= 'Z'; });
    static constexpr std::array whole{"h", "months", "kWh", "kg", "GB", "g/kWh"};
    if (is_money || std::ranges::count(whole, unit) > 0)
        return (size > 0 && size < 1 ? "0.00####" : "#,##0.00") + in_quotes(unit);
    if (unit == "ms" || unit == "µs" || unit == "ns")
        return (size >= 100  ? "#,##0"
                : size >= 10 ? "0.0"
                : size >= 1  ? "0.00"
                             : "0.000") +
               in_quotes(unit);
    // Below one only powers can say it: a format cannot multiply.
    if (size > 0 && size < 1) return "##0.00E+0" + named("");
    std::size_t power = 0;
    if (unit != "s" && size >= 1)
        power = std::min(static_cast<std::size_t>(std::log10(size) / 3), prefixes.size() - 1);
    const double scaled = size / std::pow(1000.0, static_cast<double>(power));
    const char* digits = scaled >= 100 ? "0" : scaled >= 10 ? "0.0" : "0.00";
    return digits + std::string(power, ',') + named(prefixes.at(power));
}

// --- a sheet -----------------------------------------------------------------------------------------

Sheet::Sheet(WorkbookFile& file, lxw_worksheet* sheet, const std::vector<std::string>& titles,
             std::size_t frozen)
    : file_{file}, sheet_{sheet}, widths_(titles.size(), narrowest), frozen_{frozen} {
    for (std::size_t i = 0; i < titles.size(); ++i) {
        column_ = static_cast<std::uint16_t>(i);
        const std::string title = plain(titles[i], longest);
        title_widths_.push_back(display_width(title));
        // Words break lines early: a line more than they would fill.
        std::size_t word = title_widths_.back() / (most_title_lines - 1);
        for (const auto part : split(title, ' ')) word = std::max(word, display_width(part));
        widen(word + 3); // the button of the filter
        worksheet_write_string(sheet_, 0, column_, title.c_str(), file_.format("", true));
    }
    column_ = 0;
    worksheet_freeze_panes(sheet_, 1, static_cast<std::uint16_t>(frozen));
}

void Sheet::widen(std::size_t columns) {
    if (column_ < widths_.size())
        widths_[column_] =
            std::clamp(columns, widths_[column_], column_ < frozen_ ? widest_frozen : widest);
}

Sheet& Sheet::text(std::string_view text, document::Tone tone) {
    const std::string shown = plain(text, longest);
    widen(display_width(shown) + 1);
    if (!shown.empty() && row_ < LXW_ROW_MAX)
        worksheet_write_string(sheet_, row_, column_, shown.c_str(),
                               tone == document::Tone::good  ? file_.fill(good_fill, good_text)
                               : tone == document::Tone::bad ? file_.fill(bad_fill, bad_text)
                                                             : nullptr);
    ++column_;
    return *this;
}

void Sheet::formatted(const std::optional<double>& value, const std::string& format) {
    if (value && std::isfinite(*value) && row_ < LXW_ROW_MAX) {
        if (formula_.empty() || formula_.size() > longest_formula)
            worksheet_write_number(sheet_, row_, column_, *value, file_.format(format));
        else
            worksheet_write_formula_num(sheet_, row_, column_, formula_.c_str(),
                                        file_.format(format), *value);
    }
    formula_.clear();
    ++column_;
}

Sheet& Sheet::live(std::string formula) {
    formula_ = std::move(formula);
    return *this;
}

Sheet& Sheet::number(const std::optional<double>& value, std::string_view unit) {
    widen(narrowest + display_width(unit));
    formatted(value, number_format(value.value_or(0), unit));
    return *this;
}
Sheet& Sheet::count(const std::optional<double>& value) {
    formatted(value, "0");
    return *this;
}
Sheet& Sheet::ratio(const std::optional<double>& value) {
    formatted(value, "0.000");
    return *this;
}
Sheet& Sheet::share(const std::optional<double>& value) {
    formatted(value, "0.0%");
    return *this;
}
Sheet& Sheet::probability(const std::optional<double>& value) {
    formatted(value, "0.0000");
    return *this;
}
Sheet& Sheet::date(double seconds) {
    widen(std::string_view{"2026-01-31 12:34"}.size() + 1);
    const bool known = std::isfinite(seconds) && seconds > 0;
    formatted(known ? std::optional{seconds / seconds_of_day + day_of_1970} : std::nullopt,
              "yyyy-mm-dd hh:mm");
    return *this;
}

void Sheet::end_row() {
    column_ = 0;
    if (row_ < LXW_ROW_MAX)
        ++row_;
    else
        ++left_out_;
}

void Sheet::finish() {
    std::size_t lines = 1;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
        if (title_widths_[i] + 3 > widths_[i]) lines = most_title_lines;
        const auto column = static_cast<std::uint16_t>(i);
        worksheet_set_column(sheet_, column, column, static_cast<double>(widths_[i]), nullptr);
    }
    if (widths_.empty()) return;
    constexpr double points_of_line = 15;
    worksheet_set_row(sheet_, 0, points_of_line * static_cast<double>(lines), nullptr);
    print_on_pages();
    worksheet_autofilter(sheet_, 0, 0, std::max(row_, 2U) - 1,
                         static_cast<std::uint16_t>(widths_.size() - 1));
}

/// A4, as wide as one page, with the titles on each; what would be too small to read takes more pages beside each
/// other, which repeat the columns that name the row.
void Sheet::print_on_pages() {
    constexpr std::size_t fits_upright = 95; // characters
    constexpr std::size_t readable = 240;    // on a page across
    constexpr std::uint8_t a4 = 9;
    std::size_t all = 0;
    std::size_t names = 0;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
        all += widths_[i];
        if (i < frozen_) names += widths_[i];
    }
    worksheet_set_paper(sheet_, a4);
    worksheet_set_margins(sheet_, 0.4, 0.4, 0.6, 0.6); // inches
    if (all > fits_upright) worksheet_set_landscape(sheet_);
    std::size_t pages = 1;
    if (all > readable && names < readable)
        pages = (all - names + readable - names - 1) / (readable - names);
    worksheet_fit_to_pages(sheet_, static_cast<std::uint16_t>(pages), 0);
    worksheet_repeat_rows(sheet_, 0, 0);
    if (pages > 1 && frozen_ > 0)
        worksheet_repeat_columns(sheet_, 0, static_cast<std::uint16_t>(frozen_ - 1));
    worksheet_set_footer(sheet_, "&L&A&R&P / &N");
}

// --- the file ----------------------------------------------------------------------------------------

WorkbookFile::WorkbookFile(const std::string& title, std::optional<double> created) {
    // The library writes to files only; it is read back whole, so that writing it where it belongs is one
    // step like that of every output.
    if (folder_.path().empty()) return;
    path_ = (folder_.path() / "book.xlsx").string();
    lxw_workbook_options options{};
    std::string temporary = folder_.path();
    options.tmpdir = temporary.data();
    workbook_ = workbook_new_opt(path_.c_str(), &options);
    if (workbook_ == nullptr) return;
    std::string shown = plain(title);
    lxw_doc_properties properties{};
    properties.title = shown.data();
    properties.created = static_cast<time_t>(created.value_or(no_date));
    workbook_set_properties(workbook_, &properties);
}

WorkbookFile::~WorkbookFile() {
    if (workbook_ != nullptr) lxw_workbook_free(workbook_);
}

Sheet& WorkbookFile::sheet(const std::string& name, const std::vector<std::string>& titles,
                           std::size_t frozen) {
    lxw_worksheet* added = nullptr;
    if (workbook_ != nullptr) added = workbook_add_worksheet(workbook_, sheet_name(name).c_str());
    sheets_.push_back(std::unique_ptr<Sheet>{new Sheet{*this, added, titles, frozen}});
    return *sheets_.back();
}

lxw_format* WorkbookFile::format(const std::string& number, bool bold) {
    const auto [entry, is_new] =
        formats_.try_emplace(fmt::format("{}{}", bold ? "bold " : "", number), nullptr);
    if (!is_new || workbook_ == nullptr) return entry->second;
    entry->second = workbook_add_format(workbook_);
    if (!number.empty()) format_set_num_format(entry->second, number.c_str());
    if (bold) {
        format_set_bold(entry->second);
        format_set_bottom(entry->second, LXW_BORDER_THIN);
        format_set_text_wrap(entry->second);
        format_set_align(entry->second, LXW_ALIGN_VERTICAL_TOP);
    }
    return entry->second;
}

lxw_format* WorkbookFile::fill(std::uint32_t background, std::uint32_t letters) {
    const auto [entry, is_new] =
        formats_.try_emplace(fmt::format("fill {} {}", background, letters), nullptr);
    if (!is_new || workbook_ == nullptr) return entry->second;
    entry->second = workbook_add_format(workbook_);
    format_set_bg_color(entry->second, background);
    format_set_font_color(entry->second, letters);
    return entry->second;
}

Result<std::string> WorkbookFile::finish() {
    constexpr auto cannot = "cannot write the workbook to the temporary folder: {}";
    if (workbook_ == nullptr)
        return fail(fmt::format(cannot, "not writable; set TMPDIR to a writable folder"),
                    Fault::environment);
    for (auto& sheet : sheets_) sheet->finish();
    const lxw_error error = workbook_close(workbook_);
    workbook_ = nullptr; // freed, whatever came of it
    if (error != LXW_NO_ERROR)
        return fail(fmt::format(cannot, lxw_strerror(error)), Fault::environment);
    return read_whole(path_, most_bytes);
}

} // namespace assay::write
