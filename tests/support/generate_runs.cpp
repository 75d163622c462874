// SPDX-License-Identifier: Apache-2.0
//
// Writes a fleet's results for scripts/bench-reports and for looking at reports of many runs; the model is
// in generated_runs.hpp.
//
//     generate_runs FOLDER [RUNS=160] [VALUES=20] [SEED=1]
//
// RUNS is spread over five instance types of four machines each and eight quarters; VALUES are the batch
// values kept of each replica: 20 make files of 150 kB, 150 those of 240 kB that a quick run writes.
//
//     generate_runs FOLDER --fleet NODES [NAMES]
//
// One run of each of so many nodes of one type, n00000 and on, in a quarter and in the one before. Every hundredth from
// n00050 on has become slow: in turns its memory, its matrix products or its peaks. One run in 200 was interrupted, and
// memory of a third of the nodes lost 3% by new firmware. NAMES is a file with names of nodes: three more runs of each, and nothing else.

#include "support/generated_runs.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <thread>

namespace {

assay::test::GeneratorOptions fleet_of(std::size_t nodes) {
    using namespace assay::test;
    GeneratorOptions options{.types = {usual_types().front()},
                             .machines = nodes,
                             .quarters = 2,
                             .runs = 4,
                             .values = 1,
                             .mishaps = false,
                             .interrupted = 0.005,
                             .days = 6,
                             .node = "n"};
    const auto text = [](const char* value) { return assay::record::Value{std::string{value}}; };
    options.steps.push_back({.benchmark = "memory.",
                             .seconds = quarter_start(0.5),
                             .ratio = 0.97,
                             .recorded = {{"system", text("Example board, firmware 2")}},
                             .share = 0.33});
    const std::array<PlantedStep, 3> kinds{{{.benchmark = "memory.", .ratio = 0.85},
                                            {.benchmark = "gemm.", .ratio = 0.88},
                                            {.benchmark = "peak.", .ratio = 0.88}}};
    for (std::size_t bad = 50; bad < nodes; bad += 100) {
        auto& step = options.steps.emplace_back(kinds[bad / 100 % kinds.size()]);
        step.seconds = quarter_start(0.5);
        step.machine = bad;
    }
    return options;
}

void write_fleet(const std::string& folder, std::size_t nodes, const char* names) {
    const auto options = fleet_of(nodes);
    std::set<std::size_t> again;
    if (names != nullptr) {
        std::ifstream file{names};
        for (std::string name; file >> name;) again.insert(std::stoul(name.substr(1)));
    }
    // The first run of each quarter; the others are retests.
    assay::test::write_runs(options, folder, std::thread::hardware_concurrency(),
                            [&](std::size_t machine, std::size_t turn) {
                                return names == nullptr
                                           ? turn % options.runs == 0
                                           : turn > options.runs && again.contains(machine);
                            });
}

} // namespace

int main(int argc, char** argv) {
    const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
    if (argc < 2 || *argv[1] == '-') {
        std::fputs("generate_runs FOLDER [RUNS=160] [VALUES=20] [SEED=1]\n"
                   "generate_runs FOLDER --fleet NODES [NAMES]\n",
                   stderr);
        return 2;
    }
    try {
        if (argc >= 4 && std::string{argv[2]} == "--fleet") {
            write_fleet(argv[1], std::stoul(argv[3]), argc > 4 ? argv[4] : nullptr);
            return 0;
        }
        const auto number = [&](std::size_t i, std::size_t otherwise) {
            return i < arguments.size() ? std::stoul(arguments[i]) : otherwise;
        };
        assay::test::GeneratorOptions options{
            .seed = number(4, 1), .values = number(3, 20), .steps = assay::test::usual_steps()};
        const std::size_t turns =
            assay::test::usual_types().size() * options.machines * options.quarters;
        options.runs = std::max<std::size_t>(1, (number(2, 160) + turns - 1) / turns);
        assay::test::write_runs(options, arguments[1], std::thread::hardware_concurrency());
        std::printf("%zu runs\n", assay::test::Generator{options}.size());
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "generate_runs: %s\n", error.what());
        return 2;
    }
}
