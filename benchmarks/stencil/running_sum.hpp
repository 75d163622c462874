// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/host_device.hpp>

#include <cmath>

namespace assay::stencil {

/// A sum that carries its rounding errors along (Neumaier, 1974), so that terms may come and go for
/// long without a trace.
class RunningSum {
public:
    ASSAY_HOST_DEVICE void add(double term) {
        const double next = sum_ + term;
        error_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - next) + term : (term - next) + sum_;
        sum_ = next;
    }
    ASSAY_HOST_DEVICE double value() const { return sum_ + error_; }

private:
    double sum_ = 0;
    double error_ = 0;
};

} // namespace assay::stencil
