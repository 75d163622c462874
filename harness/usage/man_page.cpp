// SPDX-License-Identifier: Apache-2.0
#include "usage/usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::usage {
namespace {

/// Text as roff shows it: no escape, no request at the begin of a line.
std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool begins = out.empty() || out.back() == '\n';
        if (begins && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
    }
    return out;
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
}

/// Lines as they stand, without those from `end` on.
std::string as_it_stands(std::string_view text, std::string_view end = {}) {
    if (!end.empty()) text = text.substr(0, text.find(end));
    while (text.ends_with('\n')) text.remove_suffix(1);
    std::string out = ".nf\n";
    bool blank = false; // one empty line is enough
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.empty() && blank) continue;
        blank = line.empty();
        out += line.empty() ? ".sp\n" : roff(line) + "\n";
    }
    return out + ".fi\n";
}

std::string options_of(const std::vector<Option>& options) {
    std::string out;
    for (const auto& option : options) {
        std::vector<std::string> names;
        for (const auto& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
        const auto value = option.value.empty() ? "" : "\\fI" + roff(option.value) + "\\fR";
        out += fmt::format(".TP\n{}{}{}\n{}\n", fmt::join(names, ", "),
                           names.empty() || value.empty() ? "" : " ", value, roff(option.help));
    }
    return out;
}

constexpr std::string_view exit_codes = "Exit codes:";

} // namespace

std::string man_page(const Program& program) {
    const auto name = roff(program.name);
    std::string out =
        fmt::format(".TH {0} 1 \"\" \"{1}\" \"User Commands\"\n"
                    ".SH NAME\n{2} \\- {3}\n"
                    ".SH SYNOPSIS\n.B {2}\n.I VERB\n[\\fIOPTION\\fR ...] "
                    "[\\fIARGUMENT\\fR ...]\n"
                    ".SH OPTIONS\n",
                    upper(program.name), roff(program.version), name, roff(program.help));
    out += options_of(program.options) + ".SH VERBS\n";
    for (const auto& verb : program.verbs)
        out += fmt::format(".SS {0} {1}\n{2}\n{3}.PP\n{4}", name, roff(verb.name), roff(verb.help),
                           options_of(verb.options), as_it_stands(verb.footer, exit_codes));
    if (!program.handed_over.empty())
        out += fmt::format(".PP\nThe verbs {} are those of\n.BR {}\\-report (1).\n",
                           fmt::join(program.handed_over, ", "), name);
    const auto codes = program.footer.find(exit_codes);
    out += ".SH EXAMPLES\n" + as_it_stands(program.footer, exit_codes);
    if (codes != std::string::npos)
        out += ".SH EXIT STATUS\n" +
               as_it_stands(std::string_view{program.footer}.substr(codes + exit_codes.size() + 1));
    return out;
}

} // namespace assay::usage
