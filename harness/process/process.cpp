// SPDX-License-Identifier: Apache-2.0
#include "process/process.hpp"

#include "base/file.hpp"
#include "process/start.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

namespace assay::process {
namespace {

// --- keeper --------------------------------------------------------------------------------------

// A process between the parent and a program. Nothing runs in a parent that is killed, and what a program has
// detached from itself would go on; the keeper is told of the parent's end and ends all of it.

/// The signal that the kernel sends the keeper when the parent ends.
inline constexpr int keeper_signal = SIGTERM;

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

/// In a fork()ed process that adopts orphans and has blocked all signals: waits for the end of its child or for its
/// signal, ends all that is left, and ends as the child did. `end_group`: ends the child's control group; -1: none.
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

// -------------------------------------------------------------------------------------------------

using namespace std::chrono_literals;

/// A keeper has children that cannot be killed, or was stopped.
constexpr auto keeper_patience = 3s;

std::string system_words(int error) { return std::system_category().message(error); }

/// Data for the child after fork(), prepared before: between fork() and exec only calls that are safe in a copy of
/// a threaded process are allowed, so nothing may be allocated there.
struct Prepared {
    std::vector<char*> arguments;
    std::vector<char*> environment;
    cpu_set_t cpus{};
    bool bind = false;
    int input = -1;
    int log = -1;
    int connection = -1;
    int report =
        -1; ///< receives errno when the program cannot be executed; -errno: not even started
    bool kept = false;
    int entrance = -1;  ///< of the control group
    int end_group = -1; ///< ends it
    pid_t parent = 0;
};

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    pointers.reserve(strings.size() + 1);
    // execve takes char* for historical reasons and changes nothing.
    for (const auto& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

void close_on_exec_from(unsigned first) {
    constexpr unsigned close_range_cloexec = 1U << 2U; // CLOSE_RANGE_CLOEXEC, Linux 5.11
    if (::syscall(SYS_close_range, first, ~0U, close_range_cloexec) == 0) return;
    const auto most = static_cast<int>(::sysconf(_SC_OPEN_MAX));
    for (int fd = static_cast<int>(first); fd < most; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

[[noreturn]] void give_up(const Prepared& prepared, int error) {
    [[maybe_unused]] const auto told = ::write(prepared.report, &error, sizeof error);
    ::_exit(127);
}

/// The kernel sends this process the signal when its parent ends.
void tie_to(pid_t parent, int signal) {
    ::prctl(PR_SET_PDEATHSIG, signal);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // what it orphans stays its child, where it is seen
    // The parent may have died before this took effect.
    if (::getppid() != parent) ::_exit(127);
}

/// A fork() for a child that does nothing but exec: without what libraries do at a fork(), which is not allowed in a copy
/// of a threaded process, and takes longer than the rest where memory is sanitized.
pid_t fork_to_execute() {
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 34)
    return ::_Fork();
#endif
#endif
    return ::fork();
}

/// From here on a child of this process, which keeps it.
void be_kept(const Prepared& prepared) {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    ::signal(SIGCHLD, SIG_DFL);
    tie_to(prepared.parent, keeper_signal);
    const pid_t keeper = ::getpid();
    const pid_t child = fork_to_execute();
    if (child < 0) give_up(prepared, -errno);
    if (child > 0) keep(child, prepared.end_group);
    // Where it may not enter, it is found as everywhere else.
    if (prepared.entrance >= 0) write_word(prepared.entrance, '0');
    ::setpgid(0, 0); // its group can be killed without the keeper
    tie_to(keeper, SIGKILL);
}

[[noreturn]] void become(const Prepared& prepared) {
    ::setsid();
    if (prepared.kept)
        be_kept(prepared);
    else
        tie_to(prepared.parent, SIGKILL);
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGXFSZ}) ::signal(number, SIG_DFL);
    if (prepared.bind) ::sched_setaffinity(0, sizeof prepared.cpus, &prepared.cpus);
    ::dup2(prepared.input, STDIN_FILENO);
    ::dup2(prepared.log, STDOUT_FILENO);
    ::dup2(prepared.log, STDERR_FILENO);
    if (prepared.connection >= 0) {
        ::dup2(prepared.connection, inherited_descriptor);
        ::fcntl(inherited_descriptor, F_SETFD, 0); // dup2() to itself leaves it as it was
    }
    close_on_exec_from(prepared.connection >= 0 ? inherited_descriptor + 1 : STDERR_FILENO + 1);
    ::execve(prepared.arguments[0], prepared.arguments.data(), prepared.environment.data());
    give_up(prepared, errno);
}

/// 0 when the program was executed (the pipe closed on exec), else why not.
int error_reported(int pipe) {
    int error = 0;
    ssize_t got = 0;
    do {
        got = ::read(pipe, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == sizeof error ? error : 0;
}

/// Processes that are a Process here.
std::vector<pid_t>& started() {
    static std::vector<pid_t> pids;
    return pids;
}

/// An orphan of processes that were started here: it is given to this process. Whatever else is its child is in its
/// session.
bool is_orphan(pid_t pid, const Stat& stat) {
    return stat.parent == ::getpid() && stat.session != ::getsid(0) &&
           std::ranges::find(started(), pid) == started().end();
}

} // namespace

Error no_process(int error) {
    Error problem{.message = "cannot start a process or a thread: " + system_words(error),
                  .fault = Fault::environment};
    if (error != EAGAIN) return problem;
    rlimit limit{};
    ::getrlimit(RLIMIT_NPROC, &limit);
    problem.message +=
        fmt::format("; raise the limit of processes (`ulimit -u`, which is {}, or "
                    "pids.max of the control group)",
                    limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur));
    return problem;
}

std::string signal_words(int signal) {
    const char* name = ::sigabbrev_np(signal);
    const char* words = ::sigdescr_np(signal);
    if (name == nullptr || words == nullptr) return fmt::format("signal {}", signal);
    return fmt::format("SIG{} ({})", name, words);
}

Result<Process> Process::start(const Command& command) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return tl::unexpected{no_process(errno)};
    Descriptor reading{pipe[0]};
    // Out of the way of the inherited connection.
    Descriptor writing{::fcntl(pipe[1], F_DUPFD_CLOEXEC, inherited_descriptor + 1)};
    ::close(pipe[1]);
    if (!writing) return tl::unexpected{no_process(errno)};
    const Descriptor input{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const Descriptor log{
        ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)};
    if (log.get() < 0)
        return fail(fmt::format("cannot write {}: {}", command.log.string(), system_words(errno)),
                    Fault::environment);

    if (input.get() < 0)
        return fail(fmt::format("cannot read /dev/null: {}", system_words(errno)),
                    Fault::environment);

    Prepared prepared{.arguments = pointers_to(command.arguments),
                      .environment = pointers_to(command.environment),
                      .bind = !command.cpus.empty(),
                      .input = input.get(),
                      .log = log.get(),
                      .connection = command.connection,
                      .report = writing.get(),
                      .kept = command.kept,
                      .parent = ::getpid()};
    for (const int cpu : command.cpus)
        if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &prepared.cpus);

    std::optional<ControlGroup> group;
    if (command.kept && !command.groups.empty())
        group = ControlGroup::make(command.groups, command.limits);
    if (group) {
        prepared.entrance = group->entrance();
        prepared.end_group = group->end();
    }

    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // also once the process itself is gone
    const pid_t pid = command.kept ? ::fork() : fork_to_execute();
    if (pid < 0) return tl::unexpected{no_process(errno)};
    if (pid == 0) become(prepared);

    Process process;
    process.pid_ = pid;
    started().push_back(pid);
    process.mark_ = command.mark;
    process.born_ = stat_of(pid).value_or(Stat{}).born; // 0 if it has ended already
    process.descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
    writing.close();
    process.kept_ = command.kept;
    process.group_ = std::move(group);
    const int error = error_reported(reading.get());
    if (error < 0) return tl::unexpected{no_process(-error)};
    if (error > 0)
        return fail(fmt::format("cannot execute {}: {}", command.arguments[0], system_words(error)),
                    Fault::environment);
    return process;
}

Process::Process(Process&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)}, descriptor_{std::exchange(other.descriptor_, -1)},
      mark_{std::move(other.mark_)}, born_{other.born_}, kept_{other.kept_},
      group_{std::move(other.group_)}, ending_{other.ending_}, gone_{other.gone_} {}

Process& Process::operator=(Process&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(mark_, other.mark_);
    std::swap(born_, other.born_);
    std::swap(kept_, other.kept_);
    std::swap(group_, other.group_);
    std::swap(ending_, other.ending_);
    std::swap(gone_, other.gone_);
    return *this;
}

Process::~Process() {
    if (pid_ > 0) kill();
    std::erase(started(), pid_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

const std::optional<Ending>& Process::poll() {
    if (ending_ || pid_ <= 0) return ending_;
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == pid_) {
        ending_ = WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)}
                                      : Ending{.code = WEXITSTATUS(status)};
    } else if (got < 0 && errno == ECHILD) {
        ending_ = Ending{.code = -1}; // another waited for it
    }
    return ending_;
}

const std::optional<Ending>& Process::wait(std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!poll()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (left <= 0ms) break;
        if (descriptor_ >= 0) {
            pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
            ::poll(&ready, 1, static_cast<int>(left.count()));
        } else {
            std::this_thread::sleep_for(std::min(left, 5ms));
        }
    }
    return ending_;
}

std::vector<std::string> Process::children() const {
    std::map<pid_t, pid_t> parents;
    (void)find_processes([&](pid_t pid, const Stat& stat) {
        parents.emplace(pid, stat.parent);
        return false;
    });
    const auto parent_of = [&](pid_t pid) {
        const auto found = parents.find(pid);
        return found == parents.end() ? 0 : found->second;
    };
    std::vector<std::string> names;
    for (const auto& [pid, parent] : parents)
        if ((kept_ ? parent_of(parent) : parent) == pid_)
            if (auto name = name_of(pid); !name.empty()) names.push_back(std::move(name));
    return names;
}

std::vector<std::string> Process::kill() try {
    if (gone_) return {};
    if (kept_ && !poll()) {
        ::kill(pid_, keeper_signal);
        wait(keeper_patience);
    }
    if (group_) write_word(group_->end(), '1'); // in case the keeper was killed
    std::vector<pid_t> adopted;
    std::vector<pid_t> left;
    for (int round = 0; round < most_kill_rounds; ++round) {
        // Once the process has been waited for, its number may belong to another one: from then
        // on only the mark counts.
        const bool known = !ending_;
        if (known) ::kill(pid_, SIGKILL);
        left = processes_of(known ? pid_ : -1, mark_, born_, [&](pid_t pid, const Stat& stat) {
            if (!is_orphan(pid, stat)) return false;
            adopted.push_back(pid);
            return true;
        });
        for (const pid_t pid : left) kill_with_group(pid);
        for (const pid_t pid : adopted) ::waitpid(pid, nullptr, WNOHANG);
        if (poll() && left.empty()) {
            gone_ = true;
            return {};
        }
        wait_for_the_killed(round);
    }
    std::vector<std::string> names;
    for (const pid_t pid : left)
        if (auto name = name_of(pid); !name.empty()) names.push_back(std::move(name));
    return names;
} catch (const std::exception&) {
    // Destructors come here. No memory to look for descendants: the process itself is killed already.
    return {};
}

} // namespace assay::process
