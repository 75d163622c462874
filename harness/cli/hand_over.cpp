// SPDX-License-Identifier: Apache-2.0
#include "cli/hand_over.hpp"

#include "base/file.hpp"
#include "cli/console.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace assay::cli {

bool is_report_verb(std::string_view name) {
    return std::ranges::find(report_verbs, name) != report_verbs.end();
}

ExitCode hand_over(const std::vector<std::string>& arguments) {
    const std::string program = layout().programs / "assay-report";
    std::vector<std::string> texts{program};
    texts.insert(texts.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    return report(
        {fmt::format("cannot start {}: {}", program, std::strerror(errno)), Fault::environment});
}

} // namespace assay::cli
