// SPDX-License-Identifier: Apache-2.0

#include "import/import.hpp"

#include "import/draft.hpp"
#include "import/lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace assay::imports {
namespace {

bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool is_json(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos || text[first] != '[')
        return first != std::string_view::npos && text[first] == '{';
    const auto next = text.find_first_not_of(blanks, first + 1); // "[1,0]<stdout>:" is a label
    return next != std::string_view::npos && text[next] == '{';
}

struct Format {
    Tool tool;
    const char* name;                      ///< "JSON" begins with a bracket; others do not
    std::array<std::string_view, 3> marks; ///< in every version of it; "" is in every text
    Result<void> (*read)(std::string_view, std::string_view, Draft&);

    bool is_of(std::string_view text) const {
        return is_json(text) == (name == std::string_view{"JSON"}) &&
               std::ranges::all_of(marks, [&](const auto mark) { return holds(text, mark); });
    }
};
/// The first one counts whose marks a text has. With --from, the last one of its tool takes what has no marks.
constexpr std::array formats{
    Format{Tool::nvbandwidth, "JSON", {"\"nvbandwidth\""}, &read_nvbandwidth},
    Format{Tool::nccl_tests, "JSON", {"\"alg_bw\""}, &read_nccl_json},
    Format{Tool::nccl_tests, "JSON", {"\"nccl_version\""}, &read_nccl_json},
    Format{Tool::nccl_tests, "JSON", {"\"algBw\"", "\"busBw\""}, &read_nccl_json},
    Format{Tool::gbench, "JSON", {"\"benchmarks\"", "\"context\""}, &read_gbench},
    Format{Tool::ior, "JSON", {"\"summary\"", "\"bwMaxMIB\""}, &read_ior_json},
    Format{Tool::llama_bench, "JSON", {"\"avg_ts\"", "\"n_gen\""}, &read_llama_bench_json},
    Format{Tool::vllm, "JSON", {"\"request_throughput\"", "\"completed\""}, &read_vllm},
    Format{Tool::babelstream, "CSV", {"num_times", "n_elements", "sizeof"}, &read_babelstream},
    Format{Tool::llama_bench, "CSV", {"build_commit,", "n_gen,", "avg_ts"}, &read_llama_bench_csv},
    Format{Tool::stream, "text", {"Function", "Avg time", "Min time"}, &read_stream},
    Format{Tool::babelstream, "text", {"Function", "Min (sec)"}, &read_babelstream_text},
    Format{Tool::nvbandwidth, "text", {"nvbandwidth Version:"}, &read_nvbandwidth_text},
    Format{Tool::nvbandwidth, "text", {"GPU(column)"}, &read_nvbandwidth_text},
    Format{Tool::nccl_tests, "text", {"algbw", "busbw"}, &read_nccl_text},
    Format{Tool::osu, "text", {"# OSU "}, &read_osu},
    Format{Tool::hpl_mxp, "text", {"HPL-MxP"}, &read_linpack},
    Format{Tool::hpl_mxp, "text", {"HPL MxP"}, &read_linpack},
    Format{Tool::hpl_mxp, "text", {"HPLMXP_"}, &read_linpack},
    Format{Tool::hpl_mxp, "text", {"HPL-AI"}, &read_linpack},
    Format{Tool::hpl, "text", {"T/V", "NB", "Gflops"}, &read_linpack},
    Format{Tool::hpcg, "text", {"HPCG-Benchmark", "GFLOP/s Summary"}, &read_hpcg},
    Format{Tool::ior, "text", {"IOR-", "bw(MiB/s)"}, &read_ior},
    Format{Tool::ior, "text", {"IOR-", "Max(MiB)"}, &read_ior},
    Format{Tool::mdtest, "text", {"mdtest-", "SUMMARY"}, &read_mdtest},
    Format{Tool::llama_bench, "table", {"| model ", " t/s |"}, &read_llama_bench_table},
    Format{Tool::mlperf_inference, "text", {"MLPerf Results Summary"}, &read_mlperf_inference},
    Format{Tool::mlperf_training, "text", {":::MLLOG "}, &read_mlperf_training},
};

const Format* format_of(std::string_view text, std::optional<Tool> from) {
    const Format* other = nullptr;
    for (const auto& format : formats) {
        if (from && format.tool != *from) continue;
        if (format.is_of(text)) return &format;
        const bool fits = is_json(text) == (format.name == std::string_view{"JSON"});
        if (from && (fits || other == nullptr)) other = &format;
    }
    return other;
}

} // namespace

Result<Import> import_text(std::string_view text, std::string_view source,
                           const ImportOptions& options) {
    constexpr std::string_view utf8_mark = "\xef\xbb\xbf";
    const auto content = text;
    if (text.starts_with(utf8_mark)) text.remove_prefix(utf8_mark.size());
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        return fail(fmt::format("{}: is UTF-16, as PowerShell writes it; expected UTF-8: convert "
                                "it with iconv -f UTF-16 -t UTF-8",
                                source));
    if (const auto zero = text.find('\0'); zero != std::string_view::npos)
        return fail(
            fmt::format("{}: line {}: a zero byte: this is no text, but a binary or a damaged file",
                        source, 1 + std::ranges::count(text.substr(0, zero), '\n')));
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return fail(fmt::format("{}: is empty", source));
    const auto* format = format_of(text, options.from);
    if (format == nullptr)
        return fail(fmt::format("{}: its format is not known; expected the output of one of {}: "
                                "--from says which",
                                source, names_of(Tool{})));
    Draft draft{format->tool, options};
    ASSAY_TRY(format->read(text, source, draft));
    return draft.finish(content, source, format->name);
}

} // namespace assay::imports
