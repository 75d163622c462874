# The module `cuda`: kernels of our own on the CUDA runtime, which is linked into it. It needs the driver
# and nothing else.

# What every device module uses, compiled once.
add_library(assay_device OBJECT device/block.cu device/clock.cpp device/flush.cu device/output.cu device/properties.cpp)
target_link_libraries(assay_device PUBLIC assay_counter PRIVATE assay_warnings)
target_compile_options(assay_device PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O3>)
set_target_properties(assay_device PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
assay_cuda_target(assay_device)

assay_cuda_module(cuda HOOKS device/hooks.cpp)
assay_benchmark(cuda memory::device_stream memory/device_stream.cu)
assay_benchmark(cuda stencil::device_heat3d stencil/device_heat3d.cu)
assay_benchmark(cuda stencil::device_window stencil/device_window.cu)
assay_benchmark(cuda transfer::host_copies transfer/host_copies.cpp transfer/copy_kernels.cu)
assay_benchmark(cuda transfer::device_copies transfer/device_copies.cpp)
assay_benchmark(cuda transfer::small_copies transfer/small_copies.cpp)
assay_benchmark(cuda latency::kernel_launch latency/device_launch.cu)
assay_benchmark(cuda latency::graph_launch)
assay_benchmark(cuda latency::device_calls latency/device_calls.cpp)
assay_benchmark(cuda peak::atomics peak/atomics.cu)
assay_benchmark(cuda peak::atomic_latency)
assay_benchmark(cuda transfer::peer transfer/peer.cpp)
assay_benchmark(cuda transfer::peer_latency)
assay_benchmark(cuda memory::device_hierarchy memory/device_hierarchy.cu)
assay_benchmark(cuda memory::device_latency memory/device_latency.cu)
assay_benchmark(cuda memory::device_stride memory/device_stride.cu)
assay_benchmark(cuda memory::device_matrix memory/device_matrix.cu)
assay_benchmark(cuda memory::device_banks memory/device_banks.cu)
assay_benchmark(cuda peak::device_fma peak/device_fma.cu)
assay_benchmark(cuda md::device_lennard_jones md/device_lennard_jones.cu
    md/lattice.cpp md/reference.cpp md/check.cpp)
assay_benchmark(cuda peak::device_tensor peak/device_tensor.cu)
assay_finish_module(cuda)
