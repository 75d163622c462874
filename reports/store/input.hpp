// SPDX-License-Identifier: Apache-2.0
//
// What people name on the command line, made into runs: a result file, a folder of results, or either
// with a label in front.

#pragma once

#include "base/result.hpp"
#include "record/reader.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::store {

struct Input {
    std::string label; ///< may be empty
    std::filesystem::path file;
};

/// "run.json", "results" (the newest run.json anywhere below it), "old=results/2025". A path that is
/// there as it stands is never taken apart at its `=`.
Result<Input> find_input(std::string_view argument);
/// The label and the path as they stand, whether there is anything at the path or not.
Result<Input> split_label(std::string_view argument);
Result<std::vector<Input>> find_inputs(const std::vector<std::string>& arguments);

/// The same as record::read_run; fails where a section does not match its digest.
Result<record::Run> read_result(const std::filesystem::path& file,
                                record::ReadOptions options = {});

/// Fails when `output` is one of the inputs: a report must not replace the result it was made from.
Result<void> check_output(const std::filesystem::path& output, const std::vector<Input>& inputs);

} // namespace assay::store
