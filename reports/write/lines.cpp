// SPDX-License-Identifier: Apache-2.0

#include "write/lines.hpp"

#include <algorithm>

namespace assay::write {
namespace {

constexpr std::size_t narrowest = 60; // below this a table of values does not fit

} // namespace

Lines::Lines(Terminal terminal) : terminal_{terminal} {
    terminal_.width = std::max(terminal_.width, narrowest);
}

void Lines::line(std::string_view text) {
    const auto end = text.find_last_not_of(' ');
    out_ += text.substr(0, end == std::string_view::npos ? 0 : end + 1);
    out_ += '\n';
}

void Lines::heading(std::string_view text) {
    line();
    line(paint(Paint::bold, text));
}

void Lines::paragraph(std::string_view first, std::size_t indent, std::string_view text, bool dim) {
    const auto lines = wrap(text, width() > indent + 20 ? width() - indent : 20);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string body = dim ? paint(Paint::dim, lines[i]) : lines[i];
        line((i == 0 ? fit(first, indent) : std::string(indent, ' ')) + body);
    }
}

} // namespace assay::write
