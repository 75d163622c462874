// SPDX-License-Identifier: Apache-2.0
#include "cli/hand_over.hpp"
#include "cli/options.hpp"
#include "cli/verbs.hpp"
#include "worker/worker.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

/// What was printed must have arrived: a full disk is no success.
assay::ExitCode flushed(assay::ExitCode code) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fputs("assay: cannot write to standard output\n", stderr);
    return assay::ExitCode::environment;
}

int run(const std::vector<std::string>& arguments) {
    using namespace assay;
    if (!arguments.empty() && arguments.front() == "worker") return harness::worker_main();
    if (!arguments.empty() && cli::is_report_verb(arguments.front()))
        return static_cast<int>(cli::hand_over(arguments));
    const auto parsed = cli::parse_options(arguments);
    std::fputs(parsed.output.c_str(), stdout);
    std::fputs(parsed.error.c_str(), stderr);
    const auto code = parsed.options ? cli::perform(*parsed.options) : parsed.code;
    return static_cast<int>(flushed(code));
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        // Out of memory and the like: whatever we expect comes as a Result.
        std::fprintf(stderr, "assay: %s\n", error.what());
        return static_cast<int>(assay::ExitCode::environment);
    }
}
