// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <assay/host_device.hpp>

#include <cmath>

namespace assay {

/// A sum that carries its rounding errors along (Neumaier, 1974): as exact as its terms, where a plain sum
/// over a million of them would lose ten bits, and terms may come and go without a trace.
class CompensatedSum {
public:
    ASSAY_HOST_DEVICE void add(double term) {
        const double next = sum_ + term;
        error_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - next) + term : (term - next) + sum_;
        sum_ = next;
    }
    ASSAY_HOST_DEVICE void add(const CompensatedSum& other) {
        add(other.sum_);
        add(other.error_);
    }
    ASSAY_HOST_DEVICE double value() const { return sum_ + error_; }

private:
    double sum_ = 0;
    double error_ = 0;
};

} // namespace assay
