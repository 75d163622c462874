// SPDX-License-Identifier: Apache-2.0
//
// The command line of assay-report, parsed: what every verb needs, or what to print instead. Nothing is
// printed and nothing is read here.

#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::report {

enum class Verb : std::uint8_t { report, verify, export_run };

struct Options {
    Verb verb = Verb::report;
    std::vector<std::string> inputs;
    std::filesystem::path html; ///< "-" is stdout
    std::filesystem::path markdown;
    std::filesystem::path out;
    std::string format; ///< of export: "gbench", "csv"
    bool json = false;
};

/// Options to act on; or, without them, what to print and the code to end with (help, version, errors).
struct Parsed {
    std::optional<Options> options;
    ExitCode code = ExitCode::done;
    std::string output; ///< for stdout
    std::string error;  ///< for stderr
};
Parsed parse_options(const std::vector<std::string>& arguments);

} // namespace assay::report
