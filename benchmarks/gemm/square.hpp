// SPDX-License-Identifier: Apache-2.0
//
// What gemm.square means, whichever library does it: the question, the data, the amount of work and
// the check. A library's own file adds only how it is called.

#pragma once

#include "bfloat16.hpp"
#include "freivalds.hpp"

#include <assay/benchmark.hpp>
#include <assay/host.hpp>
#include <assay/random.hpp>
#include <assay/room.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace assay::gemm {

enum class Precision : std::uint8_t { fp64, fp32, bf16, int8 };

// One text for all libraries, because the id is one.
inline constexpr Info square_info{
    .id = "gemm.square",
    .version = 1,
    .question = "How fast does a given library multiply two large square matrices on this machine?",
    .method = "C = A B for row-major n x n matrices in memory, touched beforehand by the threads "
              "that use them. fp64, fp32: uniform in [-1, 1). bf16: the same rounded to bf16, "
              "accumulated and stored in fp32. int8: A unsigned in 0..127, B signed in -63..63, "
              "stored in int32. Every row is checked by Freivalds' test: exactly for integers, "
              "else to a statistical rounding bound that inputs narrowed to bf16 exceed.",
    .caveats =
        "The rate of a library, not of the hardware: compare libraries and OpenBLAS core types "
        "before judging a CPU. int8 leaves out the upper half of the values: instructions before "
        "VNNI add pairs of products in 16 bits and would saturate. Without AVX-512 BF16 or AMX, "
        "bf16 is converted in software. Packing of B is not timed.",
    .headline = "flop_rate",
    .ceiling = "peak.fma peak.dot",
    .bound = Bound::matrix_units,
    .noise = Noise::arithmetic,
    .reproducible = true,
};

/// From fitting into the L1 cache to 48 GiB in fp64.
inline constexpr Range<std::int64_t> size_range{16, 65536};

template <class Params>
consteval auto size_axis() {
    return integer("size", "rows and columns of the matrices", "", &Params::size, {2048},
                   size_range);
}

/// Enough cores, and enough memory for matrices of `bytes_per_element` (all of them together) each?
inline Fit fits(const Machine& machine, Symbolic threads, std::int64_t size,
                std::int64_t bytes_per_element) {
    return host::fits(threads, size * size * bytes_per_element, machine);
}

inline Work square_work(Precision precision, std::int64_t size) {
    const auto n = static_cast<double>(size);
    const double multiply_adds = 2 * n * n * n;
    return precision == Precision::int8 ? Work{.operations = multiply_adds}
                                        : Work{.flops = multiply_adds};
}

/// The three matrices: A and B random and the same for every library, C whatever was computed.
template <class A, class B, class C>
class Matrices {
public:
    static constexpr bool is_integer = std::is_integral_v<C>;

    explicit Matrices(std::int64_t size_)
        : size{static_cast<std::size_t>(size_)}, a{size * size}, b{size * size}, c{size * size} {
        fill_inputs();
        poison();
    }

    void fill_inputs() {
        fill(a.view(), 1, 0, 127);
        fill(b.view(), 2, -63, 63);
    }

    /// No product is NaN, or the lowest int32: 127 x 63 x 65536 is a quarter of it.
    void poison() {
        set_all([](C) {
            return is_integer ? std::numeric_limits<C>::lowest()
                              : std::numeric_limits<C>::quiet_NaN();
        });
    }

    /// Rounds the inputs to `digits` significant bits; fill_inputs() restores them.
    void narrow_inputs(int digits) {
        const auto narrow = [digits](auto x) { return round_to_bits(x, digits); };
        change(a.view(), narrow);
        change(b.view(), narrow);
    }

    /// C as if it had been stored as bf16.
    void narrow_result() {
        change(c.view(),
               [](C x) { return static_cast<float>(to_bfloat16(static_cast<float>(x))); });
    }

    /// One element, by one.
    void damage_one() { c[size * size / 2] += 1; }

    Check check() const {
        const Product<A, B, C> product{size, a.view(), b.view(), c.view()};
        if constexpr (is_integer)
            return check_exact_product(product);
        else
            return check_product(product, unit_roundoff<C>);
    }

    std::size_t size;
    HostBuffer<A> a;
    HostBuffer<B> b;
    HostBuffer<C> c;

private:
    template <class T>
    static void fill(std::span<T> to, std::uint64_t seed, std::int64_t low, std::int64_t high) {
        if constexpr (std::is_integral_v<T>)
            fill_integers<T>(to, seed, low, high);
        else if constexpr (std::is_same_v<T, Bfloat16>)
            assay::detail::fill(to, 0, [seed](std::size_t i) {
                return to_bfloat16(random_uniform<float>(seed, i, -1, 1));
            });
        else
            fill_uniform<T>(to, seed, -1, 1);
    }

    template <class T, class Change>
    static void change(std::span<T> values, Change&& change_one) {
        on_each_slice(team_threads(), values.size(), line_granule<T>, [&](Slice slice) {
            for (T& x : values.subspan(slice.first, slice.size()))
                x = static_cast<T>(change_one(x));
        });
    }
    template <class Value>
    void set_all(Value&& value) {
        change(c.view(), value);
    }
};

} // namespace assay::gemm
