// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet.hpp"

#include "base/text.hpp"
#include "base/utc.hpp"
#include "document/text.hpp"
#include "document/words.hpp"
#include "fleet/outliers.hpp"
#include "judge/evidence.hpp"
#include "judge/node.hpp"
#include "record/reader.hpp"
#include "record/same_machine.hpp"
#include "report/pairs.hpp"
#include "store/keys.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>

namespace assay::fleet {

using namespace document;
namespace {

// --- links ---------------------------------------------------------------------------------------

// Nodes and links that slow the others, by the runs of the sweep that measured every pair.

bool is_of_pairs(std::string_view benchmark) {
    return benchmark == "collective.pairs" || benchmark == "collective.fabric";
}

/// A redacted "node3" of a run is a node that has a name here, if its machine has handed in runs.
class Names {
public:
    explicit Names(const Fleet& fleet) {
        for (const auto& node : fleet.nodes)
            for (const auto run : node.runs)
                add(fleet.collection.machines[fleet.collection.runs[run].machine], node.name);
    }

    void apply(record::Run& run) const {
        std::map<std::string, std::string, std::less<>> names;
        for (const auto& host : run.hosts)
            if (const auto known = by_machine_.find(record::own_id(host.machine));
                known != by_machine_.end())
                names[host.name] = known->second;
        const auto rename = [&](std::string& name) {
            if (const auto known = names.find(name); known != names.end()) name = known->second;
        };
        for (auto& c : run.cases) {
            for (auto& setting : c.settings)
                if (auto* hosts = std::get_if<std::string>(&setting.value);
                    hosts != nullptr && setting.name == "job.hosts")
                    *hosts = renamed(*hosts, rename);
            rename_rows(c.tables, rename);
            for (auto& replica : c.replicas) rename_rows(replica.tables, rename);
        }
    }

private:
    void add(const record::Machine& machine, const std::string& name) {
        by_machine_[machine.id] = name;
        for (const auto& alias : machine.identity.aliases) by_machine_.emplace(alias, name);
    }
    /// "node0:1 node1:1"
    static std::string renamed(std::string_view hosts, const auto& rename) {
        std::string all;
        for (const auto word : split(hosts, ' ')) {
            const auto end = std::min(word.rfind(':'), word.size());
            std::string name{word.substr(0, end)};
            rename(name);
            all += (all.empty() ? "" : " ") + name + std::string{word.substr(end)};
        }
        return all;
    }
    static void rename_rows(std::vector<record::Table>& tables, const auto& rename) {
        for (auto& table : tables)
            for (auto* labels : {&table.rows, &table.columns})
                std::ranges::for_each(*labels, rename);
    }
    std::map<std::string, std::string> by_machine_;
};

/// None where nothing is slow.
SlowPairs slow_of(const record::Case& c, const record::Table& table) {
    SlowPairs pairs;
    if (report::is_list_of_pairs(table)) {
        auto slow = report::slow_in_fabric(c, table);
        pairs = {.what = {},
                 .nodes = std::move(slow.nodes),
                 .groups = std::move(slow.groups),
                 .says = std::move(slow.says)};
    } else {
        pairs.nodes = report::slow_nodes(c, table);
        pairs.says = report::slow_pairs(c, table);
    }
    pairs.what =
        join({case_name(c.benchmark, c.parameters, c.settings), metric_title(table.metric)});
    return pairs;
}

void find_links(Fleet& fleet, const std::vector<std::uint32_t>& node_of_run) {
    const auto& all = fleet.collection;
    // The newest of each kind: tables are in the files alone.
    std::map<std::uint32_t, std::uint32_t> newest; // run, by series
    for (const auto& seen : all.observations) {
        if (node_of_run[seen.run] >= fleet.nodes.size() || !seen.value ||
            !is_of_pairs(all.series[seen.series].benchmark))
            continue;
        const auto [known, is_new] = newest.try_emplace(seen.series, seen.run);
        if (!is_new && all.runs[known->second].started_seconds < all.runs[seen.run].started_seconds)
            known->second = seen.run;
    }
    if (newest.empty()) return;
    const Names names{fleet};
    std::set<std::uint32_t> runs;
    for (const auto& [series, run] : newest) runs.insert(run);
    for (const auto number : runs) {
        auto run = record::read_run(all.runs[number].file, {.values = false, .details = false});
        if (!run) continue; // it was readable a moment ago
        names.apply(*run);
        for (const auto& c : run->cases)
            if (is_of_pairs(c.benchmark))
                for (const auto& table : c.tables)
                    if (auto slow = slow_of(c, table); !slow.says.empty())
                        fleet.pairs.push_back(std::move(slow));
    }
}

// -------------------------------------------------------------------------------------------------

/// A sweep of a thousand nodes and its retests take days, and quarters lie further apart.
constexpr double usual_sweep = 7 * 86400.0; // seconds
/// A case belongs to a type if so many of its nodes have it.
constexpr double usual_case = 0.5;

class Maker {
public:
    Maker(store::Collection collection, const FleetOptions& options)
        : options_{options}, names_{options.expected}, now_{options.now.value_or(seconds_now())} {
        fleet_.collection = std::move(collection);
        fleet_.rule = options.rule;
        fleet_.has_expected = !options.expected.empty();
    }

    Result<Fleet> make() {
        ASSAY_TRY(apply_filters(fleet_.collection, options_.filter));
        choose_sweep();
        ASSAY_TRY(add_nodes());
        const auto values = sort_values(fleet_, node_of_run_);
        judge_values(fleet_, values);
        find_missing(values);
        find_wrong();
        find_unfinished(fleet_, names_, now_);
        find_faults(fleet_, names_, node_of_run_, now_);
        find_links(fleet_, node_of_run_);
        add_silent();
        decide();
        return std::move(fleet_);
    }

private:
    const store::Collection& all() const { return fleet_.collection; }

    void choose_sweep() {
        for (const auto& run : all().runs)
            fleet_.until = std::max(fleet_.until, run.started_seconds);
        fleet_.since = options_.since.value_or(fleet_.until - usual_sweep);
    }

    Result<void> add_nodes() {
        ASSAY_TRY(auto key, make_key(all(), options_.by));
        if (key.of_series)
            return fail(fmt::format(
                "--by: invalid key {} (expected a key of runs: instance, cpu, tag.KEY, ...)",
                plain(options_.by)));
        node_of_run_.assign(all().runs.size(), no_node);
        std::unordered_map<std::string, std::uint32_t> numbers;
        std::map<std::string, std::uint32_t> types;
        std::vector<std::uint32_t> order(all().runs.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::stable_sort(order, {},
                                 [&](std::uint32_t i) { return all().runs[i].started_seconds; });
        for (const auto i : order) {
            const auto& run = all().runs[i];
            if (run.started_seconds < fleet_.since) {
                ++fleet_.left_out;
                continue;
            }
            const auto named = names_.of_run(all(), run);
            const auto [known, is_new] =
                numbers.try_emplace(named.name, static_cast<std::uint32_t>(fleet_.nodes.size()));
            if (is_new)
                fleet_.nodes.push_back(
                    {.name = named.name,
                     .source = named.source,
                     .expected = !fleet_.has_expected || names_.is_expected(named.name)});
            auto& node = fleet_.nodes[known->second];
            // Values before a repair say nothing about the node.
            if (!record::text(run.tags, judge::repair_tag).empty()) {
                for (const auto before : node.runs) node_of_run_[before] = no_node;
                node.runs.clear();
            }
            if (node.runs.empty()) node.type = type_of(types, key.texts[key.values[i]], run);
            node.runs.push_back(i);
            node_of_run_[i] = known->second;
        }
        for (const auto& node : fleet_.nodes) ++fleet_.types[node.type].nodes;
        for (const auto& name : names_.expected())
            if (!numbers.contains(name)) fleet_.nodes.push_back({.name = name});
        return {};
    }
    std::uint32_t type_of(std::map<std::string, std::uint32_t>& types, const std::string& text,
                          const store::RunInfo& run) {
        // Machines of no cloud are of a type if they have the same processor.
        const bool is_known = !text.empty() && text != "unknown";
        const auto name = is_known ? text : plain(all().machines[run.machine].cpu_model, 100);
        const auto [known, is_new] =
            types.try_emplace(name, static_cast<std::uint32_t>(fleet_.types.size()));
        if (is_new) fleet_.types.push_back({.name = name});
        return known->second;
    }

    /// Cases that most nodes of the type have, and this one has not, or has no value of.
    void find_missing(const FleetValues& values) {
        for (std::uint32_t i = 0; i < fleet_.items.size(); ++i) {
            const auto& item = fleet_.items[i];
            std::map<std::uint32_t, std::map<std::uint32_t, const NodeItem*>> by_place;
            for (const auto& one : values.of_item[i]) by_place[one.place].emplace(one.node, &one);
            const auto nodes = static_cast<double>(fleet_.types[item.type].nodes);
            for (const auto& [place, own] : by_place) {
                const auto usual = static_cast<double>(own.size()) > usual_case * nodes;
                const bool any = std::ranges::any_of(
                    own, [](const auto& one) { return is_good(*one.second->first); });
                for (std::uint32_t n = 0; n < fleet_.nodes.size(); ++n) {
                    auto& node = fleet_.nodes[n];
                    if (!node.answered() || node.type != item.type) continue;
                    const auto found = own.find(n);
                    const bool absent = found == own.end();
                    if (absent && !usual) continue;
                    ++node.cases;
                    // Its values count, but it has more to measure.
                    const bool is_cut = !absent && is_partial(*found->second->first) &&
                                        all().runs[found->second->first->run].partial;
                    if (!absent && !is_cut && is_good(*found->second->first)) continue;
                    const auto status = absent || is_cut ? record::Status::interrupted
                                                         : found->second->first->status;
                    if (status == record::Status::skipped && !any) continue; // on no node
                    const auto at_place = [&](const std::string& name) {
                        return values.places[place] == "host"
                                   ? name
                                   : fmt::format("{} ({})", name, values.places[place]);
                    };
                    node.missing.push_back({.what = at_place(item.what),
                                            .title = at_place(item.title),
                                            .benchmark = item.series.benchmark,
                                            .status = status,
                                            .absent = absent});
                }
            }
        }
    }

    void find_wrong() {
        for (const auto& seen : all().observations) {
            if (seen.status != record::Status::incorrect || !seen.is_primary) continue;
            const auto node = node_of_run_[seen.run];
            if (node == no_node) continue;
            auto& wrong = fleet_.nodes[node].wrong;
            auto what = name_of(all().series[seen.series]);
            if (std::ranges::find(wrong, what) == wrong.end()) wrong.push_back(std::move(what));
        }
    }

    /// Nodes that nobody expects and that have an unfinished run alone.
    void add_silent() {
        std::set<std::string> known;
        for (const auto& node : fleet_.nodes) known.insert(node.name);
        for (const auto& run : fleet_.unfinished)
            if (!run.node.empty() && known.insert(run.node).second)
                fleet_.nodes.push_back({.name = run.node, .expected = !fleet_.has_expected});
    }

    void decide() {
        std::set<std::string> unreadable;
        std::set<std::string> running;
        for (const auto& fault : fleet_.faults)
            if (is_serious(fault.code)) unreadable.insert(fault.nodes.begin(), fault.nodes.end());
        for (const auto& run : fleet_.unfinished) running.insert(run.node);
        for (auto& node : fleet_.nodes) node.state = state_of(node, unreadable, running);
        std::ranges::stable_sort(fleet_.nodes, [](const FleetNode& a, const FleetNode& b) {
            return std::tuple{b.state, a.worst, a.name} < std::tuple{a.state, b.worst, b.name};
        });
    }
    NodeState state_of(const FleetNode& node, const std::set<std::string>& unreadable,
                       const std::set<std::string>& running) const {
        if (!node.wrong.empty()) return NodeState::wrong;
        if (std::ranges::any_of(node.suspects, &Suspect::slow)) return NodeState::slow;
        if (!node.answered()) {
            if (running.contains(node.name)) return NodeState::running;
            return unreadable.contains(node.name) ? NodeState::unreadable : NodeState::missing;
        }
        if (!node.missing.empty())
            return running.contains(node.name) ? NodeState::running : NodeState::partial;
        if (!std::ranges::all_of(node.suspects, &Suspect::decided)) return NodeState::again;
        return fleet_.types[node.type].tests == 0 ? NodeState::not_judged : NodeState::good;
    }

    const FleetOptions& options_;
    NodeNames names_;
    double now_;
    Fleet fleet_;
    std::vector<std::uint32_t> node_of_run_;
};

} // namespace

Result<Fleet> make_fleet(store::Collection collection, const FleetOptions& options) {
    return Maker{std::move(collection), options}.make();
}

store::CollectOptions collecting_for_fleet(store::CollectOptions options) {
    options.unfinished = true;
    options.ended = false; // whether a node elsewhere still writes one is told from its pace
    return options;
}

// --- progress ------------------------------------------------------------------------------------

namespace {

/// Replicas whose pace says how long the others will take.
constexpr std::size_t looked_at = 50;
/// A case of the longest suite takes minutes; what is silent for longer has probably ended.
constexpr double least_silence = 600; // seconds
constexpr double many = 10;           // times the usual pace

double written_seconds(const std::filesystem::path& path) {
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0) return 0;
    return static_cast<double>(facts.st_mtim.tv_sec);
}

/// Seconds between replicas, lately: a run that was resumed has a gap that says nothing.
std::optional<double> pace_of(const record::JournalContent& journal) {
    std::vector<double> starts;
    for (const auto& step : journal.steps)
        for (const auto& replica : step.result.replicas)
            if (const auto started = seconds_of(replica.started)) starts.push_back(*started);
    std::ranges::sort(starts);
    if (starts.size() < 2) return {};
    std::vector<double> gaps;
    for (std::size_t i = starts.size() > looked_at ? starts.size() - looked_at : 1;
         i < starts.size(); ++i)
        gaps.push_back(starts[i] - starts[i - 1]);
    // The mean of all but the largest: cases differ, and one gap may be a pause.
    std::ranges::sort(gaps);
    if (gaps.size() > 3) gaps.pop_back();
    double sum = 0;
    for (const double gap : gaps) sum += gap;
    return sum / static_cast<double>(gaps.size());
}

} // namespace

Unfinished progress_of(const record::JournalContent& journal, std::optional<std::size_t> cases,
                       double now, double written) {
    Unfinished found{.damaged = journal.damaged};
    found.silent = std::max(0.0, now - written);
    found.stalled = found.silent > least_silence;
    if (!journal.header) return found;
    const auto& header = *journal.header;
    found.suite = plain(header.suite, 60);
    found.cases = header.cases ? std::optional{static_cast<std::size_t>(*header.cases)} : cases;
    const auto replicas = static_cast<std::size_t>(std::max(1, header.replicas.value_or(1)));
    // Lines are written in the order of what they tell.
    double latest = 0;
    for (const auto& step : journal.steps)
        for (const auto& replica : step.result.replicas) {
            const double started = seconds_of(replica.started).value_or(latest);
            found.went_back = std::max(found.went_back, latest - started);
            latest = std::max(latest, started);
        }
    std::map<std::uint64_t, record::Case> seen;
    for (const auto& step : journal.steps) record::add_step(seen[step.case_index], step.result);
    std::size_t needed = 0; // replicas of the cases that have begun
    for (const auto& [index, c] : seen) {
        // One that failed is not measured again.
        const bool ended =
            c.replicas.empty() || std::ranges::any_of(c.replicas, [](const record::Replica& one) {
                return !is_measured(one.status);
            });
        if (ended || c.replicas.size() >= replicas) ++found.done;
        found.measured += ended ? replicas : std::min(replicas, c.replicas.size());
        needed += replicas;
    }
    const auto pace = pace_of(journal);
    if (found.cases) {
        needed = std::max(needed, *found.cases * replicas);
        if (pace) found.left = *pace * static_cast<double>(needed - found.measured);
    }
    found.stalled = found.silent > std::max(least_silence, many * pace.value_or(0));
    return found;
}

void find_unfinished(Fleet& fleet, const NodeNames& names, double now) {
    const auto& all = fleet.collection;
    std::unordered_map<std::string, std::size_t> cases_of_run;
    std::vector<std::size_t> counts(all.runs.size());
    for (const auto& seen : all.observations)
        if (seen.is_primary) ++counts[seen.run];
    for (std::size_t i = 0; i < all.runs.size(); ++i)
        if (all.runs[i].status == "done") cases_of_run[all.runs[i].digest] = counts[i];
    std::vector<std::string> known;
    for (const auto& node : fleet.nodes) known.push_back(node.name);
    std::ranges::sort(known);
    std::unordered_map<std::string, std::string> node_of_machine;
    for (const auto& node : fleet.nodes)
        for (const auto run : node.runs)
            node_of_machine[all.machines[all.runs[run].machine].id] = node.name;
    for (const auto& path : all.unfinished) {
        const auto journal = record::read_journal(path);
        std::optional<std::size_t> cases;
        std::string node;
        Unfinished found;
        if (journal) {
            if (const auto& header = journal->header) {
                if (const auto same = cases_of_run.find(header->digest); same != cases_of_run.end())
                    cases = same->second;
                if (const auto tag = record::text(header->tags, record::node_tag); !tag.empty())
                    node = names.of_host(tag);
                else if (const auto same_machine = node_of_machine.find(header->machine);
                         same_machine != node_of_machine.end())
                    node = same_machine->second;
            }
            found = progress_of(*journal, cases, now, written_seconds(path));
        } else {
            found.damaged = 1;
            found.stalled = true;
        }
        if (node.empty()) node = names.of_path(path, known);
        if (node.empty() && journal && journal->header) node = plain(journal->header->machine, 60);
        found.node = std::move(node);
        found.journal = path;
        fleet.unfinished.push_back(std::move(found));
    }
    std::ranges::stable_sort(fleet.unfinished, {}, &Unfinished::node);
}

} // namespace assay::fleet
