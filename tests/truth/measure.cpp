// SPDX-License-Identifier: Apache-2.0

#include "measure.hpp"

#include "child.hpp"
#include "json/json.hpp"
#include "store/collection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay::truth {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string name_of(const std::string& benchmark, const std::string& library,
                    const std::string& what) {
    std::string name = fmt::format("{} {} {}", benchmark, library, what);
    std::ranges::replace(name, ',', ';');
    return name;
}

/// The pairs of both runs, relative to the mean of all; above 1 is better.
void add_pairs(Comparison& comparison, const std::vector<std::string>& inputs) {
    const auto collection = store::collect(inputs);
    if (!collection) throw std::runtime_error{collection.error().message};
    std::map<std::string, std::map<int, std::map<std::uint32_t, double>>> logs;
    for (const auto& observation : collection->observations) {
        const auto& series = collection->series[observation.series];
        const double direction = series.higher_is_better ? 1 : -1;
        for (const auto& replica : decide::counted(observation))
            logs[name_of(series.benchmark, series.library, series.what)][replica.index]
                [observation.run] = direction * std::log(replica.value);
    }
    for (auto& [name, pairs] : logs) {
        double sum = 0;
        std::erase_if(pairs, [](const auto& pair) { return pair.second.size() != 2; });
        for (const auto& [index, sides] : pairs)
            for (const auto& [run, log] : sides) sum += log;
        const double center = sum / 2 / static_cast<double>(pairs.size());
        auto& recorded = comparison[name].recorded;
        recorded.series = name;
        for (const auto& [index, sides] : pairs)
            recorded.pairs.emplace_back(std::exp(sides.begin()->second - center),
                                        std::exp(sides.rbegin()->second - center));
    }
}

} // namespace

/// JSON printed by a program.
json::Value answer_of(const std::vector<std::string>& arguments,
                      const peers::Variables& variables) {
    peers::Spawned program{arguments, variables};
    std::string text;
    for (std::string line = program.read_line(); !line.empty(); line = program.read_line())
        text += line;
    const int code = program.wait();
    auto document = json::parse(text, arguments.front());
    // 1 says that a case went wrong; its series is missing then, and counted as such.
    if (!document || (code != 0 && code != 1))
        throw std::runtime_error{fmt::format("`{}` ended with exit code {} and {} bytes of output",
                                             fmt::join(arguments, " "), code, text.size())};
    return *std::move(document);
}

Comparison compare(const Measurement& measurement, const std::string& suite,
                   const std::string& second, std::size_t pairs,
                   const std::filesystem::path& folder) {
    const auto run = answer_of(
        {(measurement.build / "bin/assay").string(), "run", (measurement.suites / suite).string(),
         "--interleave", "A:", "--interleave", second, "--pairs", std::to_string(pairs), "--out",
         folder.string(), "--json", "--quiet"},
        {{"ASSAY_MODULE_PATH", (measurement.build / "tests/slowed").string()}});
    std::vector<std::string> inputs;
    for (const auto& setting : run.at("settings"))
        inputs.push_back(fmt::format("{}={}", setting.at("setting").get<std::string>(),
                                     setting.at("file").get<std::string>()));
    std::vector<std::string> arguments{(measurement.build / "bin/assay-report").string(),
                                       "compare"};
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
    arguments.emplace_back("--json");
    Comparison comparison;
    add_pairs(comparison, inputs);
    const auto answer = answer_of(arguments, {});
    for (const auto& table : answer.at("tables"))
        for (const auto& row : table.at("rows")) {
            auto& seen =
                comparison[name_of(row.at("benchmark"), row.at("library"), row.at("what"))];
            const auto& contrast = row.at("cells").at(1).at("contrast");
            seen.outcome = contrast.at("outcome");
            seen.ratio = contrast.at("ratio").is_number() ? contrast.at("ratio").get<double>() : 0;
            seen.detectable =
                contrast.at("detectable").is_number() ? contrast.at("detectable").get<double>() : 0;
        }
    return comparison;
}

bool is_called(const Seen& seen) { return seen.outcome == "better" || seen.outcome == "worse"; }

namespace {

void say(const std::string& line) { std::fputs((line + '\n').c_str(), stderr); }

Figure measure_nothing(const Measurement& measurement, std::vector<Recorded>& recorded) {
    const auto start = Clock::now();
    Count called;
    std::size_t done = 0;
    for (; done < measurement.comparisons; ++done) {
        const double spent = seconds_since(start);
        if (done > 0 &&
            spent * static_cast<double>(done + 1) / static_cast<double>(done) > measurement.seconds)
            break;
        const auto comparison = compare(measurement, "twelve.json", "B:", measurement.pairs,
                                        measurement.out / fmt::format("same-{}", done));
        std::string differing;
        for (const auto& [name, seen] : comparison) {
            called.add(is_called(seen));
            if (is_called(seen))
                differing += fmt::format("; {} {} {:.3f}", name, seen.outcome, seen.ratio);
            auto place = std::ranges::find(recorded, name, &Recorded::series);
            if (place == recorded.end())
                recorded.push_back(seen.recorded);
            else
                std::ranges::copy(seen.recorded.pairs, std::back_inserter(place->pairs));
        }
        say(fmt::format("the same against the same, {} of {}: {:.0f} s{}", done + 1,
                        measurement.comparisons, seconds_since(start), differing));
    }
    auto figure = figure_of("measured: called different, nothing changed", called);
    figure.at_most = 0.01;
    figure.note = fmt::format("{} comparisons of {} pairs in {:.0f} s", done, measurement.pairs,
                              seconds_since(start));
    return figure;
}

std::vector<Figure> measure_planted(const Measurement& measurement) {
    constexpr std::size_t pairs = 10;
    constexpr double steady = 0.01;
    Count found;
    Count found_noisy;
    const auto start = Clock::now();
    for (std::size_t i = 0; i < measurement.planted; ++i) {
        const auto comparison = compare(measurement, "planted.json", "B: SLOWED_BY=0.03", pairs,
                                        measurement.out / fmt::format("planted-{}", i));
        for (const auto& [name, seen] : comparison) {
            const double deviation = seen.recorded.paired_deviation();
            (deviation <= steady ? found : found_noisy).add(seen.outcome == "worse");
            say(fmt::format("planted 3%, {} of {}: {}: {} {:.4f}, pairs within {:.2f}%", i + 1,
                            measurement.planted, name, seen.outcome, seen.ratio, 100 * deviation));
        }
    }
    std::vector<Figure> figures{
        figure_of("measured: planted 3% found, pairs within 1%", found),
        figure_of("measured: planted 3% found, noisier pairs", found_noisy)};
    figures[0].at_least = 0.95;
    figures[0].note = fmt::format("{} comparisons of {} pairs in {:.0f} s", measurement.planted,
                                  pairs, seconds_since(start));
    return figures;
}

} // namespace

Measured measure(const Measurement& measurement) {
    Measured measured;
    if (measurement.comparisons > 0)
        measured.figures.push_back(measure_nothing(measurement, measured.recorded));
    if (measurement.planted > 0)
        std::ranges::copy(measure_planted(measurement), std::back_inserter(measured.figures));
    return measured;
}

} // namespace assay::truth
