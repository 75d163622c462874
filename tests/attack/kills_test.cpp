// SPDX-License-Identifier: Apache-2.0
//
// Exports that are killed at any moment: a bundle is whole or not there, the next export succeeds and removes what the
// killed one left, and the results are what they were. Kills of runs and soaks are in tests/crash. ASSAY_KILLS says
// how many there are.

#include "cli/program.hpp"
#include "decide/check.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"
#include "support/sample_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

namespace assay {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using cli_test::Folder;

std::string name_of(const fs::directory_entry& entry) { return entry.path().filename().string(); }

TEST(Kills, OfExportsLeaveWholeBundlesOrNone) {
    constexpr unsigned seed = 5;
    std::mt19937 random{seed};
    const Folder folder;
    const auto results = folder.path() / "results";
    constexpr int runs = 3;
    for (int i = 0; i < runs; ++i) {
        auto run = test::sample_run();
        run.id += std::to_string(i);
        const auto file = results / std::to_string(i) / "run.json";
        fs::create_directories(file.parent_path());
        ASSERT_TRUE(record::write_run(file, run));
    }
    const auto target = folder.path() / "out" / "bundle";
    fs::create_directories(target.parent_path());
    const auto export_to =
        [&](int checks) { // killed at the check of this number, every 10 ms; 0: not killed
            cli_test::Options options{.signal = SIGKILL};
            if (checks > 0)
                options.interrupt_when = [checks, seen = 0]() mutable { return ++seen >= checks; };
            return cli_test::run({"export", results, "--bundle", target}, options);
        };
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(export_to(0).code, 0);
    fs::remove_all(target);
    const auto took = std::chrono::steady_clock::now() - begin;
    std::uniform_int_distribution check{1, std::max(2, static_cast<int>(took / 10ms))};
    const char* wish = std::getenv("ASSAY_KILLS");
    const int kills = wish == nullptr ? 3 : std::atoi(wish);
    int killed = 0;
    for (int round = 0; round < kills; ++round) {
        SCOPED_TRACE("seed " + std::to_string(seed) + " round " + std::to_string(round));
        const auto outcome = export_to(check(random));
        killed += outcome.code == -1 ? 1 : 0;
        if (fs::exists(target)) {
            const auto checked = cli_test::run({"verify", target});
            EXPECT_EQ(checked.code, 0) << checked.output << checked.error;
            fs::remove_all(target);
        }
    }
    EXPECT_GT(killed, 0);
    const auto outcome = export_to(0);
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(cli_test::run({"verify", target}).code, 0);
    for (const auto& entry : fs::directory_iterator{target.parent_path()})
        EXPECT_EQ(name_of(entry), "bundle") << "left behind by a killed export";
    for (int i = 0; i < runs; ++i) {
        const auto checked = decide::verify_run(results / std::to_string(i) / "run.json");
        ASSERT_TRUE(checked);
        EXPECT_TRUE(checked->findings.empty());
    }
}

} // namespace
} // namespace assay
