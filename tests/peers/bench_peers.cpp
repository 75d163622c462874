// SPDX-License-Identifier: Apache-2.0
//
// The command behind scripts/bench-peers.
#include "comparison.hpp"
#include "json/json.hpp"
#include "machine/inventory.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace assay;
using peers::Row;

struct Group {
    const char* name;
    std::vector<Row> (*run)(const peers::Options&);
};
constexpr std::array groups{
    Group{"triad", peers::compare_triad},       Group{"gemm", peers::compare_gemm},
    Group{"workload", peers::compare_workload}, Group{"fft", peers::compare_fft},
    Group{"stencil", peers::compare_stencil},   Group{"allreduce", peers::compare_allreduce},
    Group{"network", peers::compare_network},   Group{"md", peers::compare_md},
};

/// Seconds in the unit that reads best, ratios with four digits.
std::string number(double value, const std::string& unit) {
    if (unit == "s" && std::abs(value) < 1e-6) return fmt::format("{:.1f} ns", value * 1e9);
    if (unit == "s" && std::abs(value) < 1e-3) return fmt::format("{:.1f} us", value * 1e6);
    if (unit == "s") return fmt::format("{:.1f} ms", value * 1e3);
    return fmt::format("{:.4f}", value);
}

std::string limit_words(const Row& row) {
    if (row.at_least && row.at_most && row.unit.empty())
        return fmt::format("{:.2f}..{:.2f}", *row.at_least, *row.at_most);
    if (row.at_least) return ">= " + number(*row.at_least, row.unit);
    if (row.at_most) return "<= " + number(*row.at_most, row.unit);
    return "-";
}

void show(const Row& row) {
    if (!row.not_measured.empty()) {
        std::cout << fmt::format("{:<58} not measured: {}\n", row.name, row.not_measured);
        return;
    }
    const std::string interval =
        row.low && row.high
            ? fmt::format("[{}, {}]", number(*row.low, row.unit), number(*row.high, row.unit))
            : "";
    const bool judged = row.at_least || row.at_most;
    std::cout << fmt::format("{:<58} {:>10} {:<24} {:<12} {}\n", row.name,
                             number(row.value, row.unit), interval, limit_words(row),
                             !judged     ? ""
                             : row.met() ? "met"
                                         : "MISSED");
    if (!row.note.empty()) std::cout << "    " << row.note << '\n';
    if (row.of.repeated != 0)
        std::cout << fmt::format("    other processes used more than 2% of the machine: {} pairs "
                                 "measured again, {} of {} disturbed at every attempt\n",
                                 row.of.repeated, row.of.disturbed, row.of.pairs);
    std::cout.flush();
}

template <class T>
json::Value or_null(const std::optional<T>& value) {
    return value ? json::Value(*value) : json::Value(nullptr);
}

json::Value to_json(const std::string& group, const Row& row) {
    return {{"group", group},
            {"name", row.name},
            {"unit", row.unit},
            {"value", row.not_measured.empty() ? json::Value(row.value) : json::Value(nullptr)},
            {"not_measured", row.not_measured},
            {"low", or_null(row.low)},
            {"high", or_null(row.high)},
            {"at_least", or_null(row.at_least)},
            {"at_most", or_null(row.at_most)},
            {"met", row.not_measured.empty() ? json::Value(row.met()) : json::Value(nullptr)},
            {"pairs", row.of.pairs},
            {"repeated", row.of.repeated},
            {"disturbed", row.of.disturbed},
            {"note", row.note}};
}

/// Runs one group. A group that cannot run is shown with its reason and counts as missed.
bool run(const Group& group, const peers::Options& options, bool as_json, json::Value& all) {
    try {
        bool met = true;
        for (const Row& row : group.run(options)) {
            met = met && row.met();
            if (as_json)
                all.push_back(to_json(group.name, row));
            else
                show(row);
        }
        return met;
    } catch (const std::exception& e) {
        std::cerr << group.name << ": could not be compared: " << e.what() << '\n';
        return false;
    }
}

} // namespace

int main(int argc, char** argv) {
    peers::Options options;
    bool as_json = false;
    std::vector<std::string> wanted;
    CLI::App app{"Compares assay with bare loops over the same libraries, taking turns (A B B A).\n"
                 "Ratios are the peer's time over ours: 1 is equal, above 1 we are faster.\n"
                 "Exit code 1 when a limit is missed, 2 for a wrong option.",
                 "bench-peers"};
    std::vector<std::string> names;
    for (const Group& group : groups) names.emplace_back(group.name);
    app.add_option("groups", wanted,
                   fmt::format("some of {}; all when none is named", fmt::join(names, ", ")))
        ->check(CLI::IsMember(names));
    app.add_option("--build", options.build, "build folder")->required();
    app.add_option("--pairs", options.plan.pairs, "pairs of each comparison")
        ->check(CLI::Range(2, 10000));
    app.add_option("--seconds", options.plan.turn_seconds, "of one turn; a pair has four")
        ->check(CLI::Range(0.001, 60.0));
    app.add_option("--size", options.gemm_size, "rows and columns of the matrices")
        ->check(CLI::Range(16, 65536));
    app.add_option("--threads", options.threads, "cores that both sides use (all)")
        ->check(CLI::Range(1, 4096));
    app.add_flag("--json", as_json, "the table as JSON");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    if (options.threads == 0) options.threads = machine::inspect().usable_cores.value_or(1);

    json::Value all = json::Value::array();
    bool met = true;
    for (const Group& group : groups)
        if (wanted.empty() || std::ranges::find(wanted, group.name) != wanted.end())
            met = run(group, options, as_json, all) && met;
    if (as_json) std::cout << json::to_text(all);
    return met ? 0 : 1;
}
