// SPDX-License-Identifier: Apache-2.0

#include "gemm/cublaslt_axes.hpp"
#include "gemm/product_shapes.hpp"

#include <assay/define.hpp>

#include <array>

namespace assay::gemm {
namespace {

class CublasltShapes : public TunedProduct {
public:
    struct Params {
        DevicePrecision precision = DevicePrecision::bf16;
        Accumulation accumulation = Accumulation::exact;
        device::Load load = device::Load::sustained;
    };
    static constexpr Info info{
        .id = "gemm.shapes",
        .version = 2, // 1: "sustained" rested after every call
        .question = "What is the highest matrix-product rate of this device, over all shapes?",
        .method = "C = A B^T by cuBLASLt for about a hundred shapes m x n x k: sides of 4096, 8192 "
                  "and 16384, and sides that fill the multiprocessors with whole waves of tiles. "
                  "Each is timed with the library's first algorithm, the fastest four with up to "
                  "16, and the fastest of all is measured. Data and check as in gemm.square. For "
                  "slow precisions the search, smallest shapes first, ends after 20 s.",
        .caveats = "The best of many shapes, as in maximum achievable FLOP/s: compare with other "
                   "best rates, and 8192 cubed of gemm.square with 8192 cubed.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.tensor",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{precision_axis<Params>(), accumulation_axis<Params>(),
                                     load_axis<Params>()};

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (const Fit usable = device::fits_any_device(); !usable) return usable;
        // The largest of all, so that all of them have room.
        const std::int64_t side = longest_side();
        return fits_product(conditions_of(p), std::array{Shape{.m = side, .n = side, .k = side}});
    }

    CublasltShapes(const Params& p, const Context& context)
        : CublasltShapes{p, context,
                         sweep_shapes(device::properties().multiprocessors, longest_side())} {}
    void metrics(Metrics& metrics) const {
        metrics.add("planning_time", planning_);
        metrics.add(shape_table(metric_, tried_));
    }

private:
    CublasltShapes(const Params& p, const Context& context, const std::vector<Shape>& shapes)
        : TunedProduct{conditions_of(p), shapes},
          metric_{p.precision == DevicePrecision::int8 ? "operation_rate" : "flop_rate"} {
        const Stopwatch watch;
        try_all(shapes, watch);
        const Trial trial = choose();
        planning_ = watch.seconds();
        describe(context, trial);
        context.setting("shape", shape_text(best_));
        context.setting("shapes_tried", tried_.size());
        context.setting("shapes", shapes.size());
    }
    static std::int64_t longest_side() {
        return device::properties().times<std::int64_t>(largest_side, 256);
    }
    static Conditions conditions_of(const Params& p) {
        return {.precision = p.precision, .accumulation = p.accumulation, .load = p.load};
    }
    double rate(double seconds) const {
        const Work done = work();
        return (done.flops + done.operations) / seconds;
    }

    /// NaN where the library offers nothing that works for this one.
    double try_one(const Shape& one) {
        try {
            shape(one);
            const Trial trial = tune(1, {.rounds = 2, .seconds = 0.5});
            return rate(trial.seconds[*trial.fastest]);
        } catch (const LibraryError&) {
            return std::numeric_limits<double>::quiet_NaN();
        }
    }
    /// Each shape with one algorithm.
    void try_all(const std::vector<Shape>& shapes, const Stopwatch& watch) {
        constexpr double patience = 20; // s
        for (const Shape& one : shapes) {
            if (watch.seconds() > patience) return;
            tried_.push_back({one, try_one(one)});
        }
    }
    /// The fastest few with all algorithms, and the fastest of these stays.
    Trial choose() {
        constexpr std::size_t finalists = 4;
        double best = 0;
        for (const std::size_t place : fastest_shapes(tried_, finalists)) {
            auto& [one, fastest] = tried_[place];
            shape(one);
            const Trial trial = tune(Product::most, {.rounds = 3, .seconds = 2});
            fastest = rate(trial.seconds[*trial.fastest]);
            if (fastest <= best) continue;
            best = fastest;
            best_ = one;
        }
        if (best == 0) throw LibraryError{"cuBLASLt multiplies matrices of none of these shapes"};
        shape(best_);
        return tune(Product::most, {});
    }

    const char* metric_;
    std::vector<ShapeRate> tried_;
    Shape best_;
    double planning_ = 0;
};

} // namespace

extern constinit const assay_benchmark cublaslt_shapes = define<CublasltShapes>();

} // namespace assay::gemm
