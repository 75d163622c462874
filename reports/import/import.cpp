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

constexpr std::array<std::pair<Tool, std::string_view>, 5> tools{{
    {Tool::gbench, "gbench"},
    {Tool::nvbandwidth, "nvbandwidth"},
    {Tool::nccl_tests, "nccl-tests"},
    {Tool::babelstream, "babelstream"},
    {Tool::osu, "osu"},
}};

bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool is_json(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

/// By the marks that each format has in every version of it.
std::optional<Tool> tool_of(std::string_view text) {
    if (is_json(text)) {
        if (holds(text, "\"nvbandwidth\"")) return Tool::nvbandwidth;
        if (holds(text, "\"alg_bw\"") || holds(text, "\"nccl_version\"")) return Tool::nccl_tests;
        if (holds(text, "\"benchmarks\"") && holds(text, "\"context\"")) return Tool::gbench;
        return std::nullopt;
    }
    if (holds(text, "num_times") && holds(text, "n_elements") && holds(text, "sizeof"))
        return Tool::babelstream;
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
        return {&read_nvbandwidth, "JSON"};
    case Tool::babelstream:
        return {&read_babelstream, "CSV"};
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
    if (trimmed(text).empty()) return fail(fmt::format("{}: is empty", source));
    const auto tool = options.from ? options.from : tool_of(text);
    if (!tool)
        return fail(fmt::format("{}: its format is not known; expected the output of one of {}: "
                                "--from says which",
                                source, fmt::join(tool_names(), ", ")));
    const Reader reader = reader_of(*tool, text);
    Draft draft{*tool, options};
    if (auto read = reader.read(text, source, draft); !read) return tl::unexpected{read.error()};
    return draft.finish(text, source, reader.format);
}

} // namespace assay::report
