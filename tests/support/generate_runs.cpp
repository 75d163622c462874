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
//     generate_runs FOLDER --models
//
// A run of whole language models on an H100, at three quarters of their bounds.
//
//     generate_runs FOLDER --fleet NODES [NAMES]
//
// One run of each of so many nodes of one type, n00000 and on, in a quarter and in the one before. Every hundredth from
// n00050 on has become slow: in turns its memory, its matrix products or its peaks. One run in 200 was interrupted, and
// memory of a third of the nodes lost 3% by new firmware. NAMES is a file with names of nodes: three more runs of each, and nothing else.

#include "record/convert.hpp"
#include "record/summary.hpp"
#include "support/generated_runs.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>

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

using assay::record::NamedList;

/// A call of `seconds` that gives so many tokens.
assay::record::Case model_case(assay::record::Case c, const char* id, NamedList parameters,
                               double tokens, double seconds) {
    c.benchmark = id;
    c.library = "cublaslt";
    c.place = {.kind = "cuda"};
    c.parameters = {{"model", std::string{"llama3_8b"}}};
    for (auto& one : parameters) c.parameters.push_back(std::move(one));
    c.parameters.insert(c.parameters.end(), {{"layers", std::int64_t{0}},
                                             {"shards", std::string{"1"}},
                                             {"precision", std::string{"bf16"}}});
    c.settings = {{"items", std::string{"tokens"}}};
    c.work = {{"items", tokens}};
    c.headline = "item_rate";
    c.ceiling = {};
    c.other_ceilings.clear();
    for (auto& replica : c.replicas) {
        const double slower = seconds / replica.seconds.value_or(1);
        for (auto* figure : {&replica.seconds, &replica.low, &replica.high})
            if (*figure) **figure *= slower;
        for (auto& value : replica.values) value *= slower;
        replica.p99 = 1.03 * seconds;
        replica.extra.clear();
        replica.telemetry = {};
    }
    assay::record::conclude(c, static_cast<int>(c.replicas.size()));
    return c;
}

void write_models(const std::string& folder) {
    using namespace assay::test;
    const Generator generator{{.types = {{.provider = "lambda",
                                          .instance = "gpu_1x_h100_sxm5",
                                          .cpu_model = "Intel Xeon Platinum 8480+",
                                          .cores = 26,
                                          .speed = 1}},
                               .machines = 1,
                               .quarters = 1,
                               .runs = 1,
                               .benchmarks = {"stencil."},
                               .noise = 0.1,
                               .mishaps = false}};
    auto run = generator.run(0);
    const auto pattern = run.cases.front();
    run.cases.clear();
    struct Step {
        std::int64_t batch, context;
        double seconds;
    };
    for (const auto& [batch, context, seconds] :
         {Step{1, 1536, 6.6e-3}, Step{16, 1536, 7.9e-3}, Step{64, 1536, 12.1e-3},
          Step{16, 8704, 14.4e-3}, Step{32, 8704, 22.4e-3}})
        run.cases.push_back(model_case(pattern, "model.llm_decode",
                                       {{"batch", batch}, {"context", context}},
                                       static_cast<double>(batch), seconds));
    for (const auto& [tokens, seconds] :
         {std::pair{std::int64_t{2048}, 57e-3}, {std::int64_t{8192}, 253e-3}})
        run.cases.push_back(model_case(pattern, "model.llm_prefill",
                                       {{"batch", std::int64_t{1}}, {"tokens", tokens}},
                                       static_cast<double>(tokens), seconds));
    const auto path = std::filesystem::path{folder} / Generator::path(run);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << assay::record::to_text(run);
}

} // namespace

int main(int argc, char** argv) {
    const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
    if (argc < 2 || *argv[1] == '-') {
        std::fputs("generate_runs FOLDER [RUNS=160] [VALUES=20] [SEED=1]\n"
                   "generate_runs FOLDER --models\n"
                   "generate_runs FOLDER --fleet NODES [NAMES]\n",
                   stderr);
        return 2;
    }
    try {
        if (argc == 3 && std::string{argv[2]} == "--models") {
            write_models(argv[1]);
            return 0;
        }
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
