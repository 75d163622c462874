// SPDX-License-Identifier: Apache-2.0

#include "options.hpp"

#include "base/nearest.hpp"
#include "base/version.hpp"
#include "language/language.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::report {
namespace {

constexpr const char* exit_codes = "Exit codes: 0 done, 1 verification found something wrong, 2 "
                                   "usage error or a file that cannot\n"
                                   "  be read as a result, 4 an output that cannot be written.";

constexpr const char* input_help =
    "A result file, a folder (the newest run.json in it or below), or LABEL=PATH";

const std::vector<std::string> formats{"gbench", "csv"};

void add_inputs(CLI::App& verb, Options& o) {
    verb.add_option("inputs", o.inputs, input_help)->type_name("RUN.json|FOLDER")->required();
}
/// Of every verb that writes a page.
void add_page(CLI::App& verb, Options& o) {
    verb.add_option("--html", o.html, "Write one self-contained page; - is stdout")
        ->type_name("FILE");
    verb.add_flag("--static", o.static_page,
                  "Write the page without a script, also where the interactive one is there");
}
void add_report(CLI::App& verb, Options& o) {
    add_inputs(verb, o);
    add_page(verb, o);
    verb.add_option("--md", o.markdown, "Write Markdown; - is stdout")->type_name("FILE");
}
void add_export(CLI::App& verb, Options& o) {
    verb.add_option("--to", o.format,
                    "gbench: JSON as Google Benchmark writes it; csv: one row per case and metric")
        ->type_name("gbench|csv")
        ->required();
    verb.add_option("--out", o.out, "Write to this file instead of stdout")->type_name("FILE");
    verb.add_option("input", o.inputs, input_help)
        ->type_name("RUN.json|FOLDER")
        ->required()
        ->expected(1);
}

struct VerbDefinition {
    const char* name;
    Result<ExitCode> (*perform)(const Options&);
    const char* help;
    const char* example;
    void (*add)(CLI::App&, Options&);
};
constexpr std::array<VerbDefinition, 3> verbs{{
    {"report", &report, "Show what a run found: on the terminal, as a page, as Markdown",
     "assay-report report results\n"
     "  assay-report report results --html report.html --md report.md\n"
     "  assay-report report old=results/2025 new=results/2026",
     &add_report},
    {"verify", &verify,
     "Check a result file: its schema, and every summary computed again from the batch values",
     "assay-report verify results/default/aws/c7a.large/m-5f1c/20260131/run.json", &add_inputs},
    {"export", &export_run, "Convert a result for other tools",
     "assay-report export --to gbench results --out now.json   (then compare.py old.json "
     "now.json)\n"
     "  assay-report export --to csv results --out figures.csv",
     &add_export},
}};

std::vector<std::string> verb_names() {
    std::vector<std::string> names;
    for (const auto& verb : verbs) names.emplace_back(verb.name);
    return names;
}

std::vector<std::string> option_names(const CLI::App& verb) {
    std::vector<std::string> names;
    for (const auto* option : verb.get_options())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

Parsed usage_error(const std::string& message, std::string_view verb) {
    return {.code = ExitCode::usage,
            .error = fmt::format("assay-report: {}\nTry: assay-report {}{}--help\n", message, verb,
                                 verb.empty() ? "" : " ")};
}

class CommandLine {
public:
    CommandLine() {
        app_.set_version_flag("--version", fmt::format("assay-report {}", version()));
        app_.set_help_flag("--help,-h", "Show this help and stop");
        std::string examples = "Examples:\n";
        for (const auto& definition : verbs) {
            auto* verb = app_.add_subcommand(definition.name, definition.help);
            verb->footer(std::string{"Examples:\n  "} + definition.example + "\n" + exit_codes);
            verb->allow_extras(); // so that the message is ours
            definition.add(*verb, options_);
            verb->add_flag("--json", options_.json, "One JSON document on stdout");
            verb->add_option("--lang", options_.language, "Language of what is shown")
                ->type_name("en|zh")
                ->capture_default_str();
            verb->callback([this, verb, &definition] {
                options_.perform = definition.perform;
                chosen_ = verb;
            });
            examples += std::string{"  "} + definition.example + "\n";
        }
        app_.footer(examples + exit_codes);
    }

    Parsed parse(std::vector<std::string> arguments) {
        std::ranges::reverse(arguments); // as CLI11 wants them
        try {
            app_.parse(arguments);
        } catch (const CLI::CallForHelp&) {
            return {.output = app_.help()};
        } catch (const CLI::CallForVersion& version) {
            return {.output = std::string{version.what()} + "\n"};
        } catch (const CLI::ParseError& error) {
            return usage_error(error.what(), current());
        }
        if (chosen_ == nullptr) return {.code = ExitCode::usage, .error = app_.help()};
        if (const auto rest = chosen_->remaining(); !rest.empty()) return unexpected(rest.front());
        return checked();
    }

private:
    /// An argument that no option took.
    Parsed unexpected(const std::string& argument) const {
        const bool is_option = argument.size() > 1 && argument.front() == '-';
        const auto name = argument.substr(0, argument.find('='));
        return usage_error(fmt::format("{} has no {} {}{}", chosen_->get_name(),
                                       is_option ? "option" : "argument", name,
                                       is_option ? suggestion(name, option_names(*chosen_)) : ""),
                           chosen_->get_name());
    }
    Parsed checked() const {
        if (!language_from(options_.language))
            return usage_error(
                fmt::format("--lang \"{}\" is no language; there are en and zh", options_.language),
                chosen_->get_name());
        if (options_.perform == &export_run && std::ranges::count(formats, options_.format) == 0)
            return usage_error(fmt::format("--to \"{}\" is no known format{}", options_.format,
                                           suggestion(options_.format, formats)),
                               "export");
        return {.options = options_};
    }
    std::string current() const {
        for (const auto* verb : app_.get_subcommands({}))
            if (verb->parsed()) return verb->get_name();
        return {};
    }

    CLI::App app_{"Reads the results of assay and says what they mean.", "assay-report"};
    Options options_;
    const CLI::App* chosen_ = nullptr;
};

} // namespace

Parsed parse_options(const std::vector<std::string>& arguments) {
    if (!arguments.empty() && !arguments.front().starts_with('-')) {
        const auto& name = arguments.front();
        const auto same = [&](const auto& verb) { return name == verb.name; };
        if (std::ranges::none_of(verbs, same))
            return usage_error(
                fmt::format("there is no verb \"{}\"{}", name, suggestion(name, verb_names())), "");
    }
    return CommandLine{}.parse(arguments);
}

} // namespace assay::report
