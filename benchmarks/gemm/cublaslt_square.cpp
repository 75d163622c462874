// SPDX-License-Identifier: Apache-2.0

#include "gemm/cublaslt_axes.hpp"
#include "gemm/product_shapes.hpp"

#include <assay/define.hpp>

#include <array>
#include <chrono>
#include <span>
#include <tuple>

namespace assay::gemm {
namespace {

class CublasltSquare {
public:
    struct Params {
        DevicePrecision precision = DevicePrecision::bf16;
        std::int64_t size = 8192;
        Accumulation accumulation = Accumulation::exact;
        device::Caches caches = device::Caches::hot;
        device::Load load = device::Load::sustained;
        Data data = Data::normal;
    };
    static constexpr Info info{
        .id = "gemm.square",
        .version = 2, // 1: "sustained" rested after every call
        .question =
            "How fast does this machine multiply two large square matrices with a given library?",
        .method =
            "C = A B^T by cuBLASLt for n x n matrices in the device's memory, A and B normal "
            "random "
            "numbers rounded to the type (int8: a quarter of the range is one standard deviation). "
            "Sums in fp32 for all narrow types, C in the type of A, in bf16 for fp8 and fp4, in "
            "int32 for int8. fp32 without TF32. mxfp8 and nvfp4 with block scales from the data. "
            "The "
            "up to 16 algorithms that the library offers are timed in turns, and the fastest is "
            "measured. An element of every tile of C is held against its sum in fp64, to the "
            "rounding of C and of the sums, and every row by Freivalds' test; int8 exactly.",
        .caveats =
            "A library's figure: another version may be faster. Under sustained load the power "
            "limit "
            "sets the clock, and with data of zeros it does not. Emulated precisions are rows of "
            "their own; that fp64 was emulated is read back from the library. Quantising and "
            "scaling "
            "of inputs is not in the time.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.tensor",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        precision_axis<Params>(),
        integer<Params>("size", "rows and columns of the matrices", "", &Params::size, {8192},
                        {16, 65536}),
        accumulation_axis<Params>(),
        choice<Params>(
            "cache", "whether a call may find the matrices in the second level cache",
            &Params::caches,
            {Name<device::Caches>{"hot", device::Caches::hot}, {"cold", device::Caches::cold}},
            {device::Caches::hot}),
        load_axis<Params>(),
        choice<Params>("data", "normal random numbers, or zeros, which chips run faster",
                       &Params::data, {Name<Data>{"normal", Data::normal}, {"zeros", Data::zeros}},
                       {Data::normal}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return fits_product(conditions_of(p), std::array{shape_of(p)});
    }

    CublasltSquare(const Params& p, const Context& context)
        : product_{conditions_of(p), std::array{shape_of(p)}} {
        const auto begin = std::chrono::steady_clock::now();
        product_.shape(shape_of(p));
        const Trial trial = product_.tune(Product::most, {});
        planning_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        product_.describe(context, trial);
    }

    device::EventClock& clock() { return product_.clock(); }
    void run() { product_.queue(); }
    Work work() const { return product_.work(); }
    Check verify() const { return product_.verify(); }
    void poison() { product_.poison(); }
    void spoil() { product_.spoil(); }
    void metrics(Metrics& metrics) const { metrics.add("planning_time", planning_); }

private:
    static Shape shape_of(const Params& p) { return {.m = p.size, .n = p.size, .k = p.size}; }
    static Conditions conditions_of(const Params& p) {
        return {.precision = p.precision,
                .accumulation = p.accumulation,
                .data = p.data,
                .caches = p.caches,
                .load = p.load};
    }

    TunedProduct product_;
    double planning_ = 0;
};

} // namespace

extern constinit const assay_benchmark cublaslt_square;
constinit const assay_benchmark cublaslt_square = define<CublasltSquare>();

} // namespace assay::gemm
