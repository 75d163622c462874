// SPDX-License-Identifier: Apache-2.0

#include "base/program.hpp"

#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace assay {

Result<Said> run_and_read(std::vector<std::string> arguments, const std::filesystem::path& input) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        return fail(fmt::format("no pipe: {}", std::strerror(errno)), Fault::environment);
    const Descriptor from{pipe[0]};
    Descriptor into{pipe[1]};
    std::vector<char*> pointers;
    for (auto& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(),
                                       O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    ::posix_spawn_file_actions_adddup2(&actions, into.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, into.get(), STDERR_FILENO);
    pid_t child = 0;
    const int fault =
        ::posix_spawnp(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    into.close();
    if (fault != 0)
        return fail(fmt::format("cannot start {}: {}", arguments.front(), std::strerror(fault)),
                    Fault::environment);
    Said said;
    constexpr std::size_t most = 65536;
    std::array<char, 4096> block{};
    for (;;) {
        const auto got = ::read(from.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (said.text.size() < most) said.text.append(block.data(), static_cast<std::size_t>(got));
    }
    int status = -1;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) said.code = WEXITSTATUS(status);
    return said;
}

} // namespace assay
