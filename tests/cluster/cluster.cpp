// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include "record/reader.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

namespace assay::cluster_test {

using namespace std::chrono_literals;

std::filesystem::path cluster() { return std::getenv("ASSAY_CLUSTER"); }

void command(const std::string& text) {
    ASSERT_EQ(std::system(text.c_str()), 0) << text; // NOLINT: our own words
}
void set_switch(const std::string& what) { command((cluster() / "switch").string() + " " + what); }

std::string on_host(const std::string& host, const std::string& what) {
    const auto output = cluster() / "output";
    const auto ended = cluster() / "ended";
    std::filesystem::remove(ended);
    command((cluster() / "agent").string() + " " + host + " '(" + what + ") > " + output.string() +
            " 2>&1; touch " + ended.string() + "'");
    for (int i = 0; i < 1000 && !std::filesystem::exists(ended); ++i)
        std::this_thread::sleep_for(10ms);
    std::ifstream file{output};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string output_of(const std::string& what) {
    const auto output = cluster() / "output";
    command("(" + what + ") >" + output.string());
    std::ifstream file{output};
    std::string line;
    std::getline(file, line);
    return line;
}

bool has_values(const record::Case& c) { return is_measured(c.status); }
double slack(const record::Case& c) { return c.status == record::Status::disturbed ? 0.2 : 0.05; }

double value_of(const record::Case& c, const std::string& metric) {
    for (const auto& m : c.metrics)
        if (m.name == metric) return m.value.value_or(0);
    return 0;
}

record::Case Cluster::trouble(const std::string& what, double limit) {
    trouble_test::Silent observer;
    return trouble(what, limit, observer);
}

record::Case Cluster::trouble(const std::string& what, double limit, run::Observer& observer) {
    const auto trouble = trouble_test::load_trouble(TROUBLE_TEAM_MODULE);
    auto plan = trouble.plan({what});
    plan.cases[0].protocol.limit_seconds = limit;
    plan.job = {.hosts = {{"h1", 1}, {"h2", 1}}, .launcher = "mpirun", .show_names = true};
    const auto outcome =
        trouble_test::run(plan,
                          {.out = folder_.path(),
                           .record_hostname = true, // its name is what is asked for
                           .program = TROUBLE_PROGRAM},
                          observer);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? outcome->run.cases.at(0) : record::Case{};
}

std::string Cluster::survivors() {
    std::string left;
    for (int i = 0; i < 600; ++i) {
        left = on_host("h2", "grep -sl ASSAY_TOKEN /proc/[0-9]*/environ; pgrep -r R,S,D orted");
        if (left.empty()) break;
        std::this_thread::sleep_for(20ms);
    }
    return left;
}

record::Run Cluster::measure(std::vector<std::string> arguments,
                             const std::vector<std::string>& environment) {
    arguments.insert(arguments.begin(), "run");
    if (std::ranges::find(arguments, "--replicas") == arguments.end())
        arguments.insert(arguments.end(), {"--replicas", "1"});
    for (const char* more : {"--out", folder_.path().c_str(), "--patience", "0", "--quiet"})
        arguments.emplace_back(more);
    const auto outcome = cli_test::run(arguments, {.environment = environment});
    for (const auto& file : cli_test::files_named(folder_.path(), "run.json"))
        if (known_.insert(file).second) {
            result_ = file;
            auto run = record::read_run(result_);
            EXPECT_TRUE(run) << run.error().message;
            if (run) return *run;
        }
    ADD_FAILURE() << outcome.error;
    return {};
}

record::Case Cluster::measure_one(std::vector<std::string> arguments,
                                  const std::vector<std::string>& environment) {
    const auto run = measure(std::move(arguments), environment);
    EXPECT_EQ(run.cases.size(), 1U);
    return run.cases.empty() ? record::Case{} : run.cases.front();
}

} // namespace assay::cluster_test
