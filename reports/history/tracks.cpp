// SPDX-License-Identifier: Apache-2.0

#include "history/tracks.hpp"

#include "base/on_all_cores.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/history.hpp"
#include "document/words.hpp"
#include "stats/interval.hpp"
#include "store/find.hpp"
#include "store/keys.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace assay::history {

using namespace document;
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

const record::Machine& machine_of(const store::Collection& collection, std::uint32_t run) {
    return collection.machines[collection.runs[run].machine];
}

std::string cpu_name(const record::Machine& machine) {
    const auto name = machine.cpu_model.empty() ? say<text::history::unknown_cpu>()
                                                : plain(machine.cpu_model, 200);
    const int cores = machine.cores.value_or(0);
    return cores > 0 ? say_count<text::history::cpu_cores>(static_cast<std::size_t>(cores), name)
                     : name;
}

/// The name of an instance that nobody sells says little: a product name of the firmware.
std::string instance_name(const record::Machine& machine) {
    const bool sold = !machine.provider.empty() && machine.provider != "unknown";
    if (!sold || machine.instance.empty()) return cpu_name(machine);
    return plain(fmt::format("{} {}", machine.provider, machine.instance), 200);
}

std::string group_name(const store::Collection& collection, std::uint32_t run,
                       const store::Key& key) {
    const auto& machine = machine_of(collection, run);
    if (key.name == "instance") return instance_name(machine);
    if (key.name == "cpu") return cpu_name(machine);
    const auto& text = key.texts[key.values[run]];
    return text.empty() ? say<text::history::no_name>() : plain(text, 200);
}

/// Runs in time order, without those that have no place in it.
class Usable {
public:
    Usable(const store::Collection& collection, const std::vector<store::Filter>& filters,
           Tracks& out)
        : collection_{collection}, out_{out} {
        for (std::uint32_t i = 0; i < collection.runs.size(); ++i)
            if (std::ranges::all_of(filters,
                                    [&](const store::Filter& f) { return f.admits_run(i); }) &&
                is_usable(i))
                runs_.push_back(i);
        const auto time = [&](std::uint32_t i) {
            return std::tuple{collection.runs[i].started_seconds, i};
        };
        std::ranges::sort(runs_, {}, time);
        drop_copies();
    }
    std::vector<std::uint32_t> take() { return std::move(runs_); }

private:
    void refuse(std::uint32_t run, std::string reason) {
        out_.not_used.push_back(
            {.where = plain(collection_.runs[run].file.string()), .reason = std::move(reason)});
    }
    bool is_usable(std::uint32_t i) {
        const auto& run = collection_.runs[i];
        if (!std::isfinite(run.started_seconds) || run.started_seconds <= 0) {
            refuse(i, say<text::history::no_start>(plain(run.started, 60)));
            return false;
        }
        if (run.strayed_seconds > clock_leeway) {
            refuse(i, say<text::history::clock_set>(duration_in_words(run.strayed_seconds)));
            return false;
        }
        if (run.pairing && !run.pairing->changes.empty()) {
            refuse(i, say<text::history::experiment>(plain(run.pairing->setting, 200)));
            return false;
        }
        return true;
    }
    /// A machine cannot start two runs at once, other than in turns.
    void drop_copies() {
        std::map<std::pair<std::string_view, double>, std::uint32_t> seen;
        std::erase_if(runs_, [&](std::uint32_t i) {
            const auto& run = collection_.runs[i];
            const auto& id = machine_of(collection_, i).id;
            if (id.empty() || run.pairing) return false;
            const auto [first, is_new] = seen.try_emplace({id, run.started_seconds}, i);
            if (!is_new)
                refuse(i, say<text::history::same_start>(
                              plain(collection_.runs[first->second].file.string())));
            return !is_new;
        });
    }

    const store::Collection& collection_;
    Tracks& out_;
    std::vector<std::uint32_t> runs_;
};

/// A figure of the collection and where it belongs.
struct Tracked {
    std::uint32_t group;
    std::uint32_t series;
    std::uint32_t machine; ///< by first run
    std::uint32_t order;   ///< of its run in time
    std::uint32_t observation;
    auto key() const { return std::tuple{group, series, machine, order, observation}; }
};

class Sorting {
public:
    Sorting(const store::Collection& collection, const store::Key& key,
            const std::vector<store::Filter>& filters, Tracks& out)
        : collection_{collection}, out_{out}, runs_{Usable{collection, filters, out}.take()},
          group_(collection.runs.size(), nowhere), machine_(collection.runs.size(), nowhere),
          order_(collection.runs.size(), nowhere) {
        join_series();
        make_groups(key);
        make_entries(filters);
    }

    void make_series() {
        std::vector<std::span<const Tracked>> parts;
        for (auto at = entries_.begin(); at != entries_.end();) {
            const auto end = std::find_if(at, entries_.end(), [&](const Tracked& e) {
                return e.group != at->group || e.series != at->series;
            });
            parts.emplace_back(at, end);
            at = end;
        }
        std::vector<SeriesTracks> all(parts.size());
        on_all_cores(all.size(), [&](std::size_t i) { all[i] = series_of(parts[i]); });
        for (std::size_t i = 0; i < all.size(); ++i)
            out_.groups[parts[i].front().group].series.push_back(std::move(all[i]));
    }

private:
    SeriesTracks series_of(std::span<const Tracked> entries) const {
        const auto number = entries.front().series;
        SeriesTracks series{.series = number, .conditions = conditions_[number]};
        for (auto at = entries.begin(); at != entries.end();) {
            const auto last = std::find_if(
                at, entries.end(), [&](const Tracked& e) { return e.machine != at->machine; });
            series.tracks.push_back(track({at, last}));
            at = last;
        }
        std::ranges::stable_sort(series.tracks, {},
                                 [](const Track& t) { return t.samples.front().seconds; });
        if (const auto found = delivered_.find({entries.front().group, number});
            found != delivered_.end())
            series.delivered = found->second;
        const bool all = follow_one_another(series.tracks);
        for (const auto& track : series.tracks)
            if (all || track.samples.size() < fewest_samples)
                series.machines.push_back(mean_sample(track));
        return series;
    }

    /// Series that are one but for what state the machine was in.
    void join_series() {
        std::map<std::string, std::uint32_t> asked;
        std::vector<std::uint32_t> group;
        for (auto series : collection_.series) {
            std::ranges::sort(series.parameters, {}, [](const auto& named) { return named.name; });
            const auto text = fmt::format("{} {} {}", name_of(series), series.metric, series.unit);
            group.push_back(asked.try_emplace(text, asked.size()).first->second);
        }
        std::vector<std::string> states;
        for (const auto& condition : record::condition_table())
            if (condition.is_state) states.emplace_back(condition.name);
        conditions_ = store::settle(collection_.series, group, states);
        std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> joined;
        for (std::uint32_t i = 0; i < group.size(); ++i) {
            std::string text;
            for (const auto& [name, value] : conditions_[i])
                text += fmt::format("{}={}\n", name, record::to_string(value));
            joined_.push_back(joined.try_emplace({group[i], text}, i).first->second);
        }
    }

    void make_groups(const store::Key& key) {
        std::map<std::string, std::uint32_t> names;
        std::vector<std::string> name(runs_.size());
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            name[i] = group_name(collection_, runs_[i], key);
            names.emplace(name[i], 0);
        }
        for (auto& [text, index] : names) {
            index = static_cast<std::uint32_t>(out_.groups.size());
            out_.groups.push_back({.name = text});
        }
        std::unordered_map<std::string_view, std::uint32_t> machines;
        for (std::uint32_t i = 0; i < runs_.size(); ++i) {
            const auto run = runs_[i];
            group_[run] = names.at(name[i]);
            out_.groups[group_[run]].runs.push_back(run);
            machine_[run] = machines
                                .emplace(machine_of(collection_, run).id,
                                         static_cast<std::uint32_t>(machines.size()))
                                .first->second;
            order_[run] = i;
        }
    }

    void make_entries(const std::vector<store::Filter>& filters) {
        std::vector<bool> takes(collection_.series.size());
        for (std::uint32_t i = 0; i < takes.size(); ++i)
            takes[i] = std::ranges::all_of(
                filters, [&](const store::Filter& f) { return f.admits_series(i); });
        int measured = 0;
        record::Run disturbed;
        std::map<std::pair<std::uint32_t, record::Status>, std::size_t> missing;
        std::vector<std::size_t> used(collection_.series.size());
        for (std::uint32_t i = 0; i < collection_.observations.size(); ++i) {
            const auto& observation = collection_.observations[i];
            if (group_[observation.run] == nowhere || !takes[observation.series]) continue;
            const auto series = joined_[observation.series];
            measured += observation.value ? 1 : 0;
            deliver(observation, series);
            if (observation.cause) {
                auto& replica = disturbed.cases.emplace_back().replicas.emplace_back();
                disturbed.cases.back().status = observation.status;
                replica.telemetry.disturbed_by.push_back(*observation.cause);
            }
            // Values disturbed by others say nothing about the machine.
            if (!observation.value || !std::isfinite(*observation.value) ||
                *observation.value <= 0 || observation.status == record::Status::disturbed) {
                ++missing[{series, observation.status}];
                continue;
            }
            ++used[observation.series];
            entries_.push_back({.group = group_[observation.run],
                                .series = series,
                                .machine = machine_[observation.run],
                                .order = order_[observation.run],
                                .observation = i});
        }
        out_.busy = record::busy_of(disturbed);
        out_.busy.cases = measured;
        std::ranges::sort(entries_, {}, &Tracked::key);
        std::map<std::pair<std::uint32_t, std::string>, std::size_t> not_recorded;
        for (std::size_t i = 0; i < used.size(); ++i)
            if (used[i] > 0)
                for (const auto& name :
                     store::assumed(conditions_[joined_[i]], collection_.series[i]))
                    not_recorded[{joined_[i], name}] += used[i];
        for (const auto& [what, count] : not_recorded)
            out_.notes.push_back(say<text::history::assumed>(
                plain(name_of(collection_.series[what.first]), 300), with_blanks(what.second),
                count, record::text(conditions_[what.first], what.second)));
        // Cases that do not apply to a machine are not reported; all others are.
        for (const auto& [what, count] : missing)
            if (what.second != record::Status::skipped)
                out_.not_used.push_back(
                    {.where = say_count<text::history::in_runs>(
                         count, plain(collection_.series[what.first].question, 300)),
                     .reason = say<text::history::without_figure>(status_in_words(what.second))});
    }

    void deliver(const decide::Observation& seen, std::uint32_t series) {
        const auto& machine = machine_of(collection_, seen.run);
        const auto& what = collection_.series[seen.series];
        const auto delivered = decide::delivered_of(seen);
        if (!delivered || !decide::is_guest(machine) || what.place != "host") return;
        const double log = std::log(delivered->value);
        delivered_[{group_[seen.run], series}].push_back(
            {.seconds = collection_.runs[seen.run].started_seconds,
             .good = what.higher_is_better ? log : -log,
             .share = delivered->share});
    }

    Track track(std::span<const Tracked> entries) const {
        const auto& first = observation_of(entries.front());
        const auto& id = machine_of(collection_, first.run).id;
        Track track{.machine = id.empty() ? say<text::history::no_machine>() : plain(id, 100)};
        std::size_t days = 1; // they are in the order of time
        for (std::size_t i = 1; i < entries.size(); ++i)
            days += is_same_day(entries[i - 1], entries[i]) ? 0 : 1;
        const bool by_day = days >= fewest_days;
        track.by_run = !by_day && days < entries.size();
        for (auto at = entries.begin(); at != entries.end();) {
            auto end = at + 1;
            while (by_day && end != entries.end() && belong_together(*at, *end)) ++end;
            track.samples.push_back(sample({at, end}));
            at = end;
        }
        return track;
    }

    /// Has a machine come after another one had gone?
    static bool follow_one_another(const std::vector<Track>& tracks) {
        const auto ended = [](const Track& track) { return track.samples.back().seconds; };
        const auto first_end = std::ranges::min_element(tracks, {}, ended);
        return first_end != tracks.end() &&
               tracks.back().samples.front().seconds > ended(*first_end);
    }
    static Sample mean_sample(const Track& track) {
        Sample sample = track.samples.front();
        std::vector<double> good;
        std::vector<double> values;
        for (const auto& one : track.samples) {
            good.push_back(one.good);
            values.push_back(one.value);
        }
        sample.good = stats::mean(good);
        sample.value = stats::geometric_mean(values);
        return sample;
    }

    const decide::Observation& observation_of(const Tracked& entry) const {
        return collection_.observations[entry.observation];
    }
    const store::RunInfo& run_of(const Tracked& entry) const {
        return collection_.runs[runs_[entry.order]];
    }
    bool is_same_day(const Tracked& a, const Tracked& b) const {
        return day_of(run_of(a).started_seconds) == day_of(run_of(b).started_seconds);
    }
    /// The same day, and nothing that was recorded differs.
    bool belong_together(const Tracked& a, const Tracked& b) const {
        const auto& one = run_of(a);
        const auto& other = run_of(b);
        return is_same_day(a, b) && one.machine == other.machine && one.version == other.version &&
               observation_of(a).settings == observation_of(b).settings;
    }

    static void add_noise(Sample& sample, const decide::Observation& seen) {
        std::vector<double> logs;
        for (const auto& replica : decide::counted(seen)) logs.push_back(std::log(replica.value));
        sample.between_runs += std::pow(seen.between_runs.value_or(0), 2);
        if (logs.size() < 2) return;
        sample.replicas.variance += stats::variance(logs) / static_cast<double>(logs.size());
        sample.replicas.degrees += static_cast<double>(logs.size() - 1);
    }

    Sample sample(std::span<const Tracked> entries) const {
        const auto& first = observation_of(entries.front());
        std::vector<stats::Estimate> values;
        Sample sample{.seconds = run_of(entries.front()).started_seconds,
                      .settings = first.settings};
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        for (const auto& entry : entries) {
            const auto& observation = observation_of(entry);
            values.push_back({.value = *observation.value,
                              .low = observation.low.value_or(unknown),
                              .high = observation.high.value_or(unknown)});
            sample.runs.push_back(observation.run);
            add_noise(sample, observation);
        }
        const auto runs = static_cast<double>(entries.size());
        sample.replicas.variance /= runs * runs;
        sample.between_runs /= runs * runs;
        const auto combined = stats::combine_replicas(values);
        sample.value = combined.value;
        if (std::isfinite(combined.low)) sample.low = combined.low;
        if (std::isfinite(combined.high)) sample.high = combined.high;
        const bool more = collection_.series[first.series].higher_is_better;
        sample.good = more ? std::log(sample.value) : -std::log(sample.value);
        return sample;
    }

    const store::Collection& collection_;
    Tracks& out_;
    std::vector<std::uint32_t> runs_;
    std::vector<record::NamedList> conditions_; ///< of each series
    std::vector<std::uint32_t> joined_;         ///< for each series the first that it is one with
    std::vector<std::uint32_t> group_;          ///< of each run
    std::vector<std::uint32_t> machine_;
    std::vector<std::uint32_t> order_;
    std::vector<Tracked> entries_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<DeliveredRun>>
        delivered_; ///< by group and series
};

} // namespace

Result<Tracks> make_tracks(const store::Collection& collection, const HistoryOptions& options) {
    static const std::vector<std::string> keys{"instance", "machine",  "label",
                                               "cpu",      "campaign", "tag.KEY"};
    const auto key = make_key(collection, options.group);
    if (!key || key->of_series)
        return fail(fmt::format("--by: unknown key \"{}\"{}", plain(options.group),
                                suggestion(options.group, keys)));
    ASSAY_TRY(const auto filters, make_filters(collection, options.filter));
    Tracks tracks;
    for (const auto& problem : collection.problems)
        tracks.not_used.push_back({plain(problem.where), translated(plain(problem.reason))});
    Sorting{collection, *key, filters, tracks}.make_series();
    return tracks;
}

} // namespace assay::history
