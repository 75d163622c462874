// SPDX-License-Identifier: Apache-2.0

#include "base/usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::usage {

std::vector<std::string> choices(std::string_view value) {
    std::vector<std::string> found;
    value = value.substr(0, value.find(' '));
    while (!value.empty()) {
        const auto part = value.substr(0, value.find('|'));
        value.remove_prefix(std::min(value.size(), part.size() + 1));
        const auto is_literal = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        };
        if (!part.empty() && std::ranges::all_of(part, is_literal)) found.emplace_back(part);
    }
    return found;
}

Kind kind_of(const Option& option) {
    const std::string_view value = option.value;
    const auto has = [&](std::string_view word) { return value.find(word) != value.npos; };
    if (!choices(value).empty()) return Kind::choice;
    for (const auto* word : {"FILE", "DIR", "PATH", "FOLDER", "MODULE.so"})
        if (has(word)) return Kind::file;
    return value == "ID" || has("SUITE") || value.starts_with("ID.") ? Kind::benchmark
                                                                     : Kind::other;
}

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

namespace {

struct Removed {
    std::string_view verb;    ///< empty: every verb
    std::string_view option;  ///< "--to"; empty: the verb itself
    std::string_view value;   ///< empty: every value
    std::string_view instead; ///< a sentence
};
constexpr std::string_view of_noise{
    "Every run records the noise that it expects and what disturbed it: assay run quick."};
constexpr std::string_view of_offers{
    "Offers are compared by: assay report RUNS --kind procurement --offers FILE."};
constexpr std::array all{
    Removed{"ledger", "", "",
            "Keep the bundles in a folder and check each one: assay verify BUNDLE. To find a part: "
            "grep -rl SERIAL FOLDER."},
    Removed{"export", "--redact", "",
            "A result names hosts and users only if measured with `assay run --hostname`, and "
            "serial numbers only with --serials; --id-key FILE records hashes of these instead."},
    Removed{"export", "--to", "gbench", "Use --to csv or --to ndjson."},
    Removed{"doctor", "--noise", "", of_noise},
    Removed{"doctor", "--seconds", "", of_noise},
    Removed{"check", "--self-test", "",
            "The tests of assay check its verdicts on nodes with one fault each. To judge a node: "
            "assay check results."},
    Removed{
        "compare", "--per", "",
        "Where the sides differ in cores, the ranking has the ratio per core. Work for the money: "
        "assay report RUNS --kind procurement --offers FILE."},
    Removed{"compare", "--offers", "", of_offers},
    Removed{"compare", "--tariff", "", of_offers},
    Removed{"compare", "--currency", "", of_offers},
    Removed{"compare", "--max-age", "", of_offers},
    Removed{"compare", "--provider", "", of_offers},
    Removed{"compare", "--date", "", of_offers},
    Removed{"compare", "--catalog", "", of_offers},
    Removed{"", "--no-index", "", "Files are always read anew; leave the option out."},
};

/// The word to name: "--to gbench".
std::string name_of(const Removed& one) {
    if (one.option.empty()) return std::string{one.verb};
    return fmt::format("{}{}{}", one.option, one.value.empty() ? "" : " ", one.value);
}

bool is_used(const Removed& one, const std::vector<std::string>& arguments) {
    if (!one.verb.empty() && one.verb != arguments.front()) return false;
    if (one.option.empty()) return true;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        const auto equals = argument.find('=');
        if (argument.substr(0, equals) != one.option) continue;
        if (one.value.empty()) return true;
        if (equals != argument.npos) return argument.substr(equals + 1) == one.value;
        return i + 1 < arguments.size() && arguments[i + 1] == one.value;
    }
    return false;
}

} // namespace

std::string about_removed(const std::vector<std::string>& arguments) {
    if (arguments.empty()) return "";
    for (const auto& one : all)
        if (is_used(one, arguments))
            return fmt::format("{} was removed. {}", name_of(one), one.instead);
    return "";
}

} // namespace assay::usage
