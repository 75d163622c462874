// SPDX-License-Identifier: Apache-2.0
//
// cuFFT's calls, done by FFTW on the memory of a device on the CPU: plans with 64-bit sizes through cufftXtMakePlanMany,
// all types and layouts, the work area, half precision by way of single. Refused is what cuFFT documents as refused.
// ASSAY_CPU_FAULT=cufft makes one number of the last bin wrong, for the tests of checks.

#include "fault.hpp"
#include "runtime.hpp"

#include <cuda_fp16.h>
#include <cufftXt.h>
#include <fftw3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <span>
#include <type_traits>
#include <utility>

namespace {

using assay::device_on_cpu::current_device;
using assay::device_on_cpu::device_of;
using assay::device_on_cpu::enqueue;

enum class Precision { half, single, twice };

struct Kind {
    Precision precision;
    bool is_complex;
};

/// One side of a plan, in elements of its type.
struct Side {
    Kind kind{};
    bool is_default = true; ///< dense; in place, rows of real numbers have room for their bins
    std::array<long long, 3> embed{}; ///< elements along each dimension of the memory
    long long stride = 1;
    long long distance = 0;
};

struct Plan {
    bool is_made = false;
    int rank = 0;
    std::array<long long, 3> n{};
    long long batch = 0;
    Side in;
    Side out;
    std::size_t work_bytes = 0;
    void* work = nullptr;
    cudaStream_t stream = nullptr;

    bool is_half() const { return in.kind.precision == Precision::half; }
    bool is_real() const { return !in.kind.is_complex || !out.kind.is_complex; }
    /// Along dimension d: of the real points, and of the complex bins where one side is real.
    long long length(int d, bool of_bins) const {
        const bool halved = of_bins && is_real() && d == rank - 1;
        const long long points = n[static_cast<std::size_t>(d)];
        return halved ? points / 2 + 1 : points;
    }
    long long volume(bool of_bins) const {
        long long all = 1;
        for (int d = 0; d < rank; ++d) all *= length(d, of_bins);
        return all;
    }
};

std::map<cufftHandle, Plan>& plans() {
    static std::map<cufftHandle, Plan> all;
    return all;
}
Plan* find(cufftHandle handle) {
    const auto found = plans().find(handle);
    return found == plans().end() ? nullptr : &found->second;
}

bool read_kind(cudaDataType type, Kind& kind) {
    switch (type) {
    case CUDA_R_16F:
    case CUDA_C_16F:
        kind = {Precision::half, type == CUDA_C_16F};
        return true;
    case CUDA_R_32F:
    case CUDA_C_32F:
        kind = {Precision::single, type == CUDA_C_32F};
        return true;
    case CUDA_R_64F:
    case CUDA_C_64F:
        kind = {Precision::twice, type == CUDA_C_64F};
        return true;
    default:
        return false;
    }
}

/// Half precision alone has limits: powers of two, fewer than 2^32 elements, dense real numbers.
cufftResult refusal_of_half(const Plan& plan) {
    for (const long long length : std::span{plan.n}.first(static_cast<std::size_t>(plan.rank)))
        if (!std::has_single_bit(static_cast<unsigned long long>(length)))
            return CUFFT_NOT_SUPPORTED;
    if (plan.volume(false) >= (1LL << 32U) / plan.batch) return CUFFT_NOT_SUPPORTED;
    for (const Side* side : {&plan.in, &plan.out})
        if (!side->kind.is_complex && !side->is_default && side->stride != 1)
            return CUFFT_NOT_SUPPORTED;
    return CUFFT_SUCCESS;
}

/// Where dimension d of a side begins to repeat, and where the next transform begins.
struct Strides {
    std::array<long long, 3> of{};
    long long distance = 0;
};
Strides strides_of(const Plan& plan, const Side& side, bool in_place) {
    Strides strides;
    const bool padded = in_place && !side.kind.is_complex; // room for the bins of a row
    long long step = side.is_default ? 1 : side.stride;
    for (int d = plan.rank - 1; d >= 0; --d) {
        strides.of[static_cast<std::size_t>(d)] = step;
        long long room = side.is_default ? plan.length(d, side.kind.is_complex)
                                         : side.embed[static_cast<std::size_t>(d)];
        if (side.is_default && padded && d == plan.rank - 1) room = 2 * plan.length(d, true);
        step *= room;
    }
    strides.distance = side.is_default ? step : side.distance;
    return strides;
}

// --- FFTW in both precisions --------------------------------------------------------------------------

template <class T>
struct Fftw;
#define ASSAY_FFTW(type, name)                                                                     \
    template <>                                                                                    \
    struct Fftw<type> {                                                                            \
        using Complex = name##_complex;                                                            \
        using Dimension = name##_iodim64;                                                          \
        static constexpr auto c2c = name##_plan_guru64_dft;                                        \
        static constexpr auto r2c = name##_plan_guru64_dft_r2c;                                    \
        static constexpr auto c2r = name##_plan_guru64_dft_c2r;                                    \
        static constexpr auto execute = name##_execute;                                            \
        static constexpr auto destroy = name##_destroy_plan;                                       \
    }
ASSAY_FFTW(double, fftw);
ASSAY_FFTW(float, fftwf);
#undef ASSAY_FFTW

/// Not normalised, as cuFFT is not. FFTW's way from complex to real destroys its input, as cuFFT's may.
template <class T>
void transform(const Plan& plan, void* in, void* out, int direction) {
    using Library = Fftw<T>;
    using Complex = typename Library::Complex;
    const Strides from = strides_of(plan, plan.in, in == out);
    const Strides to = strides_of(plan, plan.out, in == out);
    std::array<typename Library::Dimension, 3> dimensions{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(plan.rank); ++d)
        dimensions[d] = {plan.n[d], from.of[d], to.of[d]};
    const typename Library::Dimension many{plan.batch, from.distance, to.distance};
    constexpr unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED; // touches nothing while it plans
    const auto made =
        !plan.in.kind.is_complex
            ? Library::r2c(plan.rank, dimensions.data(), 1, &many, static_cast<T*>(in),
                           static_cast<Complex*>(out), flags)
        : !plan.out.kind.is_complex
            ? Library::c2r(plan.rank, dimensions.data(), 1, &many, static_cast<Complex*>(in),
                           static_cast<T*>(out), flags)
            : Library::c2c(plan.rank, dimensions.data(), 1, &many, static_cast<Complex*>(in),
                           static_cast<Complex*>(out), direction, flags);
    Library::execute(made);
    Library::destroy(made);
}

/// Elements from the first to behind the last of a side, as real numbers.
std::size_t reals_of(const Plan& plan, const Side& side, bool in_place) {
    const Strides strides = strides_of(plan, side, in_place);
    long long last = (plan.batch - 1) * strides.distance;
    for (int d = 0; d < plan.rank; ++d)
        last +=
            (plan.length(d, side.kind.is_complex) - 1) * strides.of[static_cast<std::size_t>(d)];
    return static_cast<std::size_t>(last + 1) * (side.kind.is_complex ? 2 : 1);
}

/// In the work area: the input as single numbers, behind it the output.
void transform_half(const Plan& plan, void* in, void* out, int direction) {
    const std::size_t inputs = reals_of(plan, plan.in, in == out);
    const std::size_t outputs = reals_of(plan, plan.out, in == out);
    auto* const wide_in = static_cast<float*>(plan.work);
    float* const wide_out = in == out ? wide_in : wide_in + inputs;
    std::transform(static_cast<const __half*>(in), static_cast<const __half*>(in) + inputs, wide_in,
                   [](__half x) { return __half2float(x); });
    transform<float>(plan, wide_in, wide_out, direction);
    std::transform(wide_out, wide_out + outputs, static_cast<__half*>(out),
                   [](float x) { return __float2half_rn(x); });
}

void execute(const Plan& plan, void* in, void* out, int direction) {
    if (plan.is_half())
        transform_half(plan, in, out, direction);
    else if (plan.in.kind.precision == Precision::single)
        transform<float>(plan, in, out, direction);
    else
        transform<double>(plan, in, out, direction);
    if (!assay::device_on_cpu::has_fault("cufft")) return;
    // The sign of one number is lost: what a wrong twiddle of the last butterfly does.
    const std::size_t last =
        reals_of(plan, plan.out, in == out) - (plan.out.kind.is_complex ? 2 : 1);
    if (plan.is_half())
        static_cast<__half*>(out)[last] = -static_cast<__half*>(out)[last];
    else if (plan.in.kind.precision == Precision::single)
        static_cast<float*>(out)[last] *= -1;
    else
        static_cast<double*>(out)[last] *= -1;
}

bool is_reachable(const void* memory, std::size_t bytes) {
    const int device = current_device();
    return device_of(memory) == device &&
           device_of(static_cast<const std::byte*>(memory) + bytes - 1) == device;
}

std::size_t size_of(Precision precision) {
    return precision == Precision::half ? 2 : precision == Precision::single ? 4 : 8;
}

Side side_of(const Kind& kind, int rank, const long long* embed, long long stride,
             long long distance) {
    Side side{.kind = kind, .is_default = embed == nullptr, .stride = stride, .distance = distance};
    if (embed != nullptr) std::copy_n(embed, rank, side.embed.begin());
    return side;
}

} // namespace

extern "C" {

cufftResult cufftGetVersion(int* version) {
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}

cufftResult cufftCreate(cufftHandle* handle) {
    static cufftHandle next = 0;
    plans()[*handle = ++next] = {};
    return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle) {
    return plans().erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocate) {
    const Plan* const plan = find(handle);
    if (plan == nullptr || plan->is_made) return CUFFT_INVALID_PLAN;
    return allocate == 0 ? CUFFT_SUCCESS : CUFFT_NOT_SUPPORTED; // modules bring their own
}

cufftResult cufftSetPlanPropertyInt64(cufftHandle handle, cufftProperty property, long long value) {
    const Plan* const plan = find(handle);
    if (plan == nullptr || plan->is_made) return CUFFT_INVALID_PLAN;
    if (property != NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT) return CUFFT_NOT_SUPPORTED;
    return value == 0 || value == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_VALUE;
}

cufftResult cufftXtMakePlanMany(cufftHandle handle, int rank, long long* n, long long* inembed,
                                long long istride, long long idist, cudaDataType in_type,
                                long long* onembed, long long ostride, long long odist,
                                cudaDataType out_type, long long batch, std::size_t* work_bytes,
                                cudaDataType compute_type) {
    Plan* const plan = find(handle);
    if (plan == nullptr || plan->is_made) return CUFFT_INVALID_PLAN;
    if (rank < 1 || rank > 3 || n == nullptr || batch < 1) return CUFFT_INVALID_VALUE;
    if (std::any_of(n, n + rank, [](long long length) { return length < 1; }))
        return CUFFT_INVALID_SIZE;
    Kind in;
    Kind out;
    Kind compute;
    if (!read_kind(in_type, in) || !read_kind(out_type, out) || !read_kind(compute_type, compute))
        return CUFFT_INVALID_TYPE;
    const bool mixed = in.precision != out.precision || in.precision != compute.precision;
    if (mixed || !compute.is_complex || (!in.is_complex && !out.is_complex))
        return CUFFT_INVALID_TYPE;
    plan->rank = rank;
    std::copy_n(n, rank, plan->n.begin());
    plan->batch = batch;
    plan->in = side_of(in, rank, inembed, istride, idist);
    plan->out = side_of(out, rank, onembed, ostride, odist);
    if (plan->is_half())
        if (const cufftResult refused = refusal_of_half(*plan); refused != CUFFT_SUCCESS)
            return refused;
    // Half precision needs it; the others ask for it so that a missing one is noticed.
    plan->work_bytes =
        sizeof(float) * (reals_of(*plan, plan->in, true) + reals_of(*plan, plan->out, true));
    plan->is_made = true;
    *work_bytes = plan->work_bytes;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void* work) {
    Plan* const plan = find(handle);
    if (plan == nullptr) return CUFFT_INVALID_PLAN;
    if (!is_reachable(work, plan->work_bytes)) return CUFFT_INVALID_VALUE;
    plan->work = work;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
    Plan* const plan = find(handle);
    if (plan == nullptr) return CUFFT_INVALID_PLAN;
    plan->stream = stream;
    return CUFFT_SUCCESS;
}

cufftResult cufftXtExec(cufftHandle handle, void* in, void* out, int direction) {
    const Plan* const plan = find(handle);
    if (plan == nullptr || !plan->is_made) return CUFFT_INVALID_PLAN;
    if (plan->work == nullptr) return CUFFT_NO_WORKSPACE;
    if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
    const std::size_t width = size_of(plan->in.kind.precision);
    if (!is_reachable(in, width * reals_of(*plan, plan->in, in == out)) ||
        !is_reachable(out, width * reals_of(*plan, plan->out, in == out)))
        return CUFFT_INVALID_VALUE;
    enqueue(plan->stream,
            [queued = *plan, in, out, direction] { execute(queued, in, out, direction); });
    return CUFFT_SUCCESS;
}

} // extern "C"
