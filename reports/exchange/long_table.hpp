// SPDX-License-Identifier: Apache-2.0
//
// Many runs as one table for data frames and databases: one row for each run, case and metric, always the same columns,
// in SI base units and full precision. As CSV: RFC 4180, one header row, lines end in CRLF, a text that a spreadsheet
// would run as a formula begins with an apostrophe. As NDJSON: an object with every column in each line.
//
// All metrics of a case have a row. A matrix has three, its lowest, median and highest value; `cells` says which. A case
// without a value (skipped, incorrect, failed, ...) has one row: its primary metric, status and reason code, and no
// value.

#pragma once

#include "base/file.hpp"
#include "json/json.hpp"
#include "record/model.hpp"
#include "store/find.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay::exchange {

enum class ColumnType : std::uint8_t { text, number, boolean, object };
/// The one list of columns makes header, rows, documentation and schema. Names stay, and new ones come last: people
/// read them by programs.
struct ColumnInfo {
    std::string_view name;
    ColumnType type; ///< an object is JSON text in CSV
    std::string_view what;
};
std::span<const ColumnInfo> table_columns();
/// For people: a line for each column.
std::string columns_in_words();
/// JSON Schema (draft 7) of a line of NDJSON.
json::Value columns_schema();

enum class TableFormat : std::uint8_t { csv, ndjson };
/// Writes the table in parts of whole lines; `read` says which runs it has.
bool write_table(const store::FoundFiles& files, TableFormat format, const Sink& sink,
                 store::EachRun& read);
/// The rows of one run, without a header.
std::string table_rows(const record::Run& run, const store::FoundFile& file, TableFormat format);
/// The header line of CSV; empty for NDJSON.
std::string table_header(TableFormat format);

} // namespace assay::exchange
