// SPDX-License-Identifier: Apache-2.0
#include "sum.hpp"

#include <assay/define.hpp>

namespace assay::outside {
namespace {
class Honest : public Sum {
public:
    static constexpr Info info = about("outside.sum", "How fast does one core add integers?");
    using Sum::Sum;
};
} // namespace

extern constinit const assay_benchmark sum = define<Honest>();
} // namespace assay::outside
