# The module `cuda`: kernels of our own on the CUDA runtime, which is linked into it. It needs the driver
# and nothing else.
include(device.cmake)

# What every device module uses, compiled once.
add_library(assay_device OBJECT device/block.cu device/clock.cpp device/flush.cu device/output.cu device/properties.cpp)
target_link_libraries(assay_device PUBLIC assay_counter PRIVATE assay_warnings)
target_compile_options(assay_device PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O3>)
set_target_properties(assay_device PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
assay_cuda_target(assay_device)
assay_compile_together(assay_device)

assay_cuda_module(cuda HOOKS device/hooks.cpp)
assay_device_benchmarks(cuda)
# Files by this name have instructions that compute capability 9.0 alone has.
if(CMAKE_CUDA_ARCHITECTURES MATCHES "90|all|native")
    add_library(assay_wgmma OBJECT peak/device_wgmma_90a.cu workload/device_prefill_90a.cu)
    target_compile_definitions(assay_wgmma PRIVATE ASSAY_HAS_WGMMA)
    assay_cuda_target(assay_wgmma)
    set_target_properties(assay_wgmma PROPERTIES CUDA_ARCHITECTURES 90a-real)
    target_link_libraries(assay_wgmma PRIVATE assay_device)
    target_compile_definitions(assay_module_cuda PRIVATE ASSAY_HAS_WGMMA)
    target_link_libraries(assay_module_cuda PRIVATE assay_wgmma)
endif()
assay_benchmark(cuda workload::device_attention workload/device_attention.cu)
assay_benchmark(cuda memory::device_bulk_copy memory/device_bulk_copy.cu)
assay_benchmark(cuda latency::cluster_latency latency/device_cluster.cu)
assay_benchmark(cuda latency::cluster_memory)
assay_benchmark(cuda latency::device_l2 latency/device_l2.cu)
assay_benchmark(cuda workload::device_prefill workload/device_prefill.cu)
assay_finish_module(cuda)
