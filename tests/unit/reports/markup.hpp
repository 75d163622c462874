// SPDX-License-Identifier: Apache-2.0
//
// Reads markup strictly: every tag closed in order, every attribute quoted; of a page, only elements that show text.

#pragma once

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

struct Element {
    std::string name;
    std::string parent;
    std::map<std::string, std::string> attributes;
};

class MarkupReader {
public:
    explicit MarkupReader(std::string_view text) : rest_{text} {
        is_page_ = !take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        if (is_page_ && !take("<!DOCTYPE html>\n")) fail("no doctype");
        while (problem_.empty() && !rest_.empty()) step();
        if (!open_.empty()) fail("not closed: " + open_.back());
    }
    const std::string& problem() const { return problem_; } ///< "": none
    const std::vector<Element>& elements() const { return elements_; }

private:
    void fail(const std::string& text) {
        if (problem_.empty()) problem_ = text + " before: " + std::string{rest_.substr(0, 60)};
    }
    bool take(std::string_view text) {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }
    std::string name() {
        std::size_t length = 0;
        while (
            length < rest_.size() &&
            (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '-'))
            ++length;
        std::string text{rest_.substr(0, length)};
        rest_.remove_prefix(length);
        return text;
    }
    void step() {
        if (take("</")) return end_tag();
        if (take("<")) return start_tag();
        if (rest_.front() == '&') return entity();
        if (rest_.front() == '>' && (open_.empty() || open_.back() != "style")) fail("a bare >");
        rest_.remove_prefix(1);
    }
    void entity() {
        static const std::set<std::string_view> known{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
        const auto end = rest_.find(';');
        if (end == std::string_view::npos || !known.contains(rest_.substr(0, end + 1)))
            return fail("unknown entity");
        rest_.remove_prefix(end + 1);
    }
    void end_tag() {
        const auto tag = name();
        if (open_.empty() || open_.back() != tag) return fail("</" + tag + "> closes nothing");
        open_.pop_back();
        if (!take(">")) fail("end tag of " + tag);
    }
    void start_tag() {
        static const std::set<std::string> allowed{
            "html",       "head",  "meta",    "title",  "style", "body",    "main",   "article",
            "header",     "h1",    "h2",      "h3",     "p",     "dl",      "dt",     "dd",
            "ul",         "ol",    "li",      "div",    "span",  "section", "footer", "figure",
            "figcaption", "svg",   "desc",    "g",      "rect",  "line",    "circle", "text",
            "path",       "table", "caption", "thead",  "tbody", "tr",      "th",     "td",
            "small",      "sup",   "details", "summary"};
        const auto tag = name();
        if (is_page_ && !allowed.contains(tag)) return fail("element " + tag);
        elements_.push_back({tag, open_.empty() ? "" : open_.back(), {}});
        while (take(" ")) attribute(tag);
        if (take("/>")) return;
        if (!take(">")) return fail("start tag of " + tag);
        open_.push_back(tag);
    }
    void attribute(const std::string& tag) {
        const auto attribute = name();
        static const std::set<std::string> unwanted{"", "src", "href", "style"};
        if (unwanted.contains(attribute) || attribute.starts_with("on"))
            return fail(tag + " has attribute " + attribute);
        if (!take("=\"")) return fail("attribute " + attribute + " is not quoted");
        const auto end = rest_.find('"');
        if (end == std::string_view::npos) return fail("attribute " + attribute + " has no end");
        const auto value = rest_.substr(0, end);
        if (value.find('<') != std::string_view::npos) fail("< in " + attribute);
        elements_.back().attributes[attribute] = value;
        rest_.remove_prefix(end + 1);
    }

    std::string_view rest_;
    bool is_page_ = true;
    std::vector<std::string> open_;
    std::vector<Element> elements_;
    std::string problem_;
};

inline std::string markup_problem(std::string_view page) { return MarkupReader{page}.problem(); }

} // namespace assay::test
