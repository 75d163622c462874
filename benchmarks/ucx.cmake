# The module `ucx`: point to point over UCX, whose ranks meet over MPI.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(UCX QUIET IMPORTED_TARGET ucx>=1.11)
endif()
if(NOT UCX_FOUND OR NOT MPI_CXX_FOUND)
    message(STATUS "Module ucx is left out: it needs UCX 1.11 and an MPI (Debian: libucx-dev and libopenmpi-dev)")
    return()
endif()

assay_module(ucx HOOKS network/hooks.cpp LINK PkgConfig::UCX MPI::MPI_CXX)
assay_network_benchmarks(ucx network/resources.cpp network/ucx_wire.cpp network/where_host.cpp)
