// SPDX-License-Identifier: Apache-2.0
//
// Nothing that is missing passes: a good node, written once for every key of its file without that key, and once with
// null.

#include "cli/program.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using Pointer = json::Value::json_pointer;

/// One limit that is a number, one that is a share of the data sheet.
const std::string limits = R"({
  "schema": "assay.limits/1", "name": "missing", "date": "2026-11-01", "expect": [{ "expect": ["gpu=1"] }],
  "limits": [
    { "id": "copy", "kind": "contract", "case": { "benchmark": "memory.stream", "place": "cuda*" },
      "metric": "bandwidth", "unit": "B/s", "at_least": 1e12, "source": "made up" },
    { "id": "products", "kind": "spec", "case": { "benchmark": "gemm.square", "place": "cuda*" },
      "metric": "flop_rate", "at_least": 0.5, "share_of": "datasheet", "source": "made up" }
  ]
})";

/// Two cases of the H200 with two replicas each: as few as may pass.
record::Run small_run() {
    auto run = read(real("h200-acceptance"));
    std::erase_if(run.cases, [](const record::Case& c) {
        return c.replicas.size() < 2 ||
               (!on_devices("memory.stream kernel=copy")(c) &&
                !on_devices("gemm.square precision=bf16 load=sustained")(c));
    });
    for (auto& c : run.cases) {
        c.replicas.resize(2);
        conclude(c);
    }
    return run;
}

/// Every path to a value below; of lists the first and the last.
void paths_of(const json::Value& value, const Pointer& at, std::vector<Pointer>& out) {
    if (!at.empty()) out.push_back(at);
    if (value.is_object())
        for (const auto& item : value.items()) paths_of(item.value(), at / item.key(), out);
    if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i)
            if (i == 0 || i + 1 == value.size()) paths_of(value[i], at / i, out);
}

void erase(json::Value& document, const Pointer& path) {
    auto& parent = document[path.parent_pointer()];
    if (parent.is_object())
        parent.erase(path.back());
    else
        parent.erase(std::stoul(path.back()));
}

bool is_index(const std::string& word) {
    return std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

/// Keys that a verdict does not rest on: facts about the machine that these limits do not ask for, what replicas hold
/// beside their value, further statistics, one of several remarks. Everything else must be there.
bool may_be_absent(const Pointer& path) {
    // Whatever is below these.
    static const std::set<std::string, std::less<>> sections{
        "device",   "disturbed_by", "evidence",      "extra",    "firmware", "levels",  "link",
        "platform", "parameters",   "reason_values", "schedule", "settings", "software"};
    static const std::set<std::string, std::less<>> names{
        // of the run and the machine
        "build", "by", "campaign", "clock_max_hz", "confidential", "cores", "ecc", "ended_by",
        "firmware", "identity", "imported", "left_out", "line_bytes", "link", "memory_bus_bits",
        "memory_bytes", "memory_clock_max_hz", "memory_limit_bytes", "multiprocessors", "numa_node",
        "numa_nodes", "nvlinks", "pairing", "platform", "power_limit_default_watts",
        "power_limit_watts", "schedule", "sockets", "threads", "usable_cores", "usable_threads",
        "whole_uuid",
        // of a case and its replicas
        "batches", "bound", "calls", "core_clock_hz", "core_latency_seconds", "count",
        "disturbed_by", "energy_joules", "energy_note", "energy_scope", "error", "evidence",
        "foreign_cpu", "high", "levels", "low", "measured_by", "median", "min", "other_ceilings",
        "p95", "p99", "page_migrations", "reason_code", "reason_values", "resident_bytes", "rules",
        "setup_seconds", "spread", "steal", "temperature_celsius", "throttle_events", "values",
        "warmup_seconds", "warnings", "window_seconds"};
    const auto text = path.to_string();
    const auto& name = path.back();
    auto above = path.parent_pointer();
    if (is_index(name))
        return above.back() != "cases" && above.back() != "replicas" && above.back() != "devices";
    if (name == "value") return !above.to_string().ends_with("/metrics/0");
    if (name == "device") return text.find("/replicas/") != text.npos;
    for (; !above.empty(); above.pop_back())
        if (sections.contains(above.back())) return true;
    return names.contains(name);
}

TEST(MissingParts, DoNotPass) {
    const Folder folder;
    folder.write("limits.json", limits);
    const auto by_limits = Words{"--limits", folder.path() / "limits.json"};
    const auto whole = small_run();
    const auto good = check({write(folder.path(), "whole", whole)}, by_limits);
    ASSERT_EQ(verdict_of(good), "PASS") << first_lines(good) << open_checks(nodes_of(good).at(0));
    std::vector<Pointer> paths;
    paths_of(record::to_json(whole), Pointer{}, paths);
    std::size_t tried = 0;
    for (const auto& path : paths) {
        const auto text = path.to_string();
        // Sections that digests are of: without one the file is refused.
        if (may_be_absent(path) || text.starts_with("/digests") || path.parent_pointer().empty())
            continue;
        for (const auto* how : {"gone", "null"}) {
            auto run = whole;
            const auto name = fmt::format("{}-{}", tried++, how);
            rename_machine(run, name);
            auto document = record::to_json(run);
            if (std::string_view{how} == "gone")
                erase(document, path);
            else
                document[path] = nullptr;
            document["digests"] = json::encode(record::digests_of(document));
            auto file = text;
            std::ranges::replace(file, '/', '.');
            const auto at = folder.path() / "runs" / (name + file);
            std::filesystem::create_directories(at);
            std::ofstream{at / "run.json"} << json::to_line(document);
        }
    }
    const auto answer = check({folder.path() / "runs"}, by_limits);
    EXPECT_GT(tried, 100U);
    EXPECT_FALSE(nodes_of(answer).empty()) << answer.error;
    for (const auto& node : nodes_of(answer))
        EXPECT_NE(node.verdict, "PASS") << node.runs.at(0) << " passes";
}

} // namespace
} // namespace assay::decisions
