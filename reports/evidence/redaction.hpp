// SPDX-License-Identifier: Apache-2.0
//
// Which texts of a result are hidden: what was asked for, every other text that has one of these in it, and the digests
// that would tell whoever guesses them.

#pragma once

#include "evidence/tree.hpp"

#include <set>
#include <string>
#include <vector>

namespace assay::report {

/// Names of groups of fields, as `--redact` takes them.
std::vector<std::string> redactable();

/// Key paths, as "machine.hostname", with * for one key; or one of redactable(). Fails where one is neither.
Result<std::vector<std::string>> checked_fields(const std::vector<std::string>& asked);

/// Texts at these fields.
void collect_secrets(const json::Value& document, const std::vector<std::string>& fields,
                     std::set<std::string>& secrets);
bool tells(std::string_view text, const std::set<std::string>& secrets);

/// Hides them; `salts` are those of what is shown, afterwards. How many were hidden.
std::size_t hide(json::Value& document, Salts& salts, const std::vector<std::string>& fields,
                 const std::set<std::string>& secrets);

} // namespace assay::report
