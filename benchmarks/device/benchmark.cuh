// SPDX-License-Identifier: Apache-2.0
//
// What the .cu file of a benchmark includes: the tools of this folder and <assay/...>.

#pragma once

#include "device/instructions.cuh"
#include "device/output.hpp"
#include "device/place.hpp"
#include "device/trial.hpp"
#include "device/warp.cuh"
#include "device/worst.cuh"

#include <assay/define.hpp>

namespace assay::device {

/// body(i) for every i below `count`, done when this returns: for set-up and poison.
template <class Body>
void for_each_now(const Stream& stream, std::uint64_t count, const Body& body) {
    on_each(stream, count, body);
    check_launches();
    stream.wait();
}

/// Elements are what make(i) says.
template <class T, class Make>
struct Fill {
    T* to;
    Make make;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const { to[i] = make(i); }
};
/// The random data of assay/random.hpp, made on the device: element i is the same as on a host.
template <class T>
struct Uniform {
    std::uint64_t seed;
    T low;
    T high;
    ASSAY_HOST_DEVICE T operator()(std::uint64_t i) const {
        return random_uniform(seed, i, low, high);
    }
};
template <class T>
void fill_uniform(const Stream& stream, const Buffer<T>& to, std::uint64_t seed, T low, T high) {
    for_each_now(stream, to.size(), Fill{to.data(), Uniform<T>{seed, low, high}});
}
/// The elements that differ from expected(i).
template <class T, class Expected>
struct Differs {
    const T* found;
    Expected expected;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const {
        return found[i] == expected(i) ? 0 : 1;
    }
};
/// Integers that differ from every result: the complement of what expected(i) says.
template <class T, class Expected>
struct Complement {
    T* to;
    Expected expected;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const { to[i] = ~expected(i); }
};

/// The sums of all threads, modulo 2^32: expected(thread) is what each must be.
template <class Expected>
Check check_sums(const Stream& stream, const Buffer<std::uint32_t>& sums,
                 const Expected& expected) {
    return check_each(stream, sums.size(), Differs{sums.data(), expected}, 0,
                      "the sum of each thread, modulo 2^32, against its recomputation");
}
template <class Expected>
void poison_sums(const Stream& stream, const Buffer<std::uint32_t>& sums,
                 const Expected& expected) {
    for_each_now(stream, sums.size(), Complement{sums.data(), expected});
}

} // namespace assay::device
