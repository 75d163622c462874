// SPDX-License-Identifier: Apache-2.0
//
// cuFFT's functions, each the one of hipFFT, which is found when it is first needed.
#include "device/opened.hpp"
#include "fft/cufft_plan.hpp"

#include <array>

namespace assay::fft {
namespace {

const device::Opened& opened() {
    static const device::Opened once{"hipFFT", {"libhipfft.so.0", "/opt/rocm/lib/libhipfft.so.0"}};
    return once;
}

constexpr std::array needed{"hipfftGetVersion",        "hipfftCreate",         "hipfftDestroy",
                            "hipfftSetAutoAllocation", "hipfftXtMakePlanMany", "hipfftSetWorkArea",
                            "hipfftSetStream",         "hipfftXtExec"};

template <auto function, class... Arguments>
cufftResult call(const char* name, Arguments... arguments) {
    static const auto found = reinterpret_cast<decltype(function)>(opened().function(name));
    return found == nullptr ? CUFFT_SETUP_FAILED : found(arguments...);
}

} // namespace

const std::string& why_no_cufft() {
    static const std::string why = opened().why_not(needed, "ROCm 5.6");
    return why;
}

} // namespace assay::fft

using assay::fft::call;

extern "C" {

// NOLINTBEGIN(readability-identifier-naming)
cufftResult cufftGetVersion(int* version) {
    return call<&cufftGetVersion>("hipfftGetVersion", version);
}
cufftResult cufftCreate(cufftHandle* plan) { return call<&cufftCreate>("hipfftCreate", plan); }
cufftResult cufftDestroy(cufftHandle plan) { return call<&cufftDestroy>("hipfftDestroy", plan); }
cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates) {
    return call<&cufftSetAutoAllocation>("hipfftSetAutoAllocation", plan, allocates);
}
cufftResult cufftSetPlanPropertyInt64(cufftHandle /*plan*/, cufftProperty /*property*/,
                                      long long /*value*/) {
    return CUFFT_NOT_SUPPORTED; // it has no such choice
}
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* in_sizes,
                                long long in_stride, long long in_distance, cudaDataType in,
                                long long* out_sizes, long long out_stride, long long out_distance,
                                cudaDataType out, long long batch, std::size_t* work_bytes,
                                cudaDataType computed) {
    return call<&cufftXtMakePlanMany>("hipfftXtMakePlanMany", plan, rank, n, in_sizes, in_stride,
                                      in_distance, in, out_sizes, out_stride, out_distance, out,
                                      batch, work_bytes, computed);
}
cufftResult cufftSetWorkArea(cufftHandle plan, void* work) {
    return call<&cufftSetWorkArea>("hipfftSetWorkArea", plan, work);
}
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
    return call<&cufftSetStream>("hipfftSetStream", plan, stream);
}
cufftResult cufftXtExec(cufftHandle plan, void* in, void* out, int direction) {
    return call<&cufftXtExec>("hipfftXtExec", plan, in, out, direction);
}
// NOLINTEND(readability-identifier-naming)

} // extern "C"
