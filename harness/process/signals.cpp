// SPDX-License-Identifier: Apache-2.0
#include "process/signals.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace assay::harness {
namespace {

constexpr std::array handled{SIGINT, SIGTERM, SIGHUP};

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
    // Takes effect when this handler returns: until then the signal is blocked.
    ::signal(number, SIG_DFL);
    ::raise(number);
}

} // namespace

Signals::Signals() : descriptor_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    reach().caught = 0;
    reach().descriptor = descriptor_;
    struct sigaction action{};
    action.sa_handler = &on_signal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < handled.size(); ++i) {
        ::sigaction(handled[i], nullptr, &reach().before[i]);
        // Ignored by the caller (nohup, a background job of a shell): remains so.
        if (reach().before[i].sa_handler != SIG_IGN) ::sigaction(handled[i], &action, nullptr);
    }
}

Signals::~Signals() {
    for (std::size_t i = 0; i < handled.size(); ++i)
        ::sigaction(handled[i], &reach().before[i], nullptr);
    reach().descriptor = -1;
    ::close(descriptor_);
}

int Signals::caught() const { return reach().caught; }

} // namespace assay::harness
