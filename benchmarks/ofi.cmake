# The module `ofi`: point to point over libfabric, whose ranks meet over MPI. Networks that have no verbs (Amazon's EFA) are
# reached by its providers alone.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(LIBFABRIC QUIET IMPORTED_TARGET libfabric>=1.11)
endif()
if(NOT LIBFABRIC_FOUND OR NOT MPI_CXX_FOUND)
    message(STATUS "Module ofi is left out: it needs libfabric 1.11 and an MPI (Debian: libfabric-dev and libopenmpi-dev)")
    return()
endif()

assay_module(ofi HOOKS network/hooks.cpp LINK PkgConfig::LIBFABRIC MPI::MPI_CXX)
target_compile_definitions(assay_module_ofi PRIVATE ASSAY_OFI)
assay_network_benchmarks(ofi network/ofi_wire.cpp network/where_host.cpp)
