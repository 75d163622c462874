# The module `ucx_cuda`: the benchmarks of `ucx` with their data in the memory of devices. Whether the UCX that is
# loaded knows such memory is asked at run time: Debian's does not, those of clusters do.
if(NOT TARGET assay_module_ucx)
    message(STATUS "Module ucx_cuda is left out: it needs what module ucx needs")
    return()
endif()
assay_cuda_module(ucx_cuda HOOKS network/hooks.cpp LINK PkgConfig::UCX MPI::MPI_CXX)
target_compile_definitions(assay_module_ucx_cuda PRIVATE ASSAY_UCX_CUDA)
assay_network_benchmarks(ucx_cuda network/resources.cpp network/ucx_wire.cpp network/where_device.cpp)
