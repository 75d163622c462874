# The module `cuda`: kernels of our own on the CUDA runtime, which is linked into it. It needs the driver
# and nothing else.
include(device.cmake)

# What every device module uses, compiled once.
add_library(assay_device OBJECT device/block.cu device/clock.cpp device/flush.cu device/output.cu device/properties.cpp)
target_link_libraries(assay_device PUBLIC assay_counter PRIVATE assay_warnings)
target_compile_options(assay_device PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O3>)
set_target_properties(assay_device PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
assay_cuda_target(assay_device)

assay_cuda_module(cuda HOOKS device/hooks.cpp)
assay_device_benchmarks(cuda)
# A file by this name has instructions that compute capability 9.0 alone has.
if(CMAKE_CUDA_ARCHITECTURES MATCHES "90|all|native")
    add_library(assay_wgmma OBJECT peak/device_wgmma_90a.cu)
    target_compile_definitions(assay_wgmma PRIVATE ASSAY_HAS_WGMMA)
    assay_cuda_target(assay_wgmma)
    set_target_properties(assay_wgmma PROPERTIES CUDA_ARCHITECTURES 90a-real)
    target_link_libraries(assay_wgmma PRIVATE assay_device)
    target_compile_definitions(assay_module_cuda PRIVATE ASSAY_HAS_WGMMA)
    target_link_libraries(assay_module_cuda PRIVATE assay_wgmma)
endif()
assay_benchmark(cuda workload::device_attention workload/device_attention.cu)
assay_finish_module(cuda)
