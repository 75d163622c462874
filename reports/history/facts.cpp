// SPDX-License-Identifier: Apache-2.0

#include "history/facts.hpp"

#include "document/text.hpp"
#include "record/conditions.hpp"
#include "record/format.hpp"
#include "record/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace assay::history {
namespace {

/// Kernels keep some megabytes more or less; a measured clock breathes with temperature.
constexpr double amount_tolerance = 0.02;

class Writer {
public:
    void text(std::string name, std::string_view value, ChangeCause cause) {
        if (!value.empty()) list_.push_back({std::move(name), plain(value, 200), {}, cause});
    }
    /// Counts: none is not known.
    void count(std::string name, std::optional<int> value) {
        if (value.value_or(0) > 0)
            text(std::move(name), std::to_string(*value), ChangeCause::instance);
    }
    void bytes(std::string name, std::optional<std::int64_t> amount) {
        const auto value = static_cast<double>(amount.value_or(0));
        if (value > 0)
            list_.push_back(
                {std::move(name), record::human_bytes(value), value, ChangeCause::instance});
    }
    FactList take() {
        std::ranges::stable_sort(list_, {}, &RecordedFact::name);
        return std::move(list_);
    }

private:
    FactList list_;
};

std::string caches_in_words(const record::Machine& machine) {
    std::vector<std::string> parts;
    for (const auto& cache : machine.caches)
        parts.push_back(fmt::format("{}x L{} {} {}", cache.count, cache.level, cache.type,
                                    record::human_bytes(static_cast<double>(cache.bytes))));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// Drivers are software, the devices themselves belong to the instance.
void add_devices(Writer& out, const record::Machine& machine) {
    std::vector<std::string> devices;
    for (const auto& device : machine.pci) {
        const auto name =
            device.name.empty() ? device.vendor_id + ":" + device.device_id : device.name;
        devices.push_back(name);
        out.text("driver." + plain(name, 100), device.driver, ChangeCause::software);
    }
    std::ranges::sort(devices); // addresses may differ from boot to boot
    out.text("devices", fmt::format("{}", fmt::join(devices, ", ")), ChangeCause::instance);
}

/// "on", or "off, 7 x on" where devices differ: their order may be another one after each boot.
std::string counted(const std::map<std::string, int>& states) {
    std::vector<std::string> parts;
    for (const auto& [state, count] : states)
        parts.push_back(count == 1 || states.size() == 1 ? state
                                                         : fmt::format("{} x {}", count, state));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// How devices are set; of interest to series on devices alone.
constexpr std::string_view device_prefix = "device.";
void add_device_states(Writer& out, const record::Machine& machine) {
    std::map<std::string, int> firmware;
    for (const auto& device : machine.devices)
        if (!device.firmware.vbios.empty()) ++firmware[device.firmware.vbios];
    out.text("device.vbios", counted(firmware), ChangeCause::software);
    for (const auto& condition : record::condition_table()) {
        if (!condition.is_state) continue;
        std::map<std::string, int> states;
        for (const auto& device : machine.devices) {
            const record::Case c{
                .place = {.kind = device.kind, .uuid = device.uuid, .index = device.index}};
            if (const auto state = condition.of(c, machine)) ++states[record::to_string(*state)];
        }
        out.text(fmt::format("{}{}", device_prefix, condition.name), counted(states),
                 ChangeCause::software);
    }
}

/// Firmware, and how it and the administrator set the machine.
void add_platform(Writer& out, const record::Platform& platform) {
    out.text("bios", platform.bios_version, ChangeCause::software);
    out.text("microcode", platform.microcode, ChangeCause::software);
    out.text("governor", platform.governor, ChangeCause::software);
    if (platform.boost) out.text("boost", *platform.boost ? "on" : "off", ChangeCause::software);
    out.text("smt", platform.smt, ChangeCause::software);
    std::vector<std::string> limits;
    for (const auto& limit : platform.power_limits)
        limits.push_back(fmt::format("{} {} {:.0f} W", limit.scope, limit.term, limit.watts));
    out.text("power_limits", fmt::format("{}", fmt::join(limits, ", ")), ChangeCause::software);
}

FactList facts_of(const record::Machine& machine) {
    Writer out;
    add_platform(out, machine.platform);
    out.text("cpu_model", machine.cpu_model, ChangeCause::instance);
    out.text("architecture", machine.architecture, ChangeCause::instance);
    out.count("sockets", machine.sockets);
    out.count("cores", machine.cores);
    out.count("threads", machine.threads);
    out.count("usable_cores", machine.usable_cores);
    out.count("usable_threads", machine.usable_threads);
    out.count("numa_nodes", machine.numa_nodes);
    out.text("isa", fmt::format("{}", fmt::join(machine.isa, " ")), ChangeCause::instance);
    out.text("caches", caches_in_words(machine), ChangeCause::instance);
    out.bytes("memory", machine.memory_bytes);
    out.bytes("memory_limit", machine.memory_limit_bytes);
    out.text("virtualization", machine.virtualization, ChangeCause::instance);
    out.text("provider", machine.provider, ChangeCause::instance);
    out.text("instance", machine.instance, ChangeCause::instance);
    out.text("system", machine.system, ChangeCause::instance);
    out.text("os", machine.os, ChangeCause::software);
    out.text("kernel", machine.kernel, ChangeCause::software);
    out.text("container", machine.container, ChangeCause::software);
    out.text("huge_pages", machine.huge_pages, ChangeCause::software);
    add_devices(out, machine);
    add_device_states(out, machine);
    for (const auto& software : machine.software)
        out.text("software." + plain(software.name, 100), record::to_string(software.value),
                 ChangeCause::software);
    return out.take();
}

/// "openblas" of "software.openblas.version", which tells other libraries nothing.
std::string_view library_of(std::string_view name) {
    constexpr std::string_view prefix = "software.";
    if (!name.starts_with(prefix)) return {};
    name.remove_prefix(prefix.size());
    return name.substr(0, name.find('.'));
}

const RecordedFact* find_fact(const FactList& list, std::string_view name) {
    const auto found = std::ranges::lower_bound(list, name, {}, &RecordedFact::name);
    return found != list.end() && found->name == name ? &*found : nullptr;
}

} // namespace

bool is_same(const RecordedFact& a, const RecordedFact& b) {
    if (a.amount && b.amount)
        return std::abs(*a.amount - *b.amount) <=
               amount_tolerance * std::max(std::abs(*a.amount), std::abs(*b.amount));
    return a.value == b.value;
}

std::vector<ChangedFact> changed_facts(const FactList& before, const FactList& after) {
    std::vector<ChangedFact> changed;
    for (const auto& fact : before) {
        const auto* other = find_fact(after, fact.name);
        if (other != nullptr && !is_same(fact, *other))
            changed.push_back({.cause = fact.cause,
                               .name = fact.name,
                               .before = fact.value,
                               .after = other->value});
    }
    std::ranges::stable_sort(changed, {}, &ChangedFact::cause);
    return changed;
}

FactBook::FactBook(const store::Collection& collection) : collection_{collection} {
    for (const auto& machine : collection.machines) machines_.push_back(facts_of(machine));
    for (const auto& series : collection.series) libraries_.push_back(plain(series.library));
    std::ranges::sort(libraries_);
    const auto rest = std::ranges::unique(libraries_);
    libraries_.erase(rest.begin(), rest.end());
}

bool FactBook::matters(std::string_view name, const decide::Series& series) const {
    if (name.starts_with(device_prefix)) return series.place != "host";
    const auto library = library_of(name);
    return library.empty() || library == series.library ||
           !std::ranges::binary_search(libraries_, library);
}

FactList FactBook::of(const Sample& sample, const decide::Series& series) const {
    FactList facts;
    const auto& run = collection_.runs[sample.runs.front()];
    for (const auto& fact : machines_[run.machine])
        if (matters(fact.name, series)) facts.push_back(fact);
    if (!run.version.empty())
        facts.push_back({"assay", plain(run.version, 100), {}, ChangeCause::software});
    if (run.core_clock_hz && *run.core_clock_hz > 0)
        facts.push_back({std::string{core_clock}, record::human(*run.core_clock_hz, "Hz"),
                         run.core_clock_hz, ChangeCause::instance});
    const record::NameIndex parameters{series.parameters};
    if (sample.settings < collection_.settings.size())
        for (const auto& setting : collection_.settings[sample.settings]) {
            if (setting.name == "trial")
                continue; // times of the kernels left out: others in every run
            // The value of a resolved parameter follows from the machine: all its threads.
            const bool resolved = parameters.find(setting.name) != nullptr;
            facts.push_back({"setting." + plain(setting.name, 100),
                             plain(record::to_string(setting.value), 200),
                             {},
                             resolved ? ChangeCause::instance : ChangeCause::software});
        }
    std::ranges::stable_sort(facts, {}, &RecordedFact::name);
    return facts;
}

std::vector<ChangedFact> FactBook::changes(std::uint32_t before, std::uint32_t after) const {
    const auto& one = collection_.runs[before];
    const auto& other = collection_.runs[after];
    std::vector<ChangedFact> changed;
    if (one.machine != other.machine)
        changed = changed_facts(machines_[one.machine], machines_[other.machine]);
    if (one.version != other.version && !one.version.empty() && !other.version.empty())
        changed.push_back({.cause = ChangeCause::software,
                           .name = "assay",
                           .before = plain(one.version, 100),
                           .after = plain(other.version, 100)});
    return changed;
}

std::vector<ChangedFact> FactBook::changes(const Sample& before, const Sample& after,
                                           const decide::Series& series) const {
    return changed_facts(of(before, series), of(after, series));
}

bool FactBook::agree(const Sample& sample, const Sample& other, const decide::Series& series,
                     std::string_view name) const {
    const auto& one = collection_.runs[sample.runs.front()];
    const auto& two = collection_.runs[other.runs.front()];
    const bool same_state = one.machine == two.machine && one.version == two.version &&
                            sample.settings == other.settings;
    if (same_state && name != core_clock) return true;
    const auto here = of(sample, series);
    const auto there = of(other, series);
    const auto* mine = find_fact(here, name);
    const auto* yours = find_fact(there, name);
    return mine != nullptr && yours != nullptr && is_same(*mine, *yours);
}

} // namespace assay::history
