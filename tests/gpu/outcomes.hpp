// SPDX-License-Identifier: Apache-2.0
//
// Verdicts of the tools that scripts/gpu-check runs, read from their output. Knows no process.

#pragma once

#include "json/json.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

enum class Outcome : std::uint8_t {
    not_started, // its turn did not come
    passed,
    failed,
    skipped, // does not apply here
    missing, // a tool, a library or PyTorch is not there
    cut_off, // was not done when its time was over
};
std::string_view to_string(Outcome outcome);

struct Verdict {
    Outcome outcome = Outcome::not_started;
    std::string words; ///< why, or a figure
};

/// Output and files of a process.
struct Said {
    std::string log;      ///< all that it printed
    std::string ending;   ///< "ended with code 1", "SIGSEGV (Segmentation fault)"; empty: well
    bool cut_off = false; ///< by us: its time was over
    std::string test{};   ///< of the contract, where one was run: cuda_memory_stream
};
using Reader = Verdict (*)(const Said&);

/// The last line is the fact.
Verdict read_fact(const Said& said);
/// nvidia-smi's list of processes that compute on the device: there should be none.
Verdict read_users(const Said& said);
/// ldd of a module.
Verdict read_libraries(const Said& said);
/// GoogleTest's lines. Passed: at least one test that runs the benchmark did run it, none failed.
Verdict read_contract(const Said& said);
/// The same lines under a tool of compute-sanitizer, and its summary.
Verdict read_sanitizer(const Said& said);
/// `assay run`; its cases are rows of their own.
Verdict read_measurement(const Said& said);
/// `assay run acceptance --check` of a healthy device: PASS or WARN.
Verdict read_accepted(const Said& said);
/// The same where another process slows it: whatever is said of the node, but FAIL. Its verdict has a row of its own.
Verdict read_judged(const Said& said);
/// `assay compare --json` of two runs of one device: neither is faster, and what matters is known well enough.
Verdict read_compared(const Said& said);
/// `assay check --json` of a run beside another process: it is named, and the node does not fail.
Verdict read_shared(const Said& said);
/// ncu around `assay run`: a profile of nothing has failed.
Verdict read_profile(const Said& said);

Verdict verdict_of(const record::Case& c);
/// "memory.stream[cuda] kernel=triad": begins as the benchmark's other rows do.
std::string name_of(const record::Case& c);

/// One line of torch_turns.py: {"seconds": 1.4e-3}, perhaps with "back_to_back", or {"problem": "..."}.
struct PeerTime {
    double seconds = 0;                 ///< of one operation
    std::optional<double> back_to_back; ///< s, of one among many in a graph
    std::string problem;                ///< not empty: there is no time
};
PeerTime read_peer(std::string_view line);

/// Ours and the peer's, by turns.
struct Ratio {
    std::string name; ///< gemm bf16 8192
    std::string unit;
    std::vector<double> ours;
    std::vector<double> theirs;
};
/// "1.003 [0.998, 1.008]: 785 TFLOP/s against 783 TFLOP/s, 4 pairs"; failed where a turn gave nothing.
Verdict verdict_of(const Ratio& ratio);

struct Row {
    std::string part; ///< facts, contract, quick, ...
    std::string name; ///< memory.stream[cuda]
    Verdict verdict{};
    double seconds = 0;
};

struct Report {
    std::string date;    ///< UTC, ISO 8601
    std::string version; ///< of assay
    std::string part;    ///< first, sanitizer, long
    std::string state;   ///< running, done, SIGTERM
    double budget = 0;   ///< seconds
    double seconds = 0;  ///< so far
    std::vector<Row> rows{};
    std::vector<Ratio> ratios{};
    std::vector<std::string> left_out{}; ///< files that the archive has no room for
};
json::Value to_json(const Report& report);
std::string to_text(const Report& report);
/// Rows for tests/gpu/status.md, of the benchmarks that something was tried with.
std::string to_markdown(const Report& report);
bool has(const Report& report, Outcome outcome);

} // namespace assay::gpu
