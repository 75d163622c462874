// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.hpp"

#include <cstdio>

namespace assay::cli {

ExitCode report(const Error& error) {
    std::fprintf(stderr, "assay: %s\n", error.message.c_str());
    return exit_code(error);
}

ExitCode perform(const Options& options) {
    switch (options.verb) {
    case Verb::manifest:
        return write_manifest(options);
    default:
        break;
    }
    return report({"not there yet", Fault::usage});
}

} // namespace assay::cli
