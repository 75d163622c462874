// SPDX-License-Identifier: Apache-2.0
#include "process/keeper.hpp"

#include "process/control_group.hpp"
#include "process/listing.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace assay::harness {
namespace {

/// All but this one, which becomes number 0: above all the journals, whose locks the keeper must not hold, and the pipe
/// on which the parent waits for the start.
void close_all_but(int descriptor) {
    if (descriptor >= 0) ::dup2(descriptor, 0);
    const unsigned first = descriptor >= 0 ? 1 : 0;
    if (::syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
    const auto most = static_cast<int>(::sysconf(_SC_OPEN_MAX));
    for (int fd = static_cast<int>(first); fd < most; ++fd) ::close(fd);
}

[[noreturn]] void die_by(int signal) {
    const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::raise(signal); // blocked until here
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    ::_exit(128 + signal); // a signal that does not end a process
}

/// A killed child's own children are this process's next, until there are none.
void end_all(bool has_group) {
    if (has_group) write_word(0, '1');
    for (int round = 0; round < most_kill_rounds; ++round) {
        pid_t ended = 0;
        do {
            ended = ::waitpid(-1, nullptr, WNOHANG);
        } while (ended > 0);
        if (ended < 0 && errno == ECHILD) return;
        for (const pid_t pid : children_of(::getpid())) kill_with_group(pid);
        wait_for_the_killed(round);
    }
}

} // namespace

void keep(pid_t child, int end_group) {
    ::prctl(PR_SET_NAME, "assay-keeper");
    close_all_but(end_group);
    sigset_t awaited;
    ::sigemptyset(&awaited);
    ::sigaddset(&awaited, SIGCHLD);
    ::sigaddset(&awaited, keeper_signal);
    while (true) {
        const int signal = ::sigwaitinfo(&awaited, nullptr);
        int status = 0;
        const bool ended = ::waitpid(child, &status, WNOHANG) == child;
        if (!ended && signal != keeper_signal) continue;
        end_all(end_group >= 0);
        if (!ended) die_by(keeper_signal);
        if (WIFSIGNALED(status)) die_by(WTERMSIG(status));
        ::_exit(WEXITSTATUS(status));
    }
}

} // namespace assay::harness
