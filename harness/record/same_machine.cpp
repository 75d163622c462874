// SPDX-License-Identifier: Apache-2.0
#include "record/same_machine.hpp"

#include "base/sha256.hpp"
#include "record/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

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

/// Must never change, or machines without strong facts become new ones.
std::string id_with(std::string_view base, std::string_view fact) {
    return to_hex(hmac_sha256(base, fmt::format("assay.machine/2\n{}", fact))).substr(0, 16);
}

bool is_weak(std::string_view by) {
    constexpr std::array<std::string_view, 4> ways = {"machine_id", "hardware", "devices", "node"};
    return std::ranges::find(ways, by) != ways.end();
}

bool is_known(std::string_view text) { return !text.empty() && !text.starts_with(hidden_prefix); }

/// A mark of the board. Hashes are comparable where the secret is the same: under one id.
std::string mark_of(const Machine& machine) {
    for (const auto& part : machine.identity.parts)
        if (part.kind == "board" && is_known(part.id)) return "part " + part.id;
    for (const char* const kind : {"board", "product"})
        for (const auto& serial : machine.identity.serials)
            if (serial.kind == kind && is_known(serial.text))
                return fmt::format("{} {}", kind, serial.text);
    return {};
}

struct Entry {
    Machine* machine;
    std::string_view campaign;
    std::string node;
    std::string
        base; ///< by machine-id and hardware, as every machine had it once; empty where not known
    std::string mark;
    std::set<std::string> parts;
    std::string weak; ///< the id without strong facts
    std::string own;  ///< with them

    bool is_bare() const { return parts.empty() && node.empty() && mark.empty(); }
};

Entry entry_of(const Sighting& sighting) {
    const auto& machine = *sighting.machine;
    const auto& by = machine.identity.by;
    const auto& aliases = machine.identity.aliases;
    Entry entry{.machine = sighting.machine, .campaign = sighting.campaign, .node = sighting.node};
    if (is_weak(by) || is_strong(by)) {
        // The last alias is the oldest.
        if (!aliases.empty())
            entry.base = aliases.back();
        else if (is_weak(by))
            entry.base = machine.id;
    }
    entry.mark = mark_of(machine);
    for (const auto& device : machine.devices)
        if (auto part = part_id(device); !part.empty()) entry.parts.insert(std::move(part));
    return entry;
}

class Groups {
public:
    explicit Groups(std::size_t count) : parent_(count) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }
    std::size_t operator()(std::size_t one) {
        while (parent_[one] != one) one = parent_[one] = parent_[parent_[one]];
        return one;
    }
    void join(std::size_t a, std::size_t b) { parent_[(*this)(a)] = (*this)(b); }
    void join(const std::vector<std::size_t>& all) {
        for (const auto one : all) join(one, all.front());
    }
    std::map<std::size_t, std::vector<std::size_t>> lists() {
        std::map<std::size_t, std::vector<std::size_t>> lists;
        for (std::size_t i = 0; i < parent_.size(); ++i) lists[(*this)(i)].push_back(i);
        return lists;
    }

private:
    std::vector<std::size_t> parent_;
};

class Resolver {
public:
    explicit Resolver(std::span<const Sighting> sightings) {
        for (const auto& one : sightings) entries_.push_back(entry_of(one));
        for (std::size_t i = 0; i < entries_.size(); ++i)
            if (!entries_[i].base.empty()) of_base_[entries_[i].base].push_back(i);
    }

    void resolve() {
        split_bases();
        find_weak();
        find_own();
        apply();
    }

private:
    const Entry& at(std::size_t i) const { return entries_[i]; }

    /// Several boards under one weak id are several machines.
    void split_bases() {
        std::map<std::string, std::vector<std::size_t>> split;
        for (const auto& [base, all] : of_base_) {
            std::set<std::string> marks;
            for (const auto i : all)
                if (is_weak(at(i).machine->identity.by)) marks.insert(at(i).mark);
            marks.erase("");
            for (const auto i : all) {
                auto& entry = entries_[i];
                // Hashed with another secret than those of the weak id.
                const bool known = is_weak(entry.machine->identity.by) && !entry.mark.empty();
                split[marks.size() > 1 && known ? id_with(base, entry.mark) : base].push_back(i);
            }
        }
        of_base_ = std::move(split);
        for (const auto& [base, all] : of_base_)
            for (const auto i : all) entries_[i].base = base;
    }

    void join_by_name(Groups& groups) const {
        std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t>
            first;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const auto& entry = at(i);
            if (entry.node.empty() || entry.base.empty()) continue;
            const auto [known, is_new] =
                first.try_emplace({entry.campaign, entry.node, entry.machine->cpu_model}, i);
            if (!is_new) groups.join(i, known->second);
        }
    }
    /// Those that share a board or a whole device, of the same base; not where names contradict.
    void join_by_parts(Groups& groups) const {
        Groups sharing{entries_.size()};
        std::map<std::pair<std::string_view, std::string>, std::size_t> first;
        for (const auto& [base, all] : of_base_)
            for (const auto i : all) {
                auto facts = at(i).parts;
                if (is_weak(at(i).machine->identity.by) && !at(i).mark.empty())
                    facts.insert(at(i).mark);
                for (const auto& fact : facts) {
                    const auto [known, is_new] = first.try_emplace({base, fact}, i);
                    if (!is_new) sharing.join(i, known->second);
                }
            }
        for (auto& [root, all] : sharing.lists()) {
            std::set<std::string_view> names;
            for (const auto i : all) names.insert(at(i).node);
            names.erase("");
            if (names.size() > 1)
                std::erase_if(all, [&](std::size_t i) { return !at(i).node.empty(); });
            if (!all.empty()) groups.join(all);
        }
    }
    /// A record without devices contradicts nothing: it is of the only machine of its base.
    void join_bare(Groups& groups) const {
        for (const auto& [base, all] : of_base_) {
            std::vector<std::size_t> bare;
            std::set<std::size_t> others;
            for (const auto i : all) {
                if (at(i).is_bare())
                    bare.push_back(i);
                else
                    others.insert(groups(i));
            }
            if (others.size() == 1) bare.push_back(*others.begin());
            if (!bare.empty()) groups.join(bare);
        }
    }

    void find_weak() {
        Groups groups{entries_.size()};
        join_by_name(groups);
        join_by_parts(groups);
        join_bare(groups);
        struct Group {
            std::vector<std::size_t> entries;
            std::string fact; ///< tells it from others of the same id
        };
        std::map<std::string, std::vector<Group>> by_id;
        for (auto& [root, all] : groups.lists()) {
            std::set<std::string> bases;
            std::set<std::string> parts;
            std::set<std::pair<std::string, std::string>> names;
            for (const auto i : all) {
                bases.insert(at(i).base);
                parts.insert(at(i).parts.begin(), at(i).parts.end());
                if (!at(i).node.empty()) names.emplace(at(i).node, at(i).machine->cpu_model);
            }
            const auto& base = *bases.begin();
            if (base.empty()) continue;
            std::string id = base;
            if (names.size() == 1)
                id = id_with(names.begin()->first, "node\n" + names.begin()->second);
            else if (!parts.empty())
                id = id_with(base, *parts.begin());
            by_id[id].push_back({std::move(all), parts.empty() ? base : *parts.begin()});
        }
        for (const auto& [id, all] : by_id) {
            const bool is_one = std::ranges::all_of(
                all, [&](const Group& group) { return group.fact == all.front().fact; });
            for (const auto& group : all)
                for (const auto i : group.entries)
                    entries_[i].weak = is_one ? id : id_with(id, group.fact);
        }
    }

    void find_own() {
        std::map<std::string_view, std::set<std::string_view>> marks;
        for (const auto& entry : entries_)
            if (is_strong(entry.machine->identity.by) && !entry.mark.empty())
                marks[entry.machine->id].insert(entry.mark);
        for (auto& entry : entries_) {
            const auto& machine = *entry.machine;
            if (is_weak(machine.identity.by))
                entry.own = entry.weak;
            else if (is_strong(machine.identity.by) && !entry.mark.empty() &&
                     marks[machine.id].size() > 1)
                entry.own = id_with(machine.id, entry.mark);
            else
                entry.own = machine.id;
        }
    }

    void apply() {
        Claims claims;
        std::vector<std::vector<std::string>> names; // by entry: all but the id
        for (const auto& entry : entries_) {
            auto& own = names.emplace_back(entry.machine->identity.aliases);
            for (const auto& name : {entry.machine->id, entry.weak, entry.base})
                if (std::ranges::find(own, name) == own.end()) own.push_back(name);
            std::erase_if(own, [&](const auto& name) { return name.empty() || name == entry.own; });
            for (const auto& name : own)
                if (!entry.own.empty()) claims[name].insert(entry.own);
        }
        std::vector<std::string> ids;
        std::map<std::string, std::set<std::string>> owners;
        for (const auto& entry : entries_) {
            std::set<std::string> seen;
            ids.push_back(common_id(entry.own, claims, seen));
        }
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            owners[entries_[i].own].insert(ids[i]);
            for (const auto& name : names[i]) owners[name].insert(ids[i]);
        }
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            names[i].insert(names[i].begin(), entries_[i].own);
            std::erase_if(names[i], [&](const std::string& name) {
                return name == ids[i] || owners[name].size() > 1;
            });
        }
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            entries_[i].machine->id = ids[i];
            entries_[i].machine->identity.aliases = std::move(names[i]);
        }
    }

    std::vector<Entry> entries_;
    std::map<std::string, std::vector<std::size_t>> of_base_;
};

} // namespace

bool is_strong(std::string_view by) { return by == "cloud_instance" || by == "product_uuid"; }

std::string part_id(const Device& device) {
    constexpr std::string_view whole = "GPU-";
    if (device.mode.starts_with("vgpu")) return {};
    if (device.whole_uuid) return device.whole_uuid->starts_with(whole) ? *device.whole_uuid : "";
    if (device.uuid.starts_with(whole)) return device.uuid;
    // Drivers before 470: "MIG-GPU-5c89a2b4-.../1/0".
    constexpr std::string_view part = "MIG-";
    if (!device.uuid.starts_with("MIG-GPU-")) return {};
    return device.uuid.substr(part.size(), device.uuid.find('/') - part.size());
}

std::string node_name(const Machine& machine, const NamedList& tags) {
    for (const auto& name : {text(tags, node_tag), machine.identity.node})
        if (is_known(name)) return name;
    return {};
}

void resolve_ids(std::span<const Sighting> sightings) { Resolver{sightings}.resolve(); }

std::string own_id(Machine machine) {
    const Sighting one{.machine = &machine, .node = node_name(machine)};
    resolve_ids({&one, 1});
    return machine.id;
}

bool is_id_of(const Machine& machine, std::string_view id) {
    return machine.id == id ||
           std::ranges::find(machine.identity.aliases, id) != machine.identity.aliases.end();
}

bool is_same_machine(const Run& a, const Run& b) {
    std::array machines{a.machine, b.machine};
    const auto sighting = [&](std::size_t i, const Run& run) {
        return Sighting{.machine = &machines[i],
                        .campaign = run.campaign,
                        .node = node_name(run.machine, run.tags)};
    };
    resolve_ids(std::array{sighting(0, a), sighting(1, b)});
    return machines[0].id == machines[1].id;
}

std::vector<std::string> changed_parts(const Machine& before, const Machine& now) {
    std::vector<std::string> changed;
    if (before.id != now.id) return changed;
    const auto add = [&](const std::string& kind, const std::string& where) {
        auto text = where.empty() ? kind : fmt::format("{} {}", kind, where);
        if (std::ranges::find(changed, text) == changed.end()) changed.push_back(std::move(text));
    };
    const auto secret = [](const Machine& machine) -> std::string {
        const auto& by = machine.identity.by;
        return by == "devices" ? "machine_id" : by; // a name is not a secret: any may be behind it
    };
    // None: not read then.
    if (secret(before) == secret(now) && secret(now) != "node" && !before.identity.parts.empty())
        for (const auto& part : now.identity.parts)
            if (std::ranges::find(before.identity.parts, part) == before.identity.parts.end())
                add(part.kind, part.where);
    for (const auto& device : now.devices)
        for (const auto& old : before.devices)
            if (old.pci_address == device.pci_address && !part_id(old).empty() &&
                !part_id(device).empty() && part_id(old) != part_id(device))
                add("device", device.pci_address);
    return changed;
}

} // namespace assay::record
