// SPDX-License-Identifier: Apache-2.0
#include "external/process.hpp"

#include <assay/text.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

extern "C" char** environ; // NOLINT: its name

namespace assay::external {
namespace {

using Clock = std::chrono::steady_clock;

class Descriptor {
public:
    explicit Descriptor(int value = -1) : value_{value} {}
    Descriptor(const Descriptor&) = delete;
    Descriptor(Descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() { close(); }
    int get() const { return value_; }
    void close() {
        if (value_ >= 0) ::close(std::exchange(value_, -1));
    }

private:
    int value_;
};

struct Pipe {
    Descriptor reading;
    Descriptor writing;
};
Pipe make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Problem{joined("cannot make a pipe: ", std::system_category().message(errno))};
    return {Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// Ours, without what places threads or chooses a language, and what the description says.
std::vector<std::string> environment_of(const Command& command) {
    static constexpr std::array removed{"OMP_", "GOMP_", "KMP_", "LC_", "LANG", "ASSAY_"};
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) { // NOLINT: ends with a null pointer
        const std::string_view text{*entry};
        const auto name = text.substr(0, text.find('='));
        if (command.environment.contains(std::string{name}) ||
            std::ranges::any_of(removed, [&](const char* r) { return name.starts_with(r); }))
            continue;
        entries.emplace_back(text);
    }
    entries.emplace_back("LC_ALL=C");
    for (const auto& [name, value] : command.environment)
        entries.push_back(joined(name, "=", value));
    return entries;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const auto& text : texts)
        pointers.push_back(const_cast<char*>(text.c_str())); // execve(2) changes nothing
    pointers.push_back(nullptr);
    return pointers;
}

/// A child's steps between fork() and execve(): calls that are safe there, and no allocation.
struct Child {
    const char* program;
    char* const* arguments;
    char* const* environment;
    const char* folder;
    int output;
    int errors;
    int input;
    int report;
    bool limits_files;
    pid_t parent;
    int death; ///< signal where this process ends before it

    [[noreturn]] void become() const {
        ::setpgid(0, 0);
        ::prctl(PR_SET_PDEATHSIG, death);
        if (::getppid() != parent) ::_exit(127);
        ::dup2(input, STDIN_FILENO); // it is open
        ::dup2(output, STDOUT_FILENO);
        ::dup2(errors, STDERR_FILENO);
        constexpr unsigned cloexec = 1U << 2U; // CLOSE_RANGE_CLOEXEC
        ::syscall(SYS_close_range, 3U, ~0U, cloexec);
        sigset_t none;
        ::sigemptyset(&none);
        ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
        for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGCHLD})
            ::signal(number, SIG_DFL);
        if (limits_files) {
            const rlimit most{.rlim_cur = most_output, .rlim_max = most_output};
            ::setrlimit(RLIMIT_FSIZE, &most);
        }
        if (::chdir(folder) == 0) ::execve(program, arguments, environment);
        const int error = errno;
        [[maybe_unused]] const auto told = ::write(report, &error, sizeof error);
        ::_exit(127);
    }
};

pid_t start(const Command& command, int output, int errors, bool limits_files) {
    const auto entries = environment_of(command);
    const auto environment = pointers_to(entries);
    const auto arguments = pointers_to(command.arguments);
    const Descriptor input{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    auto report = make_pipe();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1); // what the program orphans stays a child of this process
    const Child child{.program = command.program.c_str(),
                      .arguments = arguments.data(),
                      .environment = environment.data(),
                      .folder = command.folder.c_str(),
                      .output = output,
                      .errors = errors,
                      .input = input.get(),
                      .report = report.writing.get(),
                      .limits_files = limits_files,
                      .parent = ::getpid(),
                      .death = command.launches ? SIGTERM : SIGKILL};
    const pid_t pid = ::fork();
    if (pid < 0)
        throw Problem{joined("cannot start a process: ", std::system_category().message(errno))};
    if (pid == 0) child.become();
    ::setpgid(pid, pid);
    report.writing.close();
    int error = 0;
    ssize_t got = 0;
    do {
        got = ::read(report.reading.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    if (got != sizeof error) return pid;
    ::waitpid(pid, nullptr, 0);
    throw Problem{
        joined("cannot execute ", command.program, ": ", std::system_category().message(error))};
}

std::set<pid_t> children() {
    std::set<pid_t> found;
    std::error_code error;
    for (std::filesystem::directory_iterator task{"/proc/self/task", error}, end;
         !error && task != end; task.increment(error)) {
        std::ifstream file{task->path() / "children"};
        for (pid_t pid = 0; file >> pid;) found.insert(pid);
    }
    return found;
}

void pause_briefly() { ::poll(nullptr, 0, 5); } // milliseconds

/// A launcher tells the processes on other hosts that it ends; one that is killed cannot.
void ask_to_end(pid_t pid) {
    constexpr int most_rounds = 2000; // of 5 ms: Open MPI waits for daemons that do not answer
    ::kill(pid, SIGTERM);
    for (int round = 0; round < most_rounds && children().contains(pid); ++round) {
        if (::waitpid(pid, nullptr, WNOHANG) == pid) return;
        pause_briefly();
    }
}

/// The process, its group, and what has become a child of this process since.
void end_all(pid_t pid, const std::set<pid_t>& before) {
    constexpr int most_rounds =
        200; // of 5 ms: what still lives then waits for a device, and cannot be killed
    ::kill(-pid, SIGKILL);
    for (int round = 0; round < most_rounds; ++round) {
        bool is_left = false;
        for (const pid_t child : children()) {
            if (before.contains(child)) continue;
            is_left = true;
            ::kill(child, SIGKILL);
            if (const pid_t group = ::getpgid(child); group > 0 && group != ::getpgid(0))
                ::kill(-group, SIGKILL);
            ::waitpid(child, nullptr, WNOHANG);
        }
        if (!is_left) return;
        pause_briefly();
    }
}

/// Ends what was started whatever happens.
class Group {
public:
    Group(pid_t pid, std::set<pid_t> before, bool launches)
        : pid_{pid}, before_{std::move(before)}, launches_{launches} {}
    Group(const Group&) = delete;
    Group(Group&&) = delete;
    Group& operator=(const Group&) = delete;
    Group& operator=(Group&&) = delete;
    ~Group() {
        if (launches_ && children().contains(pid_)) ask_to_end(pid_);
        end_all(pid_, before_);
    }

private:
    pid_t pid_;
    std::set<pid_t> before_;
    bool launches_;
};

/// Reads what is there; false at the end.
bool read_some(int descriptor, std::string& into) {
    std::array<char, 65536> block{};
    const auto got = ::read(descriptor, block.data(), block.size());
    if (got > 0) into.append(block.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

std::string name_of(const Command& command) {
    return std::filesystem::path{command.program}.filename().string();
}

class Reading {
public:
    Reading(const Command& command, pid_t pid, Pipe& output, Pipe& errors)
        : command_{command}, pid_{pid}, pipes_{&output, &errors},
          ended_{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))} {
        for (auto* const pipe : pipes_) {
            pipe->writing.close();
            ::fcntl(pipe->reading.get(), F_SETFL, O_NONBLOCK);
        }
    }

    Outcome to_the_end() {
        const auto begin = Clock::now();
        const auto passed = [&] {
            return std::chrono::duration<double>(Clock::now() - begin).count();
        };
        int status = 0;
        while (::waitpid(pid_, &status, WNOHANG) == 0) {
            const double left = command_.limit - passed();
            if (left <= 0)
                throw Problem{joined(name_of(command_), " did not end within ", command_.limit,
                                     " s and was killed")};
            wait_for_something(left);
        }
        outcome_.seconds = passed();
        for (std::size_t i = 0; i < pipes_.size(); ++i) drain(i);
        if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
        if (WIFEXITED(status)) outcome_.code = WEXITSTATUS(status);
        return std::move(outcome_);
    }

private:
    void wait_for_something(double seconds) {
        constexpr double longest = 0.1; // where the kernel does not tell the end of a process
        std::array<pollfd, 3> watched{};
        for (std::size_t i = 0; i < pipes_.size(); ++i)
            watched[i] = {.fd = pipes_[i]->reading.get(), .events = POLLIN, .revents = 0};
        watched[2] = {.fd = ended_.get(), .events = POLLIN, .revents = 0};
        ::poll(watched.data(), watched.size(),
               static_cast<int>(std::ceil(1e3 * std::min(seconds, longest))));
        for (std::size_t i = 0; i < pipes_.size(); ++i)
            if (watched[i].revents != 0) take(i);
    }
    void take(std::size_t i) {
        auto& text = i == 0 ? outcome_.output : outcome_.errors;
        if (!read_some(pipes_[i]->reading.get(), text)) pipes_[i]->reading.close();
        if (text.size() > most_output)
            throw Problem{joined(name_of(command_), " wrote more than ", most_output >> 20U,
                                 " MiB and was killed")};
    }
    /// Processes that it forked may still hold the pipe: reads what is there now.
    void drain(std::size_t i) {
        pollfd watched{.fd = pipes_[i]->reading.get(), .events = POLLIN, .revents = 0};
        while (pipes_[i]->reading.get() >= 0 && ::poll(&watched, 1, 0) > 0) {
            take(i);
            watched.fd = pipes_[i]->reading.get();
        }
    }

    const Command& command_;
    pid_t pid_;
    std::array<Pipe*, 2> pipes_;
    Descriptor ended_;
    Outcome outcome_;
};

} // namespace

std::string line_of(const std::string& text, bool first) {
    std::istringstream lines{text};
    std::string found;
    for (std::string line; (!first || found.empty()) && std::getline(lines, line);)
        if (std::ranges::any_of(line, [](unsigned char c) { return std::isalnum(c) != 0; }))
            found = line;
    constexpr std::size_t longest = 300; // bytes: a sentence
    std::ranges::replace_if(found, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    return found.substr(0, longest);
}

Outcome run(const Command& command) {
    auto output = make_pipe();
    auto errors = make_pipe();
    auto before = children();
    const pid_t pid = start(command, output.writing.get(), errors.writing.get(), false);
    const Group group{pid, std::move(before), command.launches};
    return Reading{command, pid, output, errors}.to_the_end();
}

Outcome run_well(const Command& command, const std::vector<int>& codes) {
    auto outcome = run(command);
    const auto words =
        line_of(outcome.errors.empty() ? outcome.output : outcome.errors, command.launches);
    const auto said = words.empty() ? std::string{"; it printed nothing"} : ": " + words;
    if (outcome.signal != 0)
        throw Problem{joined(name_of(command), " was ended by signal ", outcome.signal, said)};
    if (std::ranges::find(codes, outcome.code) == codes.end())
        throw Problem{joined(name_of(command), " ended with status ", outcome.code, said)};
    return outcome;
}

bool is_listening(std::istream& table, int port) {
    std::array<char, 8> number{};
    std::snprintf(number.data(), number.size(), ":%04X",
                  static_cast<unsigned>(port)); // NOLINT: as the kernel writes it
    for (std::string line; std::getline(table, line);) {
        std::istringstream fields{line};
        std::string entry;
        std::string local;
        std::string remote;
        std::string state;
        fields >> entry >> local >> remote >> state;
        if (local.ends_with(number.data()) && state == "0A") return true; // TCP_LISTEN
    }
    return false;
}

bool is_listening_here(int port) {
    for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"})
        if (std::ifstream table{file}; is_listening(table, port)) return true;
    return false;
}

Companion::Companion(const Command& command, const std::filesystem::path& log,
                     const std::function<bool()>& is_ready)
    : launches_{command.launches} {
    const Descriptor file{
        ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (file.get() < 0) throw Problem{joined("cannot write ", log.string())};
    pid_ = start(command, file.get(), file.get(), true);
    const auto end = Clock::now() + std::chrono::duration<double>(command.limit);
    while (true) {
        const bool has_ended = ::waitpid(pid_, nullptr, WNOHANG) != 0;
        if (!has_ended && is_ready()) return;
        if (!has_ended && Clock::now() < end) {
            pause_briefly();
            continue;
        }
        std::ifstream stream{log};
        const std::string text{std::istreambuf_iterator<char>{stream}, {}};
        if (!has_ended) stop();
        throw Problem{joined(name_of(command), " was not ready: ",
                             text.empty() ? "it printed nothing" : line_of(text, launches_))};
    }
}

void Companion::stop() {
    if (launches_) ask_to_end(pid_);
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

} // namespace assay::external
