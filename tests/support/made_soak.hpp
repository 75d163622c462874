// SPDX-License-Identifier: Apache-2.0
//
// The record of a soak, made by hand: visits a minute apart that go as somebody says.

#pragma once

#include "record/soak.hpp"
#include "support/noise.hpp"

#include <functional>
#include <string>
#include <utility>

namespace assay::test {

/// `factor` of the time of a call, by the number of the visit.
inline record::SoakPhase made_phase(std::string of, int visits, double noise,
                                    const std::function<double(int)>& factor,
                                    std::uint64_t seed = 1) {
    Noise random{seed};
    record::SoakPhase phase{.of = std::move(of), .visits = visits};
    for (int i = 0; i < visits; ++i)
        phase.points.push_back(
            {.begun_seconds = 60.0 * i, .seconds = random.about(0.02 * factor(i), noise)});
    return phase;
}

/// An hour of one case with 1000 calls a visit, all of them compared and right, at one speed.
inline record::Soak
made_soak(std::string of, const std::function<double(int)>& factor = [](int) { return 1.0; }) {
    auto phase = made_phase(std::move(of), 60, 0.005, factor);
    phase.calls = phase.compared = 60'000;
    phase.digest = "0123456789abcdef";
    return {.asked_seconds = 3600, .seconds = 3600, .phases = {std::move(phase)}};
}

/// One bit of one element, once.
inline void flip_in(record::Soak& soak) {
    soak.wrong = soak.phases.at(0).wrong = 1;
    soak.corruptions = {{.of = soak.phases[0].of,
                         .at = "2026-01-31T12:55:03Z",
                         .visit = 20,
                         .call = 417,
                         .held_against = record::HeldAgainst::calls,
                         .right_again = record::Replay::same_state,
                         .output = 1,
                         .element = 12345,
                         .wrong_elements = 1,
                         .wrong_bits = 1,
                         .block = 2,
                         .wrong_blocks = 1,
                         .expected = "41a2b3c400000000",
                         .got = "41a2b3c400020000",
                         .bits = "0000000000020000"}};
}

} // namespace assay::test
