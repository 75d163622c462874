// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks that compute the wrong thing, each in a way that real ones do. All must end `incorrect`,
// without a rate.
#include "sum.hpp"

#include <assay/define.hpp>

namespace assay::outside {
namespace {

/// The planted bug: one element is left out, so it is a little faster and a little wrong.
class Planted : public Sum {
public:
    static constexpr Info info = about("outside.planted", "Is a wrong kernel noticed?");
    using Sum::Sum;
    void run() noexcept {
        Sum::run();
        result_ -= 1;
    }
};

/// A check that cannot fail.
class Blind : public Sum {
public:
    static constexpr Info info = about("outside.blind", "Is a check that cannot fail noticed?");
    using Sum::Sum;
    Check verify() const { return {.passed = true, .method = "none", .detail = ""}; }
};

/// Stops writing its result after a while: what stands there is right, until it is poisoned.
class Idle : public Sum {
public:
    static constexpr Info info = about("outside.idle", "Is a kernel that stops working noticed?");
    using Sum::Sum;
    void run() noexcept {
        const auto before = result_;
        Sum::run();
        if (++calls_ > 10) result_ = before;
    }

private:
    int calls_ = 0;
};

} // namespace

extern constinit const assay_benchmark planted = define<Planted>();
extern constinit const assay_benchmark blind = define<Blind>();
extern constinit const assay_benchmark idle = define<Idle>();
} // namespace assay::outside
