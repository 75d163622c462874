// SPDX-License-Identifier: Apache-2.0

#include "import/import.hpp"

#include "base/file.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/import.hpp"
#include "files.hpp"
#include "import/description.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::reports_cli {

using namespace document;
namespace {

namespace fs = std::filesystem;

// A thousand times the largest result of these tools that we know.
constexpr std::size_t largest = std::size_t{64} << 20U;

enum class State : std::uint8_t { made, unchanged, replaced };

/// One file, read, and the run it becomes.
struct Planned {
    std::string source;
    imports::Import import;
    fs::path file;
    std::string content;
    State state = State::made;
};

/// By its run's id, which is made of the file's bytes: the same file is the same run wherever it lies.
fs::path file_of(const fs::path& out, const imports::Import& import) {
    return out / "imported" / import.tool / import.run.id / "run.json";
}

Result<record::NamedList> parameters_of(const std::vector<std::string>& texts) {
    record::NamedList list;
    for (const auto& text : texts) {
        const auto equals = text.find('=');
        if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
            return fail(fmt::format("--parameter: invalid value '{}' (expected NAME=VALUE)", text));
        const auto value = text.substr(equals + 1);
        const auto name = text.substr(0, equals);
        if (record::find(list, name) != nullptr)
            return fail(fmt::format("--parameter {}: {} occurs twice", text, name));
        if (const auto number = imports::integer_of(value))
            list.push_back({name, *number});
        else
            list.push_back({name, value});
    }
    return list;
}

Result<Planned> plan(const std::string& source, const Options& options,
                     const imports::ImportOptions& facts) {
    ASSAY_TRY(const auto text, read_whole(source, largest));
    ASSAY_TRY(auto import, import_text(text, source, facts));
    Planned planned{.source = source, .import = std::move(import)};
    planned.file = file_of(options.out, planned.import);
    planned.content = record::to_text(planned.import.run);
    std::error_code ignored;
    if (fs::exists(planned.file, ignored)) {
        const auto old = read_whole(planned.file, largest);
        planned.state = old && *old == planned.content ? State::unchanged : State::replaced;
    }
    return planned;
}

std::size_t with_figures(const record::Run& run) {
    return static_cast<std::size_t>(
        std::ranges::count_if(run.cases, [](const auto& c) { return !c.metrics.empty(); }));
}

std::string state_in_words(const Planned& planned) {
    const auto file = plain(planned.file.string());
    switch (planned.state) {
    case State::unchanged:
        return say<text::import::unchanged>(file);
    case State::replaced:
        return say<text::import::replaced>(file);
    case State::made:
        break;
    }
    return say<text::import::made>(file);
}

std::string in_words(const Planned& planned) {
    const auto& run = planned.import.run;
    const auto figures = with_figures(run);
    auto cases = say_count<text::import::cases>(run.cases.size());
    if (figures < run.cases.size())
        cases += fmt::format(" ({})", say<text::import::with_figures>(figures));
    std::string out = say<text::import::file>(plain(planned.source), run.imported->tool, cases);
    out += "\n  " + state_in_words(planned) + '\n';
    for (const auto& option : planned.import.unknown)
        out += "  " + say<text::import::unknown>(option) + '\n';
    for (const auto& note : run.imported->notes) out += "  " + plain(note) + '\n';
    const auto& unread = planned.import.not_understood;
    if (unread.empty()) return out;
    out += "  " + say_count<text::import::not_understood>(unread.size()) + '\n';
    constexpr std::size_t shown = 10; // lines; logs hold thousands without results
    for (std::size_t i = 0; i < std::min(unread.size(), shown); ++i)
        out += "    " +
               say<text::import::line>(unread[i].where, plain(unread[i].text), unread[i].reason) +
               '\n';
    if (unread.size() > shown)
        out += "    " + say<text::import::more>(unread.size() - shown) + '\n';
    return out;
}

json::Value in_json(const Planned& planned) {
    static constexpr std::array states{"new", "unchanged", "replaced"};
    const auto& run = planned.import.run;
    json::Value unread = json::Value::array();
    for (const auto& line : planned.import.not_understood)
        unread.push_back(
            {{"where", line.where}, {"text", plain(line.text)}, {"reason", plain(line.reason)}});
    return {{"source", plain(planned.source)},
            {"tool", run.imported->tool},
            {"format", run.imported->format},
            {"sha256", run.imported->sha256},
            {"run", run.id},
            {"file", plain(planned.file.string())},
            {"state", states.at(static_cast<std::size_t>(planned.state))},
            {"cases", run.cases.size()},
            {"with_figures", with_figures(run)},
            {"notes", run.imported->notes},
            {"not_known", planned.import.unknown},
            {"not_understood", std::move(unread)}};
}

/// The tools, each with its versions and what is read.
Result<ExitCode> list_tools(const Options& options) {
    std::string text;
    json::Value list = json::Value::array();
    for (const auto& tool : imports::tools()) {
        const auto& d = *imports::description_of(tool);
        text += say<text::import::line>(d.tool, d.reads, d.versions) + '\n';
        json::Value formats = json::Value::array();
        for (const auto& dialect : d.dialects)
            if (dialect.refuse.empty()) formats.push_back(dialect.format);
        list.push_back({{"tool", d.tool},
                        {"title", d.title},
                        {"reads", d.reads},
                        {"versions", d.versions},
                        {"formats", std::move(formats)}});
    }
    const auto& broken = imports::library().broken;
    if (options.json)
        text = json::to_text(
            {{"schema", "assay.import.tools/1"}, {"tools", std::move(list)}, {"broken", broken}});
    ASSAY_TRY(options.json ? print_json(text) : print(text));
    return broken.empty() ? ExitCode::done : ExitCode::usage;
}

/// Tells the result for a file: nothing is written.
Result<ExitCode> explain_files(const Options& options, imports::ImportOptions facts) {
    std::string text;
    json::Value files = json::Value::array();
    bool is_refused = false;
    for (const auto& source : options.inputs) {
        ASSAY_TRY(const auto content, read_whole(source, largest));
        std::vector<imports::Explained> lines;
        facts.explained = &lines;
        const auto import = import_text(content, source, facts);
        is_refused = is_refused || !import;
        json::Value list = json::Value::array();
        for (const auto& [where, what] : lines) {
            text += fmt::format("{}: {}\n", plain(where), plain(what));
            list.push_back({{"where", plain(where)}, {"what", plain(what)}});
        }
        json::Value cases = json::Value::array();
        if (import)
            for (const auto& c : import->run.cases)
                cases.push_back(fmt::format("{}: {}", record::identity(c), to_string(c.status)));
        text += import ? say<text::import::would_import>(
                             say_count<text::import::cases>(import->run.cases.size()))
                       : say<text::import::nothing>(plain(import.error().message));
        for (const auto& c : cases) text += "\n  " + plain(c.get<std::string>());
        text += '\n';
        files.push_back({{"source", plain(source)},
                         {"lines", std::move(list)},
                         {"cases", std::move(cases)},
                         {"refused", import ? "" : plain(import.error().message)}});
    }
    if (options.json)
        text = json::to_text({{"schema", "assay.import.explain/1"}, {"files", std::move(files)}});
    ASSAY_TRY(options.json ? print_json(text) : print(text));
    return is_refused ? ExitCode::usage : ExitCode::done;
}

Result<void> write_run(const Planned& planned) {
    if (planned.state == State::unchanged) return {};
    if (auto made = make_folders(planned.file.parent_path()); !made)
        return fail(made.error().message + "; choose another folder with --out",
                    made.error().fault);
    return write_atomically(planned.file, planned.content);
}

} // namespace

Result<ExitCode> import_files(const Options& options) {
    for (const auto& why : imports::library().broken)
        print_error(fmt::format("assay-report: {}: {}\n",
                                options.list_tools ? "error" : "warning: not used", plain(why)));
    if (options.list_tools) return list_tools(options);
    imports::ImportOptions facts = options.importing;
    facts.from = options.from;
    ASSAY_TRY(facts.parameters, parameters_of(options.parameters));
    if (options.explain_lines) return explain_files(options, facts);
    // All are read before any is written: a file that cannot be read leaves nothing behind.
    std::vector<Planned> all;
    for (const auto& source : options.inputs) {
        ASSAY_TRY(auto planned, plan(source, options, facts));
        const auto same = [&](const auto& other) { return other.file == planned.file; };
        if (std::ranges::any_of(all, same)) planned.state = State::unchanged;
        all.push_back(std::move(planned));
    }
    std::string text;
    json::Value list = json::Value::array();
    for (const auto& planned : all) {
        ASSAY_TRY(write_run(planned));
        text += in_words(planned);
        list.push_back(in_json(planned));
    }
    if (options.json)
        text = json::to_text({{"schema", "assay.import/1"}, {"files", std::move(list)}});
    ASSAY_TRY(options.json ? print_json(text) : print(text));
    return ExitCode::done;
}

} // namespace assay::reports_cli
