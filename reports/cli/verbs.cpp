// SPDX-License-Identifier: Apache-2.0

#include "verbs.hpp"

#include "base/console.hpp"
#include "base/text.hpp"
#include "document/language.hpp"

#include <fmt/format.h>

namespace assay::reports_cli {

using namespace document;

ExitCode perform(const Options& options) {
    use_language(value_named<Language>(options.language).value_or(Language::en));
    if (language_in_use() != Language::en) use_ascii(false);
    const auto code = options.perform(options);
    if (code) return *code;
    print_error(fmt::format("assay-report: {}\n", plain(code.error().message, 4000)));
    return exit_code(code.error());
}

} // namespace assay::reports_cli
