// SPDX-License-Identifier: Apache-2.0

#include "evidence/redaction.hpp"

#include "base/nearest.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace assay::report {
namespace {

/// A shorter text stands in others by chance.
constexpr std::size_t least_secret = 4;

struct Group {
    const char* name;
    std::vector<std::string> fields;
};
const std::vector<Group>& groups() {
    static const std::vector<Group> all{
        {"hostname", {"machine.hostname", "machine.identity.node"}},
        {"serials",
         {"machine.identity.serials.*.text", "machine.identity.serials.*.keyed",
          "machine.identity.parts.*.id", "machine.devices.*.uuid", "machine.devices.*.whole_uuid",
          "cases.*.place.uuid"}},
        {"addresses",
         {"machine.identity.serials.*.where", "machine.identity.parts.*.where",
          "machine.pci.*.address", "machine.devices.*.pci_address",
          "machine.platform.network.*.address", "machine.platform.network.*.physical_function"}},
        {"notes", {"run.note", "run.tags.*"}},
        {"place", {"machine.platform.region", "machine.platform.zone"}},
        {"warnings", {"cases.*.warnings.*"}},
        {"software", {"machine.software.*"}},
    };
    return all;
}

/// "/machine/software/libc~1x" as the fields have it: parts between dots, of which the last takes the rest.
bool matches_field(std::string_view place, std::string_view field) {
    const auto keys = split(place.substr(std::min<std::size_t>(1, place.size())), '/');
    const auto parts = split(field, '.');
    std::size_t k = 0;
    for (std::size_t p = 0; p < parts.size(); ++p, ++k) {
        if (k >= keys.size()) return false;
        if (parts[p] == "*" || parts[p] == keys[k]) continue;
        // Keys with dots: "openblas.version".
        std::string key{parts[p]};
        while (key != keys[k] && ++p < parts.size()) key.append(".").append(parts[p]);
        if (key != keys[k]) return false;
    }
    return k == keys.size();
}
bool matches_any(std::string_view place, const std::vector<std::string>& fields) {
    return std::ranges::any_of(fields,
                               [&](const auto& field) { return matches_field(place, field); });
}

/// The digest of the section that a place is in; "/digests/cases/3".
std::string digest_over(std::string_view place) {
    const auto keys = split(place.substr(1), '/');
    if (keys.front() == "run" || keys.front() == "machine")
        return fmt::format("/digests/{}", keys.front());
    return keys.front() == "cases" && keys.size() > 1 ? fmt::format("/digests/cases/{}", keys[1])
                                                      : std::string{};
}

bool is_secret(const json::Value& leaf) {
    return leaf.is_string() && !leaf.get_ref<const std::string&>().empty() && !hidden_in(leaf);
}

} // namespace

std::vector<std::string> redactable() {
    std::vector<std::string> names;
    for (const auto& group : groups()) names.emplace_back(group.name);
    return names;
}

Result<std::vector<std::string>> checked_fields(const std::vector<std::string>& asked) {
    std::vector<std::string> fields;
    constexpr std::array<std::string_view, 3> sections{"run", "machine", "cases"};
    for (const auto& one : asked) {
        const auto group = std::ranges::find(groups(), one, &Group::name);
        if (group != groups().end())
            fields.insert(fields.end(), group->fields.begin(), group->fields.end());
        else if (one.find('.') != one.npos &&
                 std::ranges::count(sections, split(one, '.').front()) > 0)
            fields.push_back(one);
        else
            return fail(fmt::format("--redact \"{}\" is no group of fields and no key path in run, "
                                    "machine or cases, as machine.hostname{}",
                                    one, suggestion(one, redactable())));
    }
    return fields;
}

void collect_secrets(const json::Value& document, const std::vector<std::string>& fields,
                     std::set<std::string>& secrets) {
    each_leaf(document, [&](const std::string& place, const json::Value& leaf) {
        if (!is_secret(leaf) || !matches_any(place, fields)) return;
        if (const auto& text = leaf.get_ref<const std::string&>(); text.size() >= least_secret)
            secrets.insert(text);
    });
}

bool tells(std::string_view text, const std::set<std::string>& secrets) {
    return std::ranges::any_of(secrets,
                               [&](const auto& secret) { return text.find(secret) != text.npos; });
}

std::size_t hide(json::Value& document, Salts& salts, const std::vector<std::string>& fields,
                 const std::set<std::string>& secrets) {
    std::set<std::string> places;
    each_leaf(std::as_const(document), [&](const std::string& place, const json::Value& leaf) {
        if (is_secret(leaf) &&
            (matches_any(place, fields) || tells(leaf.get_ref<const std::string&>(), secrets)))
            places.insert(place);
    });
    // Without salts themselves: who guesses a hidden text could try it on them.
    std::set<std::string> digests;
    for (const auto& place : places)
        if (auto digest = digest_over(place); !digest.empty()) digests.insert(std::move(digest));
    if (!digests.empty()) digests.insert("/digests/root");
    const auto hidden = places.size();
    places.merge(digests);
    Salts left;
    each_leaf(document, [&](const std::string& place, json::Value& leaf) {
        if (hidden_in(leaf)) return;
        const auto salt = salt_at(salts, place).value_or("");
        if (!places.contains(place))
            left.of.emplace(place, salt);
        else
            leaf = hidden_text(leaf_digest(place, leaf, salt));
    });
    if (hidden > 0) salts = std::move(left);
    return hidden;
}

} // namespace assay::report
