// SPDX-License-Identifier: Apache-2.0
//
// A module for tests: a benchmark of several processes, of which rank 1 makes trouble.

#include "collective/world.hpp"

#include <assay/define.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

namespace assay::trouble {

enum class TeamWhat : std::uint8_t { fine, slow, segv, hang, throws, unjudged, unfit };

struct TeamTrouble {
    struct Params {
        TeamWhat what = TeamWhat::fine;
        std::int64_t size = 1;
        Symbolic ranks = 2;
    };
    static constexpr bool team = true;
    static constexpr Info info{.id = "trouble.team",
                               .question = "What does the harness do about one bad rank?",
                               .method = "Harms on purpose.",
                               .caveats = "None of its numbers means anything.",
                               .headline = "time"};
    static constexpr auto axes = std::tuple{
        choice("what", "the harm done by rank 1", &Params::what,
               {Name{"fine", TeamWhat::fine}, Name{"slow", TeamWhat::slow},
                Name{"segv", TeamWhat::segv}, Name{"hang", TeamWhat::hang},
                Name{"throws", TeamWhat::throws}, Name{"unjudged", TeamWhat::unjudged},
                Name{"unfit", TeamWhat::unfit}},
               {TeamWhat::fine}),
        integer("size", "tells cases apart", "", &Params::size, {1}, {1, 1000}),
        symbolic("ranks", "processes", "", &Params::ranks, {2}, {1, 4096}, {Symbol::all})};

    static Fit fit(const Params& params, const Machine&) {
        return Fit::needs(params.what != TeamWhat::unfit, "a machine that does not exist");
    }
    TeamTrouble(const Params& params, Context& context)
        : what_{params.what}, team_{context.team()} {
        context.setting("ranks", team_.size());
        if (what_ == TeamWhat::throws && is_bad()) throw std::runtime_error{"no set-up today"};
    }
    void run() noexcept {
        if (what_ == TeamWhat::segv && is_bad()) die();
        if (what_ == TeamWhat::hang && is_bad())
            while (true) ::pause();
        const auto end = std::chrono::steady_clock::now() +
                         std::chrono::microseconds{what_ == TeamWhat::slow ? 2000 : 50};
        while (std::chrono::steady_clock::now() < end) {
        }
        output_ = 42;
    }
    Work work() const { return {}; }
    Check verify() const {
        if (what_ == TeamWhat::unjudged && is_bad()) throw std::runtime_error{"no verdict today"};
        return {.passed = output_ == 42, .error = output_ - 42, .bound = 0.5, .method = "by heart"};
    }
    void poison() { output_ = 0; }
    void spoil() { output_ += 1; }

private:
    static void die() {
        ::signal(SIGSEGV, SIG_DFL); // a sanitizer would make an exit code of it
        ::raise(SIGSEGV);
    }
    bool is_bad() const { return team_.rank() == 1; }
    TeamWhat what_;
    Team team_;
    double output_ = 0;
};

extern constinit const assay_benchmark team_maker = define<TeamTrouble>();

} // namespace assay::trouble

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks = assay::mpi::module_of_job<assay::mpi::report_library>();
