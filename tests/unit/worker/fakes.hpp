// SPDX-License-Identifier: Apache-2.0
//
// A clock that moves when told, and a subject whose calls take what a script says.

#pragma once

#include "worker/engine.hpp"

#include <functional>
#include <string>
#include <vector>

namespace assay::worker {

class FakeClock final : public Clock {
public:
    double now() override { return time; }
    double read_cost() override { return cost; }
    double resolution() override { return step; }

    double time = 100; // seconds; anything
    double cost = 25e-9;
    double step = 1e-9;
};

/// Calls the subject and nothing else.
class DirectRunner final : public BatchRunner {
public:
    Result<double> run(Subject& subject, std::uint64_t calls) override {
        return subject.sample(calls);
    }
};

/// Remembers what it was asked to do. An error is injected by naming the step and its number, from 1:
/// fail_at = {"sample", 3}.
class FakeSubject final : public Subject {
public:
    struct Step {
        std::string name;
        int number = 0;
    };

    FakeSubject(FakeClock& clock_, std::function<double()> seconds_per_call_)
        : clock{clock_}, seconds_per_call{std::move(seconds_per_call_)} {}

    Result<double> sample(std::uint64_t calls) override {
        if (auto done = step("sample"); !done) return tl::unexpected<Error>{done.error()};
        const double seconds = seconds_per_call() * static_cast<double>(calls);
        clock.time += seconds;
        batch_calls.push_back(calls);
        batch_seconds.push_back(seconds);
        if (writes_result) sound = computes_right;
        return seconds;
    }
    Result<record::Verification> verify() override {
        if (auto done = step("verify"); !done) return tl::unexpected<Error>{done.error()};
        return record::Verification{.passed = sound || blind,
                                    .method = "scripted",
                                    .bound = 0.5,
                                    .error = sound ? 0.0 : 1.0};
    }
    Result<void> poison() override {
        if (poisons) sound = false;
        return step("poison");
    }
    Result<void> spoil() override {
        sound = false;
        return step("spoil");
    }
    Result<void> rewind() override {
        clock.time += rewind_seconds;
        return step("rewind");
    }

    /// How often `name` was asked for.
    int count(const std::string& name) const {
        int found = 0;
        for (const auto& other : steps) found += other == name ? 1 : 0;
        return found;
    }

    FakeClock& clock;
    std::function<double()> seconds_per_call;
    Step fail_at;
    double rewind_seconds = 0;
    bool computes_right = true; ///< run() leaves a sound result
    bool writes_result = true;  ///< run() leaves a result at all
    bool poisons = true;        ///< poison() overwrites the result
    bool blind = false;         ///< verify() accepts everything
    bool sound = false;
    std::vector<std::string> steps;
    std::vector<std::uint64_t> batch_calls;
    std::vector<double> batch_seconds;

private:
    Result<void> step(const std::string& name) {
        steps.push_back(name);
        if (name == fail_at.name && count(name) == fail_at.number)
            return fail(name + " broke", Fault::benchmark);
        return {};
    }
};

} // namespace assay::worker
