// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace assay::cli_test {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
    std::vector<std::string> all = more; // first, because the first entry of a name counts
    for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
    return all;
}

/// Does not wait for it.
bool is_running(pid_t child) {
    siginfo_t info{};
    constexpr int only_look = WEXITED | WNOHANG | WNOWAIT;
    return ::waitid(P_PID, static_cast<id_t>(child), &info, only_look) == 0 && info.si_pid == 0;
}

} // namespace

Outcome run(const std::vector<std::string>& arguments, const Options& options) {
    const Folder folder;
    const std::string output = options.output.empty() ? folder.path() / "out" : options.output;
    const std::string error = options.error.empty() ? folder.path() / "err" : options.error;
    std::vector<std::string> texts = options.through;
    texts.push_back(options.program.empty() ? ASSAY_PROGRAM : options.program.string());
    texts.insert(texts.end(), arguments.begin(), arguments.end());
    auto environment = environment_with(options.environment);
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    constexpr int flags = O_WRONLY | O_CREAT;
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), flags, 0600);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error.c_str(), flags, 0600);
    if (!options.folder.empty())
        ::posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error{"pipe2"};
    ::close(pipe[0]);
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (options.closed) ::posix_spawn_file_actions_addclose(&actions, descriptor);
        if (options.no_reader && descriptor != STDIN_FILENO)
            ::posix_spawn_file_actions_adddup2(&actions, pipe[1], descriptor);
    }
    pid_t child = 0;
    const int fault = ::posix_spawn(&child, texts.front().c_str(), &actions, nullptr,
                                    pointers_to(texts).data(), pointers_to(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    if (fault != 0) throw std::system_error{fault, std::generic_category(), texts.front()};
    int status = 0;
    if (options.interrupt_when) {
        while (is_running(child) && !options.interrupt_when())
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        ::kill(child, options.signal); // nothing, where it has ended
    }
    if (::waitpid(child, &status, 0) != child) throw std::runtime_error{"waitpid"};
    return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .output = options.output.empty() ? test::content_of(output) : "",
            .error = options.error.empty() ? test::content_of(error) : ""};
}

void expect_refusal(const Outcome& outcome, int code, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.code, code) << outcome.error;
    EXPECT_THAT(outcome.output, testing::IsEmpty());
    EXPECT_THAT(outcome.error, testing::AnyOf(testing::StartsWith("assay: "),
                                              testing::StartsWith("assay-report: ")));
    EXPECT_LT(outcome.error.size(), 1000U) << "a message, not a dump";
    for (const auto& part : parts) EXPECT_THAT(outcome.error, testing::HasSubstr(part));
}

void refuses(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    expect_refusal(run(arguments), 2, parts);
}

json::Value parsed(const Outcome& outcome) {
    const auto value = json::parse(outcome.output, "stdout");
    EXPECT_TRUE(value) << outcome.output;
    return value ? *value : json::Value::object();
}

std::size_t steps_in(const std::filesystem::path& folder) {
    std::size_t steps = 0;
    for (const auto& path : files_named(folder, "journal.ndjson")) {
        const auto lines = std::ranges::count(test::content_of(path), '\n');
        steps += lines > 0 ? static_cast<std::size_t>(lines) - 1 : 0;
    }
    return steps;
}

std::vector<std::string> brief_run(const std::filesystem::path& out,
                                   const std::vector<std::string>& more,
                                   const std::string& replicas) {
    std::vector<std::string> words{"run",        "peak.fma",
                                   "--set",      "peak.fma.threads=one",
                                   "--set",      "peak.fma.precision=fp64",
                                   "--replicas", replicas,
                                   "--budget",   "1s",
                                   "--out",      out};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<std::filesystem::path> files_named(const std::filesystem::path& folder,
                                               const std::string& name) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder, error})
        if (entry.path().filename() == name) files.push_back(entry.path());
    return files;
}

} // namespace assay::cli_test
