// SPDX-License-Identifier: Apache-2.0
//
// What the tools that scripts/gpu-check runs have said, read from what they wrote. Knows no process.

#pragma once

#include "json/json.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

enum class Outcome : std::uint8_t { passed, failed, skipped, missing };
std::string_view to_string(Outcome outcome);

struct Verdict {
    Outcome outcome = Outcome::missing;
    std::string words; ///< why, unless passed
};

/// GoogleTest's --gtest_output=json. Skipped: every test that measures was skipped, which is how the contract
/// tests say that a benchmark does not apply.
Verdict read_contract(std::string_view json);

/// The log of a tool of compute-sanitizer; without its summary it did not get to the end.
Verdict read_sanitizer(std::string_view log);

/// One line of torch_gemm.py: {"flop_rate": 7.7e14, "torch": "2.9.0", "device": "NVIDIA H200"}, or {"problem": "..."}.
struct PeerRate {
    double flop_rate = 0;
    std::string version;
    std::string problem; ///< not empty: there is no rate
};
PeerRate read_peer(std::string_view line);

/// Ours over the peer's, by turns.
struct Ratio {
    std::string precision;
    double ours = 0; ///< FLOP/s, geometric means
    double peer = 0;
    double value = 0;
    double low = 0;
    double high = 0;
    std::string problem;
};
Ratio ratio_of(std::string precision, const std::vector<double>& ours,
               const std::vector<double>& peer);

struct Row {
    std::string benchmark; ///< memory.stream[cuda]
    Verdict contract;
    Verdict memory;                    ///< compute-sanitizer's memcheck
    Verdict races;                     ///< its racecheck
    std::vector<record::Case> cases{}; ///< of the quick suite
};

struct Report {
    std::string date;    ///< UTC, ISO 8601
    std::string version; ///< of assay
    std::vector<record::Device> devices;
    record::NamedList software;
    std::vector<Row> rows;
    std::vector<Ratio> ratios;
    std::optional<double> quick_seconds;
    std::string quick_problem;
};
json::Value to_json(const Report& report);
std::string to_text(const Report& report);
/// Rows for tests/gpu/status.md.
std::string to_markdown(const Report& report);
/// Nothing failed and something passed.
bool is_good(const Report& report);

} // namespace assay::gpu
