// SPDX-License-Identifier: Apache-2.0
//
// A call, on all devices: the all-reduce and products of matrices on two streams at once; then the products alone, then
// the all-reduce alone. The same source is compiled for the modules nccl and nccl_mpi, as nccl_collectives.cpp is.
#include "collective/device_product.hpp"
#include "collective/nccl_group.hpp"
#include "collective/overlap_times.hpp"

#include <assay/define.hpp>

#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

namespace assay::collective {
namespace {

constexpr auto precision = gemm::DevicePrecision::bf16;

/// The products of one device, on a stream of their own that begins and ends with the stream of its messages.
class Products {
public:
    Products(const NcclGroup::Lane& lane, std::int64_t size)
        : lane_{lane}, size_{size}, matrices_{stream_, precision, gemm::Data::normal,
                                              std::array{gemm::Shape{size, size, size}}} {}

    /// Queues `count` of them.
    void run(std::uint64_t count) const {
        device::check(cudaSetDevice(lane_.device));
        for (std::uint64_t i = 0; i < count; ++i)
            multiply_bf16(stream_, matrices_.operands(), static_cast<std::uint32_t>(size_));
    }
    void begin() const { follow(fork_, *lane_.stream, stream_); }
    void end() const { follow(join_, stream_, *lane_.stream); }

    Check check() const {
        device::check(cudaSetDevice(lane_.device));
        Check found = matrices_.check(tolerance());
        if (!found.passed) found.detail = joined("device ", lane_.device, ": ", found.detail);
        return found;
    }
    void poison() const {
        device::check(cudaSetDevice(lane_.device));
        matrices_.poison();
    }
    void spoil() {
        device::check(cudaSetDevice(lane_.device));
        matrices_.spoil(tolerance());
    }

private:
    gemm::Tolerance tolerance() const {
        return gemm::tolerance_of(precision, gemm::Accumulation::exact, size_);
    }
    void follow(const device::Event& event, const device::Stream& first,
                const device::Stream& second) const {
        device::check(cudaSetDevice(lane_.device));
        event.record(first);
        device::check(cudaStreamWaitEvent(second.get(), event.get(), 0));
    }

    NcclGroup::Lane lane_;
    std::int64_t size_;
    device::Stream stream_;
    device::Event fork_;
    device::Event join_;
    gemm::DeviceMatrices matrices_;
};

class DeviceOverlap {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        std::int64_t size = 0;
        Way way = Way::fastest;
    };
    static constexpr Info info = {
        .id = "collective.overlap",
        .version = 1,
        .question = "How much of an all-reduce is hidden while its devices compute?",
        .method =
            "ncclAllReduce of fp32 and, on a second stream of each device, products of matrices "
            "in bf16 by tensor cores; then the products alone, then the all-reduce alone. When "
            "the case is prepared, as many products are chosen as take about as long as the "
            "all-reduce alone, one at least (settings). Exposed time is the time together less "
            "that of the products alone: the median over calls, by the slowest device, 1% of the "
            "all-reduce at least, below which nothing is resolved. Overlap is 1 less its share of "
            "the all-reduce alone. Timed with CUDA events. Every element of the sum is checked on "
            "every device, every row of the product by Freivalds' test.",
        .caveats =
            "The product is by a kernel of this benchmark, whose blocks share the processors and "
            "the memory with those of NCCL as a library's would; it is slower than a library's, "
            "its rate is `gemm_rate`. The all-reduce is queued first: a kernel that has filled "
            "the device would hold it back, and what stays exposed would be larger. A product "
            "that takes longer than the all-reduce can hide all of it: choose `size` and `bytes` "
            "as the application has them. `time` is that of all three parts.",
        .headline = "exposed_time",
        .place = "cuda",
        .trial_bytes = 16 << 10U,
        .noise = Noise::messages};
    static constexpr bool all_devices = true;
#if defined(ASSAY_NCCL_TEAM)
    static constexpr bool team = true;
#endif

    static constexpr auto axes = [] {
        using namespace assay::units;
        return std::tuple{symbolic("ranks", "devices: all, or so many of the first", "",
                                   &Params::ranks, {Symbol::all}, {2, 4096}, {Symbol::all}),
                          integer("bytes", "message size", "B", &Params::bytes, {16_MiB, 256_MiB},
                                  {64_KiB, 16_GiB}),
                          integer("size", "rows and columns of the matrices", "", &Params::size,
                                  {4096}, {128, 32768}),
                          choice("transport", "transport of the messages; fastest: NCCL's choice",
                                 &Params::way, way_names, {Way::fastest}, way_variables)};
    }();

    static Fit fit(const Params& params, const Machine& machine) {
        if (params.size % 128 != 0)
            return Fit::no("not applicable: needs matrices of a multiple of 128 rows, not ",
                           params.size);
        return NcclGroup::fits(
            Kind::allreduce, message_of(params), machine,
            {.capability = 80,
             .bytes = gemm::matrix_bytes(precision, {params.size, params.size, params.size})});
    }

    DeviceOverlap(const Params& params, const Context& context)
        : message_{Kind::allreduce, message_of(params), context}, team_{context.team()} {
        agreed(context, [&] {
            for (const NcclGroup::Lane& lane : message_.lanes()) {
                device::check(cudaSetDevice(lane.device));
                products_.push_back(std::make_unique<Products>(lane, params.size));
            }
        });
        try_out(); // makes the connections
        try_out();
        count_ = static_cast<std::uint64_t>(std::max(
            1.0, std::round(times_.shortest(all_reduce_alone) / times_.shortest(gemm_alone))));
        try_out();
        const auto products = static_cast<double>(count_);
        const double flops =
            gemm::product_work(precision, {params.size, params.size, params.size}).flops;
        context.setting("products", products);
        context.setting("gemm_alone", times_.shortest(gemm_alone));
        context.setting("gemm_rate", products * flops / times_.shortest(gemm_alone));
        context.setting("allreduce_alone", times_.shortest(all_reduce_alone));
        times_.forget();
    }

    /// The clock: the three parts, each by events on every stream.
    static constexpr double resolution = NcclGroup::resolution;
    template <class Run>
    double seconds(std::uint64_t calls, Run&& run) {
        double sum = 0;
        for (std::uint64_t i = 0; i < calls; ++i) {
            run();
            sum += std::accumulate(last_.begin(), last_.end(), 0.0);
        }
        return sum;
    }
    static void describe(const Context& context) { NcclGroup::describe(context); }
    DeviceOverlap& clock() { return *this; }

    void run() {
        last_ = {timed([this] {
                     begin();
                     message_.run();
                     compute();
                 }),
                 timed([this] {
                     begin();
                     compute();
                 }),
                 timed([this] { message_.run(); })};
        times_.next() = last_;
    }
    Work work() const { return {}; } // rates by the time of all three parts would say nothing
    Check verify() const {
        Check sum = message_.verify();
        for (const auto& one : products_) {
            if (!sum.passed) break;
            Check product = one->check();
            product.method = sum.method + "; " + product.method;
            if (!product.passed || &one == &products_.back()) return product;
        }
        return sum;
    }
    void poison() {
        message_.poison();
        for (const auto& one : products_) one->poison();
    }
    /// In turns of a sum and of a product: each check has to find its own.
    void spoil() {
        if (spoils_++ % 2 == 0)
            message_.spoil();
        else
            products_.back()->spoil();
    }
    void metrics(const Metrics& metrics) const { times_.report(metrics); }

private:
    static NcclParams message_of(const Params& params) {
        NcclParams message;
        message.way = params.way;
        message.ranks = params.ranks;
        message.bytes = params.bytes;
        return message;
    }

    /// By the slowest device of all processes.
    template <class Body>
    double timed(Body&& body) {
        return team_.max(message_.seconds(1, body));
    }
    void begin() const {
        for (const auto& one : products_) one->begin();
    }
    void compute() const {
        for (const auto& one : products_) one->run(count_);
        for (const auto& one : products_) one->end();
    }
    void try_out() {
        constexpr std::uint64_t tries = 5;
        for (times_.forget(); times_.calls() < tries;) run();
    }

    NcclGroup message_;
    Team team_;
    std::vector<std::unique_ptr<Products>> products_;
    std::uint64_t count_ = 1; // of products in a call
    OverlapTimes times_;
    OverlapTimes::Times last_{};
    std::uint64_t spoils_ = 0;
};

} // namespace

extern constinit const assay_benchmark device_overlap = define<DeviceOverlap>();

} // namespace assay::collective
