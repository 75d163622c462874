// SPDX-License-Identifier: Apache-2.0

#include "model/facts.hpp"

#include "model/findings.hpp"
#include "model/text.hpp"
#include "model/words.hpp"
#include "record/format.hpp"
#include "record/metrics.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

namespace assay::report {
namespace {

using record::Machine;
using record::Run;
using record::Status;

void add(std::vector<Fact>& facts, std::string name, std::string text) {
    if (!text.empty()) facts.push_back({std::move(name), std::move(text)});
}

std::size_t to_count(int value) { return static_cast<std::size_t>(std::max(value, 0)); }

std::string cores_in_words(const Machine& machine) {
    std::string text;
    if (machine.sockets > 0) text += count_of(to_count(machine.sockets), "socket") + ", ";
    text += count_of(to_count(machine.cores), "core");
    if (machine.threads > machine.cores)
        text += ", " + count_of(to_count(machine.threads), "hardware thread");
    if (machine.usable_cores > 0 && machine.usable_cores < machine.cores)
        text += fmt::format(" (only {} usable here)", machine.usable_cores);
    if (machine.numa_nodes > 1) text += ", " + count_of(to_count(machine.numa_nodes), "NUMA node");
    return text;
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

std::string memory_in_words(const Machine& machine) {
    if (machine.memory_bytes <= 0) return "";
    std::string text = record::human_bytes(static_cast<double>(machine.memory_bytes));
    if (machine.memory_limit_bytes && *machine.memory_limit_bytes < machine.memory_bytes)
        text += fmt::format(" (limited to {} here)",
                            record::human_bytes(static_cast<double>(*machine.memory_limit_bytes)));
    if (!machine.huge_pages.empty()) text += ", huge pages " + machine.huge_pages;
    return text;
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
    return fmt::format("{}{}{}", machine.architecture, found.empty() ? "" : ", ",
                       list_of(found, found.size()));
}

std::string where(const Machine& machine) {
    const auto known = [](const std::string& text) { return !text.empty() && text != "unknown"; };
    std::string text = known(machine.provider) ? machine.provider : "";
    if (known(machine.instance)) text += (text.empty() ? "" : ", ") + machine.instance;
    return text;
}

std::string virtual_in_words(const Machine& machine) {
    std::string text =
        machine.virtualization == "none" ? "none: bare metal" : machine.virtualization;
    if (!machine.container.empty() && machine.container != "none")
        text += (text.empty() ? "" : ", ") + std::string{"in container "} + machine.container;
    return text;
}

std::string devices_in_words(const Machine& machine) {
    std::vector<std::string> names;
    for (const auto& device : machine.pci) {
        if (device.kind == "display") continue;
        const std::string name =
            device.name.empty() ? device.vendor_id + ":" + device.device_id : device.name;
        names.push_back(
            fmt::format("{} {}{}", device.kind, name, device.driver.empty() ? " (no driver)" : ""));
    }
    std::map<std::string, std::size_t> counts;
    for (const auto& name : names) ++counts[name];
    std::vector<std::string> lines;
    for (const auto& [name, count] : counts)
        lines.push_back(count == 1 ? name : fmt::format("{} x {}", count, name));
    return list_of(lines, 8); // kinds of device; more is for the file
}

/// Of the rows that share the section's first unit, the best figure.
const Row* best_row(const Section& section) {
    const Row* best = nullptr;
    for (const auto& row : section.rows) {
        if (!row.number) continue;
        if (best == nullptr) {
            best = &row;
        } else if (row.unit == best->unit) {
            const bool better =
                row.higher_is_better ? *row.number > *best->number : *row.number < *best->number;
            if (better) best = &row;
        }
    }
    return best;
}

std::string best_figures(const Report& report) {
    std::vector<std::string> parts;
    for (const auto& section : report.sections)
        if (const Row* row = best_row(section); row != nullptr)
            parts.push_back(
                fmt::format("{} {} ({}{})", section.family, row->value, row->what,
                            row->share.empty() ? "" : ", " + row->share + " of ceiling"));
    constexpr std::size_t shown = 4; // families in one line
    return parts.empty() ? "None: no case gave a figure." : list_of(parts, shown) + ".";
}

std::string case_counts(const Run& run) {
    std::map<Status, std::size_t> counts;
    std::size_t checked = 0;
    std::size_t figures = 0;
    for (const auto& c : run.cases) {
        ++counts[c.status];
        if (headline(c) == nullptr) continue;
        ++figures;
        if (c.verification && c.verification->passed) ++checked;
    }
    std::vector<std::string> parts;
    for (const auto& [status, count] : counts)
        parts.push_back(fmt::format("{} {}", count, status_in_words(status)));
    std::string text =
        fmt::format("{}: {}.", count_of(run.cases.size(), "case"),
                    parts.empty() ? "nothing was run" : list_of(parts, parts.size()));
    if (figures > 0 && checked == figures) text += " Every figure shown was verified.";
    if (checked < figures)
        text += fmt::format(" {} not verified.",
                            count_of(figures - checked, "figure was", "figures were"));
    return text;
}

std::string not_measured(const Report& report) {
    std::vector<std::string> parts;
    for (const auto& group : report.missing) {
        const std::string first = group.cases.empty() ? "" : group.cases.front();
        parts.push_back(fmt::format(
            "{} ({}{})", group.cases.size() == 1 ? first : count_of(group.cases.size(), "case"),
            status_in_words(group.status), group.reason.empty() ? "" : ": " + group.reason));
    }
    constexpr std::size_t shown = 3; // reasons in one line; the section below has them all
    return parts.empty() ? "Nothing was left out." : list_of(parts, shown) + ".";
}

} // namespace

std::string title_of(const Run& run) {
    const auto& machine = run.machine;
    const std::string cpu = machine.cpu_model.empty() ? "Unknown processor" : machine.cpu_model;
    return machine.cores > 0 ? fmt::format("{}, {}", cpu, count_of(to_count(machine.cores), "core"))
                             : cpu;
}

std::vector<Fact> run_facts(const Run& run, const std::string& source) {
    std::vector<Fact> facts;
    add(facts, "Suite", run.suite);
    add(facts, "Started", run.started);
    add(facts, "Ended", run.ended);
    add(facts, "Run", run.id);
    add(facts, "Status", run.status);
    add(facts, "assay", run.version);
    add(facts, "Digest", run.digest);
    add(facts, "File", source);
    return facts;
}

std::vector<Fact> machine_facts(const Machine& machine) {
    std::vector<Fact> facts;
    add(facts, "Processor", machine.cpu_model);
    add(facts, "Cores", machine.cores > 0 ? cores_in_words(machine) : "");
    add(facts, "Measured clock",
        machine.core_clock_hz ? record::human(*machine.core_clock_hz, "Hz") : "");
    add(facts, "Instructions", isa_in_words(machine));
    add(facts, "Caches", caches_in_words(machine));
    add(facts, "Memory", memory_in_words(machine));
    add(facts, "System", machine.system);
    add(facts, "Provider", where(machine));
    add(facts, "Virtualisation", virtual_in_words(machine));
    add(facts, "Operating system",
        machine.os + (machine.kernel.empty() ? "" : ", kernel " + machine.kernel));
    add(facts, "Devices", devices_in_words(machine));
    add(facts, "Host name", machine.hostname);
    add(facts, "Machine", machine.id);
    return facts;
}

std::vector<Fact> software_facts(const Machine& machine) {
    std::vector<Fact> facts;
    for (const auto& entry : machine.software)
        add(facts, entry.name, record::to_string(entry.value));
    return facts;
}

std::vector<Fact> summarise(const Run& run, const Report& report) {
    std::string worst = "None: nothing in this run asks for action.";
    if (!report.findings.empty()) {
        worst = report.findings.front().what;
        if (report.findings.size() > 1)
            worst += fmt::format(" {} below.", count_of(report.findings.size() - 1,
                                                        "more finding is", "more findings are"));
    }
    return {{"Best figures", best_figures(report)},
            {"Worst finding", worst},
            {"Cases", case_counts(run)},
            {"Not measured", not_measured(report)},
            {"Machine", quietness(run)}};
}

} // namespace assay::report
