// SPDX-License-Identifier: Apache-2.0
//
// The option for hours of load.

#pragma once

#include "base/quantity.hpp"

#include <optional>
#include <string>

namespace assay::cli {

template <class App, class Problem> // of the option parser, which one file includes
void add_soak(App& verb, std::optional<double>& seconds) {
    auto* option = verb.template add_option_function<std::string>(
        "--for",
        [&seconds](const std::string& text) {
            const auto given = parse_duration(text);
            if (!given) throw Problem("--for", given.error().message);
            seconds = *given;
        },
        "Soak: measure the cases over and over for this time, compare every result, and watch "
        "speed and temperature: 20m, 24h");
    option->type_name("TIME");
    for (const char* other : {"--budget", "--replicas", "--interleave", "--while"})
        option->excludes(verb.get_option(other));
}

} // namespace assay::cli
