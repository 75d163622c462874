// SPDX-License-Identifier: Apache-2.0
#include "document/texts/page.hpp"

#include "base/file.hpp"
#include "base/terminal.hpp"
#include "base/version.hpp"
#include "document/chart.hpp"
#include "document/document.hpp"
#include "document/language.hpp"
#include "document/texts/words.hpp"
#include "json/codec.hpp"
#include "write/formats.hpp"
#include "write/style.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay::write {
namespace {

// --- html body -----------------------------------------------------------------------------------

// The HTML of a page: header, sections, tables; a figure for each chart, which the script draws.

struct HtmlBody {
    std::string html;
    std::vector<const document::Chart*> charts; ///< of the figures, by the number they bear
};

using namespace document;
using document::say;
using document::Table;

std::string small(std::string_view text, std::string_view kind = "") {
    if (text.empty()) return "";
    return kind.empty() ? fmt::format("<small>{}</small>", escape_html(text))
                        : fmt::format("<small class=\"{}\">{}</small>", kind, escape_html(text));
}

std::string toned(Tone tone, std::string_view text) {
    if (tone == Tone::plain || text.empty()) return escape_html(text);
    return fmt::format("<span class=\"{}\">{}</span>", to_string(tone), escape_html(text));
}

/// The interval about the value, drawn to ±30%.
std::string bar(const Cell& cell) {
    constexpr double most = 0.3;
    constexpr double half = 30; // pixels
    if (!cell.number || !cell.low || !cell.high || *cell.number <= 0) return "";
    const auto place = [&](double end) {
        const double off = std::clamp(end / *cell.number - 1, -most, most);
        return half + off / most * half;
    };
    return fmt::format("<svg class=\"bar\" aria-hidden=\"true\"><path "
                       "d=\"M0 5H60\"/><path class=\"i\" d=\"M{:.1f} 5H{:.1f}\"/><circle cx=\"30\" "
                       "cy=\"5\" r=\"2.5\"/></svg>",
                       place(*cell.low), place(*cell.high));
}

/// A share of the whole width.
std::string share_bar(const std::optional<double>& share) {
    if (!share) return "";
    return fmt::format("<svg class=\"share\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" "
                       "aria-hidden=\"true\"><path d=\"M0 2H100\"/><path class=\"i\" "
                       "d=\"M0 2H{:.1f}\"/></svg>",
                       100 * std::clamp(*share, 0.0, 1.0));
}

/// "0.1,0.2;0.1": numbers with four digits, replicas apart.
std::string strips(const Cell& cell) {
    if (cell.strips.empty()) return "";
    std::string data;
    for (const auto& strip : cell.strips) {
        if (!data.empty()) data += ';';
        for (std::size_t i = 0; i < strip.size(); ++i)
            data += fmt::format("{}{:.4g}", i == 0 ? "" : ",", strip[i]);
    }
    return fmt::format("<span class=\"strips\" data-strips=\"{}\"></span>", data);
}

/// Short texts stay on one line. Columns that a reader may hide have a class of their `key`.
std::string classes_of(const Column& column, const std::string& key, std::string_view text = "") {
    constexpr std::size_t longest = 30;
    std::string out = column.numeric ? "n" : !text.empty() && text.size() <= longest ? "w" : "";
    const auto add = [&](const std::string& name) { out += (out.empty() ? "" : " ") + name; };
    if (!key.empty()) add("col-" + key);
    if (column.side > 0) add(fmt::format("side-{}", column.side));
    return out.empty() ? "" : fmt::format(" class=\"{}\"", out);
}

/// Has it a table that is printed and, by its texts, wider than an upright page of paper?
bool is_broad(const Section& section) {
    constexpr std::size_t room = 100; // columns of 9 points between the margins of A4
    constexpr std::size_t first = 24;
    constexpr std::size_t longest = 30; // longer texts are wrapped
    return std::ranges::any_of(section.blocks, [&](const Block& block) {
        const auto* table = std::get_if<Table>(&block);
        if (table == nullptr || table->only_workbook || !table->folded.empty()) return false;
        std::size_t sum = first;
        for (const auto i : shown_columns(*table)) {
            std::size_t width = 0;
            for (const auto& row : table->rows)
                width = std::max(width, std::min(longest, display_width(row.cells[i].text)));
            sum += i == 0 ? 0 : width + 2;
        }
        return sum > room;
    });
}

class Printer {
public:
    Printer(HtmlBody& body, bool scripted)
        : out_{body.html}, charts_{body.charts}, scripted_{scripted} {}

    void operator()(const Paragraph& paragraph) {
        out_ += paragraph.tone == Tone::plain
                    ? "<p>"
                    : fmt::format("<p class=\"{}\">", to_string(paragraph.tone));
        if (!paragraph.mark.empty() && paragraph.mark != "-")
            out_ += fmt::format("<sup>{}</sup> ", escape_html(paragraph.mark));
        out_ += fmt::format("{}</p>\n", escape_html(paragraph.text));
    }
    void operator()(const Facts& facts) {
        static constexpr std::string_view looks[] = {"facts", "facts summary", "tiles"};
        out_ += fmt::format("<dl class=\"{}\">\n", looks[static_cast<std::size_t>(facts.look)]);
        const bool tiles = facts.look == Facts::Look::tiles;
        for (const auto& fact : facts.facts)
            out_ += fmt::format("{}<dt>{}</dt><dd>{}{}</dd>{}\n", tiles ? "<div>" : "",
                                escape_html(fact.name), toned(fact.tone, fact.text),
                                fact.detail.empty() ? "" : fmt::format(" {}", small(fact.detail)),
                                tiles ? share_bar(fact.share) + "</div>" : "");
        out_ += "</dl>\n";
    }
    void operator()(const Findings& findings) {
        if (findings.findings.empty()) return;
        out_ += "<ul class=\"findings\">\n";
        for (const auto& finding : findings.findings)
            out_ += fmt::format("<li class=\"{}\"><p>{}</p>{}</li>\n", to_string(finding.severity),
                                escape_html(finding.what),
                                finding.action.empty() ? ""
                                                       : fmt::format("<p class=\"do\">{}</p>",
                                                                     escape_html(finding.action)));
        out_ += "</ul>\n";
    }
    void operator()(const Table& table) {
        if (table.rows.empty() || table.only_workbook) return;
        // A browser lays out every row before it paints the first. Rows that are filtered or sorted stay together.
        const bool long_one = table.rows.size() > most_rows + most_rows / 2 &&
                              table.folded.empty() && table.rows.front().tags.outcomes.empty();
        const auto first = long_one ? most_rows : table.rows.size();
        add(table, {table.rows.data(), first}, table.folded);
        if (long_one)
            add(table, {table.rows.data() + first, table.rows.size() - first},
                document::say_count<text::words::rows_behind>(table.rows.size() - first));
    }
    void operator()(const Chart& chart) {
        if (!scripted_ && chart.lines.empty() && chart.notes.empty()) return;
        out_ += fmt::format(
            "<figure data-chart=\"{}\"><h3>{}</h3>\n<div class=\"chart\" role=\"img\" aria-label=\""
            "{}\"></div>\n",
            charts_.size(), escape_html(chart.title),
            escape_html(fmt::format("{}. {}", chart.title, fmt::join(chart.lines, "; "))));
        charts_.push_back(&chart);
        if (!scripted_ && !chart.lines.empty()) {
            out_ += "<ul class=\"lines\">\n";
            for (const auto& line : chart.lines)
                out_ += fmt::format("<li>{}</li>\n", escape_html(line));
            out_ += "</ul>\n";
        }
        if (!chart.caption.empty())
            out_ += fmt::format("<figcaption>{}</figcaption>\n", escape_html(chart.caption));
        for (const auto& note : chart.notes)
            out_ += fmt::format("<p class=\"foot\">{}</p>\n", escape_html(note));
        out_ += "</figure>\n";
    }

    void begin(const Section& section) { section_ = section.title; }

private:
    static constexpr std::size_t most_rows = 100; ///< of a table that are not behind a line

    void add(const Table& table, std::span<const Row> rows, const std::string& folded) {
        if (!folded.empty())
            out_ += fmt::format("<details><summary>{}</summary>\n", escape_html(folded));
        out_ += fmt::format("<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">"
                            "<table>\n<caption>{}</caption>\n<thead><tr>",
                            escape_html(name_of(table)), escape_html(table.caption));
        const auto shown = shown_columns(table);
        keys_.clear();
        for (const auto i : shown) keys_.push_back(key_of(table, table.columns[i]));
        for (std::size_t i = 0; i < shown.size(); ++i)
            out_ += fmt::format("<th scope=\"col\"{}>{}</th>",
                                i == 0 ? "" : classes_of(table.columns[shown[i]], keys_[i]),
                                escape_html(table.columns[shown[i]].title));
        out_ += "</tr></thead>\n<tbody>\n";
        for (const auto& row : rows) add(table, shown, row);
        out_ += "</tbody></table></div>\n";
        if (!folded.empty()) out_ += "</details>\n";
    }
    /// Every column of a table that is seen and can be filtered has a key.
    std::string key_of(const Table& table, const Column& column) {
        if (!column.key.empty() || !table.folded.empty() ||
            table.rows.front().tags.outcomes.empty())
            return column.key;
        return fmt::format("{}", titles_.emplace(column.title, titles_.size()).first->second);
    }
    /// For people who listen: no two tables of a page have one name.
    std::string name_of(const Table& table) {
        auto name =
            table.caption.empty() ? section_ : say<text::words::labelled>(section_, table.caption);
        if (const auto seen = ++names_[name]; seen > 1) name += fmt::format(" {}", seen);
        return name;
    }
    void add(const Table& table, const std::vector<std::size_t>& shown, const Row& row) {
        const auto& tags = row.tags;
        out_ += "<tr";
        const auto attribute = [&](std::string_view name, const std::string& value) {
            if (!value.empty()) out_ += fmt::format(" data-{}=\"{}\"", name, escape_html(value));
        };
        attribute("family", tags.family);
        attribute("library", fmt::format("{}", fmt::join(tags.libraries, "|")));
        attribute("outcome", fmt::format("{}", fmt::join(tags.outcomes, "|")));
        out_ += '>';
        for (std::size_t at = 0; at < shown.size(); ++at) {
            const auto i = shown[at];
            const auto& column = table.columns[i];
            const auto& cell = row.cells[i];
            std::string content = toned(cell.tone, cell.text);
            if (column.bar) content += bar(cell);
            content += strips(cell);
            if (i == 0) content += small(row.group, "id");
            content += small(cell.detail);
            for (const auto& note : cell.notes) content += small(note, "note");
            if (i == 0) {
                out_ += fmt::format("<th scope=\"row\">{}</th>", content);
                continue;
            }
            const auto sorted =
                cell.number ? fmt::format(" data-v=\"{:.7g}\"", *cell.number) : std::string{};
            out_ += content.empty()
                        ? fmt::format("<td{}></td>", classes_of(column, keys_[at], cell.text))
                        : fmt::format("<td data-l=\"{}\"{}{}>{}</td>", escape_html(column.title),
                                      classes_of(column, keys_[at], cell.text), sorted, content);
        }
        out_ += "</tr>\n";
    }

    std::string& out_;
    std::vector<const Chart*>& charts_;
    bool scripted_;
    std::string section_;
    std::map<std::string, std::size_t> names_;
    std::map<std::string, std::size_t> titles_; ///< of columns without a key of their own
    std::vector<std::string> keys_;             ///< of the columns that are shown
};

void add(HtmlBody& body, Printer& printer, const Document& document, std::size_t number) {
    auto& out = body.html;
    const bool answered = !document.verdict.empty();
    out += fmt::format(
        "<article>\n<header class=\"top\">\n<p class=\"kicker\">{}</p>\n<h1{}>{}</h1>\n",
        escape_html(document.kicker),
        document.tone == Tone::plain ? std::string{}
                                     : fmt::format(" class=\"{}\"", to_string(document.tone)),
        escape_html(answered ? document.verdict : document.title));
    for (const auto& line : document.lead)
        out += fmt::format("<p class=\"lead\">{}</p>\n", escape_html(line));
    if (answered) out += fmt::format("<p class=\"sub\">{}</p>\n", escape_html(document.title));
    if (!document.sub.empty())
        out += fmt::format("<p class=\"sub\">{}</p>\n", escape_html(document.sub));
    out += "</header>\n";
    for (std::size_t i = 0; i < document.sections.size(); ++i) {
        const auto& section = document.sections[i];
        out += fmt::format(
            "<section class=\"part\" id=\"part-{}-{}\">\n<h2 tabindex=\"-1\"{}>{}</h2>\n", number,
            i, section.heading ? "" : " class=\"unseen\"", escape_html(section.title));
        if (!section.question.empty())
            out += fmt::format("<p class=\"question\">{}</p>\n", escape_html(section.question));
        printer.begin(section);
        for (const auto& block : section.blocks) std::visit(printer, block);
        out += "</section>\n";
    }
    out += "<footer>\n";
    for (const auto& paragraph : document.foot) printer(paragraph);
    out += "</footer>\n</article>\n";
}

/// `scripted`: a script draws the charts; otherwise the page says that they are missing.
HtmlBody body_of(std::span<const Document> documents, const std::string& created, bool scripted) {
    HtmlBody body;
    const bool broad = std::ranges::any_of(documents, [](const Document& document) {
        return std::ranges::any_of(document.sections, is_broad);
    });
    body.html = fmt::format("<div{}>\n<main id=\"main\" tabindex=\"-1\">\n",
                            broad ? " class=\"broad\"" : "");
    Printer printer{body, scripted};
    for (std::size_t i = 0; i < documents.size(); ++i) add(body, printer, documents[i], i);
    body.html += "</main>\n<footer>\n";
    if (!scripted) body.html += fmt::format("<p>{}</p>\n", say<text::page::no_script>());
    auto day = created;
    std::ranges::replace(day, 'T', ' ');
    if (day.ends_with('Z')) day.replace(day.size() - 1, 1, " UTC");
    body.html += fmt::format("<p>{}</p>\n</footer>\n</div>\n",
                             escape_html(say<text::page::made>(std::string{version()}, day)));
    return body;
}

// -------------------------------------------------------------------------------------------------

using namespace document;
using json::Value;

constexpr std::size_t largest_page = std::size_t{8} << 20U; ///< bytes; ours has less than one MiB

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_number(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/// Charts have a few hundred pixels and texts three digits: seven are plenty. Numbers from a million on are kept to
/// the unit, because dates are seconds since 1970.
void add_number(std::string& out, std::string_view number) {
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value,
                                              std::chars_format::general);
    const bool plain = error == std::errc{} && end == number.data() + number.size();
    const bool whole = number.find_first_of(".eE") == std::string_view::npos;
    if (!plain || whole) {
        out += number;
        return;
    }
    const double size = std::fabs(value);
    const auto shorter =
        size >= 1e6 && size < 1e15 ? fmt::format("{:.0f}", value) : fmt::format("{:.7g}", value);
    out += shorter.size() < number.size() ? shorter : std::string{number};
}

/// One character of a string; escapes what HTML or older scripts would read as something else.
void add_character(std::string& out, std::string_view document, std::size_t& at) {
    const auto rest = document.substr(at);
    if (rest.front() == '<') {
        out += "\\u003c";
    } else if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
        out += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
        at += 2;
    } else {
        out += rest.front();
    }
    ++at;
}

std::size_t add_string(std::string& out, std::string_view document, std::size_t at) {
    out += document[at++];
    while (at < document.size() && document[at] != '"') {
        if (document[at] == '\\' && at + 1 < document.size()) out += document[at++];
        add_character(out, document, at);
    }
    if (at < document.size()) out += document[at++];
    return at;
}

Value chart_data(const Chart& chart) {
    static constexpr std::array kinds{"curves", "heat", "roofline", "ratios", "time", "ranking"};
    Value data = std::visit([](const auto& held) { return json::encode(held); }, chart.data);
    data["kind"] = kinds.at(chart.data.index());
    return data;
}

/// Data for the script.
std::string data_of(std::span<const Document> documents, const std::vector<const Chart*>& charts) {
    Value list = Value::array();
    for (const auto* chart : charts) list.push_back(chart_data(*chart));
    const auto sides = documents.empty() ? std::vector<std::string>{} : documents.front().sides;
    const auto language = to_string(document::language_in_use());
    return pack_json(json::to_line(
        Value{{"language", std::string{language}}, {"sides", sides}, {"charts", std::move(list)}}));
}

/// In the margin of each printed page, where browsers can.
std::string running_title(std::string_view title) {
    constexpr std::size_t longest = 90; // columns: one line of an upright page
    std::string text;
    for (const char c : cut(title, longest)) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ' ' ||
                           static_cast<unsigned char>(c) >= 0x80; // char has no sign on Arm
        text += plain ? std::string{c} : fmt::format("\\{:x} ", c);
    }
    return fmt::format("@page{{@top-left{{content:\"{}\";font:8pt sans-serif;color:#666}}}}\n",
                       text);
}

/// The frame of a page without a script.
constexpr std::string_view still_page =
    "<!DOCTYPE html>\n<html lang=\"@LANGUAGE@\">\n<head>\n<meta charset=\"utf-8\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; base-uri 'none'; form-action 'none'\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
    "<meta name=\"generator\" content=\"assay\"/>\n<title>@TITLE@</title>\n"
    "<style>@BASE@</style>\n</head>\n<body>\n<div id=\"page\">@BODY@</div>\n</body>\n</html>\n";

} // namespace

std::string escape_html(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string pack_json(std::string_view document) {
    std::string out;
    out.reserve(document.size() / 2);
    for (std::size_t at = 0; at < document.size();) {
        const char c = document[at];
        if (c == '"') {
            at = add_string(out, document, at);
        } else if (is_number(c) && (c == '-' || (c >= '0' && c <= '9'))) {
            std::size_t end = at;
            while (end < document.size() && is_number(document[end])) ++end;
            add_number(out, document.substr(at, end - at));
            at = end;
        } else {
            if (!is_blank(c)) out += c;
            ++at;
        }
    }
    return out;
}

std::optional<std::string> find_page(const std::filesystem::path& share) {
    const auto page = read_whole(share / "page" / "page.html", largest_page);
    if (!page) return std::nullopt;
    return *page;
}

Result<std::string> to_html(std::span<const Document> documents, const HtmlOptions& options) {
    const bool chinese = document::language_in_use() == document::Language::zh;
    std::string title;
    if (documents.size() == 1) title = documents.front().verdict;
    if (title.empty() && !documents.empty()) title = documents.front().title;
    const auto body = body_of(documents, options.created, options.page.has_value());
    std::string style{style_sheet};
    if (chinese) style += chinese_fonts;
    if (!documents.empty()) style += running_title(documents.front().title);
    const std::pair<std::string_view, std::string> places[] = {
        {"@LANGUAGE@", chinese ? "zh-CN" : "en"},
        {"@TITLE@", escape_html(title)},
        {"@BASE@", std::move(style)},
        {"@BODY@", body.html},
        {"@DATA@", options.page ? data_of(documents, body.charts) : ""}};
    std::string_view page = options.page ? std::string_view{*options.page} : still_page;
    std::string out;
    // In this order, each once, all before the script: what is put in is never searched.
    for (const auto& [place, value] : places) {
        if (place == "@DATA@" && !options.page) continue;
        const auto at = page.find(place);
        if (at == std::string_view::npos)
            return fail(fmt::format("page/page.html: {} is missing: the file is not of "
                                    "assay {}; build or install assay again",
                                    place, version()),
                        Fault::environment);
        out += page.substr(0, at);
        out += value;
        page.remove_prefix(at + place.size());
    }
    return out += page;
}

} // namespace assay::write
