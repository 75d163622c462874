// SPDX-License-Identifier: Apache-2.0
//
// The output of `assay run --interleave` and `assay plan --interleave`.

#include "cli/console.hpp"
#include "cli/reports.hpp"
#include "cli/summary.hpp"
#include "cli/verbs.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

std::string words_of(const plan::PlannedRun& run) {
    std::string words;
    for (const auto& [name, value] : run.pairing->changes)
        words += fmt::format("{}{}={}", words.empty() ? "" : ", ", name, record::to_string(value));
    return fmt::format("{}: {}\n", run.variant.label, words.empty() ? "no change" : words);
}

/// "old new | new old | old new | ...": the first pairs.
std::string order_of(const plan::Interleaving& turns) {
    constexpr int most_shown = 4;
    const int pairs = turns.runs.front().plan.replicas;
    std::string order;
    for (int pair = 0; pair < std::min(pairs, most_shown); ++pair) {
        order += pair == 0 ? "" : " |";
        for (const auto index : plan::order_of_turns(pair, turns.runs.size()))
            order += " " + turns.runs[index].variant.label;
    }
    return order + (pairs > most_shown ? " | ..." : "");
}

json::Value outcomes_json(const plan::Interleaving& turns,
                          const std::vector<run::Outcome>& outcomes, const FailOn& fail_on) {
    json::Value document{{"schema", "assay.outcomes/1"},
                         {"pairing", outcomes.front().run.pairing->id},
                         {"order", outcomes.front().run.pairing->order},
                         {"settings", json::Value::array()}};
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        auto item = summary_json(outcomes[i], fail_on);
        item["setting"] = turns.runs[i].variant.label;
        item["changes"] = record::to_json(turns.runs[i].pairing->changes);
        document["settings"].push_back(std::move(item));
    }
    return document;
}

ExitCode exit_code_of(const std::vector<run::Outcome>& outcomes, const FailOn& fail_on) {
    ExitCode worst = ExitCode::done;
    for (const auto& outcome : outcomes) worst = worse(worst, exit_code(outcome, fail_on));
    return worst;
}

} // namespace

ExitCode show_outcomes(const plan::Interleaving& turns, const std::vector<run::Outcome>& outcomes,
                       const Options& options) {
    std::vector<LabelledFile> files;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        files.push_back({.label = turns.runs[i].variant.label, .file = outcomes[i].file});
        if (!outcomes[i].was_complete) write_reports(outcomes[i].file, options.language);
    }
    const bool shown = !options.json && !options.quiet;
    if (shown) {
        print("\n");
        for (const auto& run : turns.runs) print(words_of(run));
        print("\n");
    }
    const auto page = write_comparison(files, shown, options.language);
    const auto code = exit_code_of(outcomes, options.fail_on);
    if (options.json) {
        auto document = outcomes_json(turns, outcomes, options.fail_on);
        document["comparison"] = page ? json::Value(page->string()) : json::Value(nullptr);
        document["exit_code"] = static_cast<int>(code);
        print_json(json::to_text(document));
    } else {
        for (const auto& [label, file] : files)
            print(fmt::format("result of {}: {}\n", label, file.string()));
        if (page) print(fmt::format("comparison: {}\n", page->string()));
        if (outcomes.front().was_complete)
            print("nothing left to measure: these runs are complete\n");
        if (outcomes.front().signal != 0)
            print("Interrupted: the same command with --resume continues these runs.\n");
    }
    if (options.open && page) open_in_browser(*page);
    return code;
}

void show_turns(const plan::Interleaving& turns, const Options& options) {
    if (options.json) {
        json::Value document{{"schema", "assay.plans/1"},
                             {"pairs", turns.runs.front().plan.replicas},
                             {"order", plan::order_word(turns.runs.size())},
                             {"expected_seconds", turns.expected_seconds},
                             {"notes", turns.notes},
                             {"settings", json::Value::array()}};
        for (const auto& run : turns.runs)
            document["settings"].push_back({{"setting", run.variant.label},
                                            {"changes", record::to_json(run.pairing->changes)},
                                            {"plan", plan_as_json(run.plan)}});
        print_json(json::to_text(document));
        return;
    }
    const auto terminal = terminal_of(STDOUT_FILENO);
    std::string out;
    const bool by_library = !turns.runs.front().variant.library.empty();
    for (std::size_t i = 0; i < (by_library ? turns.runs.size() : 1); ++i) {
        if (by_library) out += turns.runs[i].variant.label + ":\n";
        out += cases_as_table(turns.runs[i].plan) + '\n';
    }
    for (const auto& run : turns.runs) out += words_of(run);
    out += fmt::format("Order for each case:{}\n", order_of(turns));
    out += fmt::format("{}: {}\n", turns.runs.front().plan.suite, size_in_words(turns));
    for (const auto& note : turns.notes) out += "Note: " + indented(note, 6, terminal.width) + '\n';
    print(out);
}

} // namespace assay::cli
