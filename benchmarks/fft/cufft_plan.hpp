// SPDX-License-Identifier: Apache-2.0
//
// A plan of cuFFT that works in memory of ours.

#pragma once

#include "cufft_status.hpp"
#include "device/handles.hpp"
#include "plan_layout.hpp"

#include <cufftXt.h>

#include <cstddef>
#include <source_location>
#include <string>

namespace assay::fft {

/// Module `hipfft` has cuFFT's interface from AMD's library, which may be missing: then why. Else "".
#ifdef ASSAY_HIPFFT
inline constexpr bool is_hipfft = true;
inline constexpr const char* cufft_name = "hipFFT";
const std::string& why_no_cufft();
#else
inline constexpr bool is_hipfft = false;
inline constexpr const char* cufft_name = "cuFFT";
inline std::string why_no_cufft() { return {}; }
#endif

inline void check(cufftResult status,
                  const std::source_location& from = std::source_location::current()) {
    if (status == CUFFT_SUCCESS) return;
    throw device::Error{joined(cufft_name, " answers ", cufft_status_name(status),
                               cufft_status_advice(status), " (at ", device::words_of(from), ')')};
}

constexpr cudaDataType cuda_type(Precision precision, bool is_complex) {
    switch (precision) {
    case Precision::fp64:
        return is_complex ? CUDA_C_64F : CUDA_R_64F;
    case Precision::fp32:
        return is_complex ? CUDA_C_32F : CUDA_R_32F;
    case Precision::fp16:
        break;
    }
    return is_complex ? CUDA_C_16F : CUDA_R_16F;
}

class CufftPlan {
public:
    CufftPlan(PlanLayout layout, Precision precision, bool patient) {
        check(cufftCreate(&plan_));
        try {
            if (patient)
                check(cufftSetPlanPropertyInt64(plan_, NVFFT_PLAN_PROPERTY_INT64_PATIENT_JIT, 1));
            check(cufftSetAutoAllocation(plan_, 0));
            check(cufftXtMakePlanMany(
                plan_, layout.rank, layout.points.data(), layout.in.sizes_or_null(),
                layout.in.stride, layout.in.distance, cuda_type(precision, layout.in.is_complex),
                layout.out.sizes_or_null(), layout.out.stride, layout.out.distance,
                cuda_type(precision, layout.out.is_complex), layout.batch, &work_bytes_,
                cuda_type(precision, true)));
        } catch (...) {
            cufftDestroy(plan_);
            throw;
        }
    }
    ~CufftPlan() { cufftDestroy(plan_); }
    CufftPlan(const CufftPlan&) = delete;
    CufftPlan& operator=(const CufftPlan&) = delete;

    std::size_t work_bytes() const { return work_bytes_; }
    /// Before the first execution; plans of one stream may share their memory.
    void use(const device::Stream& stream, std::byte* work) {
        check(cufftSetWorkArea(plan_, work));
        check(cufftSetStream(plan_, stream.get()));
    }
    void queue(const void* in, void* out, int direction) const {
        // cuFFT writes to the input of inverse transforms to real numbers alone.
        check(cufftXtExec(plan_, const_cast<void*>(in), out, direction));
    }

private:
    cufftHandle plan_{};
    std::size_t work_bytes_ = 0;
};

} // namespace assay::fft
