// SPDX-License-Identifier: Apache-2.0
//
// What `assay` is to the tests: `trouble_program worker` is a worker, and
// `trouble_program run MODULE OUT REPLICAS RESUME WHAT...` is a parent that can be killed; with `soak:SECONDS` for
// REPLICAS it soaks. Its exit
// code is 0 when the run is done, 5 when it was stopped by a signal, 4 when it failed.

#include "process/channel.hpp"
#include "process/start.hpp"
#include "trouble_plan.hpp"
#include "worker/worker.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

/// Its notes are in the log of the process.
class Noting : public assay::trouble_test::Silent {
public:
    void note(const std::string& text) override { std::fprintf(stderr, "%s\n", text.c_str()); }
};

int parent(const std::vector<std::string>& arguments) {
    const auto trouble = assay::trouble_test::load_trouble(arguments.at(0));
    auto plan = trouble.plan({arguments.begin() + 4, arguments.end()}, 1);
    if (const auto& how = arguments.at(2); how.starts_with("soak:")) {
        plan = trouble.soak("flips", 20, std::stod(how.substr(5)));
        plan.cases.front().protocol.budget_seconds = 0.05; // of a visit
    } else {
        plan.replicas = std::stoi(how);
    }
    Noting observer;
    assay::run::RunOptions options;
    options.out = arguments.at(1);
    options.resume = arguments.at(3) == "resume";
    options.keep_going = plan.soak_seconds.has_value();
    const auto outcome = assay::trouble_test::run(plan, options, observer);
    if (!outcome) {
        std::fprintf(stderr, "%s\n", outcome.error().message.c_str());
        return static_cast<int>(assay::ExitCode::environment);
    }
    std::printf("%s\n", outcome->file.c_str());
    return outcome->signal == 0 ? 0 : static_cast<int>(assay::ExitCode::interrupted);
}

/// Connections to the parent that never say who they are, as many as TROUBLE_STRANGERS says.
std::vector<assay::process::Connection> strangers() {
    std::vector<assay::process::Connection> all;
    const char* count = std::getenv("TROUBLE_STRANGERS");
    for (int i = count == nullptr ? 0 : std::stoi(count); i > 0; --i)
        if (auto one = assay::process::Connection::open(assay::process::own_start().socket))
            all.push_back(std::move(*one));
    return all;
}

/// The worker dies before its first word, where TROUBLE_EARLY has a signal.
void die_early() {
    if (const char* signal = std::getenv("TROUBLE_EARLY"); signal != nullptr)
        std::raise(std::stoi(signal));
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments{argv + 1, argv + argc};
    try {
        if (!arguments.empty() && arguments[0] == "worker") {
            die_early();
            const auto silent = strangers();
            return assay::worker::worker_main();
        }
        if (arguments.size() > 5 && arguments[0] == "run")
            return parent({arguments.begin() + 1, arguments.end()});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
    }
    return static_cast<int>(assay::ExitCode::usage);
}
