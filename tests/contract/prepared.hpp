// SPDX-License-Identifier: Apache-2.0
//
// A case of a benchmark, step by step, as the engine takes it.

#pragma once

#include "loaded.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace assay::contract {

/// A prepared case. Failures of the functions become failures of the test.
class Prepared {
public:
    Prepared(const assay_benchmark& benchmark, const FakeProgram& program, const Case& values)
        : benchmark_{benchmark}, told_{benchmark, values} {
        Text error;
        EXPECT_EQ(benchmark.create(&program.services, values.data(), &state_, error.get()), 0)
            << error.str();
    }
    Prepared(const Prepared&) = delete;
    Prepared& operator=(const Prepared&) = delete;
    ~Prepared() {
        if (state_ != nullptr) benchmark_.destroy(state_);
    }

    explicit operator bool() const { return state_ != nullptr; }
    void* state() const { return state_; }

    /// Rewinds a benchmark that asks for it, then times it, like the engine.
    void run(std::uint64_t calls) {
        Text error;
        if ((benchmark_.flags & ASSAY_REWINDS) != 0) {
            ASSERT_EQ(benchmark_.rewind(state_, error.get()), 0) << error.str();
        }
        double seconds = -1;
        ASSERT_EQ(benchmark_.sample(state_, calls, &seconds, error.get()), 0) << error.str();
        EXPECT_GT(seconds, 0);
    }
    void poison() {
        Text error;
        ASSERT_EQ(benchmark_.poison(state_, error.get()), 0) << error.str();
    }
    void spoil() {
        Text error;
        ASSERT_EQ(benchmark_.spoil(state_, error.get()), 0) << error.str();
    }
    /// Does verify() accept? Its statements about itself must be consistent in either case.
    bool accepts() const {
        Text method;
        Text detail;
        Text error;
        assay_check check{};
        check.struct_size = sizeof check;
        check.method = *method.get();
        check.detail = *detail.get();
        EXPECT_EQ(benchmark_.verify(state_, &check, error.get()), 0) << error.str();
        const bool passed = check.passed != 0;
        EXPECT_FALSE(method.str().empty()) << "a check must say how it was made";
        EXPECT_TRUE(std::isfinite(check.bound) && check.bound >= 0) << "bound " << check.bound;
        EXPECT_EQ(passed, check.error <= check.bound)
            << "error " << check.error << ", bound " << check.bound << ": " << detail.str();
        if (!passed) {
            EXPECT_FALSE(detail.str().empty()) << "a failed check must say what was wrong";
        }
        last_detail_ = detail.str();
        return passed;
    }
    const std::string& last_detail() const { return last_detail_; }

private:
    const assay_benchmark& benchmark_;
    Told told_;
    void* state_ = nullptr;
    mutable std::string last_detail_;
};

} // namespace assay::contract
