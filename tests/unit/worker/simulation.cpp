// SPDX-License-Identifier: Apache-2.0

#include "simulation.hpp"

#include "fakes.hpp"
#include "stats/interval.hpp"

#include <cmath>

namespace assay::measure {
namespace {

constexpr double call_seconds = 1e-4; // of the mean call

struct Run {
    Measurement measurement;
    double truth = 0; ///< seconds per call, expected over the batches that count
};

/// Right whenever it has run; keeps nothing but what was expected of every batch.
class SimulatedSubject final : public Subject {
public:
    SimulatedSubject(FakeClock& clock, Series series)
        : clock_{clock}, begin_{clock.time}, series_{std::move(series)} {}

    Result<double> sample(std::uint64_t calls) override {
        const Draw draw = series_(clock_.time - begin_); // this clock shows measured time alone
        const double seconds = call_seconds * draw.value * static_cast<double>(calls);
        clock_.time += seconds;
        expected.push_back(call_seconds * draw.expected);
        sound_ = true;
        return seconds;
    }
    Result<record::Verification> verify() override {
        return record::Verification{.passed = sound_};
    }
    Result<void> poison() override {
        sound_ = false;
        return {};
    }
    Result<void> spoil() override { return poison(); }
    Result<void> rewind() override { return {}; }

    std::vector<double> expected; ///< seconds per call of every batch

private:
    FakeClock& clock_;
    double begin_;
    Series series_;
    bool sound_ = false;
};

Run run_once(const MakeSeries& make, const Protocol& protocol, std::uint64_t seed) {
    FakeClock clock;
    SimulatedSubject subject{clock, make(seed)};
    std::size_t first = 0; // batch of the window
    DirectRunner runner;
    const Team alone;
    const Hooks hooks{.window_begins = [&] { first = subject.expected.size(); }};
    Run run{.measurement = measure(subject, protocol, clock, runner, alone, hooks)};
    const std::span<const double> all{subject.expected};
    run.truth = stats::mean(all.subspan(first, run.measurement.replica.batches.value()));
    return run;
}

class Tally {
public:
    void add(record::Status status, double low, double truth, double high, std::uint64_t batches) {
        const bool covered = low <= truth && truth <= high;
        const bool is_ok = status == record::Status::ok;
        ++runs_;
        ok_ += is_ok ? 1 : 0;
        covered_ok_ += is_ok && covered ? 1 : 0;
        covered_ += covered ? 1 : 0;
        honest_ += covered || status == record::Status::unstable ? 1 : 0;
        batches_ += static_cast<double>(batches);
        if (is_ok) half_widths_ += (high - low) / 2 / truth;
    }
    Coverage coverage() const {
        const double some_ok = std::max(ok_, 1.0);
        return {.ok = ok_ / runs_,
                .covered_ok = covered_ok_ / some_ok,
                .covered_all = covered_ / runs_,
                .honest = honest_ / runs_,
                .mean_batches = batches_ / runs_,
                .mean_half_width = half_widths_ / some_ok};
    }

private:
    double runs_ = 0;
    double ok_ = 0;
    double covered_ok_ = 0;
    double covered_ = 0;
    double honest_ = 0;
    double batches_ = 0;
    double half_widths_ = 0;
};

} // namespace

MakeSeries independent(double deviation) {
    return [=](std::uint64_t seed) -> Series {
        auto random = std::make_shared<std::mt19937_64>(seed);
        return [=, noise = std::gamma_distribution<>{1 / (deviation * deviation),
                                                     deviation * deviation}](double) mutable {
            return Draw{noise(*random)};
        };
    };
}

MakeSeries spiky(double lateness) {
    constexpr double share = 0.1;
    return [=](std::uint64_t seed) -> Series {
        auto random = std::make_shared<std::mt19937_64>(seed);
        return [=, late = std::bernoulli_distribution{share},
                delay = std::exponential_distribution<>{1 / lateness}](double) mutable {
            const double fast = 1 - share * lateness;
            return Draw{late(*random) ? fast + delay(*random) : fast};
        };
    };
}

MakeSeries autoregressive(double correlation, double deviation) {
    return [=](std::uint64_t seed) -> Series {
        auto random = std::make_shared<std::mt19937_64>(seed);
        std::normal_distribution<> noise{0, deviation};
        double state = noise(*random);
        const double fresh = std::sqrt(1 - correlation * correlation);
        return [=](double) mutable {
            state = correlation * state + fresh * noise(*random);
            return Draw{1 + state};
        };
    };
}

MakeSeries two_mode(double gap, double dwell) {
    return [=](std::uint64_t seed) -> Series {
        auto random = std::make_shared<std::mt19937_64>(seed);
        std::bernoulli_distribution leaves{1 / dwell};
        std::normal_distribution<> noise{0, gap / 20};
        bool slow = std::bernoulli_distribution{0.5}(*random);
        return [=](double) mutable {
            if (leaves(*random)) slow = !slow;
            return Draw{1 + (slow ? gap / 2 : -gap / 2) + noise(*random)};
        };
    };
}

MakeSeries drifting(double drift, double span, double deviation) {
    return [=](std::uint64_t seed) -> Series {
        auto random = std::make_shared<std::mt19937_64>(seed);
        return [=, noise = std::normal_distribution<>{0, deviation}](double measured) mutable {
            const double expected = 1 + drift * (measured / span - 0.5);
            return Draw{expected + noise(*random), expected};
        };
    };
}

Coverage simulate(const MakeSeries& make, const Protocol& protocol, int runs) {
    Tally tally;
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(runs); ++seed) {
        const auto [result, truth] = run_once(make, protocol, seed);
        const record::Replica& replica = result.replica;
        tally.add(result.replica.status, replica.low.value_or(NAN), truth,
                  replica.high.value_or(NAN), replica.batches.value());
    }
    return tally.coverage();
}

Coverage simulate_published(const MakeSeries& make, const Protocol& protocol, int runs) {
    constexpr std::uint64_t replicas = 3;
    Tally tally;
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(runs); ++seed) {
        std::vector<stats::Estimate> estimates;
        record::Status status = record::Status::ok;
        std::uint64_t batches = 0;
        for (std::uint64_t i = 0; i < replicas; ++i) {
            const Measurement result = run_once(make, protocol, replicas * seed + i).measurement;
            if (result.replica.status != record::Status::ok) status = result.replica.status;
            batches += result.replica.batches.value();
            estimates.push_back({.value = result.replica.seconds.value_or(NAN),
                                 .low = result.replica.low.value_or(NAN),
                                 .high = result.replica.high.value_or(NAN)});
        }
        const stats::Combined published = stats::combine_replicas(estimates);
        tally.add(status, published.low, call_seconds, published.high, batches);
    }
    return tally.coverage();
}

} // namespace assay::measure
