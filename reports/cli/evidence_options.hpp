// SPDX-License-Identifier: Apache-2.0
//
// The options of verbs about evidence, for options.cpp, which knows the parser.

#pragma once

#include "base/nearest.hpp"
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {

void add_limits_by_name(auto& verb, Options& o) {
    verb.add_option("--limits", o.checking.limits,
                    "What a good node must reach: a file, or the name of an installed one; a later "
                    "one adds to the earlier ones and replaces limits of the same id [spec]")
        ->type_name("FILE|NAME")
        ->allow_extra_args(false);
}

/// Of export.
void add_bundle(auto& verb, Options& o) {
    auto& e = o.evidence;
    verb.add_option("--bundle", e.bundle,
                    "Make a folder of evidence that `assay verify` checks: results, limits, "
                    "verdict, logs, inventory, digests; of a bundle with --redact, the same with "
                    "texts hidden")
        ->type_name("FOLDER");
    add_limits_by_name(verb, o);
    verb.add_option("--sign", e.key,
                    "Sign it with this key, by ssh-keygen; a public one where an agent has the "
                    "private one")
        ->type_name("KEY");
    verb.add_flag("--serials", e.serials, "Serial numbers in clear may be in the bundle");
    verb.add_option("--redact", e.redact,
                    "Hide these texts, without what is left losing its digest: hostname, serials, "
                    "addresses, notes, place, warnings, software, or a key path as "
                    "machine.hostname, with * for one key")
        ->type_name("FIELD,...")
        ->delimiter(',')
        ->allow_extra_args(false);
}

/// Of verify.
void add_signers(auto& verb, Options& o) {
    verb.add_option("--signers", o.evidence.signers,
                    "Of a bundle: whose signatures count, as a file of allowed signers of "
                    "ssh-keygen")
        ->type_name("FILE");
}

inline std::string fault_of_bundle(const Options& o) {
    const auto& e = o.evidence;
    if (e.bundle.empty()) {
        const std::pair<bool, const char*> given[] = {{!o.checking.limits.empty(), "--limits"},
                                                      {!e.key.empty(), "--sign"},
                                                      {e.serials, "--serials"},
                                                      {!e.redact.empty(), "--redact"}};
        for (const auto& [is_given, name] : given)
            if (is_given) return fmt::format("{} goes with --bundle", name);
        return "";
    }
    if (!o.format.empty() || !o.out.empty())
        return "--bundle makes a folder; --to and --out are about one file";
    if (o.inputs.empty()) return "inputs are missing: result files or folders";
    return "";
}

void add_ledger(auto& verb, Options& o) {
    auto& e = o.evidence;
    verb.add_option("action", e.action,
                    "add: nodes with their verdicts and serial numbers. show: parts, or where one "
                    "was. verify: was a line changed or cut?")
        ->type_name("add|show|verify")
        ->required();
    verb.add_option("inputs", o.inputs,
                    "Of add: bundles, result files or folders. Of show: a serial number, device, "
                    "machine or host")
        ->type_name("PATH|SERIAL");
    verb.add_option("--ledger", e.ledger, "The file; add makes it")->type_name("FILE")->required();
    verb.add_option("--head", e.head, "Of verify: a head that was shown before must still be in it")
        ->type_name("DIGEST");
    add_limits_by_name(verb, o);
    add_signers(verb, o);
}

inline std::string fault_of_ledger(const Options& o) {
    const auto& e = o.evidence;
    const std::vector<std::string> actions{"add", "show", "verify"};
    if (std::ranges::count(actions, e.action) == 0)
        return fmt::format("ledger has no \"{}\"{}", e.action, suggestion(e.action, actions));
    if (e.action == "add" && o.inputs.empty())
        return "inputs are missing: bundles, result files or folders";
    if (e.action == "show" && o.inputs.size() > 1) return "ledger show takes one serial number";
    if (e.action == "verify" && !o.inputs.empty())
        return "ledger verify takes no inputs; --ledger names the file";
    if (e.action != "verify" && !e.head.empty()) return "--head goes with ledger verify";
    if (e.action != "add" && (!o.checking.limits.empty() || !e.signers.empty()))
        return "--limits and --signers go with ledger add";
    return "";
}

} // namespace assay::report
