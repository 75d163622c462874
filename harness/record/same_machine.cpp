// SPDX-License-Identifier: Apache-2.0
#include "record/same_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay::record {
namespace {

using Claims = std::map<std::string, std::set<std::string>>; ///< ids of machines, by alias

/// `seen` ends circles: damaged files may have them.
// NOLINTNEXTLINE(misc-no-recursion): no deeper than there are ids
std::string common_id(const std::string& id, const Claims& claims, std::set<std::string>& seen) {
    const auto claimed = claims.find(id);
    if (claimed == claims.end() || !seen.insert(id).second) return id;
    std::set<std::string> owners;
    for (const auto& owner : claimed->second) owners.insert(common_id(owner, claims, seen));
    return owners.size() == 1 ? *owners.begin() : id;
}

} // namespace

bool is_id_of(const Machine& machine, std::string_view id) {
    return machine.id == id ||
           std::ranges::find(machine.identity.aliases, id) != machine.identity.aliases.end();
}

std::map<std::string, std::string> common_ids(std::span<const Machine> machines) {
    Claims claims;
    for (const auto& machine : machines)
        for (const auto& alias : machine.identity.aliases)
            if (!alias.empty() && !machine.id.empty() && alias != machine.id)
                claims[alias].insert(machine.id);
    std::map<std::string, std::string> ids;
    for (const auto& machine : machines) {
        std::set<std::string> seen;
        ids.emplace(machine.id, common_id(machine.id, claims, seen));
    }
    return ids;
}

std::vector<std::string> changed_parts(const Machine& before, const Machine& now) {
    std::vector<std::string> changed;
    if (before.id != now.id || before.identity.by != now.identity.by) return changed;
    if (before.identity.parts.empty()) return changed; // not read then
    for (const auto& part : now.identity.parts) {
        if (std::ranges::find(before.identity.parts, part) != before.identity.parts.end()) continue;
        changed.push_back(part.where.empty() ? part.kind
                                             : fmt::format("{} {}", part.kind, part.where));
    }
    return changed;
}

} // namespace assay::record
