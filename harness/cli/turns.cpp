// SPDX-License-Identifier: Apache-2.0
//
// `assay run --interleave` and what `assay plan --interleave` shows.

#include "cli/console.hpp"
#include "cli/progress.hpp"
#include "cli/reports.hpp"
#include "cli/summary.hpp"
#include "cli/verbs.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "registry/catalogue.hpp"
#include "run/runner.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

std::string words_of(const harness::Variant& setting) {
    std::string words;
    for (const auto& [name, value] : harness::changes_of(setting))
        words += fmt::format("{}{}={}", words.empty() ? "" : ", ", name, record::to_string(value));
    return words.empty() ? "no change" : words;
}

/// "old new | new old | old new | ...": the first pairs.
std::string order_of(const harness::Interleaving& turns) {
    constexpr int most_shown = 4;
    const int pairs = turns.plans.front().replicas;
    std::string order;
    for (int pair = 0; pair < std::min(pairs, most_shown); ++pair) {
        order += pair == 0 ? "" : " |";
        for (const auto index : harness::order_of_turns(pair, turns.settings.size()))
            order += " " + turns.settings[index].label;
    }
    return order + (pairs > most_shown ? " | ..." : "");
}

std::vector<const harness::Plan*> plans_of(const harness::Interleaving& turns) {
    std::vector<const harness::Plan*> plans;
    for (const auto& plan : turns.plans) plans.push_back(&plan);
    return plans;
}

json::Value outcomes_json(const harness::Interleaving& turns,
                          const std::vector<harness::Outcome>& outcomes) {
    json::Value document{{"pairing", outcomes.front().run.pairing->id},
                         {"order", outcomes.front().run.pairing->order},
                         {"settings", json::Value::array()}};
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        auto item = summary_json(outcomes[i]);
        item["setting"] = turns.settings[i].label;
        item["changes"] = record::to_json(harness::changes_of(turns.settings[i]));
        document["settings"].push_back(std::move(item));
    }
    return document;
}

/// Any that was stopped, any that went wrong, all done.
ExitCode exit_code_of(const std::vector<harness::Outcome>& outcomes) {
    ExitCode worst = ExitCode::done;
    for (const auto& outcome : outcomes) {
        const auto code = exit_code(outcome);
        if (worst == ExitCode::done || code == ExitCode::interrupted) worst = code;
    }
    return worst;
}

ExitCode show(const harness::Interleaving& turns, const std::vector<harness::Outcome>& outcomes,
              const Options& options) {
    std::vector<LabelledFile> files;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        files.push_back({.label = turns.settings[i].label, .file = outcomes[i].file});
        write_reports(outcomes[i].file, options.language);
    }
    const bool shown = !options.json && !options.quiet;
    if (shown) {
        print("\n");
        for (const auto& setting : turns.settings)
            print(fmt::format("{}: {}\n", setting.label, words_of(setting)));
        print("\n");
    }
    const auto page = write_comparison(files, shown, options.language);
    if (options.json) {
        auto document = outcomes_json(turns, outcomes);
        document["comparison"] = page ? json::Value(page->string()) : json::Value(nullptr);
        document["exit_code"] = static_cast<int>(exit_code_of(outcomes));
        print(json::to_text(document));
    } else {
        for (const auto& [label, file] : files)
            print(fmt::format("result of {}: {}\n", label, file.string()));
        if (page) print(fmt::format("comparison: {}\n", page->string()));
        if (outcomes.front().signal != 0)
            print("Interrupted: the same command with --resume continues these runs.\n");
    }
    if (options.open && page) open_in_browser(*page);
    return exit_code_of(outcomes);
}

} // namespace

Result<harness::Interleaving> interleaving_of(const harness::Catalogue& catalogue,
                                              const Options& options) {
    const auto settings = harness::parse_variants(options.interleave);
    if (!settings) return tl::unexpected{settings.error()};
    auto request = request_of(options);
    request.replicas = options.pairs;
    return harness::interleave(catalogue, request, *settings);
}

void show_turns(const harness::Interleaving& turns, const Options& options) {
    if (options.json) {
        json::Value document{{"pairs", turns.plans.front().replicas},
                             {"order", harness::order_word(turns.settings.size())},
                             {"expected_seconds", turns.expected_seconds},
                             {"notes", turns.notes},
                             {"settings", json::Value::array()}};
        for (std::size_t i = 0; i < turns.plans.size(); ++i)
            document["settings"].push_back(
                {{"setting", turns.settings[i].label},
                 {"changes", record::to_json(harness::changes_of(turns.settings[i]))},
                 {"plan", plan_as_json(turns.plans[i])}});
        return print(json::to_text(document));
    }
    const auto terminal = terminal_of(STDOUT_FILENO);
    std::string out;
    const bool by_library = !turns.settings.front().library.empty();
    for (std::size_t i = 0; i < (by_library ? turns.plans.size() : 1); ++i) {
        if (by_library) out += turns.settings[i].label + ":\n";
        out += cases_as_table(turns.plans[i]) + '\n';
    }
    for (const auto& setting : turns.settings)
        out += fmt::format("{}: {}\n", setting.label, words_of(setting));
    out += fmt::format("Order for each case:{}\n", order_of(turns));
    out += fmt::format("{}: {} cases x {} variants x {} pairs, about {} (min:s)\n",
                       turns.plans.front().suite, turns.plans.front().cases.size(),
                       turns.settings.size(), turns.plans.front().replicas,
                       clock_text(turns.expected_seconds));
    for (const auto& note : turns.notes) out += "Note: " + wrap(note, 6, terminal.width) + '\n';
    print(out);
}

ExitCode run_in_turns(const Options& options) {
    const auto catalogue = harness::read_catalogue();
    warn_of_problems(catalogue);
    const auto turns = interleaving_of(catalogue, options);
    if (!turns) return report(turns.error());
    if (options.dry_run) {
        show_turns(*turns, options);
        return ExitCode::done;
    }
    if (const auto met = check_machine(options); !met) return report(met.error());
    if (!options.quiet)
        for (const auto& note : turns->notes) fmt::print(stderr, "note: {}\n", note);
    const auto how = run_options_of(options);
    const auto outcomes = [&] {
        ProgressLine progress{plans_of(*turns), options.quiet};
        return harness::run_in_turns(*turns, how, progress);
    }();
    if (!outcomes) return report(outcomes.error());
    return show(*turns, *outcomes, options);
}

} // namespace assay::cli
