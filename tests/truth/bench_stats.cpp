// SPDX-License-Identifier: Apache-2.0
//
// The command behind scripts/bench-stats. Exit codes: 0 all figures as promised, 1 one is not, 2 usage,
// 3 nothing was there to test one with, 4 a program or file is missing.

#include "devices.hpp"
#include "json/json.hpp"
#include "limits.hpp"
#include "measure.hpp"
#include "purchases.hpp"
#include "simulate.hpp"
#include "weather.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace {

using assay::truth::Figure;

std::string limit_of(const Figure& figure) {
    if (figure.at_most) return fmt::format("<= {:.1f}%", 100 * *figure.at_most);
    if (figure.at_least) return fmt::format(">= {:.1f}%", 100 * *figure.at_least);
    return "-";
}
/// A figure without a limit is there to be read.
bool has_limit(const Figure& figure) { return figure.at_most || figure.at_least; }
/// Nothing was there to test: no promise is kept by that, and none is broken.
bool is_untested(const Figure& figure) { return has_limit(figure) && figure.of == 0; }
bool is_met(const Figure& figure) { return !has_limit(figure) || figure.met(); }

std::string verdict_of(const Figure& figure) {
    const std::string verdict = is_untested(figure) ? "NO DATA" : is_met(figure) ? "" : "NOT MET";
    return verdict.empty() || figure.note.empty() ? verdict + figure.note
                                                  : verdict + "; " + figure.note;
}

void print_table(const std::vector<Figure>& figures) {
    fmt::print("{:<56} {:>8} {:>9} {:>8}  {}\n", "FIGURE", "SHARE", "LIMIT", "TESTS", "");
    for (const Figure& figure : figures)
        fmt::print("{:<56} {:>8} {:>9} {:>8.0f}  {}\n", figure.what,
                   figure.of == 0 ? "-" : fmt::format("{:.2f}%", 100 * figure.value),
                   limit_of(figure), figure.of, verdict_of(figure));
}

void print_json(const std::vector<Figure>& figures) {
    auto list = assay::json::Value::array();
    for (const Figure& figure : figures) {
        assay::json::Value item{
            {"what", figure.what}, {"value", figure.value},
            {"tests", figure.of},  {"at_most", nullptr},
            {"at_least", nullptr}, {"met", is_met(figure) && !is_untested(figure)},
            {"note", figure.note}};
        if (figure.at_most) item["at_most"] = *figure.at_most;
        if (figure.at_least) item["at_least"] = *figure.at_least;
        list.push_back(std::move(item));
    }
    fmt::print("{}", assay::json::to_text(list));
}

/// The choices, in the order in which they run.
struct Part {
    const char* flag;
    const char* help;
    std::function<std::vector<Figure>()> run;
    bool is_wanted = false;
};

} // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): terminate() prints the exception's message
int main(int argc, char** argv) {
    CLI::App app{"Are the verdicts of `assay compare` and `assay check` and the probabilities of "
                 "purchases true?"};
    assay::truth::Simulation simulation;
    assay::truth::Measurement measurement;
    std::filesystem::path root;
    std::filesystem::path recording;
    bool does_record = false;
    assay::truth::LimitTrials trials;
    assay::truth::Purchases purchases;
    bool as_json = false;
    std::vector<Part> parts{
        {"--busy", "On this machine under planted loads, some 20 minutes, nothing else running",
         [&] { return assay::truth::measure_busy(measurement); }},
        {"--acceptance",
         "Acceptance runs on this machine, healthy and slowed; some ten minutes, nothing else "
         "running",
         [&] { return assay::truth::measure_acceptance(measurement); }},
        {"--measure", "On this machine, for up to half an hour",
         [&] {
             const auto measured = assay::truth::measure(measurement);
             if (does_record) assay::truth::write_recording(recording, measured.recorded);
             return measured.figures;
         }},
        {"--purchases", "Rankings of made-up offers: are probabilities and \"sure\" true?",
         [&] {
             purchases.seed = simulation.seed;
             return assay::truth::purchases(purchases);
         }},
        {"--limits", "Simulated nodes at, above and below a limit: how often PASS, how often FAIL?",
         [&] {
             trials.seed = simulation.seed;
             return assay::truth::limit_trials(trials);
         }},
        {"--devices", "Simulated pairs of runs of one H100: false differences, and planted ones",
         [&] {
             return assay::truth::devices(
                 root / "tests/decisions/real/h100-acceptance-interrupted.json",
                 simulation.comparisons / 10, simulation.seed);
         }},
        {"--weather",
         "Simulated runs of machines whose neighbours slow them, unseen or on one side",
         [&] { return assay::truth::weather(simulation.comparisons / 5, simulation.seed); }},
        {"--simulate", "From recorded replicas; what is done unless told otherwise", [&] {
             return assay::truth::simulate(assay::truth::read_recording(recording), simulation);
         }}};
    app.add_option("--build", measurement.build, "Build folder")
        ->required()
        ->check(CLI::ExistingDirectory);
    app.add_option("--root", root, "Source folder")->required()->check(CLI::ExistingDirectory);
    for (auto& part : parts) app.add_flag(part.flag, part.is_wanted, part.help);
    app.add_option("--nodes", trials.nodes, "Of --limits, for each row")->capture_default_str();
    app.add_option("--acceptances", measurement.acceptances, "Of each kind, of --acceptance")
        ->capture_default_str();
    app.add_option("--rankings", purchases.rankings, "Of --purchases, for each row")
        ->capture_default_str();
    app.add_option("--replicas", recording, "Recorded replicas [tests/truth/replicas.csv]");
    app.add_option("--tables", simulation.comparisons, "Simulated comparisons")
        ->capture_default_str();
    app.add_option("--seed", simulation.seed, "Of simulations")->capture_default_str();
    app.add_option("--comparisons", measurement.comparisons,
                   "Measured, of settings that are the same")
        ->capture_default_str();
    app.add_option("--pairs", measurement.pairs, "Of each of these")
        ->capture_default_str()
        ->check(CLI::Range(2, 100));
    app.add_option("--seconds", measurement.seconds, "For all of these")->capture_default_str();
    app.add_option("--planted", measurement.planted, "Measured comparisons with 3% planted")
        ->capture_default_str();
    app.add_option("--out", measurement.out, "Folder for measured results [a new one in /tmp]");
    app.add_flag("--record", does_record, "Write what was measured to --replicas");
    app.add_flag("--json", as_json, "Figures as JSON");
    CLI11_PARSE(app, argc, argv);
    try {
        if (recording.empty()) recording = root / "tests/truth/replicas.csv";
        measurement.suites = root / "tests/truth";
        std::vector<Figure> figures;
        if (measurement.out.empty())
            measurement.out = std::filesystem::temp_directory_path() /
                              fmt::format("assay-bench-stats-{}", ::getpid());
        if (std::ranges::none_of(parts, &Part::is_wanted)) parts.back().is_wanted = true;
        for (const auto& part : parts)
            if (part.is_wanted) std::ranges::move(part.run(), std::back_inserter(figures));
        if (as_json)
            print_json(figures);
        else
            print_table(figures);
        if (std::ranges::any_of(figures,
                                [](const Figure& f) { return !is_untested(f) && !is_met(f); }))
            return 1;
        return std::ranges::any_of(figures, is_untested) ? 3 : 0;
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench-stats: {}\n", e.what());
        return 4;
    }
}
