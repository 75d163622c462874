// SPDX-License-Identifier: Apache-2.0
//
// Another program, run to its end, and its output.

#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct Said {
    int code = -1;    ///< -1: it did not end by itself
    std::string text; ///< stdout and stderr, at most 64 KiB
};
/// Runs `arguments`, the first of which is looked up in PATH, with its standard input from a file. Fails where it
/// cannot be started.
Result<Said> run_and_read(std::vector<std::string> arguments,
                          const std::filesystem::path& input = "/dev/null");

} // namespace assay
