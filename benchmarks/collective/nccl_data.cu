// SPDX-License-Identifier: Apache-2.0
#include "collective/nccl_data.hpp"
#include "device/launch.cuh"
#include "device/narrow_float.hpp"
#include "device/worst.cuh"

namespace assay::collective {
namespace {

ASSAY_HOST_DEVICE constexpr device::NarrowFloat format_of(Element element) {
    return element == Element::fp16       ? device::fp16_format()
           : element == Element::bf16     ? device::bf16_format()
           : element == Element::fp8_e4m3 ? device::e4m3_format()
                                          : device::e5m2_format();
}

/// An array whose type is known at run time: one kernel for all types. The conversions are exact for the integers that
/// are stored here, and untimed.
struct Numbers {
    void* data;
    Element element;

    ASSAY_HOST_DEVICE double load(std::uint64_t i) const {
        switch (element) {
        case Element::fp64:
            return static_cast<const double*>(data)[i];
        case Element::fp32:
            return static_cast<const float*>(data)[i];
        case Element::fp16:
        case Element::bf16:
            return device::decode(format_of(element), static_cast<const std::uint16_t*>(data)[i]);
        default:
            return device::decode(format_of(element), static_cast<const std::uint8_t*>(data)[i]);
        }
    }
    ASSAY_HOST_DEVICE void store(std::uint64_t i, double value) const {
        switch (element) {
        case Element::fp64:
            static_cast<double*>(data)[i] = value;
            break;
        case Element::fp32:
            static_cast<float*>(data)[i] = static_cast<float>(value);
            break;
        case Element::fp16:
        case Element::bf16:
            static_cast<std::uint16_t*>(data)[i] =
                static_cast<std::uint16_t>(device::encode(format_of(element), value));
            break;
        default:
            static_cast<std::uint8_t*>(data)[i] =
                static_cast<std::uint8_t>(device::encode(format_of(element), value));
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
