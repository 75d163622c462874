// SPDX-License-Identifier: Apache-2.0
//
// What scripts/gpu-check does, as data: which programs, in which order, for how long, and who reads what they print.

#pragma once

#include "outcomes.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::gpu {

/// Where things lie: in the package gpu_check is in lib/assay/tests, in a build tree in tests/.
struct Tree {
    std::filesystem::path assay;    ///< the program
    std::filesystem::path contract; ///< the contract tests
    std::filesystem::path modules;  ///< folder of modules and manifests
    std::filesystem::path data;     ///< folder of suites and of torch_turns.py
};

/// A benchmark that works on a device.
struct Tried {
    std::string id;
    std::string module;
    std::string name() const { return id + '[' + module + ']'; }
    std::string test() const; ///< as the contract tests call it: cuda_memory_stream
};
/// Read off the manifests; what cannot be read is passed over, for the contract tests do not.
std::vector<Tried> tried_of(const std::filesystem::path& modules);

struct Step {
    std::string part;
    std::string name;
    std::vector<std::string> arguments; ///< a program without a folder is looked for
    Reader read = nullptr;
    double seconds = 0; ///< at most
    std::vector<std::string> variables{};
    std::string test{};                 ///< of the contract
    bool measures = false;              ///< is `assay run`: takes --out and leaves a run.json
    std::vector<std::string> results{}; ///< steps of its part whose results it is given
    std::vector<std::string> beside{};  ///< an `assay run` that works on the device meanwhile
};

struct Part {
    std::string_view name;
    double until = 1;              ///< share of the budget that is over when this part ends
    double seconds = 1e9;          ///< of it, at most
    bool measures_nothing = false; ///< steps may share the device
};

struct Plan {
    std::vector<Part> parts;
    std::vector<Step> steps; ///< of each part, in order
    double seconds = 1e9;    ///< all of it, at most
};

/// Turns against PyTorch.
inline constexpr std::string_view turns_part = "turns";
struct Turn {
    std::string name;    ///< also what torch_turns.py is asked: "gemm bf16 8192"
    double work = 0;     ///< of one operation, in the headline's unit
    std::string unit;    ///< FLOP/s, B/s
    std::string ours;    ///< gemm.square[cublaslt]
    std::string setting; ///< precision=bf16 size=8192
};
std::vector<Turn> turns();
/// Our side of a turn.
Step step_of(const Turn& turn, const Tree& tree, const std::string& device);

/// first: is it right, and how fast? sanitizer: memory and races. long: what takes its time. decide: are verdicts and
/// comparisons right?
inline constexpr std::string_view first_part = "first";
/// Nothing for an unknown name.
Plan plan_of(std::string_view name, const Tree& tree, const std::vector<Tried>& tried,
             const std::string& device);

} // namespace assay::gpu
