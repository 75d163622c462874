// SPDX-License-Identifier: Apache-2.0
//
// Common to the command lines of both programs: verbs, --help and --version, completion and manual page, and errors
// that say what would be right. For the one file of a program that includes CLI11, which takes seconds to compile.

#pragma once

#include "base/result.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "base/usage.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
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

/// The options that `add` makes are one group of --help.
void in_group(auto& verb, const char* group, const auto& add) {
    const auto before = verb.get_options();
    add();
    for (auto* option : verb.get_options())
        if (std::ranges::count(before, option) == 0) option->group(group);
}

/// Options by group, defaults in brackets, lines of at most 120 columns. A verb with --help-all shows `first` in
/// --help, and all in --help-all. The groups in `order` come last and in this order.
class GroupedHelp : public CLI::Formatter {
public:
    explicit GroupedHelp(std::vector<std::string> first = {}, std::vector<std::string> order = {})
        : first_{std::move(first)}, order_{std::move(order)} {}

private:
    std::string make_help(const CLI::App* app, std::string name,
                          CLI::AppFormatMode mode) const override {
        if (mode == CLI::AppFormatMode::Sub)
            return CLI::Formatter::make_help(app, std::move(name), mode);
        const bool all = app->get_help_all_ptr() == nullptr || mode == CLI::AppFormatMode::All;
        return make_description(app) + make_usage(app, name) + make_positionals(app) +
               options_by_group(*app, all) + make_subcommands(app, mode) +
               (all ? ""
                    : fmt::format("\nMore: {} {} --help-all\n", app->get_parent()->get_name(),
                                  app->get_name())) +
               '\n' + make_footer(app);
    }
    std::string options_by_group(const CLI::App& app, bool all) const {
        auto groups = app.get_groups();
        std::ranges::stable_sort(groups, {}, [&](const std::string& group) {
            const auto place = std::ranges::find(order_, group);
            return place == order_.end() ? 0 : 1 + (place - order_.begin());
        });
        std::string out;
        for (const auto& group : groups) {
            const auto shown = app.get_options([&](const CLI::Option* option) {
                const auto is_first = [&](const auto& word) { return option->check_lname(word); };
                return option->get_group() == group && option->nonpositional() &&
                       (all || std::ranges::any_of(first_, is_first));
            });
            if (!group.empty() && !shown.empty()) out += make_group(group, false, shown);
        }
        return out;
    }
    std::string make_option_desc(const CLI::Option* option) const override {
        constexpr std::size_t most = 120;
        const auto terminal = terminal_of(STDOUT_FILENO);
        const auto width = terminal.is_limited() ? std::min(terminal.width, most) : most;
        const auto lines =
            wrap(option->get_description(), width - std::min(width, get_column_width()), true);
        return fmt::format("{}", fmt::join(lines, "\n"));
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        if (!option->get_option_text().empty()) return " " + option->get_option_text();
        if (option->get_type_size() == 0) return "";
        auto type = option->get_type_name();
        if (const auto range = type.find(" in ["); range != std::string::npos)
            type.resize(type.rfind(':', range)); // which a check adds
        const bool many = option->get_expected_max() == CLI::detail::expected_max_vector_size &&
                          !type.ends_with("...");
        const auto& initial = option->get_default_str();
        return fmt::format(" {}{}{}", type, many ? " ..." : "",
                           initial.empty() ? "" : fmt::format(" [{}]", initial));
    }
    std::vector<std::string> first_; ///< long names without dashes
    std::vector<std::string> order_;
};

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

/// The error for an unknown argument or option.
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

/// `verbs` without a subcommand are another program's.
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
                           fmt::format("unknown verb \"{}\"{}", arguments.front(),
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
    } catch (const CLI::CallForAllHelp&) {
        return {.output = program.help("", CLI::AppFormatMode::All)};
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
