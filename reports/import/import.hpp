// SPDX-License-Identifier: Apache-2.0
//
// Another tool's result, made into a run. Whatever the text holds, the answer is a run with what was
// not understood beside it, or one message that says what is wrong with the file.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "record/model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::imports {

enum class Tool : std::uint8_t {
    gbench,
    nvbandwidth,
    nccl_tests,
    babelstream,
    stream,
    osu,
    hpl,
    hpl_mxp,
    hpcg,
    ior,
    mdtest,
    llama_bench,
    vllm,
    mlperf_inference,
    mlperf_training
};
ASSAY_NAMES(Tool, "gbench, nvbandwidth, nccl-tests, babelstream, stream, osu, hpl, hpl-mxp, hpcg, "
                  "ior, mdtest, llama-bench, vllm, mlperf-inference, mlperf-training")

/// What the person who imports knows and the file does not say. Empty: not known.
struct ImportOptions {
    std::optional<Tool> from; ///< found out from the content where not given
    std::string provider;
    std::string instance;
    std::string cpu_model;
    std::string machine;          ///< id of a machine that has results already
    std::string label;            ///< names the machine, where no id is known
    std::string started;          ///< when it was measured
    std::string library;          ///< what did the work: "openmpi"
    std::string place;            ///< "host", "cuda"
    std::string name;             ///< of the benchmark, where the file does not say: "all_reduce"
    record::NamedList parameters; ///< further identity of every case: ranks=4
    std::size_t cases = 50'000;   ///< a file with more is refused
};

/// A line, or an entry of a list, that no case was made of.
struct NotUnderstood {
    std::string where; ///< "line 7", "benchmarks[3]"
    std::string text;
    std::string reason;
    bool is_in_front = false; ///< of all results: what a launcher printed, most likely
};

struct Import {
    Tool tool = Tool::gbench;
    record::Run run;
    std::vector<NotUnderstood> not_understood;
    std::vector<std::string>
        unknown; ///< options that would say what the file does not: "--started"
};

/// `source` is the file's name; its folders are not kept.
Result<Import> import_text(std::string_view text, std::string_view source,
                           const ImportOptions& options = {});

} // namespace assay::imports
