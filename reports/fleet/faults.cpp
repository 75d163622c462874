// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "fleet/fleet.hpp"
#include "judge/node.hpp"
#include "record/reader.hpp"
#include "record/same_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace assay::fleet {
namespace {

using document::duration_in_words;

/// Clocks that nobody keeps together differ by less; runs are told apart by seconds.
constexpr double no_time_between = 1;
/// Bytes of the list of a sweep: a line has 50.
constexpr std::size_t most_of_list = 64U << 20U;

/// A result ends with a bracket; half of one does not.
bool is_cut_off(const std::filesystem::path& path) {
    const auto text = read_whole(path, record::ReadOptions{}.bytes);
    if (!text) return false;
    const auto last = text->find_last_not_of(" \t\r\n");
    return last == text->npos || (*text)[last] != '}';
}

/// Software that may be updated on one node and forgotten on another: a name
/// of the texts `fact`, or of software, and its value.
std::map<std::string, std::string> software_of(const record::Machine& machine) {
    std::map<std::string, std::set<std::string>> all;
    const auto add = [&](const char* fact, const std::string& value) {
        if (!value.empty()) all[fact].insert(value);
    };
    add("kernel", machine.kernel);
    add("microcode", machine.platform.microcode);
    add("bios_version", machine.platform.bios_version);
    add("nvidia.driver", record::text(machine.software, "nvidia.driver"));
    for (const auto& device : machine.devices) {
        add("devices_firmware_vbios", device.firmware.vbios);
        add("devices_firmware_inforom", device.firmware.inforom);
    }
    for (const auto& card : machine.platform.network)
        if (!card.firmware.empty()) add("network_firmware", card.driver + " " + card.firmware);
    for (const auto& disk : machine.platform.storage)
        if (!disk.firmware.empty()) add("storage_firmware", disk.model + " " + disk.firmware);
    std::map<std::string, std::string> texts;
    for (const auto& [fact, values] : all) texts[fact] = fmt::format("{}", fmt::join(values, ", "));
    return texts;
}

class Finder {
public:
    Finder(Fleet& fleet, const NodeNames& names, const std::vector<std::uint32_t>& node_of_run,
           double now)
        : fleet_{fleet}, all_{fleet.collection}, names_{names}, node_of_run_{node_of_run},
          now_{now} {
        for (const auto& node : fleet.nodes) known_.push_back(node.name);
        std::ranges::sort(known_);
    }

    void find() {
        find_names();
        find_identities();
        find_overlaps();
        find_versions();
        find_software();
        find_clocks();
        find_late_clocks();
        find_files();
        std::ranges::stable_sort(fleet_.faults, [](const FleetFault& a, const FleetFault& b) {
            return std::tuple{!is_serious(a.code), a.code} <
                   std::tuple{!is_serious(b.code), b.code};
        });
    }

private:
    bool is_of_sweep(std::uint32_t run) const { return node_of_run_[run] < fleet_.nodes.size(); }
    const std::string& name_of_run(std::uint32_t run) const {
        return fleet_.nodes[node_of_run_[run]].name;
    }
    const record::Machine& machine_of(std::uint32_t run) const {
        return all_.machines[all_.runs[run].machine];
    }
    void add(FaultCode code, std::vector<std::string> nodes, std::vector<std::string> evidence) {
        fleet_.faults.push_back(
            {.code = code, .nodes = std::move(nodes), .evidence = std::move(evidence)});
    }
    static std::vector<std::string> list(const std::set<std::string>& items) {
        return {items.begin(), items.end()};
    }

    void find_names() {
        std::map<std::string, std::set<std::string>> names;    // by machine
        std::map<std::string, std::set<std::string>> machines; // by name
        for (std::uint32_t i = 0; i < all_.runs.size(); ++i) {
            if (!is_of_sweep(i)) continue;
            names[machine_of(i).id].insert(name_of_run(i));
            machines[name_of_run(i)].insert(machine_of(i).id);
        }
        for (const auto& [machine, of] : names)
            if (of.size() > 1) add(FaultCode::one_machine_two_names, list(of), {machine});
        for (const auto& [name, of] : machines)
            if (of.size() > 1) add(FaultCode::one_name_two_machines, {name}, list(of));
    }

    /// Runs of the sweep, the oldest first.
    std::map<std::string, std::vector<std::uint32_t>> runs_by_machine(const auto& admits) const {
        std::map<std::string, std::vector<std::uint32_t>> runs;
        for (std::uint32_t i = 0; i < all_.runs.size(); ++i)
            if (is_of_sweep(i) && admits(all_.runs[i])) runs[machine_of(i).id].push_back(i);
        for (auto& [machine, own] : runs)
            std::ranges::stable_sort(own, {},
                                     [&](std::uint32_t i) { return all_.runs[i].started_seconds; });
        return runs;
    }

    /// Parts that go back to what they were: exchanged twice, or two machines.
    void find_identities() {
        for (const auto& [machine, own] :
             runs_by_machine([](const store::RunInfo&) { return true; })) {
            std::set<std::string> nodes;
            std::set<std::string> parts;
            for (std::size_t k = 1; k < own.size(); ++k) {
                // A repair is said by its tag.
                if (!record::text(all_.runs[own[k]].tags, judge::repair_tag).empty()) continue;
                const auto changed =
                    record::changed_parts(machine_of(own[k - 1]), machine_of(own[k]));
                if (changed.empty()) continue;
                parts.insert(changed.begin(), changed.end());
                nodes.insert({name_of_run(own[k - 1]), name_of_run(own[k])});
            }
            if (parts.empty()) continue;
            auto evidence = list(parts);
            for (auto& text : evidence) text = plain(text, 100);
            evidence.insert(evidence.begin(), machine);
            add(FaultCode::one_id_two_machines, list(nodes), std::move(evidence));
        }
    }

    void find_overlaps() {
        for (const auto& [machine, own] :
             runs_by_machine([](const store::RunInfo& run) { return !run.ended.empty(); })) {
            std::set<std::string> nodes;
            std::vector<std::string> files;
            for (std::size_t k = 1; k < own.size(); ++k) {
                const auto& before = all_.runs[own[k - 1]];
                const auto& after = all_.runs[own[k]];
                const bool in_turns =
                    before.pairing && after.pairing && before.pairing->id == after.pairing->id;
                const auto ended = seconds_of(before.ended);
                if (in_turns || !ended || *ended <= after.started_seconds + no_time_between)
                    continue;
                nodes.insert({name_of_run(own[k - 1]), name_of_run(own[k])});
                for (const auto* run : {&before, &after})
                    files.push_back(plain(run->file.string()));
            }
            if (!nodes.empty()) add(FaultCode::runs_overlap, list(nodes), std::move(files));
        }
    }

    /// Nodes unlike most. By suite and type, because plans follow the hardware.
    void find_versions() {
        std::map<std::string, std::set<std::string>> versions; // node by version
        // Programs of two kinds of machines are two builds.
        std::map<std::pair<std::uint32_t, std::string>,
                 std::map<std::string, std::set<std::string>>>
            builds;
        std::map<std::tuple<std::uint32_t, std::string, std::string>,
                 std::map<std::string, std::set<std::string>>>
            plans;
        for (std::uint32_t i = 0; i < all_.runs.size(); ++i) {
            if (!is_of_sweep(i)) continue;
            const auto& run = all_.runs[i];
            versions[run.version].insert(name_of_run(i));
            // Variants may have been measured by another program.
            if (!run.build.empty() && !run.pairing)
                builds[{fleet_.nodes[node_of_run_[i]].type, run.version}]
                      [fmt::format("{} {}", run.version, run.build.substr(0, 8))]
                          .insert(name_of_run(i));
            // A run of some cases only is a retest.
            const auto& node = fleet_.nodes[node_of_run_[i]];
            if (!node.runs.empty() && node.runs.front() == i)
                plans[{node.type, run.suite, run.version}][run.digest].insert(name_of_run(i));
        }
        add_unlike(FaultCode::mixed_versions, versions);
        for (const auto& [of, nodes] : builds) add_unlike(FaultCode::mixed_versions, nodes);
        for (const auto& [of, digests] : plans) add_unlike(FaultCode::mixed_plans, digests);
    }
    /// By the newest run of each node: an update does not count.
    void find_software() {
        std::map<std::pair<std::uint32_t, std::string>,
                 std::map<std::string, std::set<std::string>>>
            values; // by type and fact
        for (const auto& node : fleet_.nodes)
            if (node.answered())
                for (const auto& [fact, value] :
                     software_of(all_.machines[all_.runs[node.runs.back()].machine]))
                    values[{node.type, fact}][value].insert(node.name);
        for (const auto& [of, nodes] : values)
            add_unlike(FaultCode::mixed_software, nodes,
                       std::string{document::find_text("fact", of.second).value_or(of.second)} +
                           ": ");
    }
    void add_unlike(FaultCode code, const std::map<std::string, std::set<std::string>>& nodes,
                    const std::string& of = "") {
        if (nodes.size() < 2) return;
        const auto most =
            std::ranges::max_element(nodes, {}, [](const auto& one) { return one.second.size(); });
        std::set<std::string> others;
        std::vector<std::string> evidence{
            fmt::format("{}{} ({})", of, plain(most->first, 60), most->second.size())};
        for (const auto& [value, those] : nodes) {
            if (&value == &most->first) continue;
            others.insert(those.begin(), those.end());
            evidence.push_back(fmt::format("{} ({})", plain(value, 60), those.size()));
        }
        add(code, list(others), std::move(evidence));
    }

    void find_clocks() {
        for (std::uint32_t i = 0; i < all_.runs.size(); ++i) {
            if (!is_of_sweep(i)) continue;
            const auto& run = all_.runs[i];
            if (run.strayed_seconds > clock_leeway)
                add(FaultCode::clock_went_back, {name_of_run(i)},
                    {plain(run.file.string()), duration_in_words(run.strayed_seconds)});
            const auto ended = seconds_of(run.ended).value_or(run.started_seconds);
            const bool future = run.started_seconds > now_ + clock_leeway;
            // A copy is younger than its original; a file that is older than what it holds was written by a fast clock.
            const bool before_end =
                run.written_seconds > 0 && ended > run.written_seconds + clock_leeway;
            if (!future && !before_end) continue;
            add(FaultCode::clock_ahead, {name_of_run(i)},
                {plain(run.file.string()), run.started,
                 utc_of(future ? now_ : run.written_seconds)});
        }
    }

    /// An old result and one of a clock that is behind look alike: only who asked the node while it measured knows,
    /// and scripts/sweep writes it down. Columns of its list: host, state, exit code, seconds, seconds ahead.
    void find_late_clocks() {
        for (const auto& run : fleet_.unfinished)
            if (run.went_back > clock_leeway)
                add(FaultCode::clock_went_back, {run.node},
                    {plain(run.journal.string()), duration_in_words(run.went_back)});
        std::set<std::filesystem::path> folders;
        for (std::uint32_t i = 0; i < all_.runs.size(); ++i)
            if (is_of_sweep(i))
                for (auto folder = all_.runs[i].file.parent_path();
                     folder.has_relative_path() && folders.insert(folder).second;
                     folder = folder.parent_path())
                    read_list_of_sweep(folder / "sweep" / "list.tsv");
    }
    void read_list_of_sweep(const std::filesystem::path& path) {
        const auto text = read_whole(path, most_of_list);
        if (!text) return; // mostly it does not exist
        for (const auto& line : split(*text, '\n')) {
            const auto fields = split(line, '\t');
            constexpr std::size_t columns = 5;
            const auto ahead = fields.size() == columns ? to_number(fields[4]) : std::nullopt;
            if (ahead && static_cast<double>(*ahead) < -clock_leeway)
                add(FaultCode::clock_behind, {plain(names_.of_host(fields[0]), 60)},
                    {plain(path.string()), duration_in_words(static_cast<double>(-*ahead))});
        }
    }

    void find_files() {
        for (const auto& problem : all_.problems) {
            // Without the case that some problems are about.
            const std::filesystem::path path{problem.where};
            auto node = names_.of_path(path, known_);
            if (node.empty()) node = node_of_machine_folder(path);
            const auto code = code_of(problem.code, path);
            if (!code) continue;
            add(*code, node.empty() ? std::vector<std::string>{} : std::vector{node},
                {problem.where, plain(problem.reason, 300)});
        }
    }
    static std::optional<FaultCode> code_of(store::ProblemCode code,
                                            const std::filesystem::path& path) {
        switch (code) {
        case store::ProblemCode::unreadable:
            return is_cut_off(path) ? FaultCode::half_copied : FaultCode::unreadable;
        case store::ProblemCode::stale:
            return FaultCode::changed;
        case store::ProblemCode::future:
            return FaultCode::clock_ahead;
        case store::ProblemCode::not_set:
            return FaultCode::clock_not_set;
        case store::ProblemCode::backwards:
            return FaultCode::clock_went_back;
        case store::ProblemCode::copy:
            return FaultCode::reported_twice;
        case store::ProblemCode::copied:
        case store::ProblemCode::same_run:
            return FaultCode::same_run_elsewhere;
        case store::ProblemCode::other:
            break;
        }
        return {};
    }

    /// Runs are in a folder that is called as their machine, which other runs name.
    std::string node_of_machine_folder(const std::filesystem::path& path) {
        if (by_machine_.empty())
            for (const auto& run : all_.runs)
                by_machine_.emplace(all_.machines[run.machine].id, names_.of_run(all_, run).name);
        for (const auto& part : path.parent_path())
            if (const auto found = by_machine_.find(part.string()); found != by_machine_.end())
                return found->second;
        return {};
    }

    Fleet& fleet_;
    const store::Collection& all_;
    const NodeNames& names_;
    const std::vector<std::uint32_t>& node_of_run_;
    double now_;
    std::vector<std::string> known_;
    std::map<std::string, std::string> by_machine_; ///< names
};

} // namespace

void find_faults(Fleet& fleet, const NodeNames& names,
                 const std::vector<std::uint32_t>& node_of_run, double now) {
    Finder{fleet, names, node_of_run, now}.find();
}

} // namespace assay::fleet
