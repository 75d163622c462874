// SPDX-License-Identifier: Apache-2.0
//
// A call: the all-reduce begins, the gemm is computed, the all-reduce is waited for; then the gemm alone, then the
// all-reduce alone. Every part is timed by the slowest rank.
#include "exchange.hpp"
#include "gemm/square.hpp"
#include "overlap_times.hpp"

#include <array>
#include <cmath>

namespace assay::collective {
namespace {

struct Begin {
    static constexpr const char* name = "MPI_Iallreduce";
    static constexpr Kind kind = Kind::allreduce;
    static inline MPI_Request request = MPI_REQUEST_NULL;
    static int call(const void* in, void* out, int count, MPI_Datatype type, int /*rank*/,
                    int /*ranks*/, MPI_Comm communicator) noexcept {
        return MPI_Iallreduce(in, out, count, type, MPI_SUM, communicator, &request);
    }
};

/// C = A B in fp32, 128 x 128 (192 KiB in all): stays in a core's L2, so what slows it down is the
/// all-reduce's use of the core, not of the memory.
class Gemm {
public:
    static constexpr std::size_t size = 128;
    /// Between two looks at the messages: 0.26 MFLOP, 5 to 50 us.
    static constexpr std::size_t rows_of_part = 8;
    static constexpr std::size_t parts_of_product = size / rows_of_part;

    /// One copy of the code, whatever it is called between.
    [[gnu::noinline]] void part(std::size_t number) noexcept {
        const std::size_t first = number % parts_of_product * rows_of_part;
        tile(first);
        tile(first + rows_of_part / 2);
    }
    gemm::Matrices<float, float, float>& matrices() { return matrices_; }
    const gemm::Matrices<float, float, float>& matrices() const { return matrices_; }

private:
    /// Four rows, eight columns at a time: sums that stay in registers of every instruction set.
    void tile(std::size_t row) noexcept {
        constexpr std::size_t rows = rows_of_part / 2;
        constexpr std::size_t columns = 8;
        const float* const a = matrices_.a.data() + row * size;
        for (std::size_t column = 0; column < size; column += columns) {
            std::array<std::array<float, columns>, rows> sums{};
            for (std::size_t k = 0; k < size; ++k) {
                const float* const b = matrices_.b.data() + k * size + column;
                for (std::size_t i = 0; i < rows; ++i)
                    for (std::size_t j = 0; j < columns; ++j) sums[i][j] += a[i * size + k] * b[j];
            }
            for (std::size_t i = 0; i < rows; ++i)
                std::ranges::copy(sums[i], matrices_.c.data() + (row + i) * size + column);
        }
    }

    gemm::Matrices<float, float, float> matrices_{size};
};

enum class Progress : std::uint8_t { none, test };

class Overlap {
public:
    struct Params {
        Symbolic ranks;
        std::int64_t bytes = 0;
        Progress progress = Progress::test;
        Transport transport = Transport::any;
    };
    static constexpr Info info = [] {
        Info all = mpi_info(
            "collective.overlap", "How much of an all-reduce is hidden while its ranks compute?",
            "MPI_Iallreduce of fp32, products of 128 x 128 matrices in fp32 on the same core, "
            "MPI_Wait; then the products alone, then the all-reduce alone. When the case is "
            "prepared, as many rows of products are chosen as take about as long as the all-reduce "
            "alone, those of one product at least (settings). Exposed time is the time together "
            "less "
            "that of the products alone: the median over calls, by the slowest rank, 1% of the "
            "all-reduce at least, below which nothing is resolved. Overlap is 1 less its share of "
            "the all-reduce alone. Every element of the sum is checked exactly, every row of the "
            "product by Freivalds' test.",
            "`progress=none` shows a program that only waits at the end: little is hidden unless "
            "a thread or a network card moves the messages. `progress=test` calls MPI_Test after "
            "every eight rows, more often than most programs do. The products stay in the L2 "
            "cache: large ones share the memory with the messages and hide less. MPI_Iallreduce "
            "has algorithms of its own: compare the setting `allreduce_alone` with "
            "collective.allreduce. `time` is that of all three parts.");
        all.headline = "exposed_time";
        return all;
    }();
    static constexpr bool team = true;

    static constexpr auto axes = [] {
        using namespace assay::units;
        return std::tuple{
            ranks_axis<Params>(),
            integer("bytes", "message size of one rank", "B", &Params::bytes,
                    {1_MiB, 16_MiB, 64_MiB}, {64_KiB, 1_GiB}),
            choice("progress", "driver of the messages meanwhile: none, or MPI_Test (test)",
                   &Params::progress, {Name{"none", Progress::none}, Name{"test", Progress::test}}),
            transport_axis<Params>()};
    }();

    static Fit fit(const Params& params, const Machine& machine) {
        if (params.bytes % static_cast<std::int64_t>(sizeof(float)) != 0)
            return Fit::no("needs a message of whole numbers: a multiple of 4 bytes");
        if (auto fit = fit_ranks(params.ranks, 2 * params.bytes, machine); !fit) return fit;
        return fit_transport(params.transport, machine);
    }

    Overlap(const Params& params, Context& context)
        : Overlap{params, context, join_ranks(params.ranks, context)} {}

    void run() noexcept {
        OverlapTimes::Times& now = times_.next();
        now = {timed([this] {
                   message_.run();
                   compute(progress_ == Progress::test);
                   wait();
               }),
               timed([this] { compute(false); }), timed([this] { all_reduce(); })};
        note(MPI_Allreduce(MPI_IN_PLACE, now.data(), static_cast<int>(now.size()), MPI_DOUBLE,
                           MPI_MAX, mpi::communicator()));
    }
    Work work() const { return {}; } // rates by the time of all three parts would say nothing
    Check verify() const {
        mpi::check(code_, "MPI_Wait");
        Check sum = message_.verify();
        Check product = gemm_.matrices().check();
        if (!sum.passed) product = sum;
        product.method = sum.method + "; " + product.method;
        return path_.prove(std::move(product), message_.moved());
    }
    void poison() {
        message_.poison();
        gemm_.matrices().poison();
    }
    /// Spoils the sum on even ranks, the product on the others: each check has to find its own.
    void spoil() {
        if (rank_ % 2 == 0)
            message_.spoil();
        else
            gemm_.matrices().damage_one();
    }

    void metrics(const Metrics& metrics) const { times_.report(metrics); }

private:
    Overlap(const Params& params, Context& context, int ranks)
        : progress_{params.progress}, rank_{context.team().rank()},
          message_{{.ranks = params.ranks, .bytes = params.bytes}, rank_, ranks},
          path_{params.transport, context, mpi::machine_count()} {
        parts_ = Gemm::parts_of_product;
        const auto try_out = [this] {
            for (times_.forget(); times_.calls() < tries;) run();
        };
        try_out(); // makes the connections
        try_out();
        const double wanted = times_.shortest(all_reduce_alone) / times_.shortest(gemm_alone) *
                              static_cast<double>(parts_);
        parts_ = std::max(parts_, static_cast<std::size_t>(std::llround(wanted)));
        try_out();
        mpi::check(code_, "MPI_Wait");
        context.setting("products", static_cast<double>(parts_) / Gemm::parts_of_product);
        context.setting("gemm_alone", times_.shortest(gemm_alone));
        context.setting("allreduce_alone", times_.shortest(all_reduce_alone));
        times_.forget();
    }

    template <class Body>
    double timed(Body&& body) noexcept {
        note(MPI_Barrier(mpi::communicator()));
        const double start = MPI_Wtime();
        body();
        return MPI_Wtime() - start;
    }
    void compute(bool test) noexcept {
        for (std::size_t i = 0; i < parts_; ++i) {
            gemm_.part(i);
            int done = 0;
            if (test) note(MPI_Test(&Begin::request, &done, MPI_STATUS_IGNORE));
        }
    }
    void wait() noexcept { note(MPI_Wait(&Begin::request, MPI_STATUS_IGNORE)); }
    void all_reduce() noexcept {
        message_.run();
        wait();
    }
    void note(int code) noexcept {
        if (code != MPI_SUCCESS) code_ = code;
    }
    static constexpr std::uint64_t tries = 7; ///< calls that calibrate

    Progress progress_;
    int rank_;
    Buffers<Begin, float> message_;
    Gemm gemm_;
    std::size_t parts_ = 0; // of the gemm, in a call
    OverlapTimes times_;
    Path path_;
    int code_ = MPI_SUCCESS; // the last one that was no success
};

} // namespace

extern constinit const assay_benchmark overlap = define<Overlap>();

} // namespace assay::collective
