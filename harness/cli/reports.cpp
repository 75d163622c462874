// SPDX-License-Identifier: Apache-2.0
#include "cli/reports.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/version.hpp"
#include "cli/console.hpp"
#include "json/fields.hpp"
#include "json/json.hpp"
#include "machine/inventory.hpp"
#include "record/convert.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace assay::cli {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    for (auto& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Starts a program and waits for it; its stdout goes to `output`, its stderr to ours or nowhere. Its exit code, or
/// nothing if it did not end by itself.
std::optional<int> code_of_program(std::vector<std::string> arguments, int output,
                                   bool silent = false) {
    const auto pointers = pointers_to(arguments);
    pid_t child = 0;
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (silent)
        ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int fault =
        ::posix_spawnp(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    int status = -1;
    if (fault == 0)
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    return fault == 0 && WIFEXITED(status) ? std::optional{WEXITSTATUS(status)} : std::nullopt;
}
bool run_program(std::vector<std::string> arguments, int output) {
    return code_of_program(std::move(arguments), output) == 0;
}

} // namespace

bool is_report_verb(std::string_view name) {
    return std::ranges::find(report_verbs, name) != report_verbs.end();
}

Result<void> add_this_machine(std::vector<std::string>& arguments) {
    const auto option = std::ranges::find(arguments, "--this-machine");
    if (arguments.empty() || arguments.front() != "diff" || option == arguments.end()) return {};
    record::Run run{.id = "now", .suite = "none", .version = std::string{version()}};
    run.status = "done";
    run.machine = machine::inspect();
    const auto text = record::to_text(run);
    // No name and nothing left behind; assay-report inherits it.
    const int file = ::memfd_create("this machine", 0);
    if (file < 0 || !write_all(file, text))
        return fail(fmt::format("cannot keep the facts of this machine: {}", std::strerror(errno)),
                    Fault::environment);
    arguments.erase(option);
    arguments.push_back(fmt::format("this machine=/proc/self/fd/{}", file));
    return {};
}

ExitCode become(std::vector<std::string> arguments) {
    ::execvp(arguments.front().c_str(), pointers_to(arguments).data());
    return report({fmt::format("cannot start {}: {}", arguments.front(), std::strerror(errno)),
                   Fault::environment});
}

ExitCode hand_over(const std::vector<std::string>& arguments) {
    std::vector<std::string> texts{layout().programs / "assay-report"};
    texts.insert(texts.end(), arguments.begin(), arguments.end());
    return become(std::move(texts));
}

std::optional<Reports> write_reports(const std::filesystem::path& file,
                                     const std::string& language) {
    Reports reports{.html = file.parent_path() / "report.html",
                    .markdown = file.parent_path() / "report.md"};
    if (run_program({layout().programs / "assay-report", "report", file, "--html", reports.html,
                     "--md", reports.markdown, "--lang", language},
                    STDERR_FILENO))
        return reports;
    print_error(fmt::format("assay: warning: no report was written; try `assay report {}`\n",
                            file.string()));
    return std::nullopt;
}

ExitCode check_run(const std::filesystem::path& file, const std::filesystem::path& folder,
                   const std::vector<std::string>& limits, const std::string& language,
                   int output) {
    std::vector<std::string> arguments{layout().programs / "assay-report",
                                       "check",
                                       folder,
                                       "--machine-of",
                                       file,
                                       "--lang",
                                       language};
    for (const auto& one : limits) arguments.insert(arguments.end(), {"--limits", one});
    const auto code = code_of_program(std::move(arguments), output);
    if (code) return static_cast<ExitCode>(*code);
    print_error(fmt::format("assay: warning: no verdict; try `assay check {}`\n", folder.string()));
    return ExitCode::environment;
}

namespace {

/// The same as record::identity.
std::string identity_of(const json::Object& of) {
    std::string benchmark;
    std::string place;
    std::string library;
    std::string parameters;
    std::int64_t version = 1;
    of.read("benchmark", benchmark);
    of.read("version", version);
    of.read("place", place);
    of.read("library", library);
    of.read("parameters", parameters);
    return fmt::format("{}{}[{}]{}{}", benchmark, version == 1 ? "" : fmt::format("/{}", version),
                       library, place == "host" ? "" : "@" + place,
                       parameters.empty() ? "" : " " + parameters);
}

run::Judgement judgement_of(const json::Object& verdict) {
    run::Judgement judgement;
    verdict.each("nodes", [&](const json::Object& node) {
        node.each("checks", [&](const json::Object& check) {
            std::string word;
            std::optional<int> replicas;
            check.read("verdict", word);
            check.read("replicas_to_decide", replicas);
            const auto* const of = check.find("case");
            if (word == "SKIP" || of == nullptr || of->is_null()) return;
            auto& judged = judgement[identity_of(check.object("case"))];
            if (word != "INCONCLUSIVE") return;
            judged.is_open = true;
            judged.replicas = std::max(judged.replicas, replicas.value_or(0));
        });
    });
    return judgement;
}

} // namespace

std::optional<run::Judgement> judge_so_far(const std::filesystem::path& so_far,
                                           const std::vector<std::string>& limits) {
    const auto run = so_far.parent_path();
    std::vector<std::string> arguments{layout().programs / "assay-report",
                                       "check",
                                       so_far,
                                       run.parent_path(),
                                       "--machine-of",
                                       so_far,
                                       "--json"};
    for (const auto& one : limits) arguments.insert(arguments.end(), {"--limits", one});
    const Descriptor file{::memfd_create("verdict", MFD_CLOEXEC)};
    if (!file || !code_of_program(std::move(arguments), file.get(), true)) return std::nullopt;
    const auto value = json::read_file(fmt::format("/proc/self/fd/{}", file.get()));
    if (!value) return std::nullopt;
    json::Document document{*value, "assay check"};
    auto judgement = judgement_of(document.root());
    return document.failed() ? std::nullopt : std::optional{std::move(judgement)};
}

std::optional<std::filesystem::path> write_comparison(const std::vector<LabelledFile>& files,
                                                      bool shown, const std::string& language) {
    auto page = files.back().file.parent_path() / "compare.html";
    std::vector<std::string> arguments{layout().programs / "assay-report", "compare"};
    std::string words;
    for (const auto& [label, file] : files) {
        arguments.push_back(fmt::format("{}={}", label, file.string()));
        words += fmt::format(" '{}={}'", label, file.string());
    }
    arguments.insert(arguments.end(), {"--lang", language});
    if (shown) run_program(arguments, STDOUT_FILENO);
    arguments.insert(arguments.end(), {"--html", page});
    if (run_program(std::move(arguments), STDERR_FILENO)) return page;
    print_error(fmt::format(
        "assay: warning: no comparison page was written; try `assay compare{}`\n", words));
    return std::nullopt;
}

void open_in_browser(const std::filesystem::path& page) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
    if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return;
    run_program({"xdg-open", page}, STDERR_FILENO);
}

} // namespace assay::cli
