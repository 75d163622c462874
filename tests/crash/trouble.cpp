// SPDX-License-Identifier: Apache-2.0
//
// A module for tests: one benchmark that does whatever harm its parameter `what` asks for.

#include <assay/define.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace assay::trouble {

enum class What : std::uint8_t {
    fine,
    slow,        // 2 ms a call
    segv,        // in run()
    hang,        // in run()
    hang_verify, // in verify()
    throws,      // in set-up
    leaves,      // exit(3) in run()
    hungry,      // allocates until it is stopped
    wrong,       // result
    blind,       // verify() accepts anything
    stale,       // does not write its output: poison stays
    unfit,
    warns,
    escapes, // leaves a daemon behind that has nothing in common with its worker
    breeds,  // leaves a process behind that has left the session
    flees,   // leaves one behind that is another one at every moment, for ten seconds
    tuned,   // fast with MKL_TROUBLE=good
    fickle,  // fine, but as segv with TROUBLE_CRASH
    raw,     // writes garbage to its parent's socket
    crowded, // slow, and shares its CPU with another thread while the file TROUBLE_CROWD is there
    segv_later, // in run(), after the checks
    hang_later,
    linked, // says that 64 MiB of each 1 ms call go over NVLink
    prints
};

namespace {

/// In the order of the enumeration.
constexpr std::array words{
    "fine",  "slow",   "segv",  "hang",    "hang_verify", "throws",     "leaves", "hungry",
    "wrong", "blind",  "stale", "unfit",   "warns",       "escapes",    "breeds", "flees",
    "tuned", "fickle", "raw",   "crowded", "segv_later",  "hang_later", "linked", "prints"};
constexpr auto names = [] {
    std::array<Name<What>, words.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {words[i], static_cast<What>(i)};
    return all;
}();
constexpr std::array<assay_variable, 0> no_variables{};

/// The result of every well-behaved case.
constexpr double answer = 42.0;

void leave_a_child() {
    if (::fork() != 0) return;
    ::setsid();
    while (true) ::pause();
}

/// One process at a time.
void leave_a_chain() {
    if (::fork() != 0) return;
    ::setsid();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (std::chrono::steady_clock::now() < end)
        if (::fork() > 0) ::_exit(0);
    ::_exit(0);
}

/// The name is TROUBLE_DAEMON.
void leave_a_daemon() {
    if (::fork() != 0) return;
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    const char* name = std::getenv("TROUBLE_DAEMON");
    std::array<char*, 1> nothing{};
    ::execle("/bin/sleep", name, "600", nullptr, nothing.data());
    ::_exit(1);
}

/// A module that kills whoever loads it, where TROUBLE_AT_LOAD is set.
[[gnu::constructor]] void at_load() {
    if (std::getenv("TROUBLE_AT_LOAD") != nullptr) ::raise(SIGKILL);
}

void write_to_the_socket() {
    // A descriptor found by trying: the worker has few.
    for (int fd = 3; fd < 64; ++fd) {
        const auto sent = ::write(fd, "{\"type\":\"result\",\"id\":]]]\n", 27);
        (void)sent;
    }
}

} // namespace

struct Trouble {
    struct Params {
        What what = What::fine;
        std::int64_t size = 1;
        Symbolic threads = 1;
    };
    static constexpr Info info{.id = "trouble.maker",
                               .question = "What does the harness do about it?",
                               .method = "Harms on purpose.",
                               .caveats = "None of its numbers means anything.",
                               .headline = "flop_rate"};
    static constexpr auto axes = std::tuple{
        choice("what", "the harm done", &Params::what, names, {What::fine}, no_variables),
        integer("size", "tells cases apart", "", &Params::size, {1}, {1, 1000}),
        symbolic("threads", "threads", "", &Params::threads, {1}, {1, 4096},
                 {Symbol::one, Symbol::all})};

    static Fit fit(const Params& params, const Machine&) {
        return Fit::needs(params.what != What::unfit, "a machine that does not exist");
    }

    Trouble(const Params& params, Context& context) : what_{params.what} {
        const char* threads = std::getenv("OMP_NUM_THREADS");
        context.setting("seen.threads", threads == nullptr ? "none" : threads);
        const char* socket = std::getenv("ASSAY_SOCKET");
        context.setting("seen.socket", socket == nullptr ? "none" : socket);
        context.setting("seen.process", std::to_string(::getpid()).c_str());
        const char* kernel = std::getenv("MKL_TROUBLE");
        good_ = kernel != nullptr && std::strcmp(kernel, "good") == 0;
        context.setting("seen.kernel", good_ ? "good" : "other");
        if (what_ == What::fickle && std::getenv("TROUBLE_CRASH") != nullptr) what_ = What::segv;
        if (what_ == What::throws) throw std::runtime_error{"no set-up today"};
        if (what_ == What::linked) context.nvlink_at_least(2, 64.0 * 1024 * 1024);
        if (what_ == What::warns) context.warn("the weather is bad");
        if (what_ == What::escapes) leave_a_daemon();
        if (what_ == What::breeds) leave_a_child();
        if (what_ == What::flees) leave_a_chain();
        if (what_ == What::hungry) eat();
        if (what_ == What::crowded) crowd();
    }

    void run() noexcept {
        constexpr int checks = 20; // fewer calls than that are made before the warm-up
        if (++calls_ > checks && what_ == What::segv_later) what_ = What::segv;
        if (calls_ > checks && what_ == What::hang_later) what_ = What::hang;
        switch (what_) {
        case What::segv:
            ::signal(SIGSEGV, SIG_DFL); // a sanitizer would make an exit code of it
            ::raise(SIGSEGV);
            break;
        case What::hang:
            while (true) ::pause();
        case What::leaves:
            std::exit(3); // the harm done
        case What::crowded:
        case What::slow:
            wait(std::chrono::milliseconds{2});
            break;
        case What::linked:
            wait(std::chrono::milliseconds{1});
            break;
        case What::tuned:
            wait(std::chrono::microseconds{good_ ? 100 : 5000});
            break;
        case What::raw:
            write_to_the_socket();
            break;
        case What::prints:
            if (calls_ % 1024 == 0) std::puts("progress");
            wait(std::chrono::microseconds{1});
            break;
        default:
            break;
        }
        if (what_ != What::stale || output_ == 0) output_ = what_ == What::wrong ? 41.0 : answer;
    }
    Work work() const { return {.flops = 1000}; }
    Check verify() const {
        if (what_ == What::hang_verify)
            while (true) ::pause();
        const bool right = output_ == answer || what_ == What::blind;
        return {.passed = right, .error = right ? 0.0 : 1.0, .bound = 0.5, .method = "by heart"};
    }
    void poison() { output_ = -1; }
    void spoil() { output_ += 1; }

private:
    static void wait(std::chrono::nanoseconds time) {
        const auto end = std::chrono::steady_clock::now() + time;
        while (std::chrono::steady_clock::now() < end) {
        }
    }
    /// Both threads on one CPU: each waits for it half of the time.
    void crowd() {
        const char* file = std::getenv("TROUBLE_CROWD");
        if (file == nullptr || ::access(file, F_OK) != 0) return;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
        ::sched_setaffinity(0, sizeof(one), &one); // inherited by the other
        other_ = std::jthread{[](const std::stop_token& stop) {
            while (!stop.stop_requested()) wait(std::chrono::microseconds{100});
        }};
    }
    void eat() {
        constexpr std::size_t bite = std::size_t{64} << 20U;
        while (true) eaten_.push_back(std::make_unique_for_overwrite<std::array<char, bite>>());
    }

    std::jthread other_;
    What what_;
    bool good_ = false;
    int calls_ = 0;
    double output_ = 0;
    std::vector<std::unique_ptr<std::array<char, std::size_t{64} << 20U>>> eaten_;
};

extern constinit const assay_benchmark maker = define<Trouble>();

namespace {

/// Tunings by variables that do not reach workers by themselves.
constexpr std::array<assay_tuning, 3> tunings{
    {{sizeof(assay_tuning), 0, "MKL_TROUBLE", "poor", ""},
     {sizeof(assay_tuning), 0, "MKL_TROUBLE", "good", ""},
     {sizeof(assay_tuning), 0, "MKL_TROUBLE", "unusable", "an_isa_nobody_has"}}};

std::int32_t facts(const assay_services* services, assay_text* /*error*/) {
    services->setting_text(services->context, "version", "1.2.3");
    return 0;
}

} // namespace
} // namespace assay::trouble

extern const assay::Module assay_module_hooks;
constinit const assay::Module assay_module_hooks{.tunings = assay::trouble::tunings.data(),
                                                 .tuning_count = assay::trouble::tunings.size(),
                                                 .facts = &assay::trouble::facts};
