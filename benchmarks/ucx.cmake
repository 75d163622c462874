# The module `ucx`: point to point over UCX, whose ranks meet over MPI.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(UCX QUIET IMPORTED_TARGET ucx>=1.11)
endif()
if(NOT UCX_FOUND OR NOT MPI_CXX_FOUND)
    message(STATUS "Module ucx is left out: it needs UCX 1.11 and an MPI (Debian: libucx-dev and libopenmpi-dev)")
    return()
endif()

# assay_ucx_benchmarks(<module> <source>): what `ucx` and `ucx_cuda` share, and where the data of this one lies.
function(assay_ucx_benchmarks module where)
    target_include_directories(assay_module_${module} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    target_compile_definitions(assay_module_${module} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    target_sources(assay_module_${module} PRIVATE collective/world.cpp collective/ranks.cpp collective/traffic.cpp
        network/lanes.cpp network/memory.cpp network/pairs.cpp network/resources.cpp network/way.cpp network/wire.cpp
        ${where})
    assay_benchmark(${module} network::put network/put.cpp)
    assay_benchmark(${module} network::get network/get.cpp)
    assay_benchmark(${module} network::ping_pong network/ping_pong.cpp)
    assay_benchmark(${module} network::message_rate network/message_rate.cpp)
    assay_finish_module(${module})
endfunction()

assay_module(ucx HOOKS network/hooks.cpp LINK PkgConfig::UCX MPI::MPI_CXX)
assay_ucx_benchmarks(ucx network/where_host.cpp)
