// SPDX-License-Identifier: Apache-2.0
//
// What a reader finds in a file by a description: outputs of a tool, each with facts and records. A record is a row of a table, a
// block of lines, or an element of JSON; every case follows from one.

#pragma once

#include "import/description.hpp"
#include "import/draft.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::imports {

using Fields = std::map<std::string, std::string, std::less<>>;
std::string_view text_of(const Fields& fields, std::string_view name);
/// A text with {field}; {field|word} in small letters and underscores, {field|nccl} and {field|cuda} a code of a version as
/// people write it, {field|utc} of seconds since 1970. A field that is not there is empty.
std::string filled(std::string_view text, const Fields& fields);

struct Record {
    Fields fields; ///< its own, and the facts of the output
    std::string where;
    std::string text;      ///< for messages
    std::string wrong;     ///< what says that the data are wrong
    std::string right;     ///< what says that they are right
    std::string trouble;   ///< an error that it was cut short by
    bool process = false;  ///< the tool was started again
    bool is_block = false; ///< a line opened it: what follows belongs to it
    bool is_row = false;   ///< of a table
};

/// One start of a tool.
struct Output {
    std::string where;
    Fields facts;
    std::map<std::string, std::vector<Fields>, std::less<>> lists;
    std::vector<Record> records;
    std::string wrong;
    std::string right;
    std::shared_ptr<void> memory; ///< of a function, from record to record
};

/// Takes each output where it ends.
using Take = std::function<Result<void>(Output&)>;
Result<void> read_lines(std::string_view text, std::string_view source, const Dialect& dialect,
                        Draft& draft, const Take& take);
Result<void> read_objects(std::string_view text, std::string_view source, const Dialect& dialect,
                          Draft& draft, const Take& take);
/// Makes cases of an output's records.
Result<void> add_cases(Output& output, const Description& description, std::string_view source,
                       Draft& draft);

} // namespace assay::imports
