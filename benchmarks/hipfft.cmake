# The module `hipfft`: the transforms of module `cufft` by AMD's library, which is opened at run time.
assay_hip_module(hipfft HOOKS fft/device_transform.cu)
target_compile_definitions(assay_module_hipfft PRIVATE ASSAY_HIPFFT)
target_include_directories(assay_module_hipfft BEFORE PRIVATE hip/hipfft)
target_link_libraries(assay_module_hipfft PRIVATE ${CMAKE_DL_LIBS})
target_sources(assay_module_hipfft PRIVATE fft/hipfft_library.cpp device/block.cu device/clock.cpp device/flush.cu
    device/output.cu device/properties.cpp)
assay_benchmark(hipfft fft::device_transform)
assay_finish_hip_module(hipfft)
