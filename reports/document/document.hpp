// SPDX-License-Identifier: Apache-2.0
//
// What every report consists of, whatever it is about and however it is shown: a title, a verdict, and sections of
// facts, findings, tables, charts and paragraphs. Builders (report, compare, history, predict, judge) make a Document
// of what they found; the writers (write/) show any Document in one format. Every text is plain (base/console.hpp): a
// writer adds the quoting of its format and nothing else. Numbers are in SI base units.

#pragma once

#include "base/names.hpp"
#include "document/chart.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace assay::document {

/// The meaning of a colour.
ASSAY_ENUM(Tone, plain, good,
           weak,  // usable with care
           bad,   // do not use
           quiet) // of no interest

/// A label and what it says: "Memory", "503 GiB".
struct Fact {
    std::string name;
    std::string text;
    std::string key;      ///< the name in English, whatever the report speaks: for programs
    std::string detail{}; ///< smaller, after the text: "±0.4%, 94% of peak"
    std::optional<double> share{}; ///< of a bound: drawn as a line of that length
    Tone tone = Tone::plain;
};

struct Facts {
    enum class Look : std::uint8_t {
        list,    // a line each
        summary, // the same, framed: for whoever reads no further
        tiles,   // side by side where there is room, the text large
    };
    std::vector<Fact> facts{};
    Look look = Look::list;
};

ASSAY_ENUM(Severity,
           note,    // worth knowing
           caution, // the figures are weaker than they could be
           serious) // do not use some figures
/// For programs; severity_in_words() is for people.

/// Something the reader should know, and what to do about it.
struct Finding {
    Severity severity = Severity::note;
    std::string what{};
    std::string action{}; ///< may be empty
};
struct Findings {
    std::vector<Finding> findings{};
};

struct Paragraph {
    std::string text{};
    Tone tone = Tone::plain;
    std::string
        mark{}; ///< in front of it: "[1]", "-"; a note that others refer to, an entry of a list
};

/// A live cell of a workbook follows the numbers that a reader changes there. Names have small letters, digits and
/// underscores; formulas are those of spreadsheets, with functions in capitals. A name in a formula is that of a cell
/// with a number in the same row, else of the only such cell in the document; without one, the cell holds its number
/// alone.
///
///     rows.push_back({.cells = {{.number = 3, .unit = "USD", .live = live("price", "")},
///                               {.number = 6, .unit = "USD", .live = live("cost", "price * 2")}}});
struct Live {
    std::string name{};    ///< what formulas call this cell; may be empty
    std::string formula{}; ///< empty: an input
};
inline std::shared_ptr<const Live> live(std::string name, std::string formula) {
    return std::make_shared<const Live>(
        Live{.name = std::move(name), .formula = std::move(formula)});
}

/// One cell. Without a text nothing is known: an empty cell in every format.
struct Cell {
    std::string text{};               ///< "505 GFLOP/s"
    std::string detail{};             ///< after it, less prominent: "±0.4%"
    Tone tone = Tone::plain;          ///< of the text
    std::vector<std::string> notes{}; ///< below the row, a line each
    std::optional<double> number{};
    std::optional<double> low{}; ///< 95% interval
    std::optional<double> high{};
    std::string unit{}; ///< of these; see unit_* below
    std::vector<std::vector<double>>
        strips{};                       ///< drawn small: values over time, one list a replica
    std::shared_ptr<const Live> live{}; ///< of the number; nothing: it stays as it is
};
/// Units of a cell outside physics.
inline constexpr const char* unit_count = "count"; ///< a whole number
inline constexpr const char* unit_ratio = "ratio"; ///< 1.08
inline constexpr const char* unit_share = "share"; ///< 0.031 is 3.1%
inline constexpr const char* unit_p = "p";         ///< a probability
inline constexpr const char* unit_date = "date";   ///< seconds since 1970
Cell count_cell(std::size_t value);

struct Column {
    std::string title{};
    bool numeric = false; ///< right-aligned
    /// Data: for workbooks only, where people read something made of it.
    bool data = false;
    /// Where a terminal is too narrow, columns of the highest rank are left out first; 0 always stays.
    std::uint8_t rank = 0;
    /// Columns that belong together, 1 and up: the side of a comparison. Stacked below each other where there is no
    /// room beside each other. The first of them has the side's name for a title.
    std::uint8_t side = 0;
    bool bar = false; ///< its interval is drawn beside it, up to ±30%
    /// For programs: "value", "ratio", "metric"; a page can hide the columns of a key.
    std::string key{};
};

/// Keys that a page can filter rows by.
struct Tags {
    std::string family{};
    std::vector<std::string> libraries{};
    std::vector<std::string> outcomes{}; ///< codes: "ok", "worse"
};

struct Row {
    std::vector<Cell> cells{}; ///< one for each column
    std::string group{}; ///< rows of one group follow each other under its name: "gemm.square"
    Tags tags{};
};

struct Table {
    std::string caption{};
    std::vector<Column> columns{}; ///< the first names the row
    std::vector<Row> rows{};
    /// In a workbook tables of one sheet follow each other, with the section's title in front; so they have the same
    /// columns. Empty: in no workbook.
    std::string sheet{};
    /// Where not empty, the table is out of the way behind this line on a page, and absent from a terminal.
    std::string folded{};
    bool only_workbook = false; ///< raw values that people see as a chart
};

using Block = std::variant<Paragraph, Facts, Findings, Table, Chart>;

struct Section {
    std::string title{};
    std::string question{}; ///< below it: what it answers
    std::vector<Block> blocks{};
    bool heading =
        true; ///< false: the section begins without its title, which a page's contents still show
    bool detail = false; ///< on a terminal with --all-rows alone; see Document::rest
};

struct Document {
    std::string
        kind{}; ///< "report", "comparison", "history", "prediction", "acceptance": for programs
    std::string kicker{}; ///< above the title, in words: "Comparison"
    std::string title{};
    std::string sub{};     ///< below it: what and when, one line
    std::string verdict{}; ///< the answer, one or two sentences; also the title of the window
    std::vector<std::string>
        lead{}; ///< below the verdict, a line each; cut on a terminal, so said again in full
    Tone tone = Tone::plain;
    std::vector<Section> sections{};
    std::vector<Paragraph> foot{};    ///< the method, at the end
    std::string rest{};               ///< what a terminal says instead of its detail and foot
    std::optional<double> date{};     ///< of the data: seconds since 1970
    std::vector<std::string> sides{}; ///< names of the columns' sides, the first is side 1
};

// Words that writers say themselves.

std::string severity_in_words(Severity severity);
/// Do text formats show it as a table?
bool is_shown(const Table& table);
/// The columns that people see: those that say something in any row.
std::vector<std::size_t> shown_columns(const Table& table);

} // namespace assay::document
