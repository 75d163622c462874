// SPDX-License-Identifier: Apache-2.0
//
// Neighbours that no counter shows: the reading of a probe beside the window is compared with those of earlier runs of
// the machine, which their folder keeps.
#include "program.hpp"
#include "support/results.hpp"

#include <fmt/format.h>

#include <iterator>
#include <sstream>

namespace assay::cli_test {
namespace {

using namespace testing;

using Words = std::vector<std::string>;

/// Measures one case that memory binds and one that stays in registers; the record.
json::Value measure(const Folder& folder) {
    std::istringstream words{
        "run memory.stream peak.fma --set memory.stream.kernel=copy --set "
        "memory.stream.stores=plain --set memory.stream.threads=one --set "
        "memory.stream.footprint=64MiB --set peak.fma.threads=one --set peak.fma.precision=fp64 "
        "--replicas 2 --budget 2s --patience 0 --json --quiet --out"};
    Words arguments{std::istream_iterator<std::string>{words}, {}};
    arguments.push_back(folder.path());
    const auto outcome = run(arguments);
    EXPECT_THAT((std::vector{0, 3}), Contains(outcome.code)) << outcome.error;
    return must(json::read_file(parsed(outcome)["file"].get<std::string>()));
}
/// File that a run leaves for later ones; empty if the machine has no neighbours.
std::filesystem::path probes_in(const Folder& folder) {
    const auto found = files_named(folder.path(), "probes.json");
    return found.empty() ? std::filesystem::path{} : found.front();
}
std::string probes_of(double bytes_per_second) {
    return fmt::format(
        R"({{"schema":"assay.probes/1","runs":[{{"started":"2026-01-01T00:00:00Z","bytes_per_second":{}}}]}})",
        json::to_line(json::Value(std::vector<double>(40, bytes_per_second))));
}
/// Codes of what disturbed each replica of a benchmark.
std::vector<Words> disturbances(const json::Value& record, const std::string& benchmark) {
    std::vector<Words> all;
    for (const auto& c : record["cases"])
        if (c["benchmark"] == benchmark)
            for (const auto& replica : c["replicas"]) {
                auto& codes = all.emplace_back();
                for (const auto& by :
                     replica["telemetry"].value("disturbed_by", json::Value::array()))
                    codes.push_back(by["code"]);
            }
    EXPECT_FALSE(all.empty()) << benchmark;
    return all;
}

TEST(Neighbours, DisturbWhatMemoryBindsAndNothingElse) {
    const Folder folder;
    const auto first = measure(folder);
    EXPECT_THAT(disturbances(first, "memory.stream"), Each(Not(Contains("neighbours"))))
        << "nothing to compare it with";
    const auto probes = probes_in(folder);
    const auto where = first["machine"].value("virtualization", std::string{});
    if (where.empty() || where == "none") {
        EXPECT_TRUE(probes.empty()) << "who has the machine alone has no neighbours";
        return;
    }
    ASSERT_FALSE(probes.empty());
    std::ofstream{probes} << probes_of(1e18); // no machine is as fast
    const auto slowed = measure(folder);
    EXPECT_THAT(disturbances(slowed, "memory.stream"), Each(Contains("neighbours")));
    EXPECT_THAT(disturbances(slowed, "peak.fma"), Each(Not(Contains("neighbours"))));
    for (const auto& c : slowed["cases"])
        if (c["benchmark"] == "memory.stream") {
            EXPECT_EQ(c["status"], "disturbed");
        }
}

} // namespace
} // namespace assay::cli_test
