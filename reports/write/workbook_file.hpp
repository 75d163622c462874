// SPDX-License-Identifier: Apache-2.0
//
// Sheets of rows by libxlsxwriter: a frozen line of titles, filters, widths that fit. Text is always text:
// text that begins with = does not become a formula, nor an address a link.

#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "document/document.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): the library's names
struct lxw_workbook;
struct lxw_worksheet;
struct lxw_format;
// NOLINTEND(readability-identifier-naming)

namespace assay::write {

class WorkbookFile;

class Sheet {
public:
    /// Cells of the current row, from left to right. Unknown values are empty cells.
    Sheet& text(std::string_view text, document::Tone tone = document::Tone::plain);
    /// In SI base units, shown with a prefix where the format can scale, in powers of 1000 where not; or in ms, µs, ns.
    Sheet& number(const std::optional<double>& value, std::string_view unit);
    Sheet& count(const std::optional<double>& value);
    Sheet& ratio(const std::optional<double>& value); ///< 1.08
    Sheet& share(const std::optional<double>& value); ///< 0.031 as 3.1%
    Sheet& probability(const std::optional<double>& value);
    Sheet& date(double seconds); ///< since 1970
    /// The next number is what this says of other cells: "$C$5*2"; its value stands there until a program calculates.
    Sheet& live(std::string formula);
    void end_row();
    /// Rows that found no place: a sheet has 1,048,576.
    std::size_t rows_left_out() const { return left_out_; }

private:
    friend class WorkbookFile;
    Sheet(WorkbookFile& file, lxw_worksheet* sheet, const std::vector<std::string>& titles,
          std::size_t frozen);
    void finish();
    void print_on_pages();
    void formatted(const std::optional<double>& value, const std::string& format);
    void widen(std::size_t columns);

    WorkbookFile& file_;
    lxw_worksheet* sheet_;
    std::vector<std::size_t> widths_;
    std::vector<std::size_t> title_widths_;
    std::size_t frozen_; ///< columns
    std::uint32_t row_ = 1;
    std::uint16_t column_ = 0;
    std::size_t left_out_ = 0;
    std::string formula_; ///< of the next number
};

class WorkbookFile {
public:
    /// `created` is written into the file: seconds since 1970, of the data and not of the moment.
    WorkbookFile(const std::string& title, std::optional<double> created);
    WorkbookFile(const WorkbookFile&) = delete;
    WorkbookFile(WorkbookFile&&) = delete;
    WorkbookFile& operator=(const WorkbookFile&) = delete;
    WorkbookFile& operator=(WorkbookFile&&) = delete;
    ~WorkbookFile();

    /// Its name is made one that a sheet may have; `frozen` columns stay in sight.
    Sheet& sheet(const std::string& name, const std::vector<std::string>& titles,
                 std::size_t frozen = 0);
    Result<std::string> finish();

private:
    friend class Sheet;
    lxw_format* format(const std::string& number, bool bold = false);
    /// A fill for cells that hold a verdict.
    lxw_format* fill(std::uint32_t background, std::uint32_t letters);

    TemporaryFolder folder_;
    std::string path_;
    lxw_workbook* workbook_ = nullptr;
    std::map<std::string, lxw_format*> formats_;
    std::vector<std::unique_ptr<Sheet>> sheets_;
};

/// "$C$5", both counted from 0; of another sheet "'Month''s bill'!$C$5".
std::string cell_name(std::uint32_t row, std::size_t column, std::string_view sheet = {});
/// At most 31 characters, none of []:*?/\, and not empty.
std::string sheet_name(std::string_view name);
/// 5.05e11 FLOP/s has `0.00,,,"GFLOP/s"`: commas divide by 1000; below one there is `##0.00E+0"s"`.
std::string number_format(double value, std::string_view unit);

} // namespace assay::write
