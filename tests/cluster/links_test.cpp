// SPDX-License-Identifier: Apache-2.0
//
// Links between hosts: what is measured of them, who is slow, and what it would be on one host more.

#include "cluster.hpp"
#include "decide/culprits.hpp"
#include "json/json.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <variant>

namespace assay::cluster_test {
namespace {

using record::Status;
using testing::HasSubstr;
using testing::Not;

TEST_F(Cluster, ALimitedLinkIsMeasuredAndItsPathProved) {
    set_switch("rate h2 100mbit");
    const auto run = measure({"collective.send_receive", "--hosts", "h1:1,h2:1", "--budget", "3s",
                              "--set", "*.bytes=1MiB", "--set", "*.transport=tcp,shared_memory"});
    set_switch("rate h2");
    ASSERT_EQ(run.cases.size(), 2U);
    const auto& tcp = run.cases[0];
    EXPECT_TRUE(has_values(tcp)) << tcp.reason;
    constexpr double limit = 100e6 / 8; // bytes per second
    EXPECT_NEAR(value_of(tcp, "bus_bandwidth"), limit, slack(tcp) * limit);
    EXPECT_EQ(record::text(tcp.settings, "path"), "tcp");
    EXPECT_EQ(record::text(tcp.settings, "machines"), "2");
    EXPECT_EQ(record::text(tcp.settings, "job.hosts"), "node0:1 node1:1")
        << "no name unless asked for";
    EXPECT_EQ(run.cases[1].status, Status::skipped);
    EXPECT_THAT(run.cases[1].reason, HasSubstr("shared memory does not reach another host"));
    ASSERT_EQ(run.hosts.size(), 2U) << "each described its machine once";
    EXPECT_EQ(run.hosts[1].name, "node1");
    EXPECT_EQ(run.hosts[1].machine.cpu_model, run.machine.cpu_model); // namespaces of this machine
}

void set_all_rates(int hosts, const std::string& rate) {
    for (int host = 1; host <= hosts; ++host) set_switch(fmt::format("rate h{} {}", host, rate));
}

TEST_F(Cluster, ASlowHostShowsInTheMatrix) {
    // Pairs that share two CPUs are even only where the links are the narrow part.
    set_all_rates(5, "200mbit");
    set_switch("rate h3 50mbit");
    const auto c = measure_one({"collective.pairs", "--hosts", "h1:1,h2:1,h3:1,h4:1,h5:1",
                                "--budget", "5s", "--set", "*.bytes=1MiB"});
    set_all_rates(5, "");
    EXPECT_TRUE(has_values(c)) << c.reason;
    ASSERT_FALSE(c.replicas.empty());
    const auto& tables = c.replicas[0].tables;
    const auto matrix = std::ranges::find(tables, "bandwidth", &record::Table::metric);
    ASSERT_NE(matrix, tables.end());
    ASSERT_EQ(matrix->rows,
              (std::vector<std::string>{"node0", "node1", "node2", "node3", "node4"}));
    constexpr double limit = 50e6 / 8; // bytes per second
    for (std::size_t from = 0; from < 5; ++from)
        for (std::size_t to = 0; to < 5; ++to) {
            const auto value = matrix->values[5 * from + to];
            EXPECT_EQ(value.has_value(), from != to);
            if (from == to) continue;
            if (from == 2 || to == 2)
                EXPECT_NEAR(*value, limit, (0.15 + slack(c)) * limit)
                    << "a burst goes through at once";
            else
                EXPECT_GT(*value, 2 * limit);
        }
    std::vector<double> values;
    for (const auto& value : matrix->values) values.push_back(value.value_or(std::nan("")));
    const auto culprits =
        decide::find_culprits({.nodes = 5, .values = values, .higher_is_better = true});
    ASSERT_FALSE(culprits.nodes.empty());
    EXPECT_EQ(culprits.nodes.front().node, 2U);
}

/// The text that a reader sees, without line breaks.
std::string report_of(const std::filesystem::path& run) {
    auto text = cli_test::run({"report", run.string(), "--md", "-"}).output;
    std::ranges::replace(text, '\n', ' ');
    return text;
}

TEST_F(Cluster, ASlowHostAndASlowLinkAreNamed) {
    const std::vector<std::string> pairs{
        "collective.pairs", "--hosts", "h1:1,h2:1,h3:1,h4:1,h5:1,h6:1", "--budget", "4s", "--set",
        "*.bytes=256KiB"};
    set_all_rates(6, "200mbit");
    set_switch("rate h3 50mbit");
    measure(pairs);
    set_switch("rate h3 200mbit");
    EXPECT_THAT(report_of(result()), HasSubstr("bandwidth: node2 slows all its pairs, which are"));
    set_switch("pair h2 h5 20mbit");
    const auto c = measure_one(pairs);
    set_switch("pair h2 h5");
    set_all_rates(6, "");
    const auto* least = record::find(c.settings, "least_bytes");
    ASSERT_NE(least, nullptr) << c.reason;
    const auto said = report_of(result());
    EXPECT_THAT(said, HasSubstr("bandwidth: node1 to node4 is slow"));
    EXPECT_THAT(said, Not(HasSubstr("slows all its pairs")));
}

TEST_F(Cluster, AFabricNamesItsSlowedLinkAndFailsItsLimit) {
    const auto limits = folder_.path() / "limits.json";
    std::ofstream{limits} << R"({"schema": "assay.limits/1", "name": "ours", "limits": [
        {"id": "links", "kind": "contract", "case": {"benchmark": "collective.fabric"},
         "metric": "worst_bandwidth", "unit": "B/s", "at_least": 1e7, "source": "the contract"}]})";
    set_all_rates(6, "200mbit");
    set_switch("pair h2 h5 20mbit");
    const auto c = measure_one({"fabric", "--hosts", "h1:1,h2:1,h3:1,h4:1,h5:1,h6:1", "--budget",
                                "10s", "--replicas", "5", "--set", "*.bytes=256KiB", "--group",
                                "switch:a=h1,h2,h3", "--group", "switch:b=h4,h5,h6"});
    set_switch("pair h2 h5");
    set_all_rates(6, "");
    EXPECT_TRUE(has_values(c)) << c.reason;
    EXPECT_EQ(record::text(c.settings, "rounds"), "5");
    EXPECT_EQ(record::text(c.settings, "pairs"), "15") << "of 15";
    EXPECT_EQ(record::text(c.settings, "job.groups.switch"), "a a a b b b");
    const auto said = report_of(result());
    EXPECT_THAT(said, HasSubstr("node1 to node4 is slow"));
    EXPECT_THAT(said, HasSubstr("It is also slow when no other pair is active."));
    EXPECT_THAT(said, HasSubstr("All 15 pairs of 6 nodes were measured."));
    EXPECT_THAT(said, Not(HasSubstr("slows all"))) << "neither a node";
    EXPECT_THAT(said, Not(HasSubstr("slows what"))) << "nor a switch";
    const auto verdict = [&](const std::string& results) {
        return cli_test::run({"check", results, "--limits", limits.string()}).code;
    };
    EXPECT_EQ(verdict(result().string()), c.status == Status::disturbed ? 3 : 1)
        << "FAIL, or INCONCLUSIVE where nothing was measured in quiet";
    measure({"collective.send_receive", "--hosts", "h1:1,h2:1", "--budget", "2s", "--set",
             "*.bytes=8"});
    EXPECT_EQ(verdict(result().string()), 3) << "INCONCLUSIVE: nobody measured the fabric";
}

/// Seconds that `predict` says, and the interval.
struct Said {
    double seconds = 0;
    double low = 0;
    double high = 0;
};
std::vector<Said> predicted(const std::filesystem::path& run, const std::string& nodes,
                            const std::string& sizes) {
    const auto outcome = cli_test::run(
        {"predict", "allreduce", run.string(), "--nodes", nodes, "--size", sizes, "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.output << outcome.error;
    const auto document = json::parse(outcome.output, "predict");
    if (!document) return {};
    const auto& curve = document->at("curves").at(0);
    EXPECT_EQ(curve.at("fitted_on").at("layouts"), json::Value({"2 x 1", "3 x 1", "4 x 1"}));
    std::vector<Said> said;
    for (const auto& time : curve.at("times")) {
        const auto& seconds = time.at("seconds");
        said.push_back({seconds.at("value"), seconds.at("low"), seconds.at("high")});
    }
    return said;
}

TEST_F(Cluster, APredictionForOneMoreHostIsWhatIsMeasuredThere) {
    set_all_rates(5, "100mbit");
    const std::string sizes = "128KiB,256KiB";
    const auto on = [&](const std::string& ranks) {
        return measure({"collective.allreduce", "--hosts", "h1:1,h2:1,h3:1,h4:1,h5:1", "--budget",
                        "12s", "--set", "*.ranks=" + ranks, "--set", "*.bytes=" + sizes, "--set",
                        "*.type=fp32", "--set", "*.algorithm=ring"});
    };
    on("2,3,4");
    const auto said = predicted(result(), "5", sizes);
    const auto truth = on("5");
    set_all_rates(5, "");
    ASSERT_EQ(truth.cases.size(), said.size());
    for (std::size_t i = 0; i < said.size(); ++i) {
        const auto& c = truth.cases[i];
        ASSERT_TRUE(has_values(c)) << c.reason;
        const auto bytes = std::get<std::int64_t>(*record::find(c.parameters, "bytes"));
        constexpr double factor = 2.0 * 4 / 5; // bus bandwidth over algorithm bandwidth, 5 ranks
        const double seconds = static_cast<double>(bytes) * factor / value_of(c, "bus_bandwidth");
        // Hosts that share CPUs scatter; the interval knows by how much.
        EXPECT_LE(said[i].low, seconds) << bytes << " B";
        EXPECT_GE(said[i].high, seconds) << bytes << " B";
        constexpr double near = 1.35;
        EXPECT_LT(said[i].seconds, near * seconds) << bytes << " B";
        EXPECT_GT(said[i].seconds * near, seconds) << bytes << " B";
        RecordProperty(fmt::format("predicted_over_measured_{}", bytes),
                       fmt::format("{:.3f}", said[i].seconds / seconds));
    }
}

} // namespace
} // namespace assay::cluster_test
