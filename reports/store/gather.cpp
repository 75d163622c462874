// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/texts/store.hpp"
#include "document/words.hpp"
#include "record/same_machine.hpp"
#include "store/digest.hpp"

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

namespace assay::store {

using namespace document;
namespace {

/// A metric other than the primary one may be zero.
bool is_amount(const std::optional<double>& value) {
    return value && std::isfinite(*value) && *value >= 0;
}
std::optional<double> amount(const std::optional<double>& value) {
    return is_amount(value) ? value : std::nullopt;
}
std::optional<double> figure(const std::optional<double>& value) {
    return is_amount(value) && *value > 0 ? value : std::nullopt;
}

std::string question_of(const decide::Series& series) {
    std::string text = series.benchmark;
    if (series.version != 1) text += fmt::format("/{}", series.version);
    if (series.place != "host") text += fmt::format("@{}", series.place);
    for (const auto& [name, value] : series.parameters)
        text += fmt::format(" {}={}", name, record::to_string(value));
    return text + ": " + series.metric;
}

void add_words(decide::Series& series) {
    record::Case c;
    c.benchmark = series.benchmark;
    c.parameters = series.parameters;
    c.settings = series.conditions; // what "all ranks" were
    series.what = parameters_in_words(c);
    series.question = question_of(series);
}

/// Items of a pool as they are numbered in the Collection: in the order in which they are first used.
template <class T>
class Numbering {
public:
    Numbering(std::vector<T>& items, Pool<T>& pool)
        : items_{items}, pool_{pool}, numbers_(pool.size(), unused) {}

    std::uint32_t operator()(std::uint32_t number) {
        auto& own = numbers_[number];
        if (own == unused) {
            own = static_cast<std::uint32_t>(items_.size());
            items_.push_back(std::move(pool_[number]));
        }
        return own;
    }

private:
    static constexpr auto unused = static_cast<std::uint32_t>(-1);

    std::vector<T>& items_;
    Pool<T>& pool_;
    std::vector<std::uint32_t> numbers_;
};

/// Digests are made by many threads, and glibc keeps what is freed for the thread that asked for it.
void give_back_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

class Gatherer {
public:
    Gatherer(std::vector<Candidate>& candidates, Pools& pools, const CollectOptions& options)
        : candidates_{candidates}, pools_{pools}, now_{options.now.value_or(0)},
          keeps_copied_{options.copied}, choice_{options.metrics, options.others},
          machines_{all_.machines, pools.machines}, series_{all_.series, pools.series},
          settings_{all_.settings, pools.settings} {}

    Collection run() && {
        std::ranges::sort(candidates_, earlier);
        std::erase_if(candidates_, [&](const Candidate& one) { return !is_possible(one); });
        order_by_boot();
        drop_repeated();
        find_copied();
        std::size_t most = 0;
        for (const auto& one : candidates_) most += observations_of(one);
        all_.runs.reserve(candidates_.size());
        all_.observations.reserve(most); // to grow would take the double, and both at once
        const std::size_t part = candidates_.size() / parts + 1;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            take(candidates_[i].digest);
            if (i % part == part - 1) give_back_memory();
        }
        for (auto& series : all_.series)
            if (series.question.empty()) add_words(series);
        for (const auto series : measured_) all_.metrics.insert(all_.series[series].metric);
        for (const auto number : other_kinds_)
            for (const auto& kind : pools_.others[number]) all_.metrics.insert(kind.name);
        tell_machines_apart();
        return std::move(all_);
    }

private:
    static bool earlier(const Candidate& a, const Candidate& b) {
        const auto key = [](const Candidate& one) {
            return std::tuple<std::size_t, double, const std::filesystem::path&>{
                one.input, one.digest.run.started_seconds, one.digest.run.file};
        };
        return key(a) < key(b);
    }

    bool drop(const Candidate& one, std::string reason, ProblemCode code = ProblemCode::other) {
        all_.problems.push_back({.where = plain(one.digest.run.file.string()),
                                 .reason = std::move(reason),
                                 .code = code});
        return false;
    }

    bool is_possible(const Candidate& one) {
        const auto& run = one.digest.run;
        if (one.digest.cases.empty()) return drop(one, say<text::store::no_cases>());
        if (run.started.empty()) return true; // not recorded, which an import may not know better
        const auto started = seconds_of(run.started);
        if (!started) return drop(one, say<text::store::no_time>(run.started));
        if (*started < oldest)
            return drop(one, say<text::store::clock_not_set>(run.started), ProblemCode::not_set);
        const auto built = run.clock ? seconds_of(run.clock->built) : std::nullopt;
        if (constexpr double day = 86400; built && *started < *built - day)
            return drop(one,
                        say<text::store::before_build>(run.started, plain(run.clock->built, 20)),
                        ProblemCode::not_set);
        const auto ended = seconds_of(run.ended);
        if (*started > now_ || (ended && *ended > now_))
            return drop(one, say<text::store::in_future>(*started > now_ ? run.started : run.ended),
                        ProblemCode::future);
        if (!ended || *ended >= *started) return true;
        return drop(one, say<text::store::ended_before>(run.started, run.ended),
                    ProblemCode::backwards);
    }

    /// The clock may be set between two runs of one boot. The time since that boot has their order; which of the
    /// clocks is right, the newest run may know.
    void order_by_boot() {
        const auto ahead = [](const RunInfo& run) {
            return seconds_of(run.ended).value_or(0) - run.clock->up_seconds;
        };
        std::map<std::string_view, const RunInfo*> newest; // by boot
        for (const auto& one : candidates_)
            if (const auto& run = one.digest.run; run.clock && !run.clock->boot.empty()) {
                auto& last = newest[run.clock->boot];
                if (last == nullptr || last->clock->up_seconds < run.clock->up_seconds) last = &run;
            }
        for (auto& one : candidates_)
            if (auto& run = one.digest.run; run.clock && !run.clock->boot.empty())
                if (const double set = ahead(*newest[run.clock->boot]) - ahead(run);
                    std::abs(set) > clock_leeway)
                    run.started_seconds += set;
        std::ranges::sort(candidates_, earlier);
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

    void drop_repeated() {
        std::unordered_map<std::string_view, const Candidate*> known;
        std::set<const Candidate*> dropped;
        for (const auto& one : candidates_) {
            if (one.digest.run.id.empty()) continue;
            const auto [other, is_new] = known.try_emplace(one.digest.run.id, &one);
            if (!is_new) dropped.insert(drop_one(other->second, one));
        }
        std::erase_if(candidates_, [&](const Candidate& one) { return dropped.contains(&one); });
    }
    /// Keeps the complete one of two copies of a run that was resumed in between, and returns the other one.
    const Candidate* drop_one(const Candidate*& kept, const Candidate& one) {
        const auto& id = one.digest.run.id;
        const auto& here = pools_.machines[one.digest.run.machine];
        const auto& there = pools_.machines[kept->digest.run.machine];
        const auto path = [](const Candidate& of) { return plain(of.digest.run.file.string()); };
        if (!record::is_id_of(here, there.id) && !record::is_id_of(there, here.id)) {
            drop(one, say<text::store::other_machine>(id, path(*kept), there.id, here.id),
                 ProblemCode::same_run);
            return &one;
        }
        const auto is_done = [](const Candidate& of) { return of.digest.run.status == "done"; };
        const Candidate* loser = &one;
        if (is_done(one) && !is_done(*kept)) loser = std::exchange(kept, &one);
        drop(*loser, say<text::store::same_run>(id, path(*kept)), ProblemCode::copy);
        all_.problems.back().is_copy = true;
        return loser;
    }

    /// The same values under two ids are one measurement. Two equal prints of 32 bits never happen by chance.
    void find_copied() {
        std::unordered_map<std::uint32_t, const Candidate*> first; // by print
        std::set<const Candidate*> dropped;
        for (auto& one : candidates_) {
            std::map<const Candidate*, std::size_t> common;
            std::size_t replicas = 0;
            for (const auto& c : one.digest.cases)
                for (const auto& replica : c.seen.replicas) {
                    if (replica.print == 0) continue;
                    ++replicas;
                    const auto [known, is_new] = first.try_emplace(replica.print, &one);
                    if (!is_new && known->second != &one) ++common[known->second];
                }
            for (const auto& [other, count] : common)
                if (count > 1 && 2 * count >= replicas)
                    one.digest.run.copy_of = plain(other->digest.run.file.string());
            if (one.digest.run.copy_of.empty() || keeps_copied_) continue;
            drop(one, say<text::store::copied>(one.digest.run.copy_of), ProblemCode::copied);
            dropped.insert(&one);
        }
        std::erase_if(candidates_, [&](const Candidate& one) { return dropped.contains(&one); });
    }

    /// At most.
    static std::size_t observations_of(const Candidate& one) {
        std::size_t count = one.digest.cases.size();
        for (const auto& c : one.digest.cases) count += c.values.size();
        return count;
    }

    void take(RunDigest& digest) {
        const auto number = static_cast<std::uint32_t>(all_.runs.size());
        digest.run.machine = machines_(digest.run.machine);
        digest.run.machine_id = all_.machines[digest.run.machine].id;
        all_.runs.push_back(std::move(digest.run));
        for (auto& c : digest.cases) {
            auto& seen = c.seen;
            seen.run = number;
            seen.series = series_(seen.series);
            seen.settings = settings_(seen.settings);
            const auto& series = all_.series[seen.series];
            if (!c.problem.empty())
                all_.problems.push_back(
                    {.where = fmt::format("{}: {}", plain(all_.runs.back().file.string()),
                                          name_of(series)),
                     .reason = std::move(c.problem)});
            if (!choice_.only_primary()) take_others(c);
            if (choice_.primary(all_.series[seen.series].metric))
                all_.observations.push_back(std::move(seen));
        }
        digest = {}; // all of them beside all that is made of them would be twice as much
    }
    void take_others(CaseDigest& c) {
        auto& primary = c.seen;
        if (primary.value) measured_.insert(primary.series);
        other_kinds_.insert(c.others);
        const auto replicas = std::exchange(primary.replicas, {}); // others have their own
        auto values = c.values.begin();
        for (const auto& kind : pools_.others[c.others]) {
            if (!choice_.other(kind)) continue;
            decide::Observation seen = primary;
            if (kind.is_computed)
                compute(seen, kind, values->factor, replicas);
            else
                fill(seen, std::move(*values));
            ++values;
            if (!seen.value) continue;
            seen.ceiling.reset();
            seen.datasheet.reset();
            std::erase_if(seen.replicas, [&](const auto& one) {
                return kind.is_computed ? !figure(one.value) : !amount(one.value);
            });
            seen.is_primary = choice_.is_named(kind.name);
            seen.series = series_of(kind, primary.series);
            all_.observations.push_back(std::move(seen));
        }
        primary.replicas = replicas;
    }
    std::uint32_t series_of(const MetricKind& kind, std::uint32_t primary) {
        const auto [known, is_new] =
            other_series_.try_emplace({primary, kind.name, kind.energy_scope},
                                      static_cast<std::uint32_t>(all_.series.size()));
        if (!is_new) return known->second;
        decide::Series series = all_.series[primary];
        series.metric = kind.name;
        series.unit = kind.unit;
        series.higher_is_better = kind.higher_is_better;
        series.is_headline = false;
        if (!kind.energy_scope.empty())
            series.conditions.push_back({"energy_scope", kind.energy_scope});
        all_.series.push_back(std::move(series));
        return known->second;
    }
    static void fill(decide::Observation& seen, MetricValues metric) {
        seen.value = amount(metric.value);
        seen.low = amount(metric.low);
        seen.high = figure(metric.high);
        seen.scope = metric.scope;
        seen.replicas = std::move(metric.replicas);
    }
    /// Computes the metric from the primary one of the same case.
    void compute(decide::Observation& seen, const MetricKind& kind, double factor,
                 const std::vector<decide::ReplicaValue>& replicas) const {
        const bool same = kind.higher_is_better == all_.series[seen.series].higher_is_better;
        const auto of = [&](const std::optional<double>& value) {
            return value ? figure(same ? factor * *value : factor / *value) : std::nullopt;
        };
        seen.value = of(seen.value);
        seen.low = of(seen.low);
        seen.high = of(seen.high);
        if (!same) std::swap(seen.low, seen.high);
        seen.replicas = replicas;
        for (auto& replica : seen.replicas) {
            replica.value = of(replica.value).value_or(0);
            replica.print = 0; // the primary metric has it
        }
    }
    /// Parts of all entries: after each, the memory of its digests is given back.
    static constexpr std::size_t parts = 4;

    /// 2000-01-01. Machines without a clock that keeps running begin in 1970.
    static constexpr double oldest = 946684800;

    std::vector<Candidate>& candidates_;
    Pools& pools_;
    double now_;
    bool keeps_copied_;
    MetricChoice choice_;
    Collection all_;
    std::set<std::uint32_t> measured_;    ///< series
    std::set<std::uint32_t> other_kinds_; ///< numbers of Pools::others
    std::map<std::tuple<std::uint32_t, std::string_view, std::string_view>, std::uint32_t>
        other_series_;
    Numbering<record::Machine> machines_;
    Numbering<decide::Series> series_;
    Numbering<record::NamedList> settings_;
};

} // namespace

Collection gather(std::vector<Candidate> candidates, Pools pools, const CollectOptions& options) {
    Collection all = Gatherer{candidates, pools, options}.run();
    candidates.clear();
    give_back_memory();
    return all;
}

} // namespace assay::store
