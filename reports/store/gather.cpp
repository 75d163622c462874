// SPDX-License-Identifier: Apache-2.0

#include "store/gather.hpp"

#include "base/utc.hpp"
#include "language/language.hpp"
#include "language/texts/store.hpp"
#include "record/same_machine.hpp"
#include "report/text.hpp"
#include "report/words.hpp"
#include "store/plain.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace assay::report {
namespace {

bool shows(record::Status status) { return is_measured(status); }
bool is_figure(const std::optional<double>& value) {
    return value && std::isfinite(*value) && *value > 0;
}
std::optional<double> figure(const std::optional<double>& value) {
    return is_figure(value) ? value : std::nullopt;
}

/// Of a metric that is not the primary one: zero is a value where it may be none.
std::optional<double> amount(const std::optional<double>& value) {
    return value == 0.0 ? value : figure(value);
}

std::string question_of(const Series& series) {
    std::string text = series.benchmark;
    if (series.version != 1) text += fmt::format("/{}", series.version);
    if (series.place != "host") text += fmt::format("@{}", series.place);
    for (const auto& [name, value] : series.parameters)
        text += fmt::format(" {}={}", name, record::to_string(value));
    return text + ": " + series.metric;
}

Series make_series(const std::string& bytes) {
    Series series = unpacked<Series>(bytes).value_or(Series{});
    record::Case c = plain_case({.benchmark = std::move(series.benchmark),
                                 .place = {.kind = std::move(series.place)},
                                 .library = std::move(series.library),
                                 .parameters = std::move(series.parameters),
                                 .settings = std::move(series.conditions),
                                 .headline = std::move(series.metric)});
    series.what = parameters_in_words(c);
    series.benchmark = std::move(c.benchmark);
    series.place = record::words_of(c.place);
    series.library = std::move(c.library);
    series.parameters = std::move(c.parameters);
    series.conditions = std::move(c.settings);
    series.metric = std::move(c.headline);
    series.unit = plain(series.unit);
    series.question = question_of(series);
    return series;
}

/// Items of pools as they are numbered in the Collection: in the order in which they are first used, and
/// equal ones of several pools once.
template <class T>
class Numbering {
public:
    Numbering(std::vector<T>& items, T (*make)(const std::string& bytes), std::size_t batches)
        : items_{items}, make_{make}, of_batch_(batches) {}

    std::uint32_t operator()(std::size_t batch, const Pool& pool, std::uint32_t number) {
        auto& numbers = of_batch_[batch];
        if (numbers.empty()) numbers.assign(pool.size(), unused);
        if (numbers[number] != unused) return numbers[number];
        const std::string& bytes = pool[number];
        const auto [known, is_new] =
            known_.try_emplace(bytes, static_cast<std::uint32_t>(items_.size()));
        if (is_new) items_.push_back(make_(bytes));
        return numbers[number] = known->second;
    }

private:
    static constexpr auto unused = static_cast<std::uint32_t>(-1);

    std::vector<T>& items_;
    T (*make_)(const std::string&);
    std::vector<std::vector<std::uint32_t>> of_batch_;
    std::unordered_map<std::string_view, std::uint32_t> known_; ///< looks at the pools' bytes
};

/// Digests are made by many threads, and glibc keeps what is freed for the thread that asked for it.
void give_back_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/// A candidate that may still be found to be there twice.
struct Entry {
    Candidate* candidate;
    std::size_t batch;
    double started;
    bool dropped = false;
};

class Gatherer {
public:
    Gatherer(std::vector<Batch>& batches, const CollectOptions& options)
        : batches_{batches}, now_{options.now.value_or(0)}, choice_{options.metrics},
          others_{options.others}, machines_{all_.machines, &make_machine, batches.size()},
          series_{all_.series, &make_series, batches.size()},
          settings_{all_.settings, &make_settings, batches.size()},
          other_kinds_{kinds_, &make_kinds, batches.size()} {}

    Collection run() && {
        std::vector<Entry> entries = in_order();
        for (auto& entry : entries) judge(entry);
        drop_repeated(entries);
        std::erase_if(entries, [](const Entry& entry) { return entry.dropped; });
        std::size_t most = 0;
        for (const auto& entry : entries) most += observations_of(entry);
        all_.runs.reserve(entries.size());
        all_.observations.reserve(most); // to grow would take the double, and both at once
        const std::size_t part = entries.size() / parts + 1;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            take(entries[i]);
            if (i % part == part - 1) give_back_memory();
        }
        for (const auto series : measured_) all_.metrics.insert(all_.series[series].metric);
        for (const auto& kinds : kinds_)
            for (const auto& kind : kinds) all_.metrics.insert(kind.name);
        tell_machines_apart();
        return std::move(all_);
    }

private:
    static bool earlier(const Entry& a, const Entry& b) {
        const auto key = [](const Entry& entry) {
            return std::tuple<std::size_t, double, const std::filesystem::path&>{
                entry.candidate->input, entry.started, entry.candidate->file};
        };
        return key(a) < key(b);
    }
    std::vector<Entry> in_order() {
        std::vector<Entry> entries;
        for (std::size_t i = 0; i < batches_.size(); ++i)
            for (auto& candidate : batches_[i].candidates) {
                auto& run = candidate.digest.run;
                for (auto* text :
                     {&run.id, &run.suite, &run.started, &run.ended, &run.status, &run.version,
                      &run.digest, static_cast<std::string*>(&run.campaign)})
                    *text = plain(*text);
                entries.push_back({.candidate = &candidate,
                                   .batch = i,
                                   .started = seconds_of(run.started).value_or(0)});
            }
        std::ranges::sort(entries, earlier);
        return entries;
    }

    void drop(Entry& entry, std::string reason, ProblemCode code = ProblemCode::other) {
        entry.dropped = true;
        all_.problems.push_back({.where = plain(entry.candidate->file.string()),
                                 .reason = std::move(reason),
                                 .code = code});
    }

    void judge(Entry& entry) {
        const auto& run = entry.candidate->digest.run;
        if (entry.candidate->digest.cases.empty()) return drop(entry, say<text::store::no_cases>());
        if (run.started.empty()) return; // not recorded, which an import may not know better
        const auto started = seconds_of(run.started);
        if (!started) return drop(entry, say<text::store::no_time>(run.started));
        if (*started < oldest)
            return drop(entry, say<text::store::clock_not_set>(run.started), ProblemCode::not_set);
        if (*started > now_)
            return drop(entry, say<text::store::in_future>(run.started), ProblemCode::future);
        const auto ended = seconds_of(run.ended);
        if (ended && *ended < *started)
            drop(entry, say<text::store::ended_before>(run.started, run.ended),
                 ProblemCode::backwards);
    }

    /// Equal records are of two machines where names say so: each gets an entry of its own.
    void tell_machines_apart() {
        std::map<std::tuple<std::uint32_t, std::string, std::string>, std::vector<std::uint32_t>>
            runs;
        for (std::uint32_t i = 0; i < all_.runs.size(); ++i) {
            const auto& run = all_.runs[i];
            runs[{run.machine, run.campaign,
                  record::node_name(all_.machines[run.machine], run.tags)}]
                .push_back(i);
        }
        std::vector<record::Machine> copies; // by key
        std::vector<record::Sighting> sightings;
        copies.reserve(runs.size());
        for (const auto& [key, own] : runs) {
            const auto& [machine, campaign, node] = key;
            copies.push_back(all_.machines[machine]);
            sightings.push_back({.machine = &copies.back(), .campaign = campaign, .node = node});
        }
        record::resolve_ids(sightings);
        std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> known; // by number and id
        std::set<std::uint32_t> taken;
        std::size_t copy = 0;
        for (const auto& [key, own] : runs) {
            auto& resolved = copies[copy++];
            auto number = std::get<0>(key);
            const auto [found, is_new] = known.try_emplace({number, resolved.id}, number);
            if (is_new && !taken.insert(number).second) {
                found->second = static_cast<std::uint32_t>(all_.machines.size());
                all_.machines.push_back(std::move(resolved));
            } else if (is_new) {
                all_.machines[number] = std::move(resolved);
            }
            for (const auto i : own) all_.runs[i].machine = found->second;
        }
    }

    record::Machine machine_of(const Entry& entry) const {
        const Pool& pool = batches_[entry.batch].pools.machines;
        return make_machine(pool[entry.candidate->digest.machine]);
    }
    void drop_repeated(std::vector<Entry>& entries) {
        std::unordered_map<std::string_view, Entry*> known;
        for (auto& entry : entries) {
            const std::string& id = entry.candidate->digest.run.id;
            if (entry.dropped || id.empty()) continue;
            const auto [other, is_new] = known.try_emplace(id, &entry);
            if (!is_new) drop_one(other->second, entry);
        }
    }
    /// Of two copies of a run that was resumed in between, the whole one is used.
    void drop_one(Entry*& kept, Entry& entry) {
        const std::string& id = entry.candidate->digest.run.id;
        const auto here = machine_of(entry);
        const auto there = machine_of(*kept);
        const auto path = [](const Entry& of) { return plain(of.candidate->file.string()); };
        if (!record::is_id_of(here, there.id) && !record::is_id_of(there, here.id))
            return drop(entry, say<text::store::other_machine>(id, path(*kept), there.id, here.id),
                        ProblemCode::same_run);
        const auto is_done = [](const Entry& of) {
            return of.candidate->digest.run.status == "done";
        };
        Entry* loser = &entry;
        if (is_done(entry) && !is_done(*kept)) loser = std::exchange(kept, &entry);
        drop(*loser, say<text::store::same_run>(id, path(*kept)), ProblemCode::copy);
        all_.problems.back().is_copy = true;
    }

    bool asks_for(const MetricKind& kind) const {
        return choice_.other(kind.name) || (others_ && !kind.is_computed);
    }
    bool asks_for_others() const { return others_ || !choice_.only_primary(); }
    const std::vector<MetricKind>& kinds_of(const Entry& entry, const CaseDigest& c) {
        return kinds_[other_kinds_(entry.batch, batches_[entry.batch].pools.others, c.others)];
    }
    /// At most.
    std::size_t observations_of(const Entry& entry) {
        const auto& cases = entry.candidate->digest.cases;
        std::size_t count = cases.size();
        if (!asks_for_others()) return count;
        for (const auto& c : cases)
            count += static_cast<std::size_t>(std::ranges::count_if(
                kinds_of(entry, c), [&](const MetricKind& kind) { return asks_for(kind); }));
        return count;
    }

    void take(const Entry& entry) {
        Candidate& candidate = *entry.candidate;
        RunDigest& digest = candidate.digest;
        const Pools& pools = batches_[entry.batch].pools;
        const auto number = static_cast<std::uint32_t>(all_.runs.size());
        if (digest.run.pairing) make_plain(*digest.run.pairing);
        all_.runs.push_back(
            {.label = std::move(candidate.label),
             .file = std::move(candidate.file),
             .id = digest.run.id,
             .suite = std::move(digest.run.suite),
             .started = std::move(digest.run.started),
             .ended = std::move(digest.run.ended),
             .started_seconds = entry.started,
             .written_seconds = candidate.written,
             .status = digest.run.status,
             .partial = digest.run.status == "interrupted",
             .version = std::move(digest.run.version),
             .build = plain(digest.run.build, 64),
             .digest = std::move(digest.run.digest),
             .campaign = std::move(digest.run.campaign),
             .tags = plain_list(std::move(digest.run.tags)),
             .error_counters = plain_counters(std::move(digest.run.error_counters)),
             .core_clock_hz = figure(digest.core_clock_hz),
             .machine = machines_(entry.batch, pools.machines, digest.machine),
             .pairing = std::move(digest.run.pairing),
             .gates = digest.run.schedule ? plain_gates(*digest.run.schedule) : std::nullopt,
             .soak = plain_soak(std::move(digest.run.soak)),
             .strayed_seconds = digest.strayed_seconds});
        for (auto& c : digest.cases) {
            const auto series = series_(entry.batch, pools.series, c.series);
            const auto settings = settings_(entry.batch, pools.settings, c.settings);
            report_defect(all_.runs.back(), c, all_.series[series]);
            auto seen = observation(c, number, series, settings);
            if (asks_for_others()) take_others(kinds_of(entry, c), c.others_values, seen);
            if (choice_.primary(all_.series[series].metric))
                all_.observations.push_back(std::move(seen));
        }
        digest = {}; // all of them beside all that is made of them would be twice as much
    }
    void take_others(const std::vector<MetricKind>& kinds, std::string_view bytes,
                     Observation& primary) {
        if (primary.value) measured_.insert(primary.series);
        const auto wanted = [&](const MetricKind& kind) { return asks_for(kind); };
        if (std::ranges::none_of(kinds, wanted)) return;
        auto values = unpacked<std::vector<MetricValues>>(bytes);
        if (!values || values->size() != kinds.size()) return;
        auto replicas = std::exchange(primary.replicas, {}); // others have their own
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            if (!wanted(kinds[i])) continue;
            Observation seen = primary;
            if (kinds[i].is_computed)
                compute(seen, kinds[i], (*values)[i].factor, replicas);
            else
                fill(seen, std::move((*values)[i]));
            if (!seen.value) continue;
            seen.ceiling.reset();
            seen.datasheet.reset();
            std::erase_if(seen.replicas, [&](const auto& one) {
                return kinds[i].is_computed ? !figure(one.value) : !amount(one.value);
            });
            seen.is_primary = choice_.other(kinds[i].name);
            seen.series = series_of(kinds[i], primary.series);
            all_.observations.push_back(std::move(seen));
        }
        primary.replicas = std::move(replicas);
    }
    std::uint32_t series_of(const MetricKind& kind, std::uint32_t primary) {
        const auto [known, is_new] =
            other_series_.try_emplace({primary, kind.name, kind.energy_scope},
                                      static_cast<std::uint32_t>(all_.series.size()));
        if (!is_new) return known->second;
        Series series = all_.series[primary];
        series.metric = kind.name;
        series.unit = kind.unit;
        series.higher_is_better = kind.higher_is_better;
        series.is_headline = false;
        if (!kind.energy_scope.empty())
            series.conditions.push_back({"energy_scope", kind.energy_scope});
        series.question = question_of(series);
        all_.series.push_back(std::move(series));
        return known->second;
    }
    static void fill(Observation& seen, MetricValues metric) {
        seen.value = amount(metric.value);
        seen.low = amount(metric.low);
        seen.high = figure(metric.high);
        seen.scope = metric.scope;
        seen.replicas = std::move(metric.replicas);
    }
    /// Of what the primary metric of the same case says.
    void compute(Observation& seen, const MetricKind& kind, double factor,
                 const std::vector<ReplicaValue>& replicas) const {
        const bool same = kind.higher_is_better == all_.series[seen.series].higher_is_better;
        const auto of = [&](const std::optional<double>& value) {
            return value ? figure(same ? factor * *value : factor / *value) : std::nullopt;
        };
        seen.value = of(seen.value);
        seen.low = of(seen.low);
        seen.high = of(seen.high);
        if (!same) std::swap(seen.low, seen.high);
        seen.replicas = replicas;
        for (auto& replica : seen.replicas) replica.value = of(replica.value).value_or(0);
    }
    static void make_plain(record::Pairing& pairing) {
        for (auto* text : {&pairing.id, &pairing.setting, &pairing.order}) *text = plain(*text);
        pairing.changes = plain_list(std::move(pairing.changes));
    }

    static Observation observation(CaseDigest& c, std::uint32_t run, std::uint32_t series,
                                   std::uint32_t settings) {
        Observation seen{.run = run,
                         .series = series,
                         .status = c.status,
                         .reason = plain(c.reason),
                         .disturbed = c.disturbed,
                         .events = c.events,
                         .settings = settings};
        if (!shows(c.status) || c.defect != Defect::none || !figure(c.value)) return seen;
        seen.value = c.value;
        seen.low = figure(c.low);
        seen.high = figure(c.high);
        seen.scope = c.scope;
        seen.ceiling = figure(c.ceiling);
        if (c.cause) {
            record::Case entry;
            entry.telemetry.disturbed_by.push_back(*std::move(c.cause));
            seen.cause = plain_case(std::move(entry)).telemetry.disturbed_by.front();
        }
        seen.two_levels = c.two_levels;
        seen.core_latency = figure(c.core_latency);
        seen.between_runs = figure(c.between_runs);
        seen.between_replicas = figure(c.between_replicas);
        seen.degrees = figure(c.degrees);
        seen.alone_between_replicas = figure(c.alone_between_replicas);
        seen.alone_between_runs = figure(c.alone_between_runs);
        seen.datasheet = figure(c.datasheet);
        seen.verified = c.verified;
        seen.planned = c.planned;
        seen.warm_seconds = figure(c.warm_seconds);
        std::erase_if(c.replicas, [](const auto& replica) { return !figure(replica.value); });
        seen.replicas = std::move(c.replicas);
        return seen;
    }

    void report_defect(const RunInfo& run, const CaseDigest& c, const Series& series) {
        if (!shows(c.status)) return;
        std::string reason;
        switch (c.defect) {
        case Defect::none:
            if (figure(c.value)) return;
            reason = say<text::store::not_positive>(series.metric, c.value.value_or(0));
            break;
        case Defect::no_value:
            reason = say<text::store::no_value>(record::to_string(c.status), series.metric);
            break;
        case Defect::other_metric:
            reason = say<text::store::other_metric>(series.metric, plain(c.found));
            break;
        case Defect::other_unit:
            reason = say<text::store::other_unit>(series.metric, plain(c.found), series.unit);
            break;
        case Defect::other_direction:
            reason = say<text::store::higher_or_lower>(series.metric);
            break;
        }
        all_.problems.push_back(
            {.where = fmt::format("{}: {}", plain(run.file.string()), name_of(series)),
             .reason = std::move(reason)});
    }

    /// Of all entries: after each, what their digests took is given back.
    static constexpr std::size_t parts = 4;

    /// 2000-01-01. Machines without a clock that keeps running begin in 1970.
    static constexpr double oldest = 946684800;

    std::vector<Batch>& batches_;
    double now_;
    MetricChoice choice_;
    bool others_;
    Collection all_;
    std::vector<std::vector<MetricKind>> kinds_;
    std::set<std::uint32_t> measured_; ///< series
    std::map<std::tuple<std::uint32_t, std::string_view, std::string_view>, std::uint32_t>
        other_series_;
    Numbering<record::Machine> machines_;
    Numbering<Series> series_;
    Numbering<record::NamedList> settings_;
    Numbering<std::vector<MetricKind>> other_kinds_;
};

} // namespace

bool refers_to(const RunDigest& digest, const Pools& pools) {
    return digest.machine < pools.machines.size() &&
           std::ranges::all_of(
               digest.cases,
               [&](const CaseDigest& c) {
                   return c.series < pools.series.size() && c.settings < pools.settings.size() &&
                          c.others < pools.others.size();
               });
}

Collection gather(std::vector<Batch> batches, const CollectOptions& options) {
    Collection all = Gatherer{batches, options}.run();
    batches.clear();
    give_back_memory();
    return all;
}

} // namespace assay::report
