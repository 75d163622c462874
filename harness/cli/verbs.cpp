// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.hpp"

#include <cstdio>

namespace assay::cli {

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

ExitCode report(const Error& error) {
    std::fprintf(stderr, "assay: %s\n", error.message.c_str());
    return exit_code(error);
}

void warn_of_problems(const core::Catalogue& catalogue) {
    for (const auto& problem : catalogue.problems)
        std::fprintf(stderr, "assay: warning: %s\n", problem.message.c_str());
}

ExitCode perform(const Options& options) {
    switch (options.verb) {
    case Verb::doctor:
        return doctor(options);
    case Verb::list:
        return list(options);
    case Verb::describe:
        return describe(options);
    case Verb::plan:
        return plan(options);
    case Verb::run:
        return options.interleave.empty() ? run(options) : run_in_turns(options);
    case Verb::manifest:
        break;
    }
    return write_manifest(options);
}

} // namespace assay::cli
