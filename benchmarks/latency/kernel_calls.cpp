// SPDX-License-Identifier: Apache-2.0
//
// What a program asks of the system without another thread: the time, a call into the kernel, memory.

#include "memory/chase.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <system_error>

namespace assay::latency {
namespace {

using memory::Memory;
using memory::Pages;

class Timer {
public:
    enum class Source : std::uint8_t { monotonic, monotonic_raw, realtime };
    struct Params {
        Source clock = Source::monotonic;
    };
    static constexpr Info info{
        .id = "latency.timer",
        .question = "How long does it take to read the clock?",
        .method = "1000 calls of clock_gettime() back to back. Checked: time never goes backwards, "
                  "and the last reading is after the first.",
        .caveats = "Tens of nanoseconds where the C library reads the processor's counter, "
                   "hundreds where the clock source needs a system call: see "
                   "/sys/devices/system/clocksource/clocksource0/current_clocksource. realtime may "
                   "be set back during the measurement, which fails the check.",
        .headline = "latency",
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        choice("clock", "CLOCK_MONOTONIC (steady_clock), CLOCK_MONOTONIC_RAW or CLOCK_REALTIME",
               &Params::clock,
               {Name{"monotonic", Source::monotonic}, Name{"monotonic_raw", Source::monotonic_raw},
                Name{"realtime", Source::realtime}},
               {Source::monotonic}),
    };

    static Fit fit(const Params& p, const Machine& /*m*/) {
        timespec now{};
        return Fit::needs(::clock_gettime(id_of(p.clock), &now) == 0, "a system with this clock");
    }
    Timer(const Params& p, const Context& context) : clock_{id_of(p.clock)}, readings_(count) {
        timespec resolution{};
        ::clock_getres(clock_, &resolution);
        context.setting("resolution", static_cast<double>(nanoseconds(resolution)) * 1e-9);
    }
    void run() noexcept {
        for (timespec& reading : readings_) ::clock_gettime(clock_, &reading);
    }
    Work work() const { return {.steps = count}; }
    Check verify() const {
        std::int64_t backwards = 0;
        for (std::size_t i = 1; i < readings_.size(); ++i)
            backwards += nanoseconds(readings_[i]) < nanoseconds(readings_[i - 1]) ? 1 : 0;
        if (nanoseconds(readings_.back()) <= nanoseconds(readings_.front())) ++backwards;
        return check_value(static_cast<double>(backwards), 0,
                           "every reading against the previous one",
                           joined(backwards, " readings are earlier than the previous one"));
    }
    void poison() {
        for (timespec& reading : readings_) reading = {};
    }
    /// A nanosecond backwards.
    void spoil() {
        const std::size_t i = 1 + spoils_.next() % (count - 1);
        readings_[i] = readings_[i - 1];
        if (--readings_[i].tv_nsec >= 0) return;
        readings_[i].tv_nsec = 999'999'999;
        --readings_[i].tv_sec;
    }

private:
    static constexpr std::size_t count = 1000;

    static clockid_t id_of(Source source) {
        if (source == Source::monotonic_raw) return CLOCK_MONOTONIC_RAW;
        return source == Source::realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    }
    static std::int64_t nanoseconds(const timespec& time) {
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }
    clockid_t clock_;
    std::vector<timespec> readings_;
    Picks spoils_{14};
};

class SystemCall {
public:
    enum class Call : std::uint8_t { getppid, read };
    struct Params {
        Call call = Call::getppid;
    };
    static constexpr Info info{
        .id = "latency.syscall",
        .question = "How long does a minimal system call take?",
        .method = "1000 calls back to back through syscall(2): getppid, or read of one byte from "
                  "/dev/zero, which also looks up a file. Checked: every call returned the "
                  "parent's id as in /proc/self/status, or one zero byte.",
        .caveats = "Mitigations against speculative execution (page table isolation, retpolines) "
                   "are included, as are seccomp filters of containers. See "
                   "/sys/devices/system/cpu/vulnerabilities.",
        .headline = "latency",
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        choice("call", "getppid, or read of one byte of /dev/zero", &Params::call,
               {{"getppid", Call::getppid}, {"read", Call::read}}, {Call::getppid}),
    };

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return Fit::yes(); }
    SystemCall(const Params& p, const Context& context) : parent_{parent_number()} {
        if (p.call == Call::read) zero_ = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
        if (p.call == Call::read && zero_ < 0)
            throw std::system_error{errno, std::generic_category(), "cannot open /dev/zero"};
        context.setting("calls", count);
    }
    SystemCall(const SystemCall&) = delete;
    SystemCall(SystemCall&&) = delete;
    SystemCall& operator=(const SystemCall&) = delete;
    SystemCall& operator=(SystemCall&&) = delete;
    ~SystemCall() {
        if (zero_ >= 0) ::close(zero_);
    }
    void run() noexcept {
        std::int64_t right = 0;
        if (zero_ < 0)
            for (int i = 0; i < count; ++i) right += ::syscall(SYS_getppid) == parent_ ? 1 : 0;
        else
            for (int i = 0; i < count; ++i) {
                char byte = 1;
                const long read = ::syscall(SYS_read, zero_, &byte, std::size_t{1});
                right += read == 1 && byte == 0 ? 1 : 0;
            }
        right_ = right;
    }
    Work work() const { return {.steps = count}; }
    Check verify() const {
        return check_value(static_cast<double>(count - right_), 0, "the result of every call",
                           joined(count - right_, " results are wrong"));
    }
    void poison() { right_ = -1; }
    void spoil() { --right_; }

private:
    static constexpr int count = 1000;

    /// Read from the kernel: the call that is timed should not vouch for itself.
    static long parent_number() {
        std::ifstream file{"/proc/self/status"};
        for (std::string word; file >> word;)
            if (long number = -1; word == "PPid:" && file >> number) return number;
        throw std::runtime_error{"cannot read PPid in /proc/self/status"};
    }
    long parent_;
    int zero_ = -1;
    std::int64_t right_ = -1;
};

class PageFault {
public:
    struct Params {
        Pages pages = Pages::small;
    };
    static constexpr Info info{
        .id = "latency.page_fault",
        .question = "How long does the first touch of a page take?",
        .method = "One word is written to each page of 16 MiB of small pages, or 32 MiB of huge "
                  "ones, returned to the kernel before the call. Checked: all pages are resident, "
                  "of the requested size, and hold what was written and zeros elsewhere.",
        .caveats =
            "Mostly the zeroing of the page: a huge page takes longer but costs less per byte. "
            "Recently used pages may still be in a cache. One thread; concurrent faults contend.",
        .headline = "latency",
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        choice("pages", "small (the usual size, 4 KiB on most) or huge (2 MiB)", &Params::pages,
               {{"small", Pages::small}, {"huge", Pages::huge}}, {Pages::small}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        return memory::fits_memory(static_cast<std::int64_t>(size_of(p.pages)), p.pages, m);
    }
    PageFault(const Params& p, const Context& context)
        : pages_{p.pages},
          step_{p.pages == Pages::huge ? huge_page
                                       : static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))},
          memory_{size_of(p.pages), p.pages} {
        context.setting("pages", count());
        context.setting("page_size", step_);
    }
    void run() noexcept {
        std::byte* const data = memory_.data();
        for (std::size_t i = 0; i < memory_.size(); i += step_)
            *reinterpret_cast<volatile std::uint64_t*>(data + i) = token(i);
    }
    Work work() const { return {.steps = static_cast<double>(count())}; }
    Check verify() const {
        const char* const method = "every word of every page, and the kernel's record of them";
        const memory::Resident there = memory_.resident();
        const bool right_kind = pages_ == Pages::small
                                    ? there.huge == 0 && there.bytes == memory_.size()
                                    : there.huge == memory_.size();
        if (!right_kind)
            return check_value(
                1, 0, method,
                joined(there.bytes, " bytes are there, ", there.huge, " of them on huge pages"));
        return check_each(
            memory_.size() / sizeof(std::uint64_t),
            [this](std::size_t word) {
                const std::size_t at = word * sizeof(std::uint64_t);
                const std::uint64_t wanted = at % step_ == 0 ? token(at) : 0;
                return reinterpret_cast<const std::uint64_t*>(memory_.data())[word] == wanted ? 0.0
                                                                                              : 1.0;
            },
            0, method);
    }
    /// rewind() gives all pages back, so that this does not outlast it.
    void poison() { std::fill_n(memory_.data(), memory_.size(), std::byte{0xa5}); }
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        memory_.data()[pick % memory_.size()] ^= std::byte{1};
    }
    void rewind() { memory_.give_back(); }

private:
    static constexpr std::uint64_t token_seed = 15;

    static constexpr std::size_t size_of(Pages pages) {
        return (pages == Pages::huge ? 16 : 8) * huge_page;
    }
    static std::uint64_t token(std::size_t at) { return random_bits(token_seed, at) | 1U; }
    std::size_t count() const { return memory_.size() / step_; }

    Pages pages_;
    std::size_t step_;
    Memory memory_;
    Picks spoils_{16};
};

} // namespace

extern constinit const assay_benchmark timer = define<Timer>();
extern constinit const assay_benchmark system_call = define<SystemCall>();
extern constinit const assay_benchmark page_fault = define<PageFault>();

} // namespace assay::latency
