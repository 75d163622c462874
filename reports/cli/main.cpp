// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"
#include "verbs.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

int run(const std::vector<std::string>& arguments) {
    using namespace assay;
    const auto parsed = report::parse_options(arguments);
    std::fputs(parsed.output.c_str(), stdout);
    std::fputs(parsed.error.c_str(), stderr);
    const auto code = parsed.options ? report::perform(*parsed.options) : parsed.code;
    return static_cast<int>(code);
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        // Out of memory and the like: whatever we expect comes as a Result.
        std::fprintf(stderr, "assay-report: %s\n", error.what());
        return static_cast<int>(assay::ExitCode::environment);
    }
}
