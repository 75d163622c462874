// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogue.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "json/codec.hpp"
#include "json/json.hpp"
#include "launch/availability.hpp"
#include "machine/devices.hpp"
#include "machine/inventory.hpp"
#include "plan/manifest.hpp"
#include "record/convert.hpp"
#include "record/format.hpp"
#include "reference/advice.hpp"
#include "reference/hardware.hpp"
#include "reference/links.hpp"
#include "reference/versions.hpp"
#include "telemetry/errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

// --- devices -------------------------------------------------------------------------------------

// The devices of a machine for `assay doctor`: facts, state and problems.

/// A name and a text for each line; further lines of a device have an empty name.
struct DeviceLine {
    std::string name;
    std::string text;
};

using machine::DeviceState;

/// "18 NVLinks", or "17 of 18 NVLinks" if its kind has more.
std::string links(int up, const std::optional<reference::HardwareEntry>& known) {
    const int all = reference::nvlinks_of(known ? &*known : nullptr);
    const auto of = all > up ? fmt::format(" of {}", all) : std::string{};
    return fmt::format("{}{} NVLink{}", up, of, up == 1 && of.empty() ? "" : "s");
}

/// The facts about a device.
std::string description(const record::Device& device) {
    std::vector<std::string> parts{device.name.empty() ? "unnamed device" : device.name};
    if (!device.mode.empty()) parts.push_back(device.mode);
    if (device.multiprocessors)
        parts.push_back(fmt::format("{} multiprocessors", *device.multiprocessors));
    if (device.memory_bytes)
        parts.push_back(record::human_bytes(static_cast<double>(*device.memory_bytes)));
    if (!device.compute_capability.empty())
        parts.push_back("compute capability " + device.compute_capability);
    if (device.ecc) parts.emplace_back(*device.ecc ? "ECC" : "no ECC");
    if (device.confidential.value_or(false)) parts.emplace_back("confidential");
    if (device.numa_node) parts.push_back(fmt::format("near NUMA node {}", *device.numa_node));
    const auto known = reference::find_hardware(device);
    if (device.nvlinks) parts.push_back(links(*device.nvlinks, known));
    if (!device.fabric.state.empty()) parts.push_back("fabric " + device.fabric.state);
    if (known)
        parts.push_back(fmt::format("data sheet {} (configs/hardware)", known->name));
    else
        parts.emplace_back("not in configs/hardware: no data sheet values");
    if (!device.firmware.vbios.empty()) parts.push_back("VBIOS " + device.firmware.vbios);
    parts.push_back(fmt::format("{} {}", device.pci_address, device.uuid));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// "1.76 of 1.98 GHz": a reading and its maximum.
std::string share(const std::optional<double>& value, const std::optional<double>& most,
                  double scale, std::string_view unit, int digits) {
    if (!value) return {};
    if (!most) return fmt::format("{:.{}f} {}", *value * scale, digits, unit);
    return fmt::format("{:.{}f} of {:.{}f} {}", *value * scale, digits, *most * scale, digits,
                       unit);
}

/// Its present state.
std::string condition(const DeviceState& state) {
    const auto& now = state.readings;
    std::vector<std::string> parts;
    const auto add = [&](std::string text) {
        if (!text.empty()) parts.push_back(std::move(text));
    };
    add(share(now.clock_hz, state.device.clock_max_hz, 1e-6, "MHz", 0));
    add(share(now.power_watts, state.device.power_limit_watts, 1, "W", 0));
    if (now.temperature_celsius)
        add(fmt::format("{:.0f} °C{}", *now.temperature_celsius,
                        now.memory_temperature_celsius
                            ? fmt::format(" (memory {:.0f} °C)", *now.memory_temperature_celsius)
                            : ""));
    if (now.pcie_generation && now.pcie_width)
        add(fmt::format("PCIe generation {}{}, {} lanes", *now.pcie_generation,
                        state.health.pcie_generation_max
                            ? fmt::format(" of {}", *state.health.pcie_generation_max)
                            : "",
                        *now.pcie_width));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// Below its device, which need not be named.
std::vector<std::string> complaint_sentences(const DeviceState& state) {
    std::vector<std::string> sentences;
    for (auto& finding : machine::complaints(state)) {
        finding.where.clear();
        sentences.push_back(sentence(finding));
    }
    return sentences;
}

json::Value state_json(const DeviceState& state) {
    const auto& now = state.readings;
    return {{"index", state.device.index},
            {"uuid", state.device.uuid},
            {"clock_hz", json::encode(now.clock_hz)},
            {"memory_clock_hz", json::encode(now.memory_clock_hz)},
            {"power_watts", json::encode(now.power_watts)},
            {"temperature_celsius", json::encode(now.temperature_celsius)},
            {"memory_temperature_celsius", json::encode(now.memory_temperature_celsius)},
            {"throttles", json::encode(now.throttles)},
            {"pcie_generation", json::encode(now.pcie_generation)},
            {"pcie_generation_max", json::encode(state.health.pcie_generation_max)},
            {"pcie_width", json::encode(now.pcie_width)},
            {"pcie_width_max", json::encode(state.health.pcie_width_max)},
            {"pcie_replays", json::encode(state.counters.pcie_replays)},
            {"ecc_corrected", json::encode(state.counters.ecc_corrected)},
            {"ecc_uncorrected", json::encode(state.counters.ecc_uncorrected)},
            {"remapping_pending", json::encode(state.health.remapping_pending)},
            {"remapping_failed", json::encode(state.health.remapping_failed)},
            {"persistence", json::encode(state.health.persistence)},
            {"processes", json::encode(state.processes)},
            {"complaints", complaint_sentences(state)}};
}

std::vector<DeviceLine> device_lines(const machine::DeviceStates& states) {
    std::vector<DeviceLine> lines;
    for (const DeviceState& state : states.devices) {
        const bool is_divided = state.device.mode == "mig"; // and cannot be chosen
        lines.push_back({.name = is_divided
                                     ? "divided"
                                     : fmt::format("{} {}", state.device.kind, state.device.index),
                         .text = description(state.device)});
        lines.push_back({.text = condition(state)});
        for (const std::string& sentence : complaint_sentences(state))
            lines.push_back({.text = "! " + sentence});
    }
    for (const std::string& problem : states.problems)
        lines.push_back({.name = "problem", .text = problem});
    return lines;
}

/// {"found": [...], "problems": [...]}
json::Value devices_json(const machine::DeviceStates& states) {
    json::Value found = json::Value::array();
    for (const DeviceState& state : states.devices) found.push_back(state_json(state));
    return {{"found", std::move(found)}, {"problems", states.problems}};
}

// -------------------------------------------------------------------------------------------------

struct Diagnosis {
    record::Machine machine;
    machine::DeviceStates devices;
    std::vector<launch::ModuleState> modules;
    std::vector<Error> problems;
    std::vector<record::Finding> findings;
};

/// The version that the module for devices was built with, as it says itself.
std::string cuda_runtime(const std::vector<launch::ModuleState>& modules) {
    for (const auto& module : modules)
        if (auto version = record::text(module.facts, "cuda.runtime"); !version.empty())
            return version;
    return {};
}

Diagnosis diagnose() {
    const auto catalogue = full_catalogue();
    Diagnosis found;
    found.machine = machine::inspect({.results = "results"});
    found.devices = machine::read_device_states(machine::Files{}, found.machine.pci);
    found.modules = launch::probe_modules(catalogue, found.machine);
    found.problems = catalogue.problems;
    const auto& hardware = reference::installed_hardware();
    found.findings = reference::advise(found.machine, machine::Files{},
                                       telemetry::ErrorWatch{found.machine}.counters(),
                                       hardware ? &*hardware : nullptr);
    if (const auto known = reference::read_compatibility())
        for (auto& finding :
             reference::on_versions(found.machine, cuda_runtime(found.modules), *known))
            found.findings.push_back(std::move(finding));
    else
        found.problems.push_back(known.error());
    reference::rank(found.findings);
    return found;
}

/// Names without the prefix, which heads the line.
std::string facts_text(const record::NamedList& facts, const std::string& prefix = "") {
    std::string text;
    for (const auto& [name, value] : facts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                            !prefix.empty() && name.starts_with(prefix + '.')
                                ? name.substr(prefix.size() + 1)
                                : name,
                            record::to_string(value));
    return text;
}

std::string count_of(std::int64_t count, std::string_view thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string cache_text(const record::Cache& cache) {
    const char* kind = cache.type == "data" ? "d" : cache.type == "instruction" ? "i" : "";
    return fmt::format("L{}{} {}{}", cache.level, kind,
                       record::human_bytes(static_cast<double>(cache.bytes)),
                       cache.count > 1 ? fmt::format(" x {}", cache.count) : "");
}

std::vector<std::string> known(std::vector<std::string> parts) {
    std::erase_if(parts, [](const auto& part) { return part.empty(); });
    return parts;
}

class Page {
public:
    void line(std::string_view name, const std::string& text) {
        if (text.empty()) return;
        out_ +=
            fmt::format("  {:<{}}{}\n", name, indent - 2, indented(text, indent, terminal_.width));
    }
    void heading(std::string_view text) {
        if (!out_.empty()) out_ += '\n';
        out_ += paint(terminal_, Paint::bold, text) + '\n';
    }
    const Terminal& terminal() const { return terminal_; }
    const std::string& text() const { return out_; }

private:
    static constexpr std::size_t indent = 16; // columns: the widest name and two blanks
    Terminal terminal_ = terminal_of(STDOUT_FILENO);
    std::string out_;
};

void show_processor(Page& page, const record::Machine& m) {
    page.line("processor", m.cpu_model);
    auto cores = fmt::format("{}, {}, {}, {}", count_of(m.cores.value_or(0), "core"),
                             count_of(m.threads.value_or(0), "thread"),
                             count_of(m.sockets.value_or(0), "socket"),
                             count_of(m.numa_nodes.value_or(0), "NUMA node"));
    if (m.usable_cores != m.cores || m.usable_threads != m.threads)
        cores += fmt::format("; usable: {}, {}", count_of(m.usable_cores.value_or(0), "core"),
                             count_of(m.usable_threads.value_or(0), "thread"));
    page.line("cores", cores);
    if (m.core_clock_hz) page.line("clock", record::human(*m.core_clock_hz, "Hz") + " (measured)");
    std::vector<std::string> caches;
    for (const auto& cache : m.caches) caches.push_back(cache_text(cache));
    page.line("caches", fmt::format("{}", fmt::join(caches, ", ")));
    std::string memory =
        m.memory_bytes ? record::human_bytes(static_cast<double>(*m.memory_bytes)) : "unknown";
    if (m.memory_limit_bytes)
        memory += fmt::format(", limited to {}",
                              record::human_bytes(static_cast<double>(*m.memory_limit_bytes)));
    page.line("memory", memory + ", transparent huge pages: " +
                            (m.huge_pages.empty() ? "unknown" : m.huge_pages));
}

std::string parts_text(const record::NetworkCard& card) {
    if (!card.physical_function.empty())
        return fmt::format("a virtual function of {}", card.physical_function);
    if (!card.virtual_functions) return {};
    return fmt::format("{} virtual function{}", *card.virtual_functions,
                       *card.virtual_functions == 1 ? "" : "s");
}

std::string members_text(const record::Bond& bond) {
    if (bond.members.empty()) return "no members";
    return fmt::format("{}; active: {}", fmt::join(bond.members, " "),
                       bond.active.empty() ? "none"
                                           : fmt::format("{}", fmt::join(bond.active, " ")));
}

void show_system(Page& page, const record::Machine& m) {
    page.line("machine", m.system);
    page.line("system", fmt::format("{}, kernel {}", m.os, m.kernel));
    page.line("virtual", m.container.empty()
                             ? m.virtualization
                             : fmt::format("{}, in {}", m.virtualization, m.container));
    page.line(
        "provider",
        fmt::format("{}", fmt::join(known({m.provider, m.instance == m.provider ? "" : m.instance}),
                                    ", ")));
    page.line("machine id",
              m.identity.by.empty() ? m.id : fmt::format("{} (from {})", m.id, m.identity.by));
    const auto& p = m.platform;
    page.line("region", p.zone.empty() ? p.region : p.zone);
    page.line(
        "firmware",
        fmt::format("{}", fmt::join(known({p.bios_vendor, p.bios_version, p.bios_date}), " ")));
    page.line("microcode", p.microcode);
    page.line("governor",
              fmt::format("{}", fmt::join(known({p.governor, p.frequency_driver}), ", ")));
    page.line("boot options", fmt::format("{}", fmt::join(p.kernel_options, " ")));
    for (const auto& card : p.network)
        page.line("network",
                  fmt::format("{}", fmt::join(known({card.name, card.address, card.driver,
                                                     card.firmware, parts_text(card)}),
                                              ", ")));
    for (const auto& bond : p.bonds)
        page.line(
            "bond",
            fmt::format("{}", fmt::join(known({bond.name, bond.mode, members_text(bond)}), ", ")));
    for (const auto& disk : p.storage)
        page.line("disk", fmt::format("{}", fmt::join(known({disk.name, disk.model, disk.transport,
                                                             disk.firmware}),
                                                      ", ")));
    for (const auto& device : m.pci)
        page.line(device.kind,
                  fmt::format("{} {}:{} {}{}", device.address, device.vendor_id, device.device_id,
                              device.name,
                              device.driver.empty() ? " (no driver)" : ", " + device.driver));
    page.line("software", facts_text(m.software));
}

std::string diagnosis_as_text(const Diagnosis& found) {
    Page page;
    page.heading("Machine");
    show_processor(page, found.machine);
    show_system(page, found.machine);
    const auto devices = device_lines(found.devices);
    if (!devices.empty()) page.heading("Devices");
    for (const auto& [name, text] : devices) page.line(name, text);
    page.heading("Backends");
    std::map<std::string, std::vector<std::string>> unavailable; // modules with the same problem
    for (const auto& module : found.modules) {
        if (!module.problem.empty()) {
            unavailable[module.problem].push_back(module.module);
            continue;
        }
        const auto facts = facts_text(module.facts, module.module);
        page.line(module.module, paint(page.terminal(), Paint::green, "ready") +
                                     (facts.empty() ? "" : ": " + facts));
    }
    for (const auto& [problem, modules] : unavailable)
        page.line("unavailable", fmt::format("{}: {}", fmt::join(modules, ", "),
                                             paint(page.terminal(), Paint::red, problem)));
    if (found.modules.empty())
        page.line("none", "no modules found; ASSAY_MODULE_PATH lists the folders to search");
    for (const auto& problem : found.problems) page.line("problem", problem.message);
    page.heading("Advice");
    for (const auto& finding : found.findings)
        page.line(to_string(finding.severity), sentence(finding));
    if (found.findings.empty()) page.line("-", "nothing to improve");
    return page.text();
}

std::string diagnosis_as_json(const Diagnosis& found) {
    json::Value document{{"schema", "assay.doctor/1"},
                         {"machine", record::to_json(found.machine)},
                         {"devices", devices_json(found.devices)},
                         {"modules", json::Value::array()},
                         {"problems", json::Value::array()},
                         {"advice", json::Value::array()},
                         {"findings", json::Value::array()}};
    for (const auto& finding : found.findings) document["advice"].push_back(sentence(finding));
    auto all = found.findings;
    for (const auto& device : found.devices.devices)
        std::ranges::move(machine::complaints(device), std::back_inserter(all));
    reference::rank(all);
    document["findings"] = json::encode(all);
    for (const auto& module : found.modules)
        document["modules"].push_back({{"module", module.module},
                                       {"available", module.problem.empty()},
                                       {"reason", module.problem},
                                       {"facts", record::to_json(module.facts)}});
    for (const auto& problem : found.problems) document["problems"].push_back(problem.message);
    return json::to_text(document);
}

} // namespace

ExitCode doctor(const Options& options) {
    const auto found = diagnose();
    if (options.json)
        print_json(diagnosis_as_json(found));
    else
        print(diagnosis_as_text(found));
    const auto is_ready = [](const launch::ModuleState& module) { return module.problem.empty(); };
    return std::ranges::any_of(found.modules, is_ready) ? ExitCode::done : ExitCode::environment;
}

} // namespace assay::cli
