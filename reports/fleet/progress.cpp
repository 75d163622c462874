// SPDX-License-Identifier: Apache-2.0

#include "fleet/progress.hpp"

#include "base/utc.hpp"
#include "document/text.hpp"
#include "record/same_machine.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::report {
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
    Unfinished found{.damaged = journal.damaged.size()};
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

} // namespace assay::report
