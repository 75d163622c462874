// SPDX-License-Identifier: Apache-2.0
//
// A node whose cases are made one by one, as an acceptance run records them.

#pragma once

#include "judge/judge.hpp"
#include "support/collection_maker.hpp"

namespace assay::test {

/// 2026-02-02, in seconds since 1970: after every made-up run.
inline constexpr double day_of_judgement = 1.77e9;

class MeasuredNode {
public:
    explicit MeasuredNode(const std::string& virtualization = "none") : run_{maker_.run({})} {
        machine().virtualization = virtualization;
    }

    /// Five replicas within 0.4% of the value.
    decide::Observation& add(const decide::Series& series, double value) {
        std::vector<double> replicas;
        for (int k = -2; k <= 2; ++k) replicas.push_back(value * (1 + (0.002 * k)));
        auto& seen = maker_.observe(run_, series, replicas);
        seen.between_replicas = 0.01;
        seen.between_runs = 0.005;
        seen.degrees = 6;
        seen.low = 0.996 * value;
        seen.high = 1.004 * value;
        seen.events = 0;
        seen.verified = true;
        return seen;
    }
    decide::Observation& fail(const decide::Series& series, record::Status status) {
        return maker_.fail(run_, series, status, "made up");
    }
    /// From here on a later run, two hours after the one before.
    void next_run() {
        run_ = maker_.run({});
        auto& runs = maker_.collection().runs;
        runs[run_].started_seconds = runs[run_ - 1].started_seconds + 7200;
        machine() = maker_.collection().machines.front();
    }
    record::Machine& machine() {
        auto& all = maker_.collection();
        return all.machines[all.runs[run_].machine];
    }
    store::RunInfo& run() { return maker_.collection().runs[run_]; }

    judge::Judgement judged(judge::Limits limits, judge::PartChoice part = judge::PartChoice::all) {
        return judge::judge(maker_.collection(), std::move(limits),
                            {.part = part, .now = day_of_judgement})
            .value();
    }
    /// By one limit, with a source.
    judge::Judgement judged(judge::Limit limit) {
        limit.source = "made up";
        return judged(judge::Limits{.limits = {std::move(limit)}});
    }

private:
    CollectionMaker maker_;
    std::uint32_t run_;
};

/// The same series on a device.
inline decide::Series on_device(decide::Series series, int index,
                                const std::string& library = "cuda") {
    series.place = record::words_of({.kind = "cuda", .index = index});
    series.library = library;
    return series;
}

inline judge::Limit of_memory() {
    return {.id = "triad",
            .cases = {{"benchmark", "memory.stream"}},
            .unit = "B/s",
            .at_least = 100e9,
            .source = "made up"};
}
inline judge::Limit of_products(double at_least = 1e12) {
    return {.id = "gemm",
            .cases = {{"benchmark", "gemm.square"}, {"place", "cuda*"}},
            .unit = "FLOP/s",
            .at_least = at_least,
            .source = "made up"};
}
inline const judge::Check& check_of(const judge::Judgement& all, const std::string& id) {
    for (const auto& check : all.nodes.at(0).checks)
        if (check.id == id) return check;
    throw std::out_of_range{id};
}

} // namespace assay::test
