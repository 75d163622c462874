// SPDX-License-Identifier: Apache-2.0
//
// The options of verbs about evidence, for options.cpp, which knows the parser.

#pragma once

#include "base/command_line.hpp"
#include "options.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace assay::reports_cli {

void add_limits_by_name(auto& verb, Options& o) {
    add_many(verb, "--limits", o.checking.limits, "FILE|NAME",
             "What a good node must reach: a file, or the name of an installed one; a later one "
             "adds to the earlier ones and replaces limits of the same id [spec]");
}

/// Of export.
void add_bundle(auto& verb, Options& o) {
    auto& e = o.evidence;
    add_value(verb, "--bundle", e.bundle, "FOLDER",
              "Make a folder of evidence that `assay verify` checks: results, limits, verdict, "
              "logs, digests");
    add_limits_by_name(verb, o);
    add_value(
        verb, "--sign", e.key, "KEY",
        "Sign it with this key, by ssh-keygen; a public one where an agent has the private one");
    verb.add_flag("--serials", e.serials, "Serial numbers in clear may be in the bundle");
}

/// Of verify.
void add_signers(auto& verb, Options& o) {
    add_value(verb, "--signers", o.evidence.signers, "FILE",
              "Of a bundle: whose signatures count, as a file of allowed signers of ssh-keygen");
}

inline std::string fault_of_bundle(const Options& o) {
    const auto& e = o.evidence;
    if (e.bundle.empty()) {
        const std::pair<bool, const char*> given[] = {{!o.checking.limits.empty(), "--limits"},
                                                      {!e.key.empty(), "--sign"},
                                                      {e.serials, "--serials"}};
        for (const auto& [is_given, name] : given)
            if (is_given) return fmt::format("{} goes with --bundle", name);
        return "";
    }
    if (!o.format.empty() || !o.out.empty())
        return "--bundle makes a folder; --to and --out are about one file";
    if (o.inputs.empty()) return "inputs are missing: result files or folders";
    return "";
}

} // namespace assay::reports_cli
