// SPDX-License-Identifier: Apache-2.0
//
//     measured COMMAND...
//
// Runs it, its output to /dev/null, and says what it took: wall seconds and the peak of its resident memory
// in bytes. For scripts/bench-reports; a shell cannot ask for the second.

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("measured COMMAND...\n", stderr);
        return 2;
    }
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const auto begin = std::chrono::steady_clock::now();
    pid_t child = 0;
    const int error = posix_spawnp(&child, argv[1], &actions, nullptr, argv + 1, ::environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        std::fprintf(stderr, "measured: %s: %s\n", argv[1], std::strerror(error));
        return 4;
    }
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child) return 4;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    constexpr long kibibyte = 1024; // the unit of ru_maxrss on Linux
    std::printf("%.3f %ld\n", wall.count(), usage.ru_maxrss * kibibyte);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
