// SPDX-License-Identifier: Apache-2.0

#include "document/document.hpp"
#include "document/language.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/words.hpp"
#include "write/formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <variant>
#include <vector>

namespace assay::write {
namespace {

using namespace document;

std::string quote(std::string_view text) {
    static constexpr std::string_view special = R"(\`*_{}[]<>#|~!&$@)";
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        // A scheme would be made a link by itself.
        const bool scheme = c == ':' && text.substr(i, 3) == "://";
        if (scheme)
            out += "&#58;";
        else {
            if (special.find(c) != std::string_view::npos) out += '\\';
            out += c;
        }
    }
    return out;
}

void row(std::string& out, const std::vector<std::string>& cells) {
    out += fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string text_of(const Cell& cell) {
    std::string text = quote(cell.text);
    const bool said = cell.tone == Tone::good || cell.tone == Tone::bad;
    if (said && !text.empty()) text = fmt::format("**{}**", text);
    if (!cell.detail.empty())
        text += fmt::format("{}{}", text.empty() ? "" : " ", quote(cell.detail));
    if (!cell.notes.empty())
        text += fmt::format(" ({})", quote(fmt::format("{}", fmt::join(cell.notes, "; "))));
    return text;
}

class Printer {
public:
    explicit Printer(std::string& out) : out_{out} {}

    void operator()(const Paragraph& paragraph) {
        const bool listed = paragraph.mark == "-";
        out_ += fmt::format("\n{}{}\n",
                            paragraph.mark.empty() ? ""
                            : listed               ? "- "
                                                   : quote(paragraph.mark) + " ",
                            quote(paragraph.text));
    }
    void operator()(const Facts& facts) {
        out_ += '\n';
        for (const auto& fact : facts.facts)
            out_ += fmt::format(
                "- {}\n",
                document::say<text::words::labelled>(
                    fmt::format("**{}**", quote(fact.name)),
                    quote(fact.detail.empty() ? fact.text
                                              : fmt::format("{} {}", fact.text, fact.detail))));
    }
    void operator()(const Findings& findings) {
        out_ += '\n';
        for (const auto& finding : findings.findings)
            out_ += fmt::format(
                "- {}{}\n",
                document::say<text::words::labelled>(
                    fmt::format("**{}**", severity_in_words(finding.severity)),
                    quote(finding.what)),
                finding.action.empty() ? "" : fmt::format(" → {}", quote(finding.action)));
    }
    void operator()(const Table& table) {
        if (table.rows.empty() || table.only_workbook) return;
        if (!table.folded.empty())
            out_ += fmt::format("\n<details><summary>{}</summary>\n", escape_html(table.folded));
        if (!table.caption.empty()) out_ += fmt::format("\n{}\n", quote(table.caption));
        const bool grouped = !table.rows.front().group.empty();
        const auto shown = shown_columns(table);
        std::vector<std::string> heads;
        std::vector<std::string> rules;
        if (grouped) {
            heads.push_back(document::say<text::compare::benchmark>());
            rules.emplace_back("---");
        }
        for (const auto i : shown) {
            heads.push_back(quote(table.columns[i].title));
            rules.emplace_back(table.columns[i].numeric ? "---:" : "---");
        }
        out_ += '\n';
        row(out_, heads);
        row(out_, rules);
        for (const auto& entry : table.rows) {
            std::vector<std::string> cells;
            if (grouped) cells.push_back(quote(entry.group));
            for (const auto i : shown) cells.push_back(text_of(entry.cells[i]));
            row(out_, cells);
        }
        if (!table.folded.empty()) out_ += "\n</details>\n";
    }
    void operator()(const Chart& chart) {
        if (chart.lines.empty() && chart.notes.empty()) return;
        out_ += fmt::format("\n### {}\n\n", quote(chart.title));
        if (!chart.caption.empty()) out_ += fmt::format("{}\n\n", quote(chart.caption));
        for (const auto& line : chart.lines) out_ += fmt::format("- {}\n", quote(line));
        for (const auto& note : chart.notes) out_ += fmt::format("- {}\n", quote(note));
    }

private:
    std::string& out_;
};

} // namespace

std::string to_markdown(std::span<const Document> documents) {
    std::string out;
    Printer printer{out};
    for (const auto& document : documents) {
        if (!out.empty()) out += "\n---\n\n";
        out += fmt::format("# {}\n", quote(document.title));
        if (!document.verdict.empty()) out += fmt::format("\n**{}**\n", quote(document.verdict));
        for (const auto& line : document.lead) out += fmt::format("\n{}\n", quote(line));
        if (!document.sub.empty()) out += fmt::format("\n{}\n", quote(document.sub));
        for (const auto& section : document.sections) {
            if (section.heading) out += fmt::format("\n## {}\n", quote(section.title));
            if (!section.question.empty()) out += fmt::format("\n{}\n", quote(section.question));
            for (const auto& block : section.blocks) std::visit(printer, block);
        }
        for (const auto& paragraph : document.foot) printer(paragraph);
    }
    return out;
}

} // namespace assay::write
