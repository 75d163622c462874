// SPDX-License-Identifier: Apache-2.0

#include "import/import.hpp"

#include "import/draft.hpp"
#include "import/lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::report {
namespace {

constexpr std::array<std::pair<Tool, std::string_view>, 6> tools{{
    {Tool::gbench, "gbench"},
    {Tool::nvbandwidth, "nvbandwidth"},
    {Tool::nccl_tests, "nccl-tests"},
    {Tool::babelstream, "babelstream"},
    {Tool::stream, "stream"},
    {Tool::osu, "osu"},
}};

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

/// By the marks that each format has in every version of it.
std::optional<Tool> tool_of(std::string_view text) {
    if (is_json(text)) {
        if (holds(text, "\"nvbandwidth\"")) return Tool::nvbandwidth;
        if (holds(text, "\"alg_bw\"") || holds(text, "\"nccl_version\"") ||
            (holds(text, "\"algBw\"") && holds(text, "\"busBw\"")))
            return Tool::nccl_tests;
        if (holds(text, "\"benchmarks\"") && holds(text, "\"context\"")) return Tool::gbench;
        return std::nullopt;
    }
    if (holds(text, "num_times") && holds(text, "n_elements") && holds(text, "sizeof"))
        return Tool::babelstream;
    if (holds(text, "Function") && holds(text, "Avg time") && holds(text, "Min time"))
        return Tool::stream;
    if (holds(text, "Function") && holds(text, "Min (sec)")) return Tool::babelstream;
    if (holds(text, "nvbandwidth Version:") || holds(text, "GPU(column)")) return Tool::nvbandwidth;
    if (holds(text, "algbw") && holds(text, "busbw")) return Tool::nccl_tests;
    if (holds(text, "# OSU ")) return Tool::osu;
    return std::nullopt;
}

struct Reader {
    Result<void> (*read)(std::string_view, std::string_view, Draft&);
    const char* format;
};
Reader reader_of(Tool tool, std::string_view text) {
    switch (tool) {
    case Tool::gbench:
        return {&read_gbench, "JSON"};
    case Tool::nvbandwidth:
        return is_json(text) ? Reader{&read_nvbandwidth, "JSON"}
                             : Reader{&read_nvbandwidth_text, "text"};
    case Tool::babelstream:
        return holds(text, "num_times") ? Reader{&read_babelstream, "CSV"}
                                        : Reader{&read_babelstream_text, "text"};
    case Tool::stream:
        return {&read_stream, "text"};
    case Tool::osu:
        return {&read_osu, "text"};
    case Tool::nccl_tests:
        break;
    }
    return is_json(text) ? Reader{&read_nccl_json, "JSON"} : Reader{&read_nccl_text, "text"};
}

} // namespace

std::string_view to_string(Tool tool) {
    return std::ranges::find(tools, tool, &std::pair<Tool, std::string_view>::first)->second;
}

std::optional<Tool> tool_from(std::string_view name) {
    const auto found = std::ranges::find(tools, name, &std::pair<Tool, std::string_view>::second);
    if (found == tools.end()) return std::nullopt;
    return found->first;
}

std::vector<std::string> tool_names() {
    std::vector<std::string> names;
    for (const auto& [tool, name] : tools) names.emplace_back(name);
    return names;
}

Result<Import> import_text(std::string_view text, std::string_view source,
                           const ImportOptions& options) {
    constexpr std::string_view utf8_mark = "\xef\xbb\xbf";
    const auto content = text;
    if (text.starts_with(utf8_mark)) text.remove_prefix(utf8_mark.size());
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        return fail(
            fmt::format("{}: is UTF-16, as PowerShell writes it; expected UTF-8: convert it "
                        "with iconv -f UTF-16 -t UTF-8",
                        source));
    if (const auto zero = text.find('\0'); zero != std::string_view::npos)
        return fail(
            fmt::format("{}: line {}: a zero byte: this is no text, but a binary or a damaged file",
                        source, 1 + std::ranges::count(text.substr(0, zero), '\n')));
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return fail(fmt::format("{}: is empty", source));
    const auto tool = options.from ? options.from : tool_of(text);
    if (!tool)
        return fail(fmt::format("{}: its format is not known; expected the output of one of {}: "
                                "--from says which",
                                source, fmt::join(tool_names(), ", ")));
    const Reader reader = reader_of(*tool, text);
    Draft draft{*tool, options};
    if (auto read = reader.read(text, source, draft); !read) return tl::unexpected{read.error()};
    return draft.finish(content, source, reader.format);
}

} // namespace assay::report
