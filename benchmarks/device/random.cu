// SPDX-License-Identifier: Apache-2.0
#include "device/launch.cuh"
#include "device/random.hpp"

#include <assay/random.hpp>

namespace assay::device {
namespace {

template <class T>
struct Uniform {
    T* to;
    std::uint64_t seed;
    T low;
    T high;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        to[i] = random_uniform(seed, i, low, high);
    }
};

template <class T>
void fill(const Stream& stream, const Buffer<T>& to, const Uniform<T>& with) {
    on_each(stream, to.size(), with);
    check_launches();
}

} // namespace

void fill_uniform(const Stream& stream, const Buffer<double>& to, std::uint64_t seed, double low,
                  double high) {
    fill(stream, to, Uniform<double>{to.data(), seed, low, high});
}
void fill_uniform(const Stream& stream, const Buffer<float>& to, std::uint64_t seed, float low,
                  float high) {
    fill(stream, to, Uniform<float>{to.data(), seed, low, high});
}

} // namespace assay::device
