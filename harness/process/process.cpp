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
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

namespace assay::harness {
namespace {

using namespace std::chrono_literals;

constexpr pid_t no_session = -1;

std::string system_words(int error) { return std::system_category().message(error); }

/// What the child needs after fork(), prepared before: between fork() and exec only calls that are
/// safe in a copy of a threaded process are allowed, so nothing may be allocated there.
struct Prepared {
    std::vector<char*> arguments;
    std::vector<char*> environment;
    cpu_set_t cpus{};
    bool bind = false;
    int input = -1;
    int log = -1;
    int connection = -1;
    int report = -1; ///< receives errno when the program cannot be executed
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

[[noreturn]] void become(const Prepared& prepared) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // what it orphans stays its child, where it is seen
    // The parent may have died before the line above took effect.
    if (::getppid() != prepared.parent) ::_exit(127);
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(number, SIG_DFL);
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
    const int error = errno;
    [[maybe_unused]] const auto told = ::write(prepared.report, &error, sizeof error);
    ::_exit(127);
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

struct Stat {
    pid_t parent = -1;
    pid_t session = no_session;
    std::int64_t born = 0; ///< ticks since the machine started
};

/// From /proc, for a live process.
std::optional<Stat> stat_of(pid_t pid) {
    std::ifstream file{fmt::format("/proc/{}/stat", pid)};
    // Read it whole: a name may contain line ends. Through the stream, because its buffer throws when
    // the process ends between open and read.
    std::string text;
    std::getline(file, text, '\0');
    // "pid (name) state ppid pgrp session ..."; the name may contain blanks and brackets.
    const auto end = text.rfind(')');
    if (end == std::string::npos) return std::nullopt;
    std::istringstream rest{text.substr(end + 1)};
    std::string state;
    std::int64_t ignored = 0;
    Stat stat;
    rest >> state >> stat.parent >> ignored >> stat.session;
    // Field 22 is the time of birth: 15 between it and the session.
    for (int field = 0; field < 15; ++field) rest >> ignored;
    rest >> stat.born;
    if (!rest || state == "Z" || state == "X") return std::nullopt;
    return stat;
}

bool carries(pid_t pid, std::string_view mark) {
    if (mark.empty()) return false;
    std::ifstream file{fmt::format("/proc/{}/environ", pid), std::ios::binary};
    for (std::string entry; std::getline(file, entry, '\0');)
        if (entry == mark) return true;
    return false;
}

/// Live processes of which this is true.
std::vector<pid_t> find_processes(const std::function<bool(pid_t, const Stat&)>& wanted) {
    std::vector<pid_t> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc", error}) {
        const auto name = entry.path().filename().string();
        pid_t pid = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (parsed.ec != std::errc{} || pid == ::getpid()) continue;
        if (const auto stat = stat_of(pid); stat && wanted(pid, *stat)) found.push_back(pid);
    }
    return found;
}

/// Processes that are a Process here.
std::vector<pid_t>& started() {
    static std::vector<pid_t> pids;
    return pids;
}

/// Orphans of processes that were started here, younger than `born`: they are given to this process. Whatever else is
/// its child is in its session, or older.
std::vector<pid_t> orphans(std::int64_t born) {
    const pid_t session = ::getsid(0);
    return find_processes([&](pid_t pid, const Stat& stat) {
        return stat.parent == ::getpid() && stat.session != session && stat.born >= born &&
               std::ranges::find(started(), pid) == started().end();
    });
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

std::vector<pid_t> processes_of(pid_t session, std::string_view mark, std::int64_t born) {
    return find_processes([&](pid_t pid, const Stat& stat) {
        return stat.born >= born && (stat.session == session || carries(pid, mark));
    });
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
                      .parent = ::getpid()};
    for (const int cpu : command.cpus)
        if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &prepared.cpus);

    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // also once the process itself is gone
    const pid_t pid = ::fork();
    if (pid < 0) return tl::unexpected{no_process(errno)};
    if (pid == 0) become(prepared);

    Process process;
    process.pid_ = pid;
    started().push_back(pid);
    process.mark_ = command.mark;
    process.born_ = stat_of(pid).value_or(Stat{}).born; // 0 if it has ended already
    process.descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
    writing.close();
    if (const int error = error_reported(reading.get()); error != 0)
        return fail(fmt::format("cannot execute {}: {}", command.arguments[0], system_words(error)),
                    Fault::environment);
    return process;
}

Process::Process(Process&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)}, descriptor_{std::exchange(other.descriptor_, -1)},
      mark_{std::move(other.mark_)}, born_{other.born_}, ending_{other.ending_} {}

Process& Process::operator=(Process&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(mark_, other.mark_);
    std::swap(born_, other.born_);
    std::swap(ending_, other.ending_);
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
    std::vector<std::string> names;
    for (const pid_t pid :
         find_processes([&](pid_t, const Stat& stat) { return stat.parent == pid_; })) {
        std::string name;
        std::ifstream file{fmt::format("/proc/{}/comm", pid)};
        if (std::getline(file, name)) names.push_back(fmt::format("{} ({})", name, pid));
    }
    return names;
}

void Process::kill() {
    // Two seconds: a process in an uninterruptible call cannot be waited for longer than that.
    constexpr int most_rounds = 400;
    std::vector<pid_t> adopted;
    for (int round = 0; round < most_rounds; ++round) {
        // Once the process has been waited for, its number may belong to another one: from then
        // on only the mark counts.
        const bool known = !ending_;
        if (known) ::kill(pid_, SIGKILL);
        auto left = processes_of(known ? pid_ : no_session, mark_, born_);
        for (const pid_t pid : orphans(born_)) {
            left.push_back(pid);
            adopted.push_back(pid);
        }
        for (const pid_t pid : left) ::kill(pid, SIGKILL);
        for (const pid_t pid : adopted) ::waitpid(pid, nullptr, WNOHANG);
        if (poll() && left.empty()) return;
        std::this_thread::sleep_for(round == 0 ? 1ms : 5ms);
    }
}

} // namespace assay::harness
