// SPDX-License-Identifier: Apache-2.0
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "cli/reports.hpp"
#include "cli/verbs.hpp"
#include "process/process.hpp"
#include "worker/worker.hpp"

#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

namespace {

int run(const std::vector<std::string>& arguments) {
    using namespace assay;
    if (!arguments.empty() && arguments.front() == "worker") return worker::worker_main();
    if (!arguments.empty() && cli::is_report_verb(arguments.front())) {
        auto for_reports = arguments;
        const auto added = cli::add_this_machine(for_reports);
        return static_cast<int>(added ? cli::hand_over(for_reports) : cli::report(added.error()));
    }
    const auto parsed = cli::parse_options(arguments);
    print(parsed.output);
    print_error(parsed.error);
    const auto code = parsed.options ? cli::perform(*parsed.options) : parsed.code;
    // All output must have arrived: a full disk is an error.
    const auto arrived = printed();
    return static_cast<int>(arrived ? code : cli::report(arrived.error()));
}

int run_or_say_why(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::system_error& error) {
        const bool limit = error.code() == std::errc::resource_unavailable_try_again;
        return static_cast<int>(
            assay::cli::report(limit ? assay::process::no_process(error.code().value())
                                     : assay::Error{error.what(), assay::Fault::environment}));
    } catch (const std::exception& error) {
        return static_cast<int>(assay::cli::report(assay::error_from(error)));
    }
}

} // namespace

int main(int argc, char** argv) {
    if (!assay::open_standard_streams()) return static_cast<int>(assay::ExitCode::environment);
    try {
        return run_or_say_why(argc, argv);
    } catch (const std::bad_alloc&) { // nor was there memory to say what failed
        assay::print_error("assay: out of memory\n");
        return static_cast<int>(assay::ExitCode::environment);
    }
}
