// SPDX-License-Identifier: Apache-2.0

#include "gemm/cublaslt_axes.hpp"
#include "gemm/product_shapes.hpp"

#include <assay/define.hpp>

#include <array>

namespace assay::gemm {
namespace {

class CublasltSquare : public TunedProduct {
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
            "How fast does a given library multiply two large square matrices on this machine?",
        .method =
            "C = A B^T by cuBLASLt for n x n matrices in device memory, A and B standard normal "
            "numbers rounded to the type (int8: one standard deviation is a quarter of the range). "
            "Narrow types accumulate in fp32; C has the type of A, bf16 for fp8 and fp4, int32 for "
            "int8. fp32 is without TF32; mxfp8 and nvfp4 have block scales from the data. The up "
            "to 16 algorithms the library offers are timed in turns, and the fastest is measured. "
            "An element of every tile of C is compared with its fp64 sum, to the rounding of C and "
            "of the sums, and every row is checked by Freivalds' test; int8 exactly.",
        .caveats = "The rate of a library: another version may be faster. Under sustained load the "
                   "power limit sets the clock, with zero data it does not. Emulated precisions "
                   "are rows of their own; the library reports that fp64 was emulated. Quantising "
                   "and scaling of inputs are not timed.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.tensor",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        precision_axis<Params>(),
        integer("size", "rows and columns of the matrices", "", &Params::size, {8192}, {16, 65536}),
        accumulation_axis<Params>(),
        caches_axis<Params>(),
        load_axis<Params>(),
        data_axis<Params>(),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return fits_product(conditions_of(p), std::array{shape_of(p)});
    }

    CublasltSquare(const Params& p, const Context& context)
        : TunedProduct{conditions_of(p), std::array{shape_of(p)}} {
        const Stopwatch watch;
        shape(shape_of(p));
        const Trial trial = tune(Product::most, {});
        planning_ = watch.seconds();
        describe(context, trial);
    }
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

    double planning_ = 0;
};

void report(const Context& context) {
    if (!why_no_library().empty()) throw LibraryError{why_no_library()};
    const std::size_t version = library_version();
    context.setting("cublaslt.version",
                    joined(version / 10000, '.', version / 100 % 100, '.', version % 100));
}

} // namespace

extern constinit const assay_benchmark cublaslt_square = define<CublasltSquare>();

} // namespace assay::gemm

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{
    .facts = assay::facts<assay::gemm::report, assay::device::report_versions>};
