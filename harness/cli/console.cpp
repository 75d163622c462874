// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::cli {

ExitCode report(const Error& error) {
    print_error(fmt::format("assay: {}\n", error.message));
    return exit_code(error);
}

std::string clock_text(double seconds) {
    constexpr double most = 365 * 86'400.0; // the longest soak of a suite
    const auto whole = std::lround(std::clamp(seconds, 0.0, most));
    const auto hours = whole / 3600;
    const auto minutes = whole / 60 % 60;
    if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
    return fmt::format("{}:{:02}", minutes, whole % 60);
}

} // namespace assay::cli
