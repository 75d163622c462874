// SPDX-License-Identifier: Apache-2.0
#include "compare/sides.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "record/model.hpp"
#include "store/find.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace assay::compare {

using namespace document;
namespace {

/// "AMD EPYC 9R14, c7a.large", "Xeon 8480C, p5en.48xlarge, 8 x NVIDIA H200 (141 GiB)"; several kinds are counted.
std::set<std::string> kinds_of(const store::Collection& collection, const Participants& side) {
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

std::string dates_in_words(const store::Collection& collection, const Participants& side) {
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

/// Facts that all machines of a side share: memory to 2%, because kernels
/// keep some of it (decisions/comparison.md 0144).
template <class Of>
std::optional<double> of_all(const store::Collection& collection, const Participants& side, Of of) {
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

std::vector<std::string> campaigns_of(const store::Collection& collection,
                                      const Participants& side) {
    std::set<std::string> campaigns;
    for (const auto run : side.runs)
        if (const auto& name = collection.runs[run].campaign; !name.empty())
            campaigns.insert(plain(name));
    return {campaigns.begin(), campaigns.end()};
}

std::string pooled(const std::vector<std::string>& campaigns) {
    return say<text::compare::pools>(campaigns.size(), list_of(campaigns, 6)); // six say enough
}

} // namespace

std::vector<ComparedSide> describe_sides(const store::Collection& collection,
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
        std::size_t partial = 0;
        for (const auto run : who.runs) {
            side.files.push_back(plain(collection.runs[run].file.string()));
            partial += collection.runs[run].partial ? 1 : 0;
        }
        side.campaigns = campaigns_of(collection, who);
        if (partial > 0)
            side.what = join({side.what, say<text::compare::partial>(partial, side.runs)});
        if (side.campaigns.size() > 1) side.what = join({side.what, pooled(side.campaigns)});
        sides.push_back(std::move(side));
    }
    return sides;
}

bool are_places_apart(const store::Collection& collection, const Arrangement& arrangement) {
    std::map<std::string, std::set<std::size_t>> sides_at;
    for (const auto& row : arrangement.rows)
        for (std::size_t side = 0; side < row.sides.size(); ++side)
            for (const auto index : row.sides[side])
                sides_at[collection.series[collection.observations[index].series].place].insert(
                    side);
    return std::ranges::all_of(sides_at, [](const auto& at) { return at.second.size() == 1; });
}

std::vector<std::string> notes_of(const store::Collection& collection,
                                  const Arrangement& arrangement, const Units& units) {
    std::vector<std::string> notes;
    const auto& sides = units.sides();
    const auto& names = arrangement.sides;
    for (std::size_t i = 0; i < sides.size(); ++i)
        if (const auto campaigns = campaigns_of(collection, sides[i]); campaigns.size() > 1)
            notes.push_back(say<text::compare::note_pooled>(names[i], pooled(campaigns)));
    if (units.unit() == Unit::replica && !units.paired(sides.size() - 1))
        notes.push_back(say<text::compare::note_processes>());
    const bool one_machine = std::ranges::all_of(
        sides, [&](const Participants& side) { return side.machines == sides.front().machines; });
    std::vector<std::string> same_machines;
    std::vector<std::string> alone;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const auto kinds = kinds_of(collection, sides[i]);
        if (kinds.size() > 1)
            notes.push_back(say<text::compare::note_mixed>(
                names[i], list_of({kinds.begin(), kinds.end()}, 3))); // three say enough
        if (units.unit() == Unit::run && sides[i].runs.size() == 1)
            notes.push_back(say<text::compare::note_one_run>(names[i]));
        // The same machine on all sides needs no warning: it is the same.
        if (sides[i].machines.size() == 1 && !one_machine) alone.push_back(names[i]);
        if (i == 0 || !units.paired(i)) continue;
        if (units.unit() == Unit::replica || !sides[i].sessions.empty())
            notes.push_back(say<text::compare::note_interleaved>(names[i], names.front()));
        else
            same_machines.push_back(names[i]);
    }
    if (!alone.empty())
        notes.push_back(say<text::compare::note_one_machine>(list_of(alone, 4))); // as below
    if (!same_machines.empty())
        notes.push_back(say<text::compare::note_same_machines>(
            list_of(same_machines, 4), names.front())); // four names; the rest is a number
    return notes;
}

std::vector<std::string> notes_of_cell(const store::Collection& collection,
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
        for (const auto& name : store::assumed(conditions, collection.series[series]))
            not_recorded[name] += count;
    std::vector<std::string> notes;
    // For one run the ratio says so.
    if (unstable > 0 && measured > 1)
        notes.push_back(say<text::compare::unstable>(unstable, measured));
    if (left_out > 0 && left_out < measured)
        notes.push_back(say<text::compare::left_out>(left_out, measured));
    if (disturbed > 0 && measured > 1)
        notes.push_back(say<text::compare::disturbed>(disturbed, measured));
    for (const auto& [name, count] : not_recorded)
        notes.push_back(say<text::compare::assumed>(with_blanks(name), count, measured,
                                                    record::text(conditions, name)));
    for (auto& reason : reasons_of(collection, observations)) notes.push_back(std::move(reason));
    return notes;
}

std::optional<double> share_of_ceiling(const store::Collection& collection, const ArrangedRow& row,
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

// --- unlike --------------------------------------------------------------------------------------

namespace {

/// Difference of two series, in words for each: "size 1024" and "size 2048".
struct Apart {
    std::vector<std::string> here;
    std::vector<std::string> there;
    std::string cause; ///< the first that is there: "different libraries"
    double distance =
        0; ///< of numbers, by their logarithms: size 1000 is nearer to 1024 than to 8192

    void add(std::string why, std::string one, std::string other) {
        if (here.empty()) cause = std::move(why);
        here.push_back(std::move(one));
        there.push_back(std::move(other));
    }
    auto rank() const { return std::tuple{std::isinf(distance), here.size(), distance}; }
};

std::string parameter_text(const record::Value* value, const std::string& name) {
    if (value == nullptr) return say<text::compare::without>(plain(with_blanks(name)));
    return plain(fmt::format("{} {}", with_blanks(name), record::to_string(*value)));
}

void compare_parameters(Apart& apart, const record::NamedList& a, const record::NamedList& b) {
    const record::NameIndex of_a{a};
    const record::NameIndex of_b{b};
    const auto add = [&](const std::string& name) {
        const auto* one = of_a.find(name);
        const auto* other = of_b.find(name);
        if (one != nullptr && other != nullptr && *one == *other) return;
        apart.add(say<text::compare::other_parameters>(), parameter_text(one, name),
                  parameter_text(other, name));
        const auto x = record::number(a, name);
        const auto y = record::number(b, name);
        if (x && y && *x > 0 && *y > 0) apart.distance += std::abs(std::log(*x / *y));
    };
    for (const auto& parameter : a) add(parameter.name);
    for (const auto& parameter : b)
        if (of_a.find(parameter.name) == nullptr) add(parameter.name);
}

Apart differences(const store::Collection& collection, const Arrangement& arrangement,
                  const ArrangedRow& one, const ArrangedRow& other) {
    const decide::Series& a = collection.series[one.series];
    const decide::Series& b = collection.series[other.series];
    Apart apart;
    if (!arrangement.place_is_column && a.place != b.place) {
        apart.add(say<text::compare::other_device>(), plain(a.place), plain(b.place));
        apart.distance = std::numeric_limits<double>::infinity(); // all else follows from that
        return apart;
    }
    if (!arrangement.library_is_column && a.library != b.library)
        apart.add(say<text::compare::other_library>(), plain(a.library), plain(b.library));
    if (a.version != b.version)
        apart.add(say<text::compare::other_version>(), say<text::compare::version>(a.version),
                  say<text::compare::version>(b.version));
    compare_parameters(apart, parameters_of(collection, arrangement, one),
                       parameters_of(collection, arrangement, other));
    if (a.metric != b.metric)
        apart.add(say<text::compare::other_metric>(), plain(metric_title(a.metric)),
                  plain(metric_title(b.metric)));
    else if (a.unit != b.unit || a.higher_is_better != b.higher_is_better)
        apart.add(say<text::compare::other_metric>(), plain(a.unit), plain(b.unit));
    for (const auto& condition : record::condition_table()) {
        const auto* here = record::find(one.conditions, condition.name);
        const auto* there = record::find(other.conditions, condition.name);
        if (here == there || (here != nullptr && there != nullptr && *here == *there)) continue;
        apart.add(say<text::compare::other_conditions>(),
                  store::condition_in_words(one.conditions, condition.name),
                  store::condition_in_words(other.conditions, condition.name));
    }
    return apart;
}

class Finder {
public:
    Finder(const store::Collection& collection, const Arrangement& arrangement,
           const std::vector<std::vector<bool>>& measured)
        : collection_{collection}, arrangement_{arrangement}, measured_{measured},
          runs_(arrangement.sides.size()) {
        for (std::size_t i = 0; i < measured.size(); ++i)
            if (std::ranges::count(measured[i], false) > 0)
                lacking_[collection.series[arrangement.rows[i].series].benchmark].push_back(i);
        for (const auto& row : arrangement.rows)
            for (std::size_t side = 0; side < row.sides.size(); ++side)
                for (const auto index : row.sides[side])
                    runs_[side].insert(&collection.runs[collection.observations[index].run]);
    }

    std::vector<NotCompared> find() {
        for (std::size_t row = 0; row < measured_.size(); ++row) {
            const auto& has = measured_[row];
            const auto first = std::ranges::find(has, true);
            for (std::size_t side = 0; side < has.size(); ++side)
                if (!has[side]) look(row, side, static_cast<std::size_t>(first - has.begin()));
        }
        return std::move(found_);
    }

private:
    /// `row` is lacking on `side`; `other` is a side that has it, or past the end.
    void look(std::size_t row, std::size_t side, std::size_t other) {
        const auto& arranged = arrangement_.rows[row];
        const auto reasons = reasons_of(collection_, arranged.sides[side]);
        if (!reasons.empty())
            return add(row, side, fmt::format("{}", fmt::join(reasons, "; ")),
                       failure_of(arranged.sides[side]));
        if (other >= arrangement_.sides.size()) return; // the side where it failed says why
        std::size_t match = row;
        std::optional<Apart> nearest;
        for (const auto candidate : lacking_[collection_.series[arranged.series].benchmark]) {
            if (candidate == row || !measured_[candidate][side] || measured_[candidate][other] ||
                arrangement_.rows[candidate].table != arranged.table ||
                arrangement_.rows[candidate].extra != arranged.extra)
                continue;
            auto apart =
                differences(collection_, arrangement_, arranged, arrangement_.rows[candidate]);
            if (nearest && nearest->rank() <= apart.rank()) continue;
            nearest = std::move(apart);
            match = candidate;
        }
        if (!nearest) return add(row, side, "", absence_of(side, arranged.sides[other]));
        // Seen from the other row it is the same thing; said once.
        if (!said_.insert(std::minmax(row, match)).second) return;
        constexpr std::size_t told = 4; // of what is different
        add(row, side,
            say<text::compare::unlike>(list_of(nearest->here, told), arrangement_.sides[other],
                                       list_of(nearest->there, told), arrangement_.sides[side]),
            nearest->cause, NotComparedCode::unlike);
    }
    /// "incorrect": the status of those without a figure.
    std::string failure_of(const std::vector<std::uint32_t>& observations) const {
        const auto failed = std::ranges::find_if(observations, [&](std::uint32_t index) {
            return !collection_.observations[index].value;
        });
        return std::string{status_in_words(collection_.observations[*failed].status)};
    }
    /// Why a side has nothing of a row that others measured in these observations.
    std::string absence_of(std::size_t side, const std::vector<std::uint32_t>& others) const {
        const auto& runs = runs_[side];
        if (std::ranges::any_of(runs, &store::RunInfo::partial))
            return say<text::compare::run_ended>();
        const bool in_suite = std::ranges::any_of(others, [&](std::uint32_t index) {
            const auto& suite = collection_.runs[collection_.observations[index].run].suite;
            return std::ranges::any_of(
                runs, [&](const store::RunInfo* run) { return run->suite == suite; });
        });
        return in_suite ? say<text::compare::not_measured>() : say<text::compare::other_suite>();
    }
    void add(std::size_t row, std::size_t side, std::string reason, std::string cause,
             NotComparedCode code = NotComparedCode::other) {
        auto what = identity_of(collection_, arrangement_, arrangement_.rows[row]);
        if (reason.empty()) reason = std::exchange(cause, {});
        // Sides of one row come one after the other.
        if (!found_.empty() && found_.back().what == what && found_.back().reason == reason)
            found_.back().where.push_back(arrangement_.sides[side]);
        else
            found_.push_back({std::move(what),
                              std::move(reason),
                              {arrangement_.sides[side]},
                              std::move(cause),
                              code});
    }

    const store::Collection& collection_;
    const Arrangement& arrangement_;
    const std::vector<std::vector<bool>>& measured_;
    std::map<std::string, std::vector<std::size_t>> lacking_; ///< rows, by benchmark
    std::vector<std::set<const store::RunInfo*>> runs_;       ///< of each side
    std::set<std::pair<std::size_t, std::size_t>> said_;
    std::vector<NotCompared> found_;
};

} // namespace

std::vector<std::string> reasons_of(const store::Collection& collection,
                                    const std::vector<std::uint32_t>& observations) {
    std::map<std::pair<record::Status, std::string>, std::size_t> counts;
    for (const auto index : observations) {
        const auto& observation = collection.observations[index];
        if (!observation.value)
            ++counts[{observation.status, translated(plain(observation.reason))}];
    }
    std::vector<std::pair<std::size_t, std::string>> sorted;
    for (const auto& [what, count] : counts) {
        std::string text{status_in_words(what.first)};
        if (!what.second.empty()) text = say<text::words::labelled>(text, what.second);
        if (observations.size() > 1)
            text = say<text::compare::in_runs>(text, count, observations.size());
        sorted.emplace_back(count, std::move(text));
    }
    std::ranges::stable_sort(sorted, std::greater{}, [](const auto& entry) { return entry.first; });
    std::vector<std::string> texts;
    for (auto& [count, text] : sorted) texts.push_back(std::move(text));
    return texts;
}

std::vector<NotCompared> find_unlike(const store::Collection& collection,
                                     const Arrangement& arrangement,
                                     const std::vector<std::vector<bool>>& measured) {
    return Finder{collection, arrangement, measured}.find();
}

} // namespace assay::compare
