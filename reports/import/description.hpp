// SPDX-License-Identifier: Apache-2.0
//
// Descriptions of tools: how an output is recognised, which of its lines are facts, tables and verdicts, and which
// cases follow. configs/imports/schema.json documents every key; the library holds those that are shipped and the
// user's own.

#pragma once

#include "base/fields.hpp"
#include "base/result.hpp"
#include "extract/pattern.hpp"
#include "json/fields.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::imports {

/// An object of texts, in the order in which it is written.
struct Map : extract::Groups {
    using vector::vector;
};
void decode_value(const json::Object& object, std::string_view key, Map& out);
void decode_value(const json::Object& object, std::string_view key, std::vector<Map>& out);
std::string_view value_in(const Map& map, std::string_view key);

struct Pattern : extract::Pattern {};
void decode_value(const json::Object& object, std::string_view key, Pattern& out);
void decode_value(const json::Object& object, std::string_view key, std::vector<Pattern>& out);

/// A line of a known form. Its named groups become fields, of the output or of the record that is open.
struct LineRule {
    Pattern line;
    Map set; ///< further fields: texts with {field}
    int begin =
        0; ///< its place in the head of an output; one that does not follow begins another output
    bool process = false; ///< the tool was started again, and the same facts hold
    bool opens = false;   ///< a new record
    bool record = false;  ///< it belongs to the open record
    bool wrong = false;   ///< it says that the data are wrong
    bool right = false;   ///< it says that they were checked and are right
    bool end = false;     ///< the last line of an output: no row follows
    bool more = false;    ///< further rules may read the same line
    bool lists = false;   ///< each of them counts: "devices"
    std::string key;      ///< of a list: this field cannot come twice
    bool head = false;    ///< the line is the first of a matrix
    Pattern each;         ///< its places in the line are fields: rate.0, rate.1
    std::string unless;   ///< a field: where it is there, the rule does not apply
    std::string note;     ///< about the run
    std::string skip;     ///< why there is no result here
    Pattern
        matrix; ///< the form of the lines that follow: rows of a matrix, kept in the field "matrix"
};
struct Column {
    Pattern title;
    std::string field; ///< empty: known, and left out; *: as the title
    std::string note;  ///< about the run: "{title} is left out"
    bool may_be_empty = false;
    int words = 1; ///< of a cell, where it may hold blanks
};
struct TableRule {
    Pattern titles;    ///< the line of titles
    std::string split; ///< words, columns (two blanks), bars, or the separator
    std::vector<Column> columns;
    Pattern row; ///< a line that has this form is a row; other lines are none. By default each line
    int begin = 0;
    Map set;
    std::vector<Map>
        repeated; ///< where titles come again: fields of each repetition, a record each
};
/// Values of JSON: every element of a list is a record.
struct ListRule {
    std::string each; ///< path with * for each element; empty: the document
    Map fields;       ///< other names of members: field to path
    std::vector<Map>
        parts; ///< of an element, each a record: "at" is the member, the others are fields, texts with {field}
    std::string kind; ///< set as the field "kind"
    std::string list; ///< no records, but a list of this name
};
struct Dialect {
    std::string format; ///< JSON, CSV, text, table
    std::vector<std::string> marks;
    bool strict = false; ///< a line that no rule reads is named
    std::vector<Pattern> ignore;
    std::vector<LineRule> lines;
    std::vector<TableRule> tables;
    Pattern command; ///< a line that starts the program: its groups belong to the output behind it
    Pattern command_end;
    Pattern pairs;       ///< key and value: each is a field, the first of a name stays
    bool nested = false; ///< pairs are indented: their names are joined with ::
    Map facts;           ///< JSON: field to path
    std::vector<ListRule> lists;
    bool documents = false; ///< each document is an output of its own
    bool repeated_keys = false;
    std::string refuse; ///< recognised, and not read: why, and what to do
};

struct ParameterRule {
    std::string name;
    std::string from;              ///< a field, or a text with {field}; by default the name
    std::vector<std::string> omit; ///< values that are left out: defaults
    Map values;                    ///< other names of values
    bool size = false;             ///< "16 MiB" as bytes
    bool number = false;           ///< 25.5 is a number, not a text
    bool needed = false;           ///< a note where the output does not say it
};
struct MetricRule {
    std::string metric;
    std::string from;
    std::string minus; ///< a field: the difference is meant
    std::string unit;  ///< "GB/s"; "title": it stands in the column's title
    bool optional = false;
    std::string zero; ///< a note: 0 was not measured
};
struct StatusRule {
    std::string from;
    Pattern is;
    std::string then; ///< ok, failed, skipped, incorrect; none: not a case
    std::string because;
};
/// amount / time should be the rate.
struct FollowRule {
    std::string rate;
    std::string amount;
    std::string time;
};
struct CaseRule {
    std::string name;
    std::string of;       ///< field without which there is no such case
    std::string figures;  ///< field without which the figures are missing
    std::string function; ///< of functions.hpp, for what no rule says
    std::vector<ParameterRule> parameters;
    std::vector<ParameterRule> settings;
    std::string headline; ///< metric, or a text with {field}; by default the first that is there
    std::vector<MetricRule> metrics;
    std::vector<MetricRule> time; ///< of one call
    std::vector<MetricRule> p99;  ///< of single calls
    std::string calls;
    Map work; ///< of one call: amount to field
    std::vector<StatusRule> status;
    std::vector<FollowRule> follows;
    std::vector<std::string> between; ///< three fields, in the order of their numbers
    Pattern left_out;                 ///< fields that are named where no metric reads them
    std::string method;               ///< who checked the data, and how
    std::string check;                ///< field with the verdict of the row
    std::string passes;               ///< what it says where all is well
    std::string error;
    std::string bound;
    std::string needs_check; ///< where this field is there, a row without a verdict was cut off
    std::string asked;       ///< how many were asked for ...
    std::string done;        ///< ... and done: fewer make the case a failure
    std::string things;      ///< "requests"
};
/// Fields out of the text of another field.
struct DeriveRule {
    std::string from;
    Pattern is;
    Map set;
};
/// Records of one kind take fields from the one of another kind that is equal in some.
struct JoinRule {
    std::string kind;
    std::string with;
    std::vector<std::string> by;
    std::vector<std::string> fields;
};
struct Description {
    std::string schema;
    std::string tool;
    std::string title;
    std::string reads;
    std::string versions;
    std::string place; ///< texts with {field}
    std::string library;
    int rank = 0;                          ///< the highest is tried first
    std::string external;                  ///< the benchmark by which assay runs the tool itself
    Map places;                            ///< what the tool calls them; "*": any other
    Map software;                          ///< name to text with {field}
    std::vector<ParameterRule> parameters; ///< of every case
    std::vector<ParameterRule> settings;
    std::vector<Dialect> dialects;
    std::vector<DeriveRule> derive;
    std::optional<JoinRule> join;
    std::vector<CaseRule> cases;
};

/// Code for what a description cannot express, in functions.cpp.
inline constexpr std::array function_names{"kernel", "linpack", "matrix", "ior",
                                           "gbench", "llama",   "nccl"};

Result<Description> parse_description(std::string_view text, std::string_view source);

/// Where the user's own descriptions are: folders, with colons between.
inline constexpr const char* path_variable = "ASSAY_IMPORT_PATH";

/// Those of `folders`, and those that are shipped. A broken file is left
/// out and named in `broken`: the others still read.
struct Library {
    std::vector<Description> all;
    std::vector<std::string> broken; ///< messages
};
Library read_descriptions(const std::string& folders);
/// By the environment; read once.
const Library& library();
const Description* description_of(std::string_view tool);

/// Written by CMake from configs/imports.
struct Shipped {
    const char* name;
    const char* text;
};
extern const Shipped shipped[];
extern const std::size_t shipped_count;

} // namespace assay::imports
