// SPDX-License-Identifier: Apache-2.0

// Highway compiles this file once per instruction set by including it again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/spmv_kernels.cpp" // NOLINT: a macro by Highway's design
// clang-format off: foreach_target.h must come before highway.h.
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "spmv_kernels.hpp"

#include "host/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace assay::sparse::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// The columns as indexes of a gather, which are as wide as what it loads.
template <class D>
HWY_INLINE auto indexes(D /*d*/, const std::uint32_t* columns) {
    const hn::RebindToSigned<D> wide;
    if constexpr (sizeof(hn::TFromD<D>) == sizeof(std::uint32_t))
        return hn::BitCast(wide, hn::LoadU(hn::RebindToUnsigned<D>{}, columns));
    else
        return hn::BitCast(wide, hn::PromoteTo(hn::RebindToUnsigned<D>{},
                                               hn::LoadU(hn::Rebind<std::uint32_t, D>{}, columns)));
}

/// A row in whole vectors; what is loaded of the next row in the last one does not count.
template <class T>
void multiply(Csr<T> m, const T* x, T* y, std::size_t first, std::size_t last) {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t row = first; row < last; ++row) {
        std::size_t at = m.first[row];
        const std::size_t end = m.first[row + 1];
        auto sum = hn::Zero(d);
        for (; at + lanes <= end; at += lanes)
            sum = hn::MulAdd(hn::LoadU(d, m.values + at),
                             hn::GatherIndex(d, x, indexes(d, m.columns + at)), sum);
        if (at < end) {
            const auto rest = hn::FirstN(d, end - at);
            const auto value = hn::IfThenElseZero(rest, hn::LoadU(d, m.values + at));
            sum = hn::MulAdd(value, hn::GatherIndex(d, x, indexes(d, m.columns + at)), sum);
        }
        y[row] = hn::GetLane(hn::SumOfLanes(d, sum));
    }
}

} // namespace
} // namespace assay::sparse::HWY_NAMESPACE

namespace assay::sparse {

template <class T>
void add_loops(host::Target<HWY_TARGET> target, std::vector<SpmvLoop<T>>& to) {
    // Narrower sets gather by scalar loads.
    if constexpr (HWY_MAX_BYTES > 16) to.push_back({target.name, &HWY_NAMESPACE::multiply<T>});
}

} // namespace assay::sparse
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::sparse {
namespace {

/// Four sums hide the latency of the addition.
template <class T>
void multiply_scalar(Csr<T> m, const T* x, T* y, std::size_t first, std::size_t last) {
    std::size_t at = m.first[first];
    for (std::size_t row = first; row < last; ++row) {
        const std::size_t end = m.first[row + 1];
        T sums[4] = {};
        for (; at + 4 <= end; at += 4)
            for (std::size_t k = 0; k < 4; ++k) sums[k] += m.values[at + k] * x[m.columns[at + k]];
        for (; at < end; ++at) sums[0] += m.values[at] * x[m.columns[at]];
        y[row] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}

} // namespace

template <class T>
std::vector<SpmvLoop<T>> spmv_loops() {
    std::vector<SpmvLoop<T>> loops{{"scalar", &multiply_scalar<T>}};
    host::for_each_supported_target([&](auto target) { add_loops(target, loops); });
    return loops;
}

template std::vector<SpmvLoop<double>> spmv_loops();
template std::vector<SpmvLoop<float>> spmv_loops();

} // namespace assay::sparse
#endif
