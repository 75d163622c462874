// SPDX-License-Identifier: Apache-2.0
//
// An honest benchmark, of which the dishonest ones change one member.
#pragma once

#include <assay/benchmark.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace assay::outside {

/// Adds the numbers 1..n: exact in 64 bits, n (n + 1) / 2 by Gauss.
class Sum {
public:
    struct Params {
        std::int64_t n;
    };
    static constexpr auto axes =
        std::tuple{integer("n", "how many numbers", "", &Params::n, {10'000}, {1, 1'000'000})};

    static Fit fit(const Params& /*params*/, const Machine& /*machine*/) { return Fit::yes(); }
    Sum(const Params& params, Context& context) : numbers_(static_cast<std::size_t>(params.n)) {
        context.setting("elements", static_cast<double>(params.n));
        for (std::size_t i = 0; i < numbers_.size(); ++i)
            numbers_[i] = static_cast<std::int64_t>(i) + 1;
    }
    void run() noexcept {
        std::int64_t sum = 0;
        for (const auto number : numbers_) sum += number;
        asm volatile("" : "+r"(sum)); // the sum is needed every time
        result_ = sum;
    }
    Work work() const {
        const auto n = static_cast<double>(numbers_.size());
        return {.operations = n, .bytes = 8 * n};
    }
    Check verify() const {
        const auto n = static_cast<std::int64_t>(numbers_.size());
        const auto error = static_cast<double>(
            result_ > n * (n + 1) / 2 ? result_ - n * (n + 1) / 2 : n * (n + 1) / 2 - result_);
        return {.passed = error == 0,
                .error = error,
                .bound = 0,
                .method = "exact, n (n + 1) / 2",
                .detail = error == 0 ? "" : "the sum is off"};
    }
    void poison() { result_ = std::numeric_limits<std::int64_t>::min(); }
    void spoil() { result_ += 1; }

protected:
    std::vector<std::int64_t> numbers_;
    std::int64_t result_ = 0;
};

constexpr Info about(const char* id, const char* question) {
    return {.id = id,
            .version = 1,
            .question = question,
            .method = "Adds the numbers 1..n and compares with n (n + 1) / 2.",
            .caveats = "A test of the harness, not of a machine.",
            .headline = "operation_rate"};
}

} // namespace assay::outside
