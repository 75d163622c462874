// SPDX-License-Identifier: Apache-2.0
//
// How a plan comes about: estimated, measured, or measured within a time limit; and kept for the next
// process (wisdom_file.hpp), so that every process of a run, and every run, measures the same plan.

#pragma once

#include "fftw_library.hpp"
#include "wisdom_file.hpp"
#include "wisdom_text.hpp"

#include <assay/benchmark.hpp>
#include <assay/host.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay::fft {

enum class Planning : std::uint8_t { limited, measured, estimate };

/// Seconds for a plan of the kind `limited`. FFTW drops what it had measured when the time is up, so
/// a limit that is too short gives an estimate.
inline constexpr double planning_limit = 1.0;

/// The name of the file with the plans, made of everything that a plan depends on.
template <class T>
std::string plan_key(const Shape& s, int threads, Planning planning) {
    std::string key = std::string{"fft-"} + Fftw<T>::version; // fftw-3.3.10-sse2-avx
    key += joined('-', s.dimensions, s.type == Type::c2c ? "d-c2c-" : "d-r2c-");
    key += joined(s.points, 'x', s.batch);
    key += sizeof(T) == sizeof(double) ? "-fp64-" : "-fp32-";
    key += joined(threads, "threads-");
    key += planning == Planning::limited ? "limited" : "measured";
    return key;
}

template <class T>
struct Planned {
    Plan<T> plan;
    double seconds = 0;           ///< of planning, now or when the wisdom was made
    const char* wisdom = "none";  ///< none, made, read
    const char* how = "measured"; ///< how it was chosen in the end
};

/// Calls `make(flags)`, which asks FFTW for the plan.
template <class T, class Make>
class Planner {
public:
    using F = Fftw<T>;
    Planner(const Context& context, Make make) : context_{context}, make_{std::move(make)} {}

    Planned<T> plan(Planning planning, const std::string& key) {
        // Nothing that this process learnt before, under another limit perhaps, may leak into a plan.
        F::forget();
        F::limit_time(FFTW_NO_TIMELIMIT);
        Planned<T> planned = planning == Planning::estimate ? estimate() : measured(planning, key);
        F::limit_time(FFTW_NO_TIMELIMIT);
        if (!planned.plan) throw std::runtime_error{"FFTW has no plan for this transform"};
        return planned;
    }

private:
    static constexpr const char* cut_short = "estimated: the limit on measuring was reached";

    Planned<T> estimate() {
        Planned<T> planned{.plan = {}, .how = "estimated"};
        planned.seconds = timed(FFTW_ESTIMATE, planned.plan);
        return planned;
    }

    Planned<T> measured(Planning planning, const std::string& key) {
        const std::string folder{context_.machine().text("state.folder")};
        if (!folder.empty()) {
            const Reading reading = read_wisdom(folder, key);
            std::string problem = reading.problem;
            if (reading.found) {
                if (Planned<T> known = replay(reading.wisdom); known.plan) return known;
                problem = "is not understood by this FFTW";
            }
            if (!problem.empty())
                context_.warn("stored plan ignored, " + wisdom_path(folder, key).string() + ' ' +
                              problem);
        }
        Planned<T> fresh = measure(planning);
        if (folder.empty() || !fresh.plan) return fresh;
        if (const std::string problem = keep_wisdom(folder, key, wisdom_of(fresh));
            !problem.empty())
            context_.warn("the plan could not be stored in " + folder + ": " + problem);
        return fresh;
    }

    Planned<T> replay(const Wisdom& wisdom) {
        Planned<T> known{.plan = {}, .seconds = wisdom.planning_seconds, .wisdom = "read"};
        if (wisdom.text.empty()) {
            known.how = cut_short;
            known.plan = make_(FFTW_ESTIMATE);
        } else if (WisdomText{wisdom.text}.is_sound() && F::import(wisdom.text.c_str()) != 0) {
            known.plan = make_(FFTW_MEASURE | FFTW_WISDOM_ONLY);
        }
        if (!known.plan) F::forget(); // whatever of it was taken in
        return known;
    }

    Planned<T> measure(Planning planning) {
        F::limit_time(planning == Planning::limited ? planning_limit : FFTW_NO_TIMELIMIT);
        Planned<T> fresh{.plan = {}, .wisdom = "made"};
        fresh.seconds = timed(FFTW_MEASURE, fresh.plan);
        // A plan that was measured to the end is now known as such.
        if (!make_(FFTW_MEASURE | FFTW_WISDOM_ONLY)) fresh.how = cut_short;
        return fresh;
    }

    static Wisdom wisdom_of(const Planned<T>& fresh) {
        Wisdom wisdom{.text = {}, .planning_seconds = fresh.seconds};
        if (fresh.how == cut_short) return wisdom;
        const std::unique_ptr<char, void (*)(void*)> text{F::export_text(), F::release};
        if (text) wisdom.text = text.get();
        return wisdom;
    }

    double timed(unsigned flags, Plan<T>& plan) {
        const Stopwatch watch;
        plan = make_(flags);
        return watch.seconds();
    }

    const Context& context_;
    Make make_;
};

} // namespace assay::fft
