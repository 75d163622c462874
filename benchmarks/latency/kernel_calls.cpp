// SPDX-License-Identifier: Apache-2.0
//
// What a program asks of the system without another thread: the time, a call into the kernel, memory.

#include "memory/pages.hpp"

#include <assay/define.hpp>
#include <assay/host.hpp>
#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

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
        .method =
            "clock_gettime() a thousand times in a row. Checked: no reading lies before the one "
            "before it, and the last after the first.",
        .caveats =
            "A few tens of nanoseconds where the C library reads the processor's counter by "
            "itself, hundreds where the system's clock source makes it a call into the kernel: "
            "/sys/devices/system/clocksource/clocksource0/current_clocksource. realtime may be "
            "set back while it is measured, which counts as wrong.",
        .headline = "latency",
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
                           "every reading against the one before",
                           std::to_string(backwards) + " readings lie before the one before them");
    }
    void poison() {
        for (timespec& reading : readings_) reading = {};
    }
    /// A nanosecond backwards.
    void spoil() {
        const std::size_t i = 1 + random_bits(spoil_seed, spoils_++) % (count - 1);
        readings_[i] = readings_[i - 1];
        if (--readings_[i].tv_nsec >= 0) return;
        readings_[i].tv_nsec = 999'999'999;
        --readings_[i].tv_sec;
    }

private:
    static constexpr std::size_t count = 1000;
    static constexpr std::uint64_t spoil_seed = 14;

    static clockid_t id_of(Source source) {
        if (source == Source::monotonic_raw) return CLOCK_MONOTONIC_RAW;
        return source == Source::realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    }
    static std::int64_t nanoseconds(const timespec& time) {
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }
    clockid_t clock_;
    std::vector<timespec> readings_;
    std::uint64_t spoils_ = 0;
};

class SystemCall {
public:
    enum class Call : std::uint8_t { getppid, read };
    struct Params {
        Call call = Call::getppid;
    };
    static constexpr Info info{
        .id = "latency.syscall",
        .question = "How long does a call into the kernel take that does next to nothing there?",
        .method =
            "A thousand calls in a row by syscall(2), so that no library answers from memory: "
            "getppid, or read of one byte of /dev/zero, which also looks up a file. Checked: "
            "every call returned the parent's number as /proc/self/status has it, or one byte "
            "that is 0.",
        .caveats =
            "What kernels do against speculation (page table isolation, retpolines) is in it, as "
            "are filters: a container's seccomp rules run before each call. See the mitigations "
            "under /sys/devices/system/cpu/vulnerabilities.",
        .headline = "latency",
    };
    static constexpr std::tuple axes{
        choice("call", "getppid, or read of one byte of /dev/zero", &Params::call,
               {Name{"getppid", Call::getppid}, Name{"read", Call::read}}, {Call::getppid}),
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
        return check_value(static_cast<double>(count - right_), 0, "the answer to every call",
                           std::to_string(count - right_) + " answers are wrong");
    }
    void poison() { right_ = -1; }
    void spoil() { --right_; }

private:
    static constexpr int count = 1000;

    /// As the kernel prints it: the call that is timed should not vouch for itself.
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
        .question = "How long does the first touch of a page of memory take?",
        .method =
            "One word written to each page of 16 MiB of small pages, or 32 MiB of huge ones, that "
            "were given back to the kernel before the call. Checked: all pages are there, of the "
            "wanted kind, hold what was written and otherwise zeros.",
        .caveats =
            "Zeroing the page is most of it: a huge page takes longer and is cheaper per byte. "
            "Pages that were used a moment ago may still be in a cache. One thread: many that "
            "touch at once wait for each other.",
        .headline = "latency",
    };
    static constexpr std::tuple axes{
        choice("pages", "small (the usual size, 4 KiB on most) or huge (2 MiB)", &Params::pages,
               {Name{"small", Pages::small}, Name{"huge", Pages::huge}}, {Pages::small}),
    };

    static Fit fit(const Params& p, const Machine& m) {
        const auto bytes = static_cast<std::int64_t>(size_of(p.pages));
        const std::int64_t available = m.memory_available();
        if (available != 0 && bytes + bytes / 16 > available)
            return Fit::no("needs " + std::to_string(bytes) + " bytes of free memory, there are " +
                           std::to_string(available));
        return Fit::needs(p.pages == Pages::small || memory::gives_huge_pages(),
                          memory::huge_pages_words);
    }
    PageFault(const Params& p, const Context& context)
        : pages_{p.pages},
          step_{p.pages == Pages::huge ? huge_page
                                       : static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))},
          memory_{size_of(p.pages), p.pages} {
        context.setting("pages", static_cast<double>(count()));
        context.setting("page_size", static_cast<double>(step_));
    }
    void run() noexcept {
        std::byte* const data = memory_.data();
        for (std::size_t i = 0; i < memory_.size(); i += step_)
            *reinterpret_cast<volatile std::uint64_t*>(data + i) = token(i);
    }
    Work work() const { return {.steps = static_cast<double>(count())}; }
    Check verify() const {
        const char* const method = "every word of every page, and what the kernel says of them";
        const memory::Resident there = memory_.resident();
        const bool right_kind = pages_ == Pages::small
                                    ? there.huge == 0 && there.bytes == memory_.size()
                                    : there.huge == memory_.size();
        if (!right_kind)
            return check_value(1, 0, method,
                               std::to_string(there.bytes) + " bytes are there, " +
                                   std::to_string(there.huge) + " of them on huge pages");
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
        const std::uint64_t pick = random_bits(spoil_seed, spoils_++);
        memory_.data()[pick % memory_.size()] ^= std::byte{1};
    }
    void rewind() { memory_.give_back(); }

private:
    static constexpr std::uint64_t token_seed = 15;
    static constexpr std::uint64_t spoil_seed = 16;

    static constexpr std::size_t size_of(Pages pages) {
        return (pages == Pages::huge ? 16 : 8) * huge_page;
    }
    static std::uint64_t token(std::size_t at) { return random_bits(token_seed, at) | 1U; }
    std::size_t count() const { return memory_.size() / step_; }

    Pages pages_;
    std::size_t step_;
    Memory memory_;
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark timer;
constinit const assay_benchmark timer = define<Timer>();
extern constinit const assay_benchmark system_call;
constinit const assay_benchmark system_call = define<SystemCall>();
extern constinit const assay_benchmark page_fault;
constinit const assay_benchmark page_fault = define<PageFault>();

} // namespace assay::latency
