// SPDX-License-Identifier: Apache-2.0
#include "process/signals.hpp"

#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace assay::harness {
namespace {

constexpr std::array handled{SIGINT, SIGTERM, SIGHUP, SIGALRM};

/// The state of the handler. Lock-free atomics only: a handler may interrupt anything.
struct Reach {
    std::atomic<int> caught{0};
    std::atomic<int> descriptor{-1};
    std::array<struct sigaction, handled.size()> before{};
};

Reach& reach() {
    static constinit Reach instance; // no guard: the handler may run first
    return instance;
}

void on_signal(int number) {
    int none = 0;
    if (reach().caught.compare_exchange_strong(none, number)) {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(reach().descriptor, &one, sizeof one);
        return;
    }
    if (number == SIGALRM) return; // it ends already
    // Takes effect when this handler returns: until then the signal is blocked.
    ::signal(number, SIG_DFL);
    ::raise(number);
}

void set_timer(double seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds);
    timer.it_value.tv_usec =
        static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
    ::setitimer(ITIMER_REAL, &timer, nullptr);
}

} // namespace

Signals::Signals(std::optional<double> limit_seconds)
    : descriptor_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    reach().caught = 0;
    reach().descriptor = descriptor_;
    struct sigaction action{};
    action.sa_handler = &on_signal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < handled.size(); ++i) {
        ::sigaction(handled[i], nullptr, &reach().before[i]);
        // Ignored by the caller (nohup, a background job of a shell): remains so.
        if (reach().before[i].sa_handler != SIG_IGN || handled[i] == SIGALRM)
            ::sigaction(handled[i], &action, nullptr);
    }
    constexpr double soonest = 1e-3; // 0 would stop the timer
    if (limit_seconds) set_timer(std::max(*limit_seconds, soonest));
}

Signals::~Signals() {
    set_timer(0);
    for (std::size_t i = 0; i < handled.size(); ++i)
        ::sigaction(handled[i], &reach().before[i], nullptr);
    reach().descriptor = -1;
    ::close(descriptor_);
}

void Signals::preempt() {
    int none = 0;
    if (!reach().caught.compare_exchange_strong(none, preempted)) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
}

int Signals::caught() const { return reach().caught; }

} // namespace assay::harness
