// SPDX-License-Identifier: Apache-2.0
//
// What the engine measures and what it measures with, all passed in: a case, a clock, a runner of batches, hooks.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"
#include "record/soak.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::worker {

/// A piece of what a call computed.
struct OutputBlock {
    std::size_t output = 0; ///< number of the array
    std::uint64_t first_element = 0;
    std::size_t element_bytes = 1;
    std::vector<std::byte> bytes{};
};

using Digest = record::OutputHashes;

/// A prepared case. Every function may fail with an error text; nothing throws.
class Subject {
public:
    virtual ~Subject() = default;
    /// Seconds that `calls` calls took, by the clock of the place.
    virtual Result<double> sample(std::uint64_t calls) = 0;
    virtual Result<record::Verification> verify() = 0;
    virtual Result<void> poison() = 0;
    virtual Result<void> spoil() = 0;
    virtual Result<void> rewind() = 0;
    /// Digest of the last result. Only with `has_digest`.
    virtual Result<Digest> digest() { return Digest{}; }
    virtual Result<OutputBlock> block(std::size_t /*index*/) { return OutputBlock{}; }
    /// Makes the data anew, as after set-up.
    virtual Result<void> renew() { return {}; }
    bool has_digest = false;
    bool reproducible = false;    ///< equal digests also in other processes and on other devices
    bool rewinds = false;         ///< run() changes its inputs: rewind() precedes every batch
    bool single_call = false;     ///< a batch is one call, however short
    bool long_calls = false;      ///< a call takes seconds: one is a window
    std::uint64_t safe_calls = 0; ///< calls one rewind allows; 0: no limit. Only with `rewinds`
};

/// Wall time, for warm-up, budget and progress.
class Clock {
public:
    virtual ~Clock() = default;
    virtual double now() = 0;       ///< seconds since any origin
    virtual double read_cost() = 0; ///< seconds that reading the place's clock takes
    virtual double
    resolution() = 0; ///< the smallest difference the place's clock can show, seconds
};
Clock& steady_clock();

/// Runs one batch and returns its seconds. The real one goes through Google Benchmark.
class BatchRunner {
public:
    virtual ~BatchRunner() = default;
    virtual Result<double> run(Subject& subject, std::uint64_t calls) = 0;
};
BatchRunner& google_benchmark();

/// Callbacks around the window (telemetry) and during it (the phase). All may be empty.
struct Hooks {
    std::function<void()> window_begins; ///< the machine is warm; the first timed batch follows
    std::function<void()> window_ends;   ///< follows whenever the window has begun, errors included
    std::function<void(const char* phase)> phase; ///< at most twice a second
    std::function<double()> core_clock_hz;        ///< steadiness during warm-up; may be empty
    std::function<void()> ready; ///< checked, about to warm up; returns when siblings are ready too
    std::function<bool()> goes_on; ///< after the window: do siblings still need this one's load?
    bool only_load = false;        ///< load for siblings: there is no window
    std::function<void(double)> pause; ///< so many seconds, between steps of a soak
    std::function<std::string()> utc;  ///< when a wrong result was found
    Digest expected{}; ///< of a soak: what other processes computed; empty: not known
};

// Reports the phase of a measurement, at most twice a second: messages cost time on the machine under
// test.

class Pulse {
public:
    Pulse(Clock& clock, const Hooks& hooks) : clock_{clock}, hooks_{hooks} {}

    void beat(const char* phase) {
        constexpr double shortest_gap = 0.5; // seconds: twice a second
        if (!hooks_.phase) return;
        const double now = clock_.now();
        if (last_ && now - *last_ < shortest_gap) return;
        last_ = now;
        hooks_.phase(phase);
    }

private:
    Clock& clock_;
    const Hooks& hooks_;
    std::optional<double> last_;
};

} // namespace assay::worker
