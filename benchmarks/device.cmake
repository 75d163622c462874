# Kernels of our own on a device's runtime: benchmarks of module `cuda`, and by the aliases of device/hip of module
# `hip`. A benchmark, then its sources.
set(device_benchmarks
    "memory::device_stream memory/device_stream.cu"
    "stencil::device_heat3d stencil/device_heat3d.cu"
    "stencil::device_window stencil/device_window.cu"
    "stencil::device_filter2d stencil/device_filter2d.cu"
    "sparse::device_spmv sparse/device_spmv.cu"
    "sort::device_radix sort/device_radix.cu"
    "montecarlo::device_option montecarlo/device_option.cu"
    "transfer::host_copies transfer/host_copies.cpp transfer/copy_kernels.cu"
    "transfer::device_copies transfer/device_copies.cpp"
    "transfer::small_copies transfer/small_copies.cpp"
    "latency::kernel_launch latency/device_launch.cu"
    "latency::graph_launch"
    "latency::device_calls latency/device_calls.cpp"
    "peak::atomics peak/atomics.cu"
    "peak::atomic_latency"
    "transfer::peer transfer/peer.cpp"
    "transfer::peer_latency"
    "memory::device_hierarchy memory/device_hierarchy.cu"
    "memory::device_latency memory/device_latency.cu"
    "memory::device_stride memory/device_stride.cu"
    "memory::device_gather memory/device_gather.cu"
    "memory::device_matrix memory/device_matrix.cu"
    "memory::device_banks memory/device_banks.cu"
    "peak::device_fma peak/device_fma.cu"
    "peak::device_tensor peak/device_tensor.cu"
    "md::device_lennard_jones md/device_lennard_jones.cu md/lattice.cpp md/reference.cpp md/check.cpp")

# assay_device_benchmarks(<module>): adds them all, from wherever it is called.
set(device_benchmarks_folder "${CMAKE_CURRENT_LIST_DIR}")
function(assay_device_benchmarks module)
    foreach(entry IN LISTS device_benchmarks)
        separate_arguments(entry)
        list(POP_FRONT entry symbol)
        list(TRANSFORM entry PREPEND "${device_benchmarks_folder}/")
        assay_benchmark(${module} ${symbol} ${entry})
    endforeach()
endfunction()
