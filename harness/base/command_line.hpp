// SPDX-License-Identifier: Apache-2.0
//
// Common to the command lines of both programs: verbs, --help and --version, completion and manual page, and errors that
// say what would be right. For the one file of a program that includes CLI11, which takes seconds to compile.

#pragma once

#include "base/result.hpp"
#include "base/text.hpp"
#include "base/usage.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace assay {

// Options with the type that help shows: a value, one whose default is shown, too, one that may be given any number of
// times, and a list with commas.
template <class To>
CLI::Option* add_value(CLI::App& verb, const char* name, To& to, const char* type,
                       const char* help) {
    return verb.add_option(name, to, help)->type_name(type);
}
template <class To>
CLI::Option* add_default(CLI::App& verb, const char* name, To& to, const char* type,
                         const char* help) {
    return add_value(verb, name, to, type, help)->capture_default_str();
}
template <class To>
CLI::Option* add_many(CLI::App& verb, const char* name, To& to, const char* type,
                      const char* help) {
    return add_value(verb, name, to, type, help)->allow_extra_args(false);
}
template <class To>
CLI::Option* add_list(CLI::App& verb, const char* name, To& to, const char* type,
                      const char* help) {
    return add_many(verb, name, to, type, help)->delimiter(',');
}

/// The verb to perform; or, without one, what to print and the code to end with.
struct ParsedLine {
    const CLI::App* verb = nullptr;
    ExitCode code = ExitCode::done;
    std::string output; ///< for stdout
    std::string error;  ///< for stderr
};

/// `verb` may be empty.
inline ParsedLine usage_error(const CLI::App& program, const std::string& message,
                              const std::string& verb) {
    return {.code = ExitCode::usage,
            .error = fmt::format("{0}: {1}\nTry: {0} {2}{3}--help\n", program.get_name(), message,
                                 verb, verb.empty() ? "" : " ")};
}

/// An argument that is no option.
inline ParsedLine unexpected_argument(const CLI::App& program, const CLI::App& verb,
                                      const std::string& argument) {
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    const auto name = argument.substr(0, argument.find('='));
    std::vector<std::string> known;
    for (const auto* option : verb.get_options())
        for (const auto& long_name : option->get_lnames()) known.push_back("--" + long_name);
    return usage_error(program,
                       fmt::format("{} has no {} {}{}", verb.get_name(),
                                   is_option ? "option" : "argument", name,
                                   is_option ? suggestion(name, known) : ""),
                       verb.get_name());
}

inline std::vector<usage::Option> options_of(const CLI::App& app) {
    std::vector<usage::Option> options;
    for (const auto* option : app.get_options()) {
        if (option->get_group().empty()) continue;
        usage::Option one{.names = {}, .value = "", .help = option->get_description()};
        for (const auto& name : option->get_lnames()) one.names.push_back("--" + name);
        for (const auto& name : option->get_snames()) one.names.push_back("-" + name);
        if (option->get_items_expected_max() > 0)
            one.value = option->get_option_text().empty() ? option->get_type_name()
                                                          : option->get_option_text();
        if (const auto range = one.value.find(" in ["); range != std::string::npos)
            one.value.resize(one.value.rfind(':', range)); // which a check adds
        options.push_back(std::move(one));
    }
    return options;
}

/// `verbs` that are no subcommands are another program's.
inline usage::Program usage_of(const CLI::App& program, const std::vector<std::string>& verbs) {
    usage::Program all{.name = program.get_name(),
                       .version = program.version(),
                       .help = program.get_description(),
                       .footer = program.get_footer(),
                       .options = options_of(program),
                       .verbs = {},
                       .handed_over = {}};
    for (const auto& name : verbs) {
        const auto found =
            program.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; });
        if (found.empty())
            all.handed_over.push_back(name);
        else
            all.verbs.push_back({.name = name,
                                 .help = found.front()->get_description(),
                                 .footer = found.front()->get_footer(),
                                 .options = options_of(*found.front())});
    }
    return all;
}

/// Arguments after the program's name. `verbs` are what people may type; each is a subcommand that allows
/// extras, so that the message about them is ours.
inline ParsedLine parse_line(CLI::App& program, std::vector<std::string> arguments,
                             const std::vector<std::string>& verbs) {
    if (const auto removed = usage::about_removed(arguments); !removed.empty())
        return {.code = ExitCode::usage,
                .error = fmt::format("{}: {}\n", program.get_name(), removed)};
    const auto is_first = [&](const CLI::App* verb) {
        return verb->get_name() == arguments.front();
    };
    if (!arguments.empty() && !arguments.front().starts_with('-') &&
        program.get_subcommands(is_first).empty())
        return usage_error(program,
                           fmt::format("there is no verb \"{}\"{}", arguments.front(),
                                       suggestion(arguments.front(), verbs)),
                           "");
    std::string shell;
    bool manual = false;
    program
        .add_option("--completion", shell, "Print what makes a shell complete verbs and options")
        ->check(CLI::IsMember(std::vector<std::string>{usage::shells.begin(), usage::shells.end()}))
        ->option_text(fmt::format("{}", fmt::join(usage::shells, "|")));
    program.add_flag("--man", manual, "Print the manual page, for `man -l -`");
    std::ranges::reverse(arguments); // as CLI11 wants them
    const auto chosen = [&]() -> const CLI::App* {
        const auto found = program.get_subcommands();
        return found.empty() ? nullptr : found.front();
    };
    try {
        program.parse(arguments);
    } catch (const CLI::CallForHelp&) {
        return {.output = program.help()};
    } catch (const CLI::CallForVersion& version) {
        return {.output = std::string{version.what()} + "\n"};
    } catch (const CLI::ParseError& error) {
        return usage_error(program, error.what(), chosen() == nullptr ? "" : chosen()->get_name());
    }
    if (!shell.empty()) return {.output = usage::completion(usage_of(program, verbs), shell)};
    if (manual) return {.output = usage::man_page(usage_of(program, verbs))};
    if (chosen() == nullptr) return {.code = ExitCode::usage, .error = program.help()};
    if (const auto rest = chosen()->remaining(); !rest.empty())
        return unexpected_argument(program, *chosen(), rest.front());
    return {.verb = chosen()};
}

} // namespace assay
