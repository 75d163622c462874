// SPDX-License-Identifier: Apache-2.0
#include "base/usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace assay::usage {
namespace {

/// Benchmarks and suites, of the program as it is installed: one id a line.
constexpr const char* ids = R"sh({ "$1" list --json | sed -n 's/^ *"id": "\([^"]*\)".*/\1/p'
        ls "$(dirname "$(command -v "$1")")/../share/assay/suites" | sed -n '/^frozen/d; s/\.json$//p'
    } 2>/dev/null | sort -u)sh";

/// A function's name: no shell takes a blank, and not all take a dash.
std::string function_of(std::string_view program) {
    std::string name = "_" + std::string{program};
    std::ranges::replace(name, '-', '_');
    return name;
}

std::string in_quotes(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return "'" + out + "'";
}

std::vector<std::string> names_of(const std::vector<Option>& options) {
    std::vector<std::string> names;
    for (const auto& option : options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

std::vector<std::string> verbs_of(const Program& program) {
    auto names = program.handed_over;
    for (const auto& verb : program.verbs) names.push_back(verb.name);
    return names;
}

// --- bash ------------------------------------------------------------------------------------------------

std::string bash_words(const Option& option, const std::string& function) {
    switch (kind_of(option)) {
    case Kind::choice:
        return fmt::format("words={}",
                           in_quotes(fmt::format("{}", fmt::join(choices(option.value), " "))));
    case Kind::file:
        return "files=yes";
    case Kind::benchmark:
        return fmt::format("words=$({}_ids \"$program\")", function);
    case Kind::other:
        break;
    }
    return "words=";
}

std::string bash_verb(const Verb& verb, const std::string& function) {
    std::string values;
    std::string rest;
    for (const auto& option : verb.options) {
        if (option.names.empty())
            rest = bash_words(option, function);
        else if (!option.value.empty())
            values += fmt::format("        {}) {} ;;\n", fmt::join(option.names, " | "),
                                  bash_words(option, function));
    }
    return fmt::format(R"sh(    {}) case $before in
{}        *) if [[ $word == -* ]]; then words={}; else {}; fi ;;
        esac ;;
)sh",
                       verb.name, values,
                       in_quotes(fmt::format("{}", fmt::join(names_of(verb.options), " "))),
                       rest.empty() ? "words=" : rest);
}

std::string bash(const Program& program) {
    const auto function = function_of(program.name);
    auto first = verbs_of(program);
    const auto names = names_of(program.options);
    first.insert(first.end(), names.begin(), names.end());
    std::string verbs;
    for (const auto& verb : program.verbs) verbs += bash_verb(verb, function);
    if (!program.handed_over.empty()) {
        const auto other = program.name + "-report";
        verbs += fmt::format(R"sh(    {0})
        declare -F {1} >/dev/null || eval "$({2} --completion bash 2>/dev/null)"
        declare -F {1} >/dev/null && {1}
        return ;;
)sh",
                             fmt::join(program.handed_over, " | "), function_of(other), other);
    }
    return fmt::format(R"sh(# Completion of {0} for bash, made by `{0} --completion bash`.
{1}_ids() {{
    {2}
}}
{1}() {{
    local program=${{COMP_WORDS[0]}} word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= files=
    COMPREPLY=()
    # --option=value is three words
    if [ "$word" = "=" ]; then word=
    elif [ "$before" = "=" ]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        words={3}
    else case ${{COMP_WORDS[1]}} in
{4}    esac; fi
    if [ -n "$files" ]; then mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [ -n "$words" ]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"); fi
}}
complete -o filenames -o bashdefault -F {1} {0}
)sh",
                       program.name, function, ids,
                       in_quotes(fmt::format("{}", fmt::join(first, " "))), verbs);
}

// --- zsh -------------------------------------------------------------------------------------------------

/// A text within a specification of _arguments.
std::string zsh_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

std::string zsh_option(const Option& option, const std::string& function) {
    std::string action;
    switch (kind_of(option)) {
    case Kind::choice:
        action = fmt::format("({})", fmt::join(choices(option.value), " "));
        break;
    case Kind::file:
        action = "_files";
        break;
    case Kind::benchmark:
        action = function + "_ids";
        break;
    case Kind::other:
        action = " ";
        break;
    }
    const auto value =
        option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), action);
    if (option.names.empty()) return in_quotes(fmt::format("*{}", value));
    std::string out;
    for (const auto& name : option.names)
        out += fmt::format("{}{}", out.empty() ? "" : " ",
                           in_quotes(fmt::format("*{}[{}]{}", name, zsh_text(option.help), value)));
    return out;
}

std::string zsh(const Program& program) {
    const auto function = function_of(program.name);
    std::string first;
    std::string verbs;
    for (const auto& verb : program.verbs) {
        first += fmt::format("            {}\n", in_quotes(verb.name + ":" + zsh_text(verb.help)));
        verbs += fmt::format("    {}) _arguments", verb.name);
        for (const auto& option : verb.options)
            verbs += " \\\n        " + zsh_option(option, function);
        verbs += " ;;\n";
    }
    const auto other = program.name + "-report";
    for (const auto& name : program.handed_over)
        first += fmt::format("            {}\n", in_quotes(name + ":see " + other));
    if (!program.handed_over.empty())
        verbs += fmt::format(
            "    {0}) (( $+functions[{1}] )) || eval \"$({2} --completion zsh)\"; {1} ;;\n",
            fmt::join(program.handed_over, "|"), function_of(other), other);
    return fmt::format(R"sh(#compdef {0}
# Completion of {0} for zsh, made by `{0} --completion zsh`.
{1}_ids() {{
    local -a found
    found=(${{(f)"$({1}_list "$words[1]")"}})
    compadd -a found
}}
{1}_list() {{
    {2}
}}
{1}() {{
    if (( CURRENT == 2 )); then
        local -a verbs
        verbs=(
{3}        )
        _describe verb verbs
        return
    fi
    case $words[2] in
{4}    esac
}}
if [ "$funcstack[1]" = {1} ]; then {1} "$@"; else compdef {1} {0}; fi
)sh",
                       program.name, function, ids, first, verbs);
}

// --- fish ------------------------------------------------------------------------------------------------

std::string fish_option(const Program& program, const std::string& condition,
                        const Option& option) {
    std::string line = fmt::format("complete -c {} -n {}", program.name, in_quotes(condition));
    for (const auto& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    switch (kind_of(option)) {
    case Kind::choice:
        line += fmt::format(" -x -a '{}'", fmt::join(choices(option.value), " "));
        break;
    case Kind::file:
        line += option.names.empty() ? " -F" : " -r -F";
        break;
    case Kind::benchmark:
        line += fmt::format(" -x -a '({}_ids)'", function_of(program.name));
        break;
    case Kind::other:
        if (option.names.empty()) return "";
        if (!option.value.empty()) line += " -x";
        break;
    }
    return line + (option.names.empty() ? "" : " -d " + in_quotes(option.help)) + "\n";
}

std::string fish(const Program& program) {
    std::string out = fmt::format("# Completion of {0} for fish, made by `{0} --completion fish`.\n"
                                  "function {1}_ids\n    sh -c {2} sh {0}\nend\n"
                                  "complete -c {0} -f\n",
                                  program.name, function_of(program.name), in_quotes(ids));
    for (const auto& option : program.options)
        out += fish_option(program, "__fish_use_subcommand", option);
    for (const auto& verb : program.verbs) {
        out += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program.name,
                           verb.name, in_quotes(verb.help));
        for (const auto& option : verb.options)
            out += fish_option(program, "__fish_seen_subcommand_from " + verb.name, option);
    }
    if (!program.handed_over.empty())
        out += fmt::format("complete -c {0} -w {0}-report\n", program.name);
    return out;
}

} // namespace

std::string completion(const Program& program, std::string_view shell) {
    if (shell == "zsh") return zsh(program);
    return shell == "fish" ? fish(program) : bash(program);
}

} // namespace assay::usage
