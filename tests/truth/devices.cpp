// SPDX-License-Identifier: Apache-2.0

#include "devices.hpp"

#include "made.hpp"
#include "record/reader.hpp"

#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay::truth {
namespace {

/// A case of the suite: its kind of work, and whose clock and memory it uses.
struct Measured {
    std::string benchmark;
    std::string work;
    record::NoisePlace place;
};

std::vector<Measured> cases_of(const std::filesystem::path& file) {
    const auto run = record::read_run(file);
    if (!run) throw std::runtime_error{run.error().message};
    std::vector<Measured> cases;
    for (const auto& c : run->cases)
        if (c.place.kind != "host" && c.spread && !c.metrics.empty())
            cases.push_back({c.benchmark, c.spread->source, record::noise_place(c, run->machine)});
    return cases;
}

/// 2% of a product, 1% of memory and transforms; 0 of what nothing is promised of.
double promised(const Measured& of) {
    if (of.benchmark.starts_with("gemm.")) return 0.02;
    return of.benchmark == "memory.stream" || of.benchmark == "fft.transform" ? 0.01 : 0;
}

/// Figures of two runs at different times, or that took turns.
std::vector<Figure> simulate(const std::vector<Measured>& cases, bool in_turns, std::size_t tables,
                             std::mt19937_64& random) {
    constexpr int replicas = 5;
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<std::size_t> any{0, cases.size() - 1};
    Count called;
    Count products;
    Count others;
    for (std::size_t table = 0; table < tables; ++table) {
        std::size_t planted = any(random);
        while (promised(cases[planted]) == 0) planted = any(random);
        test::CollectionMaker maker;
        std::map<std::pair<std::string, record::NoisePlace>, double> hours; // a run's, by work
        for (const char* label : {"A", "B"}) {
            const auto run = maker.run({.label = label});
            if (!in_turns) hours.clear();
            for (std::size_t i = 0; i < cases.size(); ++i) {
                const auto& of = cases[i];
                const auto level = record::noise_level(of.work, of.place);
                const auto hour =
                    hours.try_emplace({of.work, of.place}, level.between_runs * normal(random));
                const double log = hour.first->second -
                                   (*label == 'B' && i == planted ? std::log1p(promised(of)) : 0);
                std::vector<MadeReplica> made;
                for (int k = 0; k < replicas; ++k)
                    made.push_back(
                        {.value = 1e12 * std::exp(log + level.between_replicas * normal(random))});
                observe(maker, run, i, case_of(of.work, of.place, replicas), made);
            }
        }
        for (auto& run : maker.collection().runs)
            if (in_turns)
                run.pairing = record::Pairing{
                    .id = "pairs", .setting = run.label, .order = "ABBA", .changes = {}};
        const auto contrasts =
            contrasts_of(maker.collection(), cases.size(), {.minimum_effect = 0.005});
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (i != planted)
                called.add(is_called(contrasts[i]));
            else
                (cases[i].benchmark.starts_with("gemm.") ? products : others)
                    .add(contrasts[i].outcome == compare::ContrastOutcome::worse);
        }
    }
    const std::string name = in_turns ? "two H100 runs in turns: " : "two H100 runs: ";
    std::vector<Figure> figures{figure_of(name + "called different", called),
                                figure_of(name + "2% of a product found", products),
                                figure_of(name + "1% of memory or FFT found", others)};
    figures[0].at_most = 0.01;
    figures[2].at_least = 0.95;
    // Two runs at different times differ by 0.7% each: 2% of a product needs turns.
    if (in_turns) figures[1].at_least = 0.95;
    return figures;
}

} // namespace

std::vector<Figure> devices(const std::filesystem::path& file, std::size_t tables,
                            std::uint64_t seed) {
    const auto cases = cases_of(file);
    std::mt19937_64 random{seed};
    auto figures = simulate(cases, false, tables, random);
    for (auto& more : simulate(cases, true, tables, random)) figures.push_back(std::move(more));
    return figures;
}

} // namespace assay::truth
