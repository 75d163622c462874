// SPDX-License-Identifier: Apache-2.0
#include "launch/governor.hpp"

#include "base/file.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <system_error>
#include <utility>

namespace assay::harness {
namespace {

constexpr const char* folder = "/sys/devices/system/cpu/cpufreq";

/// Only calls that are safe in the copy of a threaded process: the keeper uses it after fork().
bool write_text(const char* path, const char* text, std::size_t size) {
    const int file = ::open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0) return false;
    const bool written = ::write(file, text, size) == static_cast<ssize_t>(size);
    const int error = errno;
    ::close(file);
    errno = error;
    return written;
}

Result<void> write(const std::filesystem::path& file, const std::string& governor) {
    if (write_text(file.c_str(), governor.c_str(), governor.size())) return {};
    return fail(
        fmt::format("cannot set the governor in {}: {}; run as root where the kernel allows "
                    "it, or leave governor= out",
                    file.string(), std::system_category().message(errno)),
        Fault::environment);
}

std::vector<std::string> available(const machine::Files& files,
                                   const std::filesystem::path& policy) {
    std::vector<std::string> names;
    const auto text = files.line(policy / "scaling_available_governors");
    for (const auto word : words(text)) names.emplace_back(word);
    return names;
}

/// Closes all but the end of the pipe: above all the journals, whose locks the keeper must not hold.
void close_all_but(int descriptor) {
    const auto own = static_cast<unsigned>(descriptor);
    if (own > 0) ::syscall(SYS_close_range, 0U, own - 1, 0U);
    ::syscall(SYS_close_range, own + 1, ~0U, 0U);
}

} // namespace

Governors::Governors(Governors&& other) noexcept
    : policies_{std::move(other.policies_)}, present_{std::move(other.present_)},
      lifeline_{std::exchange(other.lifeline_, -1)}, keeper_{std::exchange(other.keeper_, -1)} {}

Governors::~Governors() {
    if (lifeline_ < 0) return;
    ::close(lifeline_);
    while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Result<Governors> Governors::take(const machine::Files& files,
                                  const std::vector<std::string>& wanted) {
    std::vector<Policy> policies;
    for (const auto& name : files.names(folder)) {
        if (!name.starts_with("policy")) continue;
        const auto policy = std::filesystem::path{folder} / name;
        const auto known = available(files, policy);
        for (const auto& governor : wanted)
            if (std::ranges::find(known, governor) == known.end())
                return fail(fmt::format("this machine has no governor {}{}", governor,
                                        suggestion(governor, known)),
                            Fault::environment);
        policies.push_back({.file = files.at(policy / "scaling_governor"),
                            .found = files.line(policy / "scaling_governor")});
    }
    if (policies.empty())
        return fail(
            "the governor cannot be set here: the kernel shows no cpufreq (virtual machines "
            "rarely do); leave governor= out",
            Fault::environment);
    // Writing the present value changes nothing, and shows whether it is permitted.
    for (const auto& policy : policies)
        if (auto may = write(policy.file, policy.found); !may) return tl::unexpected{may.error()};
    Governors governors{std::move(policies)};
    if (auto started = governors.start_keeper(); !started) return tl::unexpected{started.error()};
    return governors;
}

/// The keeper waits on a pipe that closes when this process ends, however it ends, and then restores
/// the governors. A handler cannot do that: nothing runs in a process that is killed.
Result<void> Governors::start_keeper() {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        return fail(fmt::format("cannot open a pipe: {}", std::system_category().message(errno)),
                    Fault::environment);
    const pid_t child = ::fork();
    if (child == 0) {
        ::setsid(); // a Ctrl-C is meant for the run
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);
        close_all_but(pipe[0]);
        char ignored = 0;
        while (::read(pipe[0], &ignored, 1) < 0 && errno == EINTR) {
        }
        for (const auto& policy : policies_)
            write_text(policy.file.c_str(), policy.found.c_str(), policy.found.size());
        ::_exit(0);
    }
    ::close(pipe[0]);
    if (child < 0) {
        ::close(pipe[1]);
        return fail(
            fmt::format("cannot start a process: {}", std::system_category().message(errno)),
            Fault::environment);
    }
    lifeline_ = pipe[1];
    keeper_ = child;
    return {};
}

Result<void> Governors::set(const std::string& governor) {
    if (governor == present_) return {};
    for (const auto& policy : policies_)
        if (auto done = write(policy.file, governor.empty() ? policy.found : governor); !done)
            return done;
    present_ = governor;
    return {};
}

} // namespace assay::harness
