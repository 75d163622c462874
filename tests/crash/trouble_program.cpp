// SPDX-License-Identifier: Apache-2.0
//
// What `assay` is to the tests: `trouble_program worker` is a worker, and
// `trouble_program run MODULE OUT REPLICAS RESUME WHAT...` is a parent that can be killed. Its exit
// code is 0 when the run is done, 5 when it was stopped by a signal, 4 when it failed.

#include "trouble_plan.hpp"
#include "worker/worker.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace {

int parent(const std::vector<std::string>& arguments) {
    const auto trouble = assay::trouble_test::load_trouble(arguments.at(0));
    const auto plan =
        trouble.plan({arguments.begin() + 4, arguments.end()}, std::stoi(arguments.at(2)));
    assay::trouble_test::Silent observer;
    const auto outcome = assay::trouble_test::run(
        plan, {.out = arguments.at(1), .resume = arguments.at(3) == "resume"}, observer);
    if (!outcome) {
        std::fprintf(stderr, "%s\n", outcome.error().message.c_str());
        return static_cast<int>(assay::ExitCode::environment);
    }
    std::printf("%s\n", outcome->file.c_str());
    return outcome->signal == 0 ? 0 : static_cast<int>(assay::ExitCode::interrupted);
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments{argv + 1, argv + argc};
    try {
        if (!arguments.empty() && arguments[0] == "worker") return assay::harness::worker_main();
        if (arguments.size() > 5 && arguments[0] == "run")
            return parent({arguments.begin() + 1, arguments.end()});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
    }
    return static_cast<int>(assay::ExitCode::usage);
}
