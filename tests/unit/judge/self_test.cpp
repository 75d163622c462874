// SPDX-License-Identifier: Apache-2.0
//
// The judge on made-up nodes, each with one fault; and on nodes that lack one part of what a result file holds.

#include "judge/self_test.hpp"

#include "json/json.hpp"
#include "record/convert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {
namespace {

TEST(SelfTest, NoticesEveryFault) {
    std::set<Cause> seen;
    for (const auto& test : self_test()) {
        EXPECT_TRUE(test.passed())
            << test.name << ": " << to_string(test.outcome) << " " << to_string(test.cause)
            << ", expected " << to_string(test.expected) << " " << to_string(test.expected_cause);
        seen.insert(test.cause);
    }
    EXPECT_GE(seen.size(), 30U);
}

/// Every path to a value below, objects of lists by their index.
void paths_of(const json::Value& value, const json::Value::json_pointer& at,
              std::vector<json::Value::json_pointer>& out) {
    if (!at.empty()) out.push_back(at);
    if (value.is_object())
        for (const auto& item : value.items()) paths_of(item.value(), at / item.key(), out);
    // Of many alike (devices, replicas) the first and the last.
    if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i)
            if (i == 0 || i + 1 == value.size()) paths_of(value[i], at / i, out);
}

/// What a verdict does not rest on: facts about the machine that no limit of this node asks for, what replicas hold beside
/// their value, further statistics, digests (`assay verify` looks at these). Everything else must be there.
bool may_be_absent(const std::string& path) {
    static const std::set<std::string, std::less<>> names{
        "core_clock_hz", "throttle_events", "temperature_celsius", "steal", "page_migrations",
        "foreign_cpu", "core_latency_seconds", "energy_joules", "energy_scope", "energy_note",
        "warmup_seconds", "setup_seconds", "resident_bytes", "calls", "batches", "values",
        "started", "reason", "spread", "p99", "p95", "min", "median", "low", "high", "count",
        "measured_by", "bound", "error", "warnings", "rules",
        // of the machine
        "memory_bytes", "memory_limit_bytes", "numa_nodes", "sockets", "cores", "threads",
        "usable_threads", "power_limit_watts", "power_limit_default_watts", "nvlinks", "numa_node",
        "multiprocessors", "memory_clock_max_hz", "memory_bus_bits", "ecc", "confidential",
        "clock_max_hz", "whole_uuid",
        // of the run
        "imported", "pairing"};
    const auto has = [&](std::string_view part) { return path.find(part) != std::string::npos; };
    const auto last = path.substr(path.rfind('/') + 1);
    return names.contains(last) || has("/digests") || has("/telemetry/device/") ||
           // Two replicas are enough to pass.
           (has("/replicas/") &&
            (last == "window_seconds" || last == "device" || last == "seconds")) ||
           path.substr(0, path.rfind('/')).ends_with("/replicas") ||
           // The last case is of the host and has an absolute limit.
           path == "/cases/25/ceiling/value" || path == "/cases/25/telemetry/device";
}

TEST(SelfTest, NothingThatIsMissingPasses) {
    const auto whole = json::parse(record::to_text(healthy_node()), "node");
    ASSERT_TRUE(whole);
    ASSERT_EQ(judged(json::to_text(*whole)).outcome, Outcome::pass);
    std::vector<json::Value::json_pointer> paths;
    paths_of(*whole, json::Value::json_pointer{}, paths);
    std::size_t tried = 0;
    for (const auto& path : paths) {
        if (may_be_absent(path.to_string())) continue;
        auto missing = *whole;
        auto& parent = missing[path.parent_pointer()];
        if (parent.is_object())
            parent.erase(path.back());
        else
            parent.erase(std::stoul(path.back()));
        EXPECT_NE(judged(json::to_text(missing)).outcome, Outcome::pass)
            << path.to_string() << " is missing and passes";
        auto null = *whole;
        null[path] = nullptr;
        EXPECT_NE(judged(json::to_text(null)).outcome, Outcome::pass)
            << path.to_string() << " is null and passes";
        ++tried;
    }
    EXPECT_GT(tried, 140U);
}

} // namespace
} // namespace assay::report
