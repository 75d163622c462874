// SPDX-License-Identifier: Apache-2.0
//
// Writes a fleet's results for scripts/bench-reports and for looking at reports of many runs; the model is
// in generated_runs.hpp.
//
//     generate_runs FOLDER [RUNS=160] [VALUES=20] [SEED=1]
//
// RUNS is spread over five instance types of four machines each and eight quarters; VALUES are the batch
// values kept of each replica: 20 make files of 150 kB, 150 those of 240 kB that a quick run writes.

#include "support/generated_runs.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <thread>

int main(int argc, char** argv) {
    const std::span<char*> arguments{argv, static_cast<std::size_t>(argc)};
    if (argc < 2 || *argv[1] == '-') {
        std::fputs("generate_runs FOLDER [RUNS=160] [VALUES=20] [SEED=1]\n", stderr);
        return 2;
    }
    try {
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
