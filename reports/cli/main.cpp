// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"
#include "options.hpp"
#include "verbs.hpp"

#include <exception>
#include <new>
#include <string>
#include <vector>

namespace {

int run(const std::vector<std::string>& arguments) {
    using namespace assay;
    const auto parsed = reports_cli::parse_options(arguments);
    const auto shown = print(parsed.output);
    print_error(parsed.error);
    if (!shown) return static_cast<int>(exit_code(shown.error()));
    return static_cast<int>(parsed.options ? reports_cli::perform(*parsed.options) : parsed.code);
}

int run_or_say_why(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        assay::print_error("assay-report: " + assay::error_from(error).message + '\n');
        return static_cast<int>(assay::ExitCode::environment);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (!assay::open_standard_streams()) return static_cast<int>(assay::ExitCode::environment);
    try {
        return run_or_say_why(argc, argv);
    } catch (const std::bad_alloc&) { // nor was there memory to say what failed
        assay::print_error("assay-report: out of memory\n");
        return static_cast<int>(assay::ExitCode::environment);
    }
}
