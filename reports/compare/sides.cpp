// SPDX-License-Identifier: Apache-2.0

#include "compare/sides.hpp"

#include "compare/unlike.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/status.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "store/alike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace assay::report {
namespace {

/// "AMD EPYC 9R14, c7a.large", "Xeon 8480C, p5en.48xlarge, 8 x NVIDIA H200 (141 GiB)"; several kinds are counted.
std::set<std::string> kinds_of(const Collection& collection, const Participants& side) {
    std::set<std::string> kinds;
    for (const auto run : side.runs) {
        const auto& machine = collection.machines[collection.runs[run].machine];
        std::vector<std::string> parts;
        for (const auto* text : {&machine.cpu_model, &machine.instance})
            if (!text->empty() && *text != "unknown") parts.push_back(plain(*text));
        for (const auto& device : device_kinds(machine)) parts.push_back(plain(device));
        kinds.insert(parts.empty() ? say<text::compare::unknown_machine>() : join(parts));
    }
    return kinds;
}

std::string kind_in_words(const std::set<std::string>& kinds) {
    return kinds.size() == 1 ? *kinds.begin() : say<text::compare::kinds_of_machine>(kinds.size());
}

std::string dates_in_words(const Collection& collection, const Participants& side) {
    std::string first;
    std::string last;
    for (const auto run : side.runs) {
        const auto day = plain(collection.runs[run].started, 10); // 2026-01-31
        if (day.size() < 10) continue;
        const std::string date = day.substr(0, 10);
        if (first.empty() || date < first) first = date;
        if (date > last) last = date;
    }
    if (first.empty()) return say<text::compare::no_date>();
    return first == last ? first : say<text::compare::from_to>(first, last);
}

/// What all machines of a side have alike: memory to 2%, because kernels keep some of it (decisions/comparison.md 0144).
template <class Of>
std::optional<double> of_all(const Collection& collection, const Participants& side, Of of) {
    std::optional<double> common;
    for (const auto run : side.runs) {
        const auto value = of(collection.machines[collection.runs[run].machine]);
        if (!value) return {};
        const auto number = static_cast<double>(*value);
        if (common && std::abs(number - *common) > 0.02 * *common) return {};
        if (!common) common = number;
    }
    return common;
}

/// "2 vCPU, 1 core, 16 GiB": as far as it is recorded.
std::string size_in_words(const ComparedSide& side) {
    std::vector<std::string> parts;
    if (side.threads)
        parts.push_back(say<text::compare::some_vcpu>(fmt::format("{:g}", *side.threads)));
    if (side.cores)
        parts.push_back(
            say_count<text::compare::some_cores>(static_cast<std::size_t>(*side.cores)));
    if (side.memory) parts.push_back(record::human_bytes(*side.memory));
    return join(parts);
}

} // namespace

std::vector<ComparedSide> describe_sides(const Collection& collection,
                                         const Arrangement& arrangement, const Units& units) {
    std::vector<ComparedSide> sides;
    for (std::size_t i = 0; i < arrangement.sides.size(); ++i) {
        const auto& who = units.sides()[i];
        ComparedSide side{.label = arrangement.sides[i],
                          .runs = who.runs.size(),
                          .machines = who.machines.size()};
        side.threads = of_all(collection, who, [](const record::Machine& machine) {
            return machine.usable_threads ? machine.usable_threads : machine.threads;
        });
        side.cores = of_all(collection, who, [](const record::Machine& machine) {
            return machine.usable_cores ? machine.usable_cores : machine.cores;
        });
        side.memory = of_all(collection, who, [](const record::Machine& machine) {
            return machine.memory_limit_bytes
                       ? std::min(machine.memory_limit_bytes, machine.memory_bytes)
                       : machine.memory_bytes;
        });
        side.uses_devices = std::ranges::any_of(arrangement.rows, [&](const ArrangedRow& row) {
            return i < row.sides.size() &&
                   std::ranges::any_of(
                       row.sides[i],
                       [&](std::uint32_t index) {
                           return collection.series[collection.observations[index].series].place !=
                                  "host";
                       });
        });
        const auto kind = kind_in_words(kinds_of(collection, who));
        const auto size = size_in_words(side);
        side.what =
            say<text::compare::side_what>(size.empty() ? kind : join({kind, size}),
                                          say_count<text::compare::side_runs>(side.runs),
                                          say_count<text::compare::side_machines>(side.machines),
                                          dates_in_words(collection, who));
        for (const auto run : who.runs)
            side.files.push_back(plain(collection.runs[run].file.string()));
        sides.push_back(std::move(side));
    }
    return sides;
}

std::vector<std::string> notes_of(const Collection& collection, const Arrangement& arrangement,
                                  const Units& units) {
    std::vector<std::string> notes;
    const auto& sides = units.sides();
    const auto& names = arrangement.sides;
    if (units.unit() == Unit::replica && !units.paired(sides.size() - 1))
        notes.push_back(say<text::compare::note_processes>());
    const bool one_machine = std::ranges::all_of(
        sides, [&](const Participants& side) { return side.machines == sides.front().machines; });
    std::vector<std::string> same_machines;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const auto kinds = kinds_of(collection, sides[i]);
        if (kinds.size() > 1)
            notes.push_back(say<text::compare::note_mixed>(
                names[i], list_of({kinds.begin(), kinds.end()}, 3))); // three say enough
        if (units.unit() == Unit::run && sides[i].runs.size() == 1)
            notes.push_back(say<text::compare::note_one_run>(names[i]));
        // The same machine on all sides needs no warning: it is the same.
        if (sides[i].machines.size() == 1 && !one_machine)
            notes.push_back(say<text::compare::note_one_machine>(names[i]));
        if (i == 0 || !units.paired(i)) continue;
        if (units.unit() == Unit::replica || !sides[i].sessions.empty())
            notes.push_back(say<text::compare::note_interleaved>(names[i], names.front()));
        else
            same_machines.push_back(names[i]);
    }
    if (!same_machines.empty())
        notes.push_back(say<text::compare::note_same_machines>(
            list_of(same_machines, 4), names.front())); // four names; the rest is a number
    return notes;
}

std::vector<std::string> notes_of_cell(const Collection& collection,
                                       const record::NamedList& conditions,
                                       const std::vector<std::uint32_t>& observations) {
    std::map<std::uint32_t, std::size_t> of_series;
    std::size_t measured = 0;
    std::size_t unstable = 0;
    std::size_t disturbed = 0;
    std::size_t left_out = 0;
    for (const auto index : observations) {
        const auto& observation = collection.observations[index];
        if (!observation.value) continue;
        ++measured;
        unstable += observation.status == record::Status::unstable ? 1 : 0;
        const bool useless = observation.status == record::Status::disturbed;
        disturbed += useless || observation.disturbed ? 1 : 0;
        left_out += useless ? 1 : 0;
        ++of_series[observation.series];
    }
    std::map<std::string, std::size_t> not_recorded;
    for (const auto& [series, count] : of_series)
        for (const auto& name : assumed(conditions, collection.series[series]))
            not_recorded[name] += count;
    std::vector<std::string> notes;
    if (unstable > 0)
        notes.push_back(measured == 1 ? say<text::status::unstable>()
                                      : say<text::compare::unstable>(unstable, measured));
    if (left_out > 0 && left_out < measured)
        notes.push_back(say<text::compare::left_out>(left_out, measured));
    if (disturbed > 0)
        notes.push_back(measured == 1 ? say<text::status::disturbed>()
                                      : say<text::compare::disturbed>(disturbed, measured));
    for (const auto& [name, count] : not_recorded)
        notes.push_back(say<text::compare::assumed>(with_blanks(name), count, measured,
                                                    record::text(conditions, name)));
    for (auto& reason : reasons_of(collection, observations)) notes.push_back(std::move(reason));
    return notes;
}

std::optional<double> share_of_ceiling(const Collection& collection, const ArrangedRow& row,
                                       const std::vector<std::uint32_t>& observations) {
    double logs = 0;
    double count = 0;
    for (const auto index : observations) {
        const auto& observation = collection.observations[index];
        if (!observation.value || !observation.ceiling) continue;
        if (!(*observation.value > 0) || !(*observation.ceiling > 0)) continue;
        logs += std::log(*observation.value / *observation.ceiling);
        count += 1;
    }
    if (count == 0) return {};
    const double share = std::exp(logs / count);
    return collection.series[row.series].higher_is_better ? share : 1 / share;
}

void name_rows(ComparedTable& table, bool share) {
    std::map<std::string, std::size_t> rows_with;
    const auto key = [](const record::Named& parameter) {
        return fmt::format("{}={}", parameter.name, record::to_string(parameter.value));
    };
    for (const auto& row : table.rows)
        for (const auto& parameter : row.parameters) ++rows_with[key(parameter)];
    std::set<std::string, std::less<>> said;
    record::Case common;
    if (share && table.rows.size() > 1)
        for (const auto& parameter : table.rows.front().parameters)
            if (rows_with[key(parameter)] == table.rows.size()) {
                said.insert(parameter.name);
                common.parameters.push_back(parameter);
            }
    table.common = join(parameter_parts(common));
    for (auto& row : table.rows) {
        row.name = case_name(row.benchmark, row.parameters, {}, said);
        if (!row.beside.empty()) row.name = join({row.name, row.beside});
        if (!row.extra.empty()) row.name = say<text::words::labelled>(row.extra, row.name);
    }
}

} // namespace assay::report
