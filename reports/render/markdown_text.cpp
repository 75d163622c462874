// SPDX-License-Identifier: Apache-2.0

#include "render/markdown_text.hpp"

namespace assay::report::markdown {

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

void row(std::string& out, std::initializer_list<std::string> cells) {
    out += '|';
    for (const auto& cell : cells) out += " " + cell + " |";
    out += '\n';
}

} // namespace assay::report::markdown
