// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "base/terminal.hpp"
#include "base/version.hpp"
#include "document/chart_layout.hpp"
#include "json/codec.hpp"
#include "write/html.hpp"
#include "write/html_body.hpp"
#include "write/style.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace assay::write {
namespace {

using namespace document;
using json::Value;

constexpr std::size_t largest_page = std::size_t{8} << 20U; ///< bytes; ours has less than one MiB

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_number(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/// Charts have a few hundred pixels and texts three digits: seven are plenty. What has a million and more
/// is kept to the unit, because dates are seconds since 1970.
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

/// What the script needs beside the page itself.
std::string data_of(std::span<const Document> documents, const std::vector<const Chart*>& charts) {
    Value list = Value::array();
    for (const auto* chart : charts) list.push_back(chart_data(*chart));
    const auto sides = documents.empty() ? std::vector<std::string>{} : documents.front().sides;
    const auto language = to_string(report::language_in_use());
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
    const bool chinese = report::language_in_use() == report::Language::zh;
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
            return fail(fmt::format("page/page.html has no {} where it should: it is not of "
                                    "assay {}; build or install it again",
                                    place, version()),
                        Fault::environment);
        out += page.substr(0, at);
        out += value;
        page.remove_prefix(at + place.size());
    }
    return out += page;
}

} // namespace assay::write
