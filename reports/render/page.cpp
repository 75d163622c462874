// SPDX-License-Identifier: Apache-2.0

#include "render/page.hpp"

#include "base/file.hpp"
#include "base/version.hpp"
#include "json/json.hpp"
#include "model/text.hpp"
#include "render/charts.hpp"
#include "render/style.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace assay::report {
namespace {

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

std::string envelope(const PageContent& content, Language language) {
    const auto document = [](const std::string& json) {
        return json.empty() ? std::string{"null"} : pack_json(json);
    };
    const auto text = [](std::string_view value) {
        return pack_json(json::to_line(json::Value(plain(value))));
    };
    return fmt::format(
        R"({{"schema":"assay.page/1","language":"{}","version":{},"created":{},"title":{},)"
        R"("report":{},"comparison":{},"history":{}}})",
        to_string(language), text(version()), text(content.created), text(content.title),
        document(content.report), document(content.comparison), document(content.history));
}

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

Result<std::string> fill_page(std::string_view page, const PageContent& content,
                              Language language) {
    const std::string title =
        content.title.empty() ? std::string{"assay"} : escape_html(plain(content.title));
    const std::array<std::pair<std::string_view, std::string>, 4> places{
        {{"@LANGUAGE@", language == Language::zh ? "zh-CN" : "en"},
         {"@TITLE@", title},
         {"@BASE@", std::string{style_sheet}},
         {"@DATA@", envelope(content, language)}}};
    std::string out;
    // In this order, each once, all before the script: what is put in is never searched.
    for (const auto& [place, value] : places) {
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

} // namespace assay::report
