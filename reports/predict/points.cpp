// SPDX-License-Identifier: Apache-2.0
#include "predict/points.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/predict.hpp"
#include "document/words.hpp"
#include "stats/interval.hpp"
#include "store/find.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace assay::predict {

using namespace document;
namespace {

/// Number of a parameter of a case: where a symbol ("all") stands for a number, the setting of that name has it.
std::optional<double> number_named(const decide::Series& series, const record::NamedList& settings,
                                   std::string_view name) {
    const auto number = record::number(settings, name);
    return number ? number : record::number(series.parameters, name);
}

/// A published interval is Student's t over the replicas.
double log_error_of(const decide::Observation& observation) {
    if (!observation.low || !observation.high || !(*observation.low > 0) ||
        !(*observation.high > *observation.low))
        return 0;
    const double half = std::log(*observation.high / *observation.low) / 2;
    const std::size_t replicas = counted(observation).size();
    constexpr double normal = 1.96;
    if (observation.scope != record::IntervalScope::between_replicas || replicas < 2)
        return half / normal;
    return half / stats::student_factor(static_cast<double>(replicas) - 1, 0.95);
}

class Sorting {
public:
    Sorting(const store::Collection& collection, Collective collective,
            const std::vector<store::Filter>& filters)
        : all_{collection}, collective_{collective}, filters_{filters},
          benchmark_{fmt::format("collective.{}", to_string(collective))} {}

    MeasuredCurves take() {
        for (const auto& observation : all_.observations) add(observation);
        for (auto& [key, curve] : curves_) {
            std::ranges::stable_sort(curve.points, {}, &TimedPoint::bytes);
            out_.curves.push_back(std::move(curve));
        }
        return std::move(out_);
    }

private:
    void add(const decide::Observation& observation) {
        const auto& series = all_.series[observation.series];
        if (series.benchmark != benchmark_ || !observation.value) return;
        if (!std::ranges::all_of(filters_,
                                 [&](const store::Filter& f) { return f.admits(observation); }))
            return;
        const auto& settings = all_.settings[observation.settings];
        const auto bytes = number_named(series, settings, "message_bytes");
        const auto asked = number_named(series, settings, "bytes");
        const auto ranks = number_named(series, settings, "ranks");
        const auto nodes = number_named(series, settings, "machines");
        if (!ranks || !nodes || !(bytes ? bytes : asked)) {
            skip(observation, say<text::predict::incomplete>());
            return;
        }
        const double per_node = *ranks / *nodes;
        if (!(*ranks >= 2) || !(*nodes >= 1) || per_node != std::floor(per_node)) {
            skip(observation, say<text::predict::uneven>());
            return;
        }
        TimedPoint point{.bytes = bytes ? *bytes : *asked,
                         .nodes = *nodes,
                         .ranks_per_node = per_node,
                         .log_error = log_error_of(observation)};
        point.seconds = seconds_of(series, *observation.value, point.bytes, *ranks);
        if (!(point.seconds > 0) || !std::isfinite(point.seconds) || !(point.bytes > 0)) {
            skip(observation, say<text::predict::no_time>(series.metric));
            return;
        }
        auto& curve = curve_of(observation, series);
        curve.points.push_back(point);
        curve.runs.insert(observation.run);
        curve.machine_ids.insert(machine_of(observation).id);
    }

    double seconds_of(const decide::Series& series, double value, double bytes,
                      double ranks) const {
        if (series.unit == "s") return value;
        if (series.metric == "bus_bandwidth") return bytes * bus_factor(collective_, ranks) / value;
        if (series.metric == "algorithm_bandwidth") return bytes / value;
        return 0;
    }

    const record::Machine& machine_of(const decide::Observation& observation) const {
        return all_.machines[all_.runs[observation.run].machine];
    }

    MeasuredCurve& curve_of(const decide::Observation& observation, const decide::Series& series) {
        const auto& machine = machine_of(observation);
        const bool named = !machine.instance.empty() && machine.instance != "unknown";
        record::Case rest;
        static constexpr std::array<std::string_view, 3> varied{"bytes", "ranks", "machines"};
        for (const auto& parameter : series.parameters)
            if (std::ranges::find(varied, parameter.name) == varied.end())
                rest.parameters.push_back(parameter);
        const auto kind = series.place == "host" || machine.devices.empty()
                              ? machine.cpu_model
                              : join(device_kinds(machine));
        // Those of the team and its messages are what a curve is over.
        record::NamedList state = series.conditions;
        std::erase_if(state, [](const record::Named& condition) {
            static constexpr std::array<std::string_view, 3> of_team{"machines", "ranks", "path"};
            return std::ranges::find(of_team, condition.name) != of_team.end();
        });
        const auto words = store::conditions_in_words(state);
        MeasuredCurve curve{
            .machine = plain(named ? machine.instance : kind),
            .place = plain(words.empty() ? series.place : series.place + " (" + words + ")"),
            .library = plain(series.library),
            .what = plain(parameters_in_words(rest))};
        const auto key =
            std::tuple{curve.machine, curve.place, curve.library, curve.what, series.version};
        return curves_.try_emplace(key, std::move(curve)).first->second;
    }

    void skip(const decide::Observation& observation, std::string reason) {
        const auto& series = all_.series[observation.series];
        out_.not_used.push_back(
            {.where = plain(
                 fmt::format("{}: {}", all_.runs[observation.run].file.string(), series.what)),
             .reason = std::move(reason)});
    }

    const store::Collection& all_;
    Collective collective_;
    const std::vector<store::Filter>& filters_;
    std::string benchmark_;
    std::map<std::tuple<std::string, std::string, std::string, std::string, std::uint32_t>,
             MeasuredCurve>
        curves_;
    MeasuredCurves out_;
};

} // namespace

MeasuredCurves measured_curves(const store::Collection& collection, Collective collective,
                               const std::vector<store::Filter>& filters) {
    return Sorting{collection, collective, filters}.take();
}

// --- formulas ------------------------------------------------------------------------------------

namespace {

/// Rounds in which something doubles until it has reached all: ceil(log2 n).
double rounds(double ranks) { return std::ceil(std::log2(ranks)); }
double all_but_own(double ranks) { return (ranks - 1) / ranks; }
bool is_power_of_two(double ranks) { return std::exp2(std::round(std::log2(ranks))) == ranks; }

std::optional<Steps> allreduce(Algorithm algorithm, double n) {
    // Ranks beyond a power of two hand all they have to a neighbour first and get the sum at the end:
    // Thakur et al. 2005, 4.5.
    const double power = std::exp2(std::floor(std::log2(n)));
    const double extra = is_power_of_two(n) ? 0 : 2;
    switch (algorithm) {
    case Algorithm::ring: // Patarasuk, Yuan 2009: reduce-scatter, then all-gather
        return Steps{2 * (n - 1), 2 * all_but_own(n)};
    case Algorithm::recursive_doubling: // Thakur et al. 2005, 4.5
        return Steps{std::log2(power) + extra, std::log2(power) + extra};
    case Algorithm::halving_doubling: // Thakur et al. 2005, 4.5, after Rabenseifner
        return Steps{2 * std::log2(power) + extra, 2 * all_but_own(power) + extra};
    case Algorithm::binomial_tree: // reduce, then broadcast: Thakur et al. 2005, 4.3
        return Steps{2 * rounds(n), 2 * rounds(n)};
    case Algorithm::double_tree: // Sanders et al. 2009: up, then down, each at full bandwidth
        return Steps{2 * rounds(n), 2};
    case Algorithm::direct:
        break;
    }
    return std::nullopt;
}

/// Every rank ends with (or, mirrored, begins with) the blocks of all: Thakur et al. 2005, 4.1 and 4.2.
std::optional<Steps> gather(Algorithm algorithm, double n) {
    switch (algorithm) {
    case Algorithm::ring:
        return Steps{n - 1, all_but_own(n)};
    case Algorithm::halving_doubling: // beyond powers of two Bruck's, with the same cost
        return Steps{rounds(n), all_but_own(n)};
    default:
        return std::nullopt;
    }
}

std::optional<Steps> broadcast(Algorithm algorithm, double n) {
    switch (algorithm) {
    case Algorithm::binomial_tree: // Thakur et al. 2005, 4.3
        return Steps{rounds(n), rounds(n)};
    case Algorithm::halving_doubling: // scatter, then all-gather (van de Geijn): Thakur et al. 4.3
        if (!is_power_of_two(n)) return std::nullopt; // ranks of unequal parts wait for each other
        return Steps{2 * rounds(n), 2 * all_but_own(n)};
    case Algorithm::ring: // scatter by a tree, all-gather by a ring: Thakur et al. 2005, 4.3
        return Steps{rounds(n) + n - 1, 2 * all_but_own(n)};
    default:
        return std::nullopt;
    }
}

std::optional<Steps> alltoall(Algorithm algorithm, double n) {
    switch (algorithm) {
    case Algorithm::ring: // pairwise exchange: Thakur et al. 2005, 4.4
        return Steps{n - 1, all_but_own(n)};
    case Algorithm::
        recursive_doubling: { // Bruck et al. 1997: blocks whose number has the round's bit
        double blocks = 0;
        for (double bit = 1; bit < n; bit *= 2)
            blocks += std::floor(n / (2 * bit)) * bit + std::max(0.0, std::fmod(n, 2 * bit) - bit);
        return Steps{rounds(n), blocks / n};
    }
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<Steps> steps_of(Collective collective, Algorithm algorithm, double ranks) {
    if (!(ranks >= 2) || !std::isfinite(ranks)) return std::nullopt;
    switch (collective) {
    case Collective::allreduce:
        return allreduce(algorithm, ranks);
    case Collective::allgather:
    case Collective::reduce_scatter:
        return gather(algorithm, ranks);
    case Collective::broadcast:
        return broadcast(algorithm, ranks);
    case Collective::alltoall:
        return alltoall(algorithm, ranks);
    case Collective::send_receive: // everyone at once, to the next
        return algorithm == Algorithm::direct ? std::optional{Steps{1, 1}} : std::nullopt;
    }
    return std::nullopt;
}

std::optional<Levels> levels_of(Collective collective, Algorithm within, Algorithm between,
                                double nodes, double ranks_per_node) {
    const double k = nodes;
    const double g = ranks_per_node;
    const auto outer = steps_of(collective, between, k);
    if (!outer || !(g >= 1)) return std::nullopt;
    Levels levels{.within = {}, .between = *outer};
    // Each rank has the g-th part of what its node sends; the g parts share the link, so that the bytes
    // of the link are those of the whole message. Only in an all-to-all has each rank a message of its own.
    if (collective == Collective::alltoall) levels.between.bytes *= g;
    if (g < 2) return levels;
    const auto inner = [&](Collective part) { return steps_of(part, within, g); };
    switch (collective) {
    case Collective::allreduce: { // reduce-scatter, all-reduce between, all-gather
        const auto scatter = inner(Collective::reduce_scatter);
        if (!scatter) return std::nullopt;
        levels.within = {2 * scatter->messages, 2 * scatter->bytes};
        return levels;
    }
    case Collective::broadcast: { // scattered in the root's node, gathered in all
        // Its second half waits for ranks that begin late: up to 40% more than a sum says.
        if (between == Algorithm::halving_doubling) return std::nullopt;
        const auto gather = inner(Collective::allgather);
        if (!gather) return std::nullopt;
        levels.within = {rounds(g) + gather->messages, all_but_own(g) + gather->bytes};
        return levels;
    }
    case Collective::
        send_receive: // one rank of each node sends to the next node, the others meanwhile
        return levels;
    case Collective::allgather:
    case Collective::reduce_scatter:
    case Collective::alltoall: {
        const auto one = inner(collective);
        if (!one) return std::nullopt;
        levels.within = *one;
        return levels;
    }
    }
    return std::nullopt;
}

double bus_factor(Collective collective, double ranks) {
    switch (collective) {
    case Collective::allreduce:
        return 2 * all_but_own(ranks);
    case Collective::allgather:
    case Collective::reduce_scatter:
    case Collective::alltoall:
        return all_but_own(ranks);
    case Collective::broadcast:
    case Collective::send_receive:
        break;
    }
    return 1;
}

double least_bytes_of_node(Collective collective, double nodes, double ranks_per_node) {
    const double left = all_but_own(nodes);
    switch (collective) {
    case Collective::allreduce:
        return 2 * left;
    case Collective::allgather:
    case Collective::reduce_scatter:
        return left;
    case Collective::alltoall:
        return left * ranks_per_node;
    case Collective::broadcast:
    case Collective::send_receive:
        break;
    }
    return 1;
}

} // namespace assay::predict
