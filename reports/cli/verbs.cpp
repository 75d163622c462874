// SPDX-License-Identifier: Apache-2.0

#include "verbs.hpp"

#include "language/language.hpp"
#include "model/text.hpp"

#include <cstdio>

namespace assay::report {

ExitCode perform(const Options& options) {
    use_language(language_from(options.language).value_or(Language::en));
    const auto code = options.perform(options);
    if (code) return *code;
    std::fprintf(stderr, "assay-report: %s\n", plain(code.error().message, 4000).c_str());
    return exit_code(code.error());
}

} // namespace assay::report
