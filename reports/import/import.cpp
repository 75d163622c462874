// SPDX-License-Identifier: Apache-2.0

#include "import/import.hpp"

#include "base/text.hpp"
#include "extract/lines.hpp"
#include "extract/objects.hpp"
#include "import/description.hpp"
#include "import/draft.hpp"
#include "import/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::imports {
namespace {

struct Format {
    const Description* description = nullptr;
    const Dialect* dialect = nullptr;
};

bool is_json(const Dialect& dialect) { return dialect.format == "JSON"; }

/// The first one counts whose marks a text has, JSON where it has any. With --from, the last of its tool takes what has
/// no marks.
Format format_of(std::string_view text, const std::string& from) {
    const bool has_json = json_begin(text) != std::string_view::npos;
    Format other;
    for (const bool json : {true, false})
        for (const auto& description : library().all)
            for (const auto& dialect : description.dialects) {
                if (is_json(dialect) != json || (json && !has_json)) continue;
                if (!from.empty() && description.tool != from) continue;
                const bool has_marks = std::ranges::all_of(dialect.marks, [&](const auto& mark) {
                    return std::ranges::any_of(split(mark, "||"), [&](const auto part) {
                        return text.find(part) != std::string_view::npos;
                    });
                });
                if (has_marks) return {&description, &dialect};
                if (!from.empty() && dialect.refuse.empty() && (!json || other.dialect == nullptr))
                    other = {&description, &dialect};
            }
    return other;
}

/// With blanks that a web page has made unbreakable; of JSON also without launchers' labels, times and colours in front
/// of its lines. Empty: it is that already.
std::string plain_text(std::string_view text) {
    constexpr std::string_view unbreakable = "\xc2\xa0";
    std::string plain;
    if (text.find(unbreakable) != std::string_view::npos)
        plain = fmt::format("{}", fmt::join(split(text, unbreakable), " "));
    if (json_begin(text) != std::string_view::npos || text.find('{') == std::string_view::npos)
        return plain;
    std::string lines_of_json;
    for (extract::InputLines lines{text}; lines.next();)
        lines_of_json.append(lines.content()).append("\n");
    return json_begin(lines_of_json) == std::string_view::npos ? plain : lines_of_json;
}

/// The next step for a tool's output that nothing reads: assay may run the tool itself.
std::string refusal(std::string_view text) {
    for (const auto& description : library().all)
        if (!description.external.empty() && text.find(description.title) != std::string_view::npos)
            return fmt::format("; assay can run {} itself: assay run {}", description.title,
                               description.external);
    return "";
}

} // namespace

std::vector<std::string> tools() {
    std::vector<std::string> names;
    for (const auto& description : library().all)
        if (std::ranges::any_of(description.dialects,
                                [](const Dialect& d) { return d.refuse.empty(); }))
            names.push_back(description.tool);
    std::ranges::sort(names);
    return names;
}

Result<Import> import_text(std::string_view text, std::string_view source,
                           const ImportOptions& options) {
    const auto content = text;
    text = without_mark(text);
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        return fail(fmt::format("{}: is UTF-16 (as PowerShell writes it); convert it to UTF-8: "
                                "iconv -f UTF-16 -t UTF-8",
                                source));
    if (const auto zero = text.find('\0'); zero != std::string_view::npos)
        return fail(fmt::format("{}: line {}: zero byte: a binary or damaged file (expected text)",
                                source, 1 + std::ranges::count(text.substr(0, zero), '\n')));
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return fail(fmt::format("{}: is empty", source));
    const std::string plain = plain_text(text);
    if (!plain.empty()) text = plain;
    const auto [description, dialect] = format_of(text, options.from);
    if (dialect == nullptr)
        return fail(
            fmt::format("{}: unknown format (expected the output of one of {}); name the tool "
                        "with --from{}",
                        source, fmt::join(tools(), ", "), refusal(text)));
    if (!dialect->refuse.empty()) return fail(fmt::format("{}: {}", source, dialect->refuse));
    Draft draft{description->tool, options};
    draft.explain("file", fmt::format("read as {} ({}): it contains {}", description->title,
                                      dialect->format, fmt::join(dialect->marks, ", ")));
    const auto take = [&](Output& output) {
        output.facts["format"] = dialect->format;
        return add_cases(output, *description, source, draft);
    };
    ASSAY_TRY(is_json(*dialect) ? read_objects(text, source, *dialect, draft, take)
                                : read_lines(text, source, *dialect, draft, take));
    return draft.finish(content, source, dialect->format);
}

} // namespace assay::imports
