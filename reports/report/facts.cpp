// SPDX-License-Identifier: Apache-2.0

#include "document/texts/facts.hpp"

#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/count.hpp"
#include "document/texts/import.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "record/same_machine.hpp"
#include "report/findings.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace assay::report {

using namespace document;
namespace {

using record::Machine;
using record::Run;
using record::Status;

/// The harness's name of a plan without a suite.
constexpr std::string_view custom_suite = "custom";

template <const Entry& Name>
Fact fact(std::string text) { // NOLINT(performance-unnecessary-value-param): it is moved from
    return {.name = say<Name>(), .text = std::move(text), .key = Name.en};
}
template <const Entry& Name>
void add(std::vector<Fact>& facts, std::string text) {
    if (!text.empty()) facts.push_back(fact<Name>(std::move(text)));
}

std::string join_known(std::vector<std::string> parts) {
    std::erase_if(parts, [](const auto& part) { return part.empty(); });
    return join(parts);
}

std::string join_words(std::vector<std::string> parts) {
    std::erase_if(parts, [](const auto& part) { return part.empty(); });
    return fmt::format("{}", fmt::join(parts, " "));
}

/// "2 x this, that"; what is for the file only is not shown.
std::string counted(const std::map<std::string, std::size_t>& counts,
                    std::vector<std::string> lines = {}) {
    for (const auto& [name, count] : counts)
        lines.push_back(count == 1 ? name : fmt::format("{} x {}", count, name));
    return list_of(lines, 8);
}

/// 0 where it is not known.
std::size_t to_count(const std::optional<int>& value) {
    return static_cast<std::size_t>(std::max(value.value_or(0), 0));
}

std::string cores_in_words(const Machine& machine) {
    std::vector<std::string> parts;
    if (machine.sockets > 0)
        parts.push_back(say_count<text::count::sockets>(to_count(machine.sockets)));
    parts.push_back(say_count<text::count::cores>(to_count(machine.cores)));
    if (to_count(machine.threads) > to_count(machine.cores))
        parts.push_back(say_count<text::count::hardware_threads>(to_count(machine.threads)));
    const auto usable = to_count(machine.usable_cores);
    if (usable > 0 && usable < to_count(machine.cores))
        parts.back() = say<text::facts::only_usable>(parts.back(), usable);
    if (machine.numa_nodes > 1)
        parts.push_back(say_count<text::count::numa_nodes>(to_count(machine.numa_nodes)));
    return join(parts);
}

std::string caches_in_words(const Machine& machine) {
    std::vector<std::string> parts;
    for (const auto& cache : machine.caches) {
        if (cache.type == "instruction") continue;
        parts.push_back(fmt::format("L{} {}{}", cache.level,
                                    cache.count > 1 ? fmt::format("{} x ", cache.count) : "",
                                    record::human_bytes(static_cast<double>(cache.bytes))));
    }
    return list_of(parts, 6); // two levels for each of three kinds of core, at most
}

std::string host_in_words(const Machine& machine) {
    const std::string cpu =
        machine.cpu_model.empty() ? say<text::facts::unknown_processor>() : machine.cpu_model;
    return machine.cores > 0 ? join({cpu, say_count<text::count::cores>(to_count(machine.cores))})
                             : cpu;
}

std::string memory_in_words(const Machine& machine) {
    const auto bytes = machine.memory_bytes.value_or(0);
    if (bytes <= 0) return "";
    std::string text = record::human_bytes(static_cast<double>(bytes));
    if (machine.memory_limit_bytes && *machine.memory_limit_bytes < bytes)
        text = say<text::facts::limited_to>(
            text, record::human_bytes(static_cast<double>(*machine.memory_limit_bytes)));
    if (machine.huge_pages.empty()) return text;
    return join({text, say<text::facts::huge_pages>(machine.huge_pages)});
}

/// The instruction sets that decide how fast arithmetic is; the whole list is in the file.
std::string isa_in_words(const Machine& machine) {
    static constexpr std::array telling{"avx2",        "fma",         "avx512f",  "avx512_vnni",
                                        "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile",
                                        "amx_bf16",    "amx_int8",    "asimd",    "sve",
                                        "sve2",        "bf16",        "i8mm"};
    std::vector<std::string> found;
    for (const char* name : telling)
        if (std::ranges::find(machine.isa, name) != machine.isa.end()) found.emplace_back(name);
    return found.empty() ? machine.architecture
                         : join({machine.architecture, list_of(found, found.size())});
}

std::string where(const Machine& machine) {
    const auto known = [](const std::string& text) { return text == "unknown" ? "" : text; };
    return join_known({known(machine.provider), known(machine.instance)});
}

std::string virtual_in_words(const Machine& machine) {
    const bool contained = !machine.container.empty() && machine.container != "none";
    return join_known(
        {machine.virtualization == "none" ? say<text::facts::bare_metal>() : machine.virtualization,
         contained ? say<text::facts::in_container>(machine.container) : ""});
}

std::string devices_in_words(const Machine& machine) {
    std::vector<std::string> names;
    for (const auto& device : machine.pci) {
        // Their driver describes them better.
        const bool described =
            !machine.devices.empty() && device.vendor_id == "10de" && device.kind == "accelerator";
        if (device.kind == "display" || described) continue;
        const std::string name =
            device.name.empty() ? device.vendor_id + ":" + device.device_id : device.name;
        const std::string text = device.kind + " " + name;
        names.push_back(device.driver.empty()
                            ? say<text::words::in_brackets>(text, say<text::facts::no_driver>())
                            : text);
    }
    std::map<std::string, std::size_t> counts;
    for (const auto& name : names) ++counts[name];
    return counted(counts, device_kinds(machine));
}

std::string firmware_in_words(const record::Platform& platform) {
    std::string bios = join_words({platform.bios_vendor, platform.bios_version});
    if (!platform.bios_date.empty() && !bios.empty())
        bios = say<text::words::in_brackets>(bios, platform.bios_date);
    return join_known(
        {bios, platform.microcode.empty() ? "" : say<text::facts::microcode>(platform.microcode)});
}

std::string clocks_in_words(const record::Platform& platform) {
    std::string boost;
    if (platform.boost)
        boost = *platform.boost ? say<text::facts::boost_on>() : say<text::facts::boost_off>();
    return join_known({platform.frequency_driver, platform.governor, boost,
                       platform.smt.empty()             ? ""
                       : platform.smt == "notsupported" ? say<text::facts::no_smt>()
                                                        : say<text::facts::smt>(platform.smt)});
}

std::string energy_in_words(const record::Platform& platform) {
    if (platform.energy_unread == "no_counter") return say<text::facts::no_energy>();
    return platform.energy_unread == "not_permitted" ? say<text::facts::energy_of_root>() : "";
}

std::string modules_in_words(const record::Platform& platform) {
    std::vector<std::string> parts;
    for (const auto& kind : platform.memory_modules) {
        const auto rate = kind.transfers_per_second;
        parts.push_back(
            join_words({fmt::format("{} x {}", kind.count,
                                    record::human_bytes(static_cast<double>(kind.bytes))),
                        kind.type, rate ? fmt::format("{:.0f} MT/s", *rate * 1e-6) : ""}));
    }
    return list_of(parts, 4); // kinds of module
}

std::string disks_in_words(const record::Platform& platform) {
    std::map<std::string, std::size_t> counts;
    for (const auto& disk : platform.storage)
        ++counts[join_words(
            {disk.model.empty() ? disk.name : disk.model,
             disk.bytes ? record::human_bytes(static_cast<double>(*disk.bytes)) : "",
             disk.transport})];
    return counted(counts);
}

std::string networks_in_words(const record::Platform& platform) {
    std::vector<std::string> parts;
    for (const auto& card : platform.network)
        parts.push_back(join_words(
            {card.name, card.driver, card.firmware,
             card.bytes_per_second ? record::human(*card.bytes_per_second, "B/s") : "",
             !card.physical_function.empty()
                 ? say<text::facts::virtual_function_of>(card.physical_function)
             : card.virtual_functions ? say<text::facts::virtual_functions>(*card.virtual_functions)
                                      : ""}));
    return list_of(parts, 8);
}

std::string bonds_in_words(const record::Platform& platform) {
    std::vector<std::string> parts;
    for (const auto& bond : platform.bonds)
        parts.push_back(join_words(
            {say<text::facts::bond>(bond.name, bond.mode, bond.active.size(), bond.members.size()),
             bond.bytes_per_second ? record::human(*bond.bytes_per_second, "B/s") : ""}));
    return list_of(parts, 4);
}

std::string power_limits_in_words(const record::Platform& platform) {
    std::vector<std::string> parts;
    for (const auto& limit : platform.power_limits)
        parts.push_back(fmt::format("{} {} {:.0f} W", limit.scope, limit.term, limit.watts));
    return list_of(parts, 4);
}

} // namespace

std::string title_of(const Run& run) {
    const auto& machine = run.machine;
    std::string host = host_in_words(machine);
    // The parts that people bought the machine for come first.
    const auto is_on_device = [](const record::Case& c) { return c.place.kind != "host"; };
    if (machine.devices.empty() || std::ranges::none_of(run.cases, is_on_device)) return host;
    return join({list_of(device_kinds(machine), 2), host});
}

std::vector<Fact> run_facts(const Run& run, const std::string& source) {
    std::vector<Fact> facts;
    add<text::facts::suite>(facts, run.suite);
    add<text::facts::started>(facts, run.started);
    add<text::facts::ended>(facts, run.ended);
    if (!run.imported && !run.suite.empty() && run.suite != custom_suite)
        add<text::facts::repeat>(
            facts, run.schedule && run.schedule->seed
                       ? fmt::format("assay run {} --order {}", run.suite, *run.schedule->seed)
                       : fmt::format("assay run {}", run.suite));
    add<text::facts::run>(facts, run.id);
    add<text::facts::status>(facts, run.status);
    if (run.ended_by != record::RunEnd::none)
        add<text::facts::ended_by>(
            facts, std::string{find_text("run_end", to_string(run.ended_by)).value_or("")});
    add<text::facts::not_watched>(facts, run.not_watched_since);
    if (run.clock && std::abs(run.clock->step_seconds) > clock_leeway)
        add<text::facts::clock_set>(facts,
                                    (run.clock->step_seconds < 0 ? "-" : "+") +
                                        duration_in_words(std::abs(run.clock->step_seconds)));
    add<text::facts::version>(facts, run.version);
    add<text::facts::digest>(facts, run.digest);
    std::vector<std::string> hosts;
    for (const auto& host : run.hosts)
        hosts.push_back(say<text::words::in_brackets>(host.name, host_in_words(host.machine)));
    add<text::facts::hosts>(facts, list_of(hosts, 8));
    add<text::facts::campaign>(facts, run.campaign);
    std::vector<std::string> tags;
    for (const auto& tag : run.tags)
        tags.push_back(fmt::format("{}={}", tag.name, record::to_string(tag.value)));
    add<text::facts::tags>(facts, join(tags));
    add<text::facts::note>(facts, run.note);
    add<text::facts::file>(facts, source);
    if (run.imported) {
        const auto& from = *run.imported;
        add<text::import::imported>(
            facts, say<text::import::imported_from>(
                       from.tool + (from.tool_version.empty() ? "" : " " + from.tool_version),
                       from.format, from.file));
        for (const auto& note : from.notes) add<text::import::notes>(facts, note);
    }
    return facts;
}

std::vector<Fact> machine_facts(const Machine& machine) {
    std::vector<Fact> facts;
    add<text::facts::processor>(facts, machine.cpu_model);
    add<text::facts::cores>(facts, machine.cores > 0 ? cores_in_words(machine) : "");
    add<text::facts::measured_clock>(
        facts, machine.core_clock_hz ? record::human(*machine.core_clock_hz, "Hz") : "");
    add<text::facts::instructions>(facts, isa_in_words(machine));
    add<text::facts::caches>(facts, caches_in_words(machine));
    add<text::facts::memory>(facts, memory_in_words(machine));
    add<text::facts::memory_modules>(facts, modules_in_words(machine.platform));
    add<text::facts::clock_control>(facts, clocks_in_words(machine.platform));
    add<text::facts::power_limits>(facts, power_limits_in_words(machine.platform));
    add<text::facts::energy>(facts, energy_in_words(machine.platform));
    add<text::facts::firmware>(facts, firmware_in_words(machine.platform));
    add<text::facts::system>(facts, machine.system);
    add<text::facts::provider>(facts, where(machine));
    add<text::facts::region>(facts, machine.platform.zone.empty() ? machine.platform.region
                                                                  : machine.platform.zone);
    add<text::facts::virtualisation>(facts, virtual_in_words(machine));
    add<text::facts::operating_system>(
        facts,
        join_known(
            {machine.os, machine.kernel.empty() ? "" : say<text::facts::kernel>(machine.kernel)}));
    add<text::facts::kernel_options>(facts, join_words(machine.platform.kernel_options));
    add<text::facts::devices>(facts, devices_in_words(machine));
    add<text::facts::disks>(facts, disks_in_words(machine.platform));
    add<text::facts::networks>(facts, networks_in_words(machine.platform));
    add<text::facts::bonds>(facts, bonds_in_words(machine.platform));
    add<text::facts::node>(facts, machine.identity.node);
    add<text::facts::host_name>(facts, machine.hostname);
    add<text::facts::machine>(facts, record::own_id(machine));
    return facts;
}

std::vector<Fact> software_facts(const Machine& machine) {
    std::vector<Fact> facts;
    for (const auto& entry : machine.software)
        if (std::string text = record::to_string(entry.value); !text.empty())
            facts.push_back({.name = entry.name, .text = std::move(text), .key = entry.name});
    return facts;
}

std::vector<Fact> error_facts(const Run& run) {
    std::vector<Fact> facts;
    for (const auto& counter : run.error_counters) {
        const auto name = join_words({counter.source, counter.device, counter.counter});
        const auto number = [](const std::optional<std::int64_t>& count) {
            return count ? std::to_string(*count) : std::string{"?"};
        };
        facts.push_back(
            {.name = name,
             .text = counter.before == counter.after
                         ? number(counter.after)
                         : fmt::format("{} → {}", number(counter.before), number(counter.after)),
             .key = name});
    }
    return facts;
}

} // namespace assay::report
