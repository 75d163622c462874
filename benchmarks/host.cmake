# The module `host`: OpenMP and Highway, nothing else.
find_package(OpenMP COMPONENTS CXX) # without it: one thread, and `threads` above one does not fit
find_package(HWY 1.0)
if(NOT HWY_FOUND)
    message(STATUS "Module host is left out: it needs Highway (Debian: libhwy-dev)")
    return()
endif()

# Kernels that unit tests call as well as the module: compiled once, as the module is.
function(assay_host_kernels name)
    add_library(assay_kernels_${name} OBJECT ${ARGN})
    target_link_libraries(assay_kernels_${name} PRIVATE assay_counter assay_warnings assay_benchmark_sanitizers
        hwy::hwy $<$<BOOL:${OpenMP_CXX_FOUND}>:OpenMP::OpenMP_CXX>)
    target_include_directories(assay_kernels_${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}") # for Highway
    target_compile_options(assay_kernels_${name} PRIVATE ${assay_benchmark_optimisation} -ffp-contract=off)
    set_target_properties(assay_kernels_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
assay_host_kernels(md md/lattice.cpp md/clusters.cpp md/candidates.cpp md/kernels.cpp
    md/simulation.cpp md/reference.cpp md/check.cpp)
assay_host_kernels(stencil stencil/heat_kernels.cpp stencil/window_kernels.cpp stencil/filter_kernels.cpp)
assay_host_kernels(sparse sparse/spmv_kernels.cpp)
assay_host_kernels(montecarlo montecarlo/option_kernels.cpp)
assay_host_kernels(attention workload/attention_kernels.cpp workload/attention_group_kernels.cpp)
assay_host_kernels(llm model/llm_host_kernels.cpp model/panel_product.cpp) # for module onednn

assay_module(host LINK assay_kernels_md assay_kernels_stencil assay_kernels_sparse assay_kernels_montecarlo
     assay_kernels_attention $<$<BOOL:${OpenMP_CXX_FOUND}>:OpenMP::OpenMP_CXX> hwy::hwy)
target_include_directories(assay_module_host PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}") # for Highway
assay_benchmark(host memory::stream memory/stream.cpp memory/stream_kernels.cpp)
assay_benchmark(host memory::hierarchy memory/hierarchy.cpp memory/sweep_kernels.cpp
    memory/pages.cpp)
assay_benchmark(host memory::gather memory/gather.cpp)
assay_benchmark(host memory::latency memory/latency.cpp)
assay_benchmark(host memory::tlb memory/tlb.cpp)
assay_benchmark(host memory::loaded_latency memory/loaded_latency.cpp)
assay_benchmark(host latency::core_to_core latency/core_to_core.cpp)
assay_benchmark(host latency::branch latency/branch.cpp)
assay_benchmark(host latency::timer latency/kernel_calls.cpp)
assay_benchmark(host latency::system_call)
assay_benchmark(host latency::page_fault)
assay_benchmark(host latency::thread_start latency/threads.cpp)
assay_benchmark(host latency::context_switch)
assay_benchmark(host transfer::numa transfer/numa.cpp transfer/nodes.cpp)
assay_benchmark(host transfer::numa_latency transfer/numa_latency.cpp)
assay_benchmark(host peak::fma peak/fma.cpp peak/fma_kernels.cpp)
assay_benchmark(host peak::core_clock peak/clock.cpp)
assay_benchmark(host peak::dot peak/dot.cpp peak/dot_x86.cpp peak/dot_amx.cpp peak/dot_arm.cpp)
assay_benchmark(host peak::integer_add peak/integer_add.cpp peak/integer_kernels.cpp)
assay_benchmark(host md::lennard_jones md/lennard_jones.cpp)
assay_benchmark(host workload::attention workload/attention.cpp)
assay_benchmark(host stencil::heat3d stencil/heat3d.cpp)
assay_benchmark(host stencil::window stencil/window.cpp)
assay_benchmark(host stencil::filter2d stencil/filter2d.cpp)
assay_benchmark(host sparse::spmv sparse/spmv.cpp)
assay_benchmark(host sort::radix sort/radix.cpp)
assay_benchmark(host montecarlo::option_price montecarlo/option.cpp)
# Loops of our own are what is measured: what else is in the file must not change how they are compiled.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    set_target_properties(assay_module_host PROPERTIES ASSAY_APART ON)
endif()
assay_finish_module(host)
# Results are recomputed to the last bit, so only the multiply-adds that are written as such may fuse.
target_compile_options(assay_module_host PRIVATE -ffp-contract=off)
# The plain copy must stay a loop of plain stores: memcpy() would stream past the caches.
set_source_files_properties(memory/stream_kernels.cpp memory/sweep_kernels.cpp PROPERTIES COMPILE_OPTIONS
    "$<IF:$<CXX_COMPILER_ID:GNU>,-fno-tree-loop-distribute-patterns,-fno-builtin>")
