// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of rocBLAS on AMD's devices. The library is found when it is first needed: names and numbers of its
// interface are after rocblas.h and rocblas-types.h of rocBLAS 4.1 (ROCm 6.1), declared here because Debian has neither.
#include "device/clock.hpp"
#include "device/opened.hpp"
#include "device/output.hpp"
#include "device/properties.hpp"
#include "gemm/device_axes.hpp"
#include "gemm/device_matrices.hpp"

#include <assay/define.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace assay::gemm {
namespace {

// --- rocBLAS ------------------------------------------------------------------------------------------

using Handle = void*;
enum Type : int { f16 = 150, f32 = 151, f64 = 152, i8 = 160, i32 = 162, bf16 = 168 };
enum Transposed : int { no = 111, yes = 112 };
enum MathMode : int { plain_math = 0, xf32_math = 1 };

struct Rocblas {
    int (*create)(Handle*);
    int (*destroy)(Handle);
    int (*set_stream)(Handle, cudaStream_t);
    int (*set_math_mode)(Handle, int);
    int (*version)(char*, std::size_t);
    const char* (*name_of)(int status);
    int (*multiply)(Handle, int transposed_a, int transposed_b, int m, int n, int k,
                    const void* alpha, const void* a, int type_a, int stride_a, const void* b,
                    int type_b, int stride_b, const void* beta, const void* c, int type_c,
                    int stride_c, void* d, int type_d, int stride_d, int type_of_sums,
                    int algorithm, std::int32_t solution, std::uint32_t flags);
};

struct Found {
    Rocblas functions{};
    std::string why_not;
};
Found find() {
    static const device::Opened library{
        "rocBLAS",
        {"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "/opt/rocm/lib/librocblas.so.4"}};
    Found found{.functions = {}, .why_not = library.why_not()};
    const auto get = [&]<class F>(F*& to, const char* name) {
        to = reinterpret_cast<F*>(library.function(name));
        if (to == nullptr && found.why_not.empty())
            found.why_not = joined("rocBLAS has no ", name, ": it is older than ROCm 5.5");
    };
    Rocblas& all = found.functions;
    get(all.create, "rocblas_create_handle");
    get(all.destroy, "rocblas_destroy_handle");
    get(all.set_stream, "rocblas_set_stream");
    get(all.set_math_mode, "rocblas_set_math_mode");
    get(all.version, "rocblas_get_version_string");
    get(all.name_of, "rocblas_status_to_string");
    get(all.multiply, "rocblas_gemm_ex");
    return found;
}
const Found& found() {
    static const Found once = find();
    return once;
}
const Rocblas& rocblas() { return found().functions; }

void check(int status) {
    if (status == 0) return;
    throw device::Error{joined("rocBLAS answers ", rocblas().name_of(status))};
}

struct Types {
    Type of_operands;
    Type of_result;
    Type of_sums;
};
constexpr Types types_of(DevicePrecision precision) {
    switch (precision) {
    case DevicePrecision::fp64:
        return {f64, f64, f64};
    case DevicePrecision::fp16:
        return {f16, f16, f32};
    case DevicePrecision::bf16:
        return {bf16, bf16, f32};
    case DevicePrecision::int8:
        return {i8, i32, i32};
    default: // tf32 is fp32 in another mode
        return {f32, f32, f32};
    }
}

// --- the benchmark ------------------------------------------------------------------------------------

class RocblasSquare {
public:
    struct Params {
        DevicePrecision precision = DevicePrecision::bf16;
        std::int64_t size = 0;
        device::Caches caches = device::Caches::hot;
        device::Load load = device::Load::sustained;
        Data data = Data::normal;
    };
    static constexpr Info info{
        .id = "gemm.square",
        .version = 1,
        .question = "How fast does this device multiply square matrices with rocBLAS?",
        .method =
            "C = A B^T by rocblas_gemm_ex with the solution that the library chooses, k contiguous "
            "in both operands, without adding to C; normal random numbers rounded to the type "
            "(int8: one standard deviation is a quarter of the range). Narrow types accumulate in "
            "fp32; C has the type of A, int32 for int8; tf32 is fp32 in the mode xf32 of CDNA3. An "
            "element of every tile of C is compared with its fp64 sum, to the rounding of C and of "
            "the sums, and every row is checked by Freivalds' test; int8 exactly.",
        .caveats = "The rate of a library: another version may be faster, and hipBLASLt is for "
                   "narrow types. Under sustained load the power limit sets the clock, with zero "
                   "data it does not.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.tensor",
        .place = device::place_kind,
        .bound = Bound::matrix_units,
        .noise = Noise::arithmetic,
    };
    static constexpr std::tuple axes{
        choice("precision", "type of A and B", &Params::precision,
               {Name{"fp64", DevicePrecision::fp64}, Name{"fp32", DevicePrecision::fp32},
                Name{"tf32", DevicePrecision::tf32}, Name{"fp16", DevicePrecision::fp16},
                Name{"bf16", DevicePrecision::bf16}, Name{"int8", DevicePrecision::int8}}),
        integer("size", "rows and columns of the matrices", "", &Params::size, {8192}, {16, 32768}),
        caches_axis<Params>(),
        load_axis<Params>(),
        data_axis<Params>(),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const Shape shape = shape_of(p);
        const PrecisionSpec spec = spec_of(p.precision);
        const std::int64_t bytes =
            matrix_bytes(p.precision, shape) + workspace_bytes(p.precision, shape);
        if (Fit fit = device::fits_device(bytes, spec.capability); !fit) return fit;
        if (!found().why_not.empty()) return Fit::no("not applicable: ", found().why_not);
        if (p.precision == DevicePrecision::tf32 && device::properties().capability != 94)
            return Fit::no("not applicable: xf32 is of CDNA3 alone");
        if (p.size % spec.multiple_of != 0)
            return Fit::no("not applicable: this precision needs sizes that are multiples of ",
                           spec.multiple_of, ", not ", p.size);
        return Fit::yes();
    }

    RocblasSquare(const Params& p, const Context& context)
        : precision_{p.precision}, shape_{shape_of(p)}, device_{device::properties()},
          clock_{stream_, {.caches = p.caches, .load = p.load, .l2_bytes = device_.l2_bytes}},
          matrices_{stream_, p.precision, p.data, std::array{shape_}} {
        check(rocblas().create(&handle_));
        try {
            check(rocblas().set_stream(handle_, stream_.get()));
            if (precision_ == DevicePrecision::tf32)
                check(rocblas().set_math_mode(handle_, xf32_math));
            run(); // loads the kernels, which must not happen behind a kernel that waits
            stream_.wait();
        } catch (...) {
            rocblas().destroy(handle_);
            throw;
        }
        if (p.load == device::Load::sustained)
            context.sustained(device::powerful_batch, sustained_load);
    }
    ~RocblasSquare() { rocblas().destroy(handle_); }
    RocblasSquare(const RocblasSquare&) = delete;
    RocblasSquare& operator=(const RocblasSquare&) = delete;

    device::EventClock& clock() { return clock_; }
    /// By columns, as BLAS counts them, A and B are k x n with k contiguous: A is transposed.
    void run() const {
        static constexpr double one64 = 1;
        static constexpr double zero64 = 0;
        static constexpr float one32 = 1;
        static constexpr float zero32 = 0;
        static constexpr std::int32_t one = 1;
        static constexpr std::int32_t zero = 0;
        const Types types = types_of(precision_);
        const auto scalar = [&](const void* wide, const void* single, const void* whole) {
            return types.of_sums == f64 ? wide : types.of_sums == f32 ? single : whole;
        };
        const Operands& of = matrices_.operands();
        const Operand& a = of.a;
        const Operand& b = of.b;
        const Operand& c = of.c;
        const auto n = static_cast<int>(shape_.n);
        check(rocblas().multiply(handle_, yes, no, n, n, n, scalar(&one64, &one32, &one), a.data,
                                 types.of_operands, n, b.data, types.of_operands, n,
                                 scalar(&zero64, &zero32, &zero), c.data, types.of_result, n,
                                 c.data, types.of_result, n, types.of_sums, 0, 0, 0));
    }
    Work work() const { return product_work(precision_, shape_); }
    Check verify() const { return matrices_.check(tolerance()); }
    void poison() const { matrices_.poison(); }
    void spoil() { matrices_.spoil(tolerance()); }

private:
    static Shape shape_of(const Params& p) { return {.m = p.size, .n = p.size, .k = p.size}; }
    Tolerance tolerance() const { return tolerance_of(precision_, Accumulation::exact, shape_.k); }

    DevicePrecision precision_;
    Shape shape_;
    device::Properties device_;
    device::Stream stream_;
    device::EventClock clock_;
    DeviceMatrices matrices_;
    Handle handle_ = nullptr;
};

void report(const Context& context) {
    if (!found().why_not.empty()) throw device::Error{found().why_not};
    std::array<char, 64> version{};
    check(rocblas().version(version.data(), version.size()));
    context.setting("rocblas.version", std::string{version.data()});
}

} // namespace

extern constinit const assay_benchmark rocblas_square = define<RocblasSquare>();

} // namespace assay::gemm

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{
    .facts = assay::facts<assay::gemm::report, assay::device::report_versions>};
