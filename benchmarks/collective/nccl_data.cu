// SPDX-License-Identifier: Apache-2.0
#include "collective/nccl_data.hpp"
#include "device/launch.cuh"
#include "device/worst.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace assay::collective {
namespace {

/// An array whose type is known at run time: one kernel for all types. The conversions are exact for
/// the integers that are stored here, and memory, not the switch, sets the pace.
struct Numbers {
    void* data;
    Element element;

    __device__ double load(std::uint64_t i) const {
        switch (element) {
        case Element::fp64:
            return static_cast<const double*>(data)[i];
        case Element::fp32:
            return static_cast<const float*>(data)[i];
        case Element::fp16:
            return __half2float(static_cast<const __half*>(data)[i]);
        case Element::bf16:
            return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
        case Element::fp8_e4m3:
            return static_cast<float>(static_cast<const __nv_fp8_e4m3*>(data)[i]);
        default:
            return static_cast<float>(static_cast<const __nv_fp8_e5m2*>(data)[i]);
        }
    }
    __device__ void store(std::uint64_t i, double value) const {
        const auto narrow = static_cast<float>(value);
        switch (element) {
        case Element::fp64:
            static_cast<double*>(data)[i] = value;
            break;
        case Element::fp32:
            static_cast<float*>(data)[i] = narrow;
            break;
        case Element::fp16:
            static_cast<__half*>(data)[i] = __float2half(narrow);
            break;
        case Element::bf16:
            static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16(narrow);
            break;
        case Element::fp8_e4m3:
            static_cast<__nv_fp8_e4m3*>(data)[i] = __nv_fp8_e4m3(narrow);
            break;
        default:
            static_cast<__nv_fp8_e5m2*>(data)[i] = __nv_fp8_e5m2(narrow);
            break;
        }
    }
};

struct Fill {
    Numbers to;
    int rank;
    std::int64_t largest;
    __device__ void operator()(std::uint64_t i) const { to.store(i, value_at(rank, i, largest)); }
};

struct Error {
    Numbers found;
    Expected expected;
    __device__ double operator()(std::uint64_t i) const { return expected.error(i, found.load(i)); }
};

struct Spoil {
    Numbers numbers;
    std::uint64_t index;
    double step;
    __device__ void operator()(std::uint64_t /*i*/) const {
        numbers.store(index, spoiled(numbers.load(index), step));
    }
};

} // namespace

void fill_values(const device::Stream& stream, void* to, Element element, std::uint64_t count,
                 int rank, std::int64_t largest) {
    device::on_each(stream, count, Fill{{to, element}, rank, largest});
    device::check_launches();
}

Check check_values(const device::Stream& stream, const void* from, Element element,
                   std::uint64_t count, const Expected& expected, double bound) {
    return device::check_each(
        stream, count, Error{{const_cast<void*>(from), element}, expected}, bound,
        reduces(expected.kind)
            ? "every element on every device, exactly: sums of small random integers, recomputed "
              "there (repeated sums in place that outgrow the type: n k u)"
            : "every element on every device, exactly: random integers, recomputed there");
}

void spoil_value(const device::Stream& stream, void* at, Element element, std::uint64_t index,
                 double step) {
    device::on_each(stream, 1, Spoil{{at, element}, index, step});
    device::check_launches();
    stream.wait();
}

} // namespace assay::collective
