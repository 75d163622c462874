// SPDX-License-Identifier: Apache-2.0
//
// A benchmark for tests whose results are wrong now and then, by less than its check sees, or that is slow for a while.

#include <assay/define.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <vector>

namespace assay::trouble {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

enum class Fault : std::uint8_t {
    none,
    flips, // one bit of one element, in one of `every` calls: of a process, or of many where it makes fewer
    sticks, // a bit of an input, some time after the warm-up, whose calls would otherwise be what right is
    differs, // in a process while another one holds the file TROUBLE_FIRST
    slows,   // in a process that finds the file TROUBLE_SLOW
};

class Soaker {
public:
    struct Params {
        Fault what = Fault::none;
        std::int64_t every = 10'000;
        Symbolic threads = 1;
    };
    static constexpr Info info{.id = "trouble.soaker",
                               .question = "Does the harness find it?",
                               .method = "Computes squares, and some of them wrongly.",
                               .caveats = "None of its numbers means anything.",
                               .headline = "flop_rate",
                               .reproducible = true};
    static constexpr std::tuple axes{
        choice("what", "the fault", &Params::what,
               {Name{"none", Fault::none}, Name{"flips", Fault::flips},
                Name{"sticks", Fault::sticks}, Name{"differs", Fault::differs},
                Name{"slows", Fault::slows}},
               {Fault::none}),
        integer("every", "calls", "", &Params::every, {10'000}, {1, 1'000'000}),
        symbolic("threads", "threads", "", &Params::threads, {1}, {1, 4096},
                 {Symbol::one, Symbol::all})};

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return Fit::yes(); }
    Soaker(const Params& p, const Context& /*context*/)
        : what_{p.what}, every_{static_cast<std::uint64_t>(p.every)}, inputs_(count),
          squares_(count) {
        for (std::size_t i = 0; i < count; ++i) inputs_[i] = static_cast<double>(i);
        // So rare that a process may make fewer calls: each begins somewhere else.
        if (every_ > 1000) calls_ = static_cast<std::uint64_t>(::getpid()) * 7919 % every_;
        const char* slow = std::getenv("TROUBLE_SLOW");
        if (what_ == Fault::slows && slow != nullptr && ::access(slow, F_OK) == 0) passes_ = 16;
        const char* file = std::getenv("TROUBLE_FIRST");
        if (what_ != Fault::differs || file == nullptr) return;
        // Held until the process ends: of two at the same time one has it.
        const int held = ::open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        is_other_ = ::flock(held, LOCK_EX | LOCK_NB) != 0;
    }
    void run() noexcept {
        ++calls_;
        if (what_ == Fault::sticks && !is_stuck_ && Clock::now() - begun_ > 700ms) {
            is_stuck_ = true;
            flip(inputs_[777]);
        }
        for (int pass = 0; pass < passes_; ++pass)
            for (std::size_t i = 0; i < count; ++i) squares_[i] = inputs_[i] * inputs_[i];
        last_ = static_cast<float>(squares_.back());
        if (is_other_ || (what_ == Fault::flips && calls_ % every_ == 0)) flip(squares_[12345]);
    }
    Work work() const { return {.flops = count}; }
    Check verify() const {
        double worst = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto x = static_cast<double>(i);
            const double error = std::fabs(squares_[i] - (x * x)) / (1 + x);
            worst = error > worst || std::isnan(error) ? error : worst;
        }
        return check_value(worst, 0.5, "squares, roughly", "they are not");
    }
    void poison() { squares_.assign(count, std::numeric_limits<double>::quiet_NaN()); }
    void spoil() { squares_[5] += 10; }
    Outputs outputs() const { return {last_, squares_}; }

private:
    static constexpr std::size_t count = 20'000; // three blocks of a digest
    static void flip(double& value) {
        value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (1U << 17U));
    }

    Fault what_;
    Clock::time_point begun_ = Clock::now();
    bool is_stuck_ = false;
    std::uint64_t every_;
    std::uint64_t calls_ = 0;
    bool is_other_ = false;
    int passes_ = 1;
    float last_ = 0;
    std::vector<double> inputs_;
    std::vector<double> squares_;
};

} // namespace

extern constinit const assay_benchmark soaker = define<Soaker>();

} // namespace assay::trouble
