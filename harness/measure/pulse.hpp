// SPDX-License-Identifier: Apache-2.0
//
// Reports the phase of a measurement, at most twice a second: messages cost time on the machine under
// test.

#pragma once

#include "measure/subject.hpp"

#include <optional>

namespace assay::measure {

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

} // namespace assay::measure
