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
             "Limits file or installed name; later ones add limits and override those with the "
             "same id [spec]");
}

void add_bundle(auto& verb, Options& o) {
    auto& e = o.evidence;
    add_value(verb, "--bundle", e.bundle, "FOLDER",
              "Write an evidence folder for assay verify: results, limits, verdict, logs, digests");
    add_limits_by_name(verb, o);
    add_value(verb, "--sign", e.key, "KEY",
              "Sign the bundle with this SSH key (a public key if an agent holds the private one)");
    verb.add_flag("--serials", e.serials, "Allow serial numbers in plain text in the bundle");
}

void add_signers(auto& verb, Options& o) {
    add_value(verb, "--signers", o.evidence.signers, "FILE",
              "Trusted signers of a bundle: an allowed_signers file of ssh-keygen");
}

inline std::string fault_of_bundle(const Options& o) {
    const auto& e = o.evidence;
    if (e.bundle.empty()) {
        const std::pair<bool, const char*> given[] = {{!o.checking.limits.empty(), "--limits"},
                                                      {!e.key.empty(), "--sign"},
                                                      {e.serials, "--serials"}};
        for (const auto& [is_given, name] : given)
            if (is_given) return fmt::format("{} needs --bundle FOLDER", name);
        return "";
    }
    if (!o.format.empty() || !o.out.empty())
        return "--bundle cannot be combined with --to or --out";
    if (o.inputs.empty()) return "inputs are missing: result files or folders";
    return "";
}

} // namespace assay::reports_cli
