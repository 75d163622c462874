// SPDX-License-Identifier: Apache-2.0
//
// Runs of one machine whose neighbours slow it, unseen or partly seen by counters, on both sides or on one: how often
// does the report's own code call a difference where nothing differs, and how often is a planted one found? Their load
// was measured on virtual machines (decisions/comparison.md 0297); memory feels all of it, other kinds a share of its
// logarithm.

#include "weather.hpp"

#include "made.hpp"
#include "plan/manifest.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace assay::truth {
namespace {

using Random = std::mt19937_64;
using plan::Noise;

/// Slower by the factor exp(slow) for a while, then not at all.
struct Neighbours {
    const char* name;
    double seconds_on;
    double seconds_off;
    double least; ///< of the slowdown's logarithm
    double more;  ///< beyond it: exponential, with this mean
};
constexpr Neighbours worlds[] = {{"quiet", 1, 1, 0, 0},
                                 {"bursts", 10, 40, 0.05, 0.3},
                                 {"levels", 20, 20, 0.53, 0},
                                 {"weather", 300, 600, 0.05, 0.15}};

/// The sides that have them, and how many of the replicas that they slow are marked by counters.
struct Exposure {
    const char* name;
    bool one_side;
    double seen;
};
constexpr Exposure exposures[] = {{"", false, 0},
                                  {", seen", false, 0.7},
                                  {" on one side", true, 0},
                                  {" on one side, seen", true, 0.7}};

/// Course of the neighbours' load, from 0 on; times are asked for in order.
class Timeline {
public:
    Timeline(const Neighbours& world, Random& random)
        : world_{world}, random_{random},
          slow_{std::bernoulli_distribution{world.seconds_on /
                                            (world.seconds_on + world.seconds_off)}(random)} {
        begin();
    }
    double at(double seconds) {
        while (end_ <= seconds) {
            slow_ = !slow_;
            begin();
        }
        return slow_ ? by_ : 0;
    }

private:
    double exponential(double mean) {
        return mean > 0 ? std::exponential_distribution<double>{1 / mean}(random_) : 0;
    }
    void begin() {
        end_ += exponential(slow_ ? world_.seconds_on : world_.seconds_off);
        by_ = world_.least + exponential(world_.more);
    }

    const Neighbours& world_;
    Random& random_;
    bool slow_;
    double end_ = 0;
    double by_ = 0;
};

struct Kind {
    Noise noise;
    int cases;   ///< of the quick suite
    double felt; ///< of what neighbours do to memory
};
constexpr std::array kinds{Kind{Noise::arithmetic, 8, 0.02}, Kind{Noise::memory, 5, 1},
                           Kind{Noise::workload, 4, 0.15}, Kind{Noise::fft, 4, 0.4},
                           Kind{Noise::messages, 2, 0.3}};

struct Case {
    Noise noise;
    double felt;
    double deviation; ///< between replicas: its kind's, and its own
};

struct Design {
    const char* name;
    int runs; ///< a side
    int replicas;
    bool paired;
};
constexpr Design designs[] = {{"one run a side", 1, 5, false},
                              {"three runs a side", 3, 5, false},
                              {"five runs a side", 5, 5, false},
                              {"ten pairs in an hour", 1, 10, true}};

constexpr double round_seconds = 9; // a replica of every case

record::NoiseLevel level_of(Noise noise) {
    return record::noise_level(to_string(noise), record::NoisePlace::guest);
}

std::vector<Case> cases_of(Random& random) {
    std::normal_distribution<double> normal;
    std::vector<Case> cases;
    for (const auto& kind : kinds)
        for (int i = 0; i < kind.cases; ++i)
            cases.push_back({.noise = kind.noise,
                             .felt = kind.felt,
                             .deviation = level_of(kind.noise).between_replicas *
                                          std::exp(0.3 * normal(random))});
    return cases;
}

struct Setting {
    const Neighbours& world;
    const Exposure& exposure;
    const Design& design;
};

/// Two sides of one machine; of case `planted` the second is slower by the factor `change`.
store::Collection measure(const Setting& setting, const std::vector<Case>& cases,
                          std::size_t planted, double change, Random& random) {
    const auto& design = setting.design;
    test::CollectionMaker maker;
    std::normal_distribution<double> normal;
    std::bernoulli_distribution marks{setting.exposure.seen};
    const bool quiet_side = std::bernoulli_distribution{}(random);
    // Pairs are measured in one hour, runs at times that know nothing of each other.
    std::vector<std::vector<MadeReplica>> replicas(2 * cases.size());
    const auto take = [&](Timeline& time, double begun, bool second) {
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const double at =
                begun + round_seconds * static_cast<double>(i) / static_cast<double>(cases.size());
            const double by = setting.exposure.one_side && second == quiet_side ? 0 : time.at(at);
            const double slow = cases[i].felt * by + cases[i].deviation * normal(random);
            replicas[i + (second ? cases.size() : 0)].push_back(
                {.value = 1e11 * std::exp(-slow) / (second && i == planted ? change : 1),
                 .disturbed = by > 0 && marks(random)});
        }
    };
    const auto keep = [&](const char* label, std::size_t first) {
        const auto run = maker.run({.label = label});
        for (std::size_t i = 0; i < cases.size(); ++i)
            observe(maker, run, i,
                    case_of(to_string(cases[i].noise), record::NoisePlace::guest, design.replicas),
                    std::exchange(replicas[first + i], {}));
    };
    if (design.paired) {
        Timeline time{setting.world, random};
        for (int pair = 0; pair < design.replicas; ++pair)
            for (const bool later : {false, true}) {
                const double begun = 3600.0 * pair / design.replicas + (later ? round_seconds : 0);
                take(time, begun, later != (pair % 2 == 1)); // ABBA
            }
        keep("A", 0);
        keep("B", cases.size());
    } else {
        for (const bool second : {false, true})
            for (int run = 0; run < design.runs; ++run) {
                Timeline time{setting.world, random};
                for (int i = 0; i < design.replicas; ++i) take(time, i * round_seconds, second);
                keep(second ? "B" : "A", second ? cases.size() : 0);
            }
    }
    auto collection = maker.collection();
    if (design.paired)
        for (auto& run : collection.runs)
            run.pairing = record::Pairing{
                .id = "pairs", .setting = run.label, .order = "ABBA", .changes = {}};
    return collection;
}

std::vector<Figure> simulate(const Setting& setting, std::size_t tables, Random& random) {
    Count called;
    Count called_memory;
    Count found;
    Count found_memory;
    for (std::size_t table = 0; table < tables; ++table) {
        const auto cases = cases_of(random);
        // 3% of a product or a peak, 5% of a memory case.
        const std::size_t planted =
            std::uniform_int_distribution<std::size_t>{0, 12}(random); // the first two kinds
        const bool is_memory = cases[planted].noise == Noise::memory;
        const auto contrasts = contrasts_of(
            measure(setting, cases, planted, is_memory ? 1.05 : 1.03, random), cases.size());
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (i == planted) {
                (is_memory ? found_memory : found)
                    .add(contrasts[i].outcome == compare::ContrastOutcome::worse);
                continue;
            }
            called.add(is_called(contrasts[i]));
            if (cases[i].noise == Noise::memory) called_memory.add(is_called(contrasts[i]));
        }
    }
    const auto name =
        fmt::format("{}{}, {}: ", setting.world.name, setting.exposure.name, setting.design.name);
    std::vector<Figure> figures{figure_of(name + "called different, all cases", called),
                                figure_of(name + "called different, memory", called_memory),
                                figure_of(name + "3% of a peak or product found", found),
                                figure_of(name + "5% of memory found", found_memory)};
    // A side that is slowed by half for half of the time in each of its runs is slower, and there is no false verdict.
    if (!setting.exposure.one_side || setting.world.seconds_off > setting.world.seconds_on)
        figures[0].at_most = figures[1].at_most = 0.01;
    // Load on one side may be what a planted change looks like: found is asked of neither.
    if (setting.exposure.one_side || setting.exposure.seen > 0) figures.resize(2);
    return figures;
}

} // namespace

std::vector<Figure> weather(std::size_t tables, std::uint64_t seed) {
    Random random{seed};
    std::vector<Figure> figures;
    for (const auto& world : worlds)
        for (const auto& exposure : exposures)
            for (const auto& design : designs) {
                // Sides that take turns have the same neighbours; a quiet world has none.
                const bool is_plain = !exposure.one_side && exposure.seen == 0;
                if (!is_plain && (design.paired || world.more + world.least == 0)) continue;
                auto more = simulate({world, exposure, design}, tables, random);
                figures.insert(figures.end(), more.begin(), more.end());
            }
    return figures;
}

} // namespace assay::truth
