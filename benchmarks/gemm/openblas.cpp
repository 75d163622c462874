// SPDX-License-Identifier: Apache-2.0
#include "square.hpp"

#include <assay/define.hpp>

#include <cblas.h>

#include <variant>

namespace assay::gemm {

namespace {

void multiply(Matrices<double, double, double>& m) noexcept {
    const auto n = static_cast<blasint>(m.size);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, m.a.data(), n, m.b.data(), n,
                0, m.c.data(), n);
}

void multiply(Matrices<float, float, float>& m) noexcept {
    const auto n = static_cast<blasint>(m.size);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, m.a.data(), n, m.b.data(), n,
                0, m.c.data(), n);
}

/// Significant bits of the type that a narrowed product would have used: fp32 for fp64, bf16 for fp32.
constexpr int narrower_digits(Precision precision) { return precision == Precision::fp64 ? 24 : 8; }

} // namespace

class OpenblasSquare {
public:
    struct Params {
        Precision precision = Precision::fp64;
        std::int64_t size = 0;
        Symbolic threads;
    };
    static constexpr Info info = square_info;
    static constexpr std::tuple axes{
        choice("precision", "type of the matrices", &Params::precision,
               {{"fp64", Precision::fp64}, {"fp32", Precision::fp32}}),
        size_axis<Params>(),
        threads_axis(&Params::threads, {Symbol::all}),
    };

    static Fit fit(const Params& params, const Machine& machine) {
        if (openblas_get_parallel() != OPENBLAS_OPENMP)
            return Fit::no("needs the OpenMP build of OpenBLAS (libopenblas0-openmp); the loaded "
                           "one starts its own threads, which binding puts on one core");
        const std::int64_t element = params.precision == Precision::fp64 ? 8 : 4;
        return fits(machine, params.threads, params.size, 3 * element);
    }

    OpenblasSquare(const Params& params, Context& context)
        : OpenblasSquare{params, context, host::use_threads(context.machine(), params.threads)} {}

    void run() noexcept {
        if (auto* fp64 = std::get_if<Double>(&matrices_))
            multiply(*fp64);
        else if (auto* fp32 = std::get_if<Single>(&matrices_))
            multiply(*fp32);
    }
    Work work() const { return square_work(precision_, static_cast<std::int64_t>(size())); }
    Check verify() const {
        return std::visit([](const auto& m) { return m.check(); }, matrices_);
    }
    Outputs outputs() const {
        return std::visit([](const auto& m) { return Outputs{m.c}; }, matrices_);
    }
    void poison() {
        std::visit([](auto& m) { m.poison(); }, matrices_);
    }
    void spoil() {
        std::visit(
            [this](auto& m) {
                m.narrow_inputs(narrower_digits(precision_));
                multiply(m);
                m.fill_inputs();
            },
            matrices_);
    }

private:
    using Double = Matrices<double, double, double>;
    using Single = Matrices<float, float, float>;

    using Either = std::variant<Single, Double>;

    static Either make(const Params& params) {
        if (params.precision == Precision::fp64)
            return Either{std::in_place_type<Double>, params.size};
        return Either{std::in_place_type<Single>, params.size};
    }
    /// Takes the number of threads that is already set: the matrices are placed by them.
    OpenblasSquare(const Params& params, const Context& context, int threads)
        : precision_{params.precision}, matrices_{make(params)} {
        context.setting("core_type", openblas_get_corename());
        // A build has a fixed upper bound (Debian's: 64) and keeps to it without a word.
        openblas_set_num_threads(threads);
        const int used = openblas_get_num_threads();
        context.setting("threads", used);
        if (used < threads)
            context.warn(joined("this build of OpenBLAS uses at most ", used, " threads, ", threads,
                                " cores are there"));
    }

    std::size_t size() const {
        return std::visit([](const auto& m) { return m.size; }, matrices_);
    }

    Precision precision_;
    Either matrices_;
};

extern constinit const assay_benchmark openblas_square = define<OpenblasSquare>();

} // namespace assay::gemm

namespace {

// OpenBLAS chooses its kernels by CPU model when it is loaded, and takes a model newer than itself for an old one: half
// of the machine can stay unused. These core types are worth trying.
constexpr assay_tuning core_type(const char* name, const char* isa) {
    return {sizeof(assay_tuning), 0, "OPENBLAS_CORETYPE", name, isa};
}

// A core type asked for is used even where the CPU lacks its instructions, so each names them. A
// name that this build of OpenBLAS does not know falls back to its own choice without a word; the
// setting `core_type` of each case says what was used.
constexpr std::array core_types{
    core_type("Haswell", "avx2 fma"),
    core_type("Zen", "avx2 fma"),
    core_type("SkylakeX", "avx512f avx512bw avx512cd avx512dq avx512vl"),
    core_type("Cooperlake", "avx512f avx512bw avx512cd avx512dq avx512vl avx512_bf16"),
    core_type("SapphireRapids", "avx512f avx512bw avx512cd avx512dq avx512vl avx512_bf16 amx_bf16"),
    core_type("NEOVERSEN1", "asimd asimddp"),
    core_type("NEOVERSEV1", "sve"),
    core_type("NEOVERSEN2", "sve2"),
};

void report(const assay::Context& context) {
    const std::string config = openblas_get_config(); // "OpenBLAS 0.3.21 NO_LAPACKE ..."
    const auto version = config.find(' ') + 1;
    context.setting("openblas.version",
                    config.substr(version, config.find(' ', version) - version));
    context.setting("openblas.config", config);
    context.setting("openblas.corename", openblas_get_corename());
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{
    .tunings = core_types.data(), .tuning_count = core_types.size(), .facts = assay::facts<report>};
