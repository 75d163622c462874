// SPDX-License-Identifier: Apache-2.0
//
// What the system needs to start a thread and to change from one to another.

#include <assay/define.hpp>

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

namespace assay::latency {
namespace {

class ThreadStart {
public:
    struct Params {
        std::int64_t at_once = 1;
    };
    static constexpr Info info{
        .id = "latency.thread_start",
        .question = "How long does it take to start and join a thread?",
        .method = "pthread_create and pthread_join, 32 threads per call, `at_once` of them started "
                  "before the first join. Checked: every thread ran once and wrote its number.",
        .caveats =
            "Threads inherit the core of the starting thread and run there while it waits: two "
            "context switches are included, a migration is not. The C library caches stacks.",
        .headline = "latency",
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        integer("at_once", "threads started before the first is joined", "", &Params::at_once, {1},
                {1, 32}),
    };

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return Fit::yes(); }
    ThreadStart(const Params& p, const Context& context)
        : at_once_{static_cast<std::size_t>(p.at_once)} {
        context.setting("threads_of_a_call", count);
    }
    void run() noexcept {
        for (std::size_t first = 0; first < count; first += at_once_) {
            const std::size_t last = std::min(first + at_once_, count);
            std::array<pthread_t, count> threads{};
            std::size_t started = first;
            while (started < last && ::pthread_create(&threads[started], nullptr, &leave_number,
                                                      &places_[started]) == 0)
                ++started;
            for (std::size_t i = first; i < started; ++i) ::pthread_join(threads[i], nullptr);
        }
    }
    Work work() const { return {.steps = count}; }
    Check verify() const {
        return check_each(
            count,
            [this](std::size_t i) {
                return places_[i].found == random_bits(token_seed, i) ? 0.0 : 1.0;
            },
            0, "what every thread wrote");
    }
    void poison() {
        for (Place& place : places_) place.found = 0;
    }
    void spoil() { ++places_[spoils_.next() % count].found; }

private:
    static constexpr std::size_t count = 32;
    static constexpr std::uint64_t token_seed = 17;

    struct Place {
        std::uint64_t index = 0;
        std::uint64_t found = 0;
    };
    static void* leave_number(void* place) {
        auto& own = *static_cast<Place*>(place);
        own.found = random_bits(token_seed, own.index);
        return nullptr;
    }
    static std::array<Place, count> numbered() {
        std::array<Place, count> places{};
        for (std::size_t i = 0; i < count; ++i) places[i].index = i;
        return places;
    }
    std::size_t at_once_;
    std::array<Place, count> places_ = numbered();
    Picks spoils_{18};
};

/// How often the calling thread left its core: because it had to wait, or because the kernel preferred
/// the thread that it had just woken.
long switches() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

enum class Via : std::uint8_t { futex, pipe };

/// The turn, handed to and fro between two threads: by a word in memory and futex(2), or a byte
/// through a pipe in each direction.
class Baton {
public:
    explicit Baton(Via via) : via_{via} {
        if (via == Via::futex) return;
        if (::pipe2(there_.data(), O_CLOEXEC) != 0 || ::pipe2(back_.data(), O_CLOEXEC) != 0)
            throw std::system_error{errno, std::generic_category(), "cannot make a pipe"};
    }
    Baton(const Baton&) = delete;
    Baton(Baton&&) = delete;
    Baton& operator=(const Baton&) = delete;
    Baton& operator=(Baton&&) = delete;
    ~Baton() {
        for (const int end : {there_[0], there_[1], back_[0], back_[1]})
            if (end >= 0) ::close(end);
    }

    /// Side 0 or 1 gives it to the other.
    void give(int side) noexcept {
        if (via_ == Via::pipe) {
            const char byte = 1;
            while (::write((side == 0 ? there_ : back_)[1], &byte, 1) < 0 && errno == EINTR) {
            }
            return;
        }
        turn_.store(1 - side, std::memory_order_release);
        futex(FUTEX_WAKE_PRIVATE, 1);
    }
    /// Sleeps until this side has it.
    void take(int side) noexcept {
        if (via_ == Via::pipe) {
            char byte = 0;
            while (::read((side == 0 ? back_ : there_)[0], &byte, 1) < 0 && errno == EINTR) {
            }
            return;
        }
        while (turn_.load(std::memory_order_acquire) != side) futex(FUTEX_WAIT_PRIVATE, 1 - side);
    }

private:
    void futex(int operation, int value) noexcept {
        ::syscall(SYS_futex, reinterpret_cast<int*>(&turn_), operation, value, nullptr, nullptr, 0);
    }
    Via via_;
    std::atomic<int> turn_{0};
    static_assert(sizeof(std::atomic<int>) == sizeof(int), "futex(2) wants the plain word");
    std::array<int, 2> there_{-1, -1};
    std::array<int, 2> back_{-1, -1};
};

class ContextSwitch {
public:
    struct Params {
        Via via = Via::futex;
    };
    static constexpr Info info{
        .id = "latency.context_switch",
        .question = "How long does a context switch between two threads take?",
        .method = "Two threads bound to one core pass a token back and forth through a futex or "
                  "two pipes and sleep while waiting, so that the core must switch. 500 round "
                  "trips of two switches per call. Checked: both threads counted every turn, and "
                  "the kernel counted as many switches.",
        .caveats = "The wake-up and sleep calls are included. Both threads belong to one process "
                   "and touch hardly any memory: processes also switch address spaces, and real "
                   "threads find cold caches.",
        .headline = "latency",
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        choice("via", "how threads hand over the turn", &Params::via,
               {{"futex", Via::futex}, {"pipe", Via::pipe}}, {Via::futex}),
    };

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return Fit::yes(); }
    ContextSwitch(const Params& p, const Context& context) : baton_{p.via} {
        if (::sched_getaffinity(0, sizeof before_, &before_) != 0)
            throw std::system_error{errno, std::generic_category(), "cannot read the affinity"};
        const int core = ::sched_getcpu();
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(static_cast<std::size_t>(core), &own);
        if (::sched_setaffinity(0, sizeof own, &own) != 0)
            throw std::system_error{errno, std::generic_category(), "cannot bind to a core"};
        context.setting("cpu", core);
        partner_ = std::thread{[this] { answer(); }}; // inherits the core
    }
    ContextSwitch(const ContextSwitch&) = delete;
    ContextSwitch(ContextSwitch&&) = delete;
    ContextSwitch& operator=(const ContextSwitch&) = delete;
    ContextSwitch& operator=(ContextSwitch&&) = delete;
    ~ContextSwitch() {
        ends_ = true;
        baton_.give(0);
        partner_.join();
        ::sched_setaffinity(0, sizeof before_, &before_);
    }
    void run() noexcept {
        const long before = switches();
        theirs_ = 0;
        std::int64_t mine = 0;
        for (; mine < rounds; ++mine) {
            baton_.give(0);
            baton_.take(0);
        }
        mine_ = mine;
        switches_ = switches() - before;
    }
    Work work() const { return {.steps = 2 * rounds}; }
    Check verify() const {
        const bool counted = mine_ == rounds && theirs_ == rounds;
        return check_value(counted && switches_ >= rounds ? 0 : 1, 0,
                           "the turns counted by both threads, and the kernel's context switches",
                           joined("turns ", mine_, " and ", theirs_, ", switches ", switches_,
                                  ", of each ", rounds));
    }
    void poison() { mine_ = theirs_ = switches_ = 0; }
    void spoil() { --(spoils_++ % 2 == 0 ? mine_ : theirs_); }

private:
    static constexpr std::int64_t rounds = 500;

    void answer() noexcept {
        for (;;) {
            baton_.take(1);
            if (ends_) return;
            ++theirs_;
            baton_.give(1);
        }
    }
    Baton baton_;
    cpu_set_t before_{};
    std::thread partner_;
    // Only the thread that has the turn may touch these; handing it over orders the accesses.
    bool ends_ = false;
    std::int64_t mine_ = 0;
    std::int64_t theirs_ = 0;
    std::int64_t switches_ = 0;
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark thread_start = define<ThreadStart>();
extern constinit const assay_benchmark context_switch = define<ContextSwitch>();

} // namespace assay::latency
