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
target_include_directories(assay_module_ucx PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_definitions(assay_module_ucx PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_sources(assay_module_ucx PRIVATE
    "${CMAKE_CURRENT_SOURCE_DIR}/collective/world.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/collective/ranks.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/collective/traffic.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/network/lanes.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/network/memory.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/network/pairs.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/network/resources.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/network/way.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/network/wire.cpp")
assay_benchmark(ucx network::put network/put.cpp)
assay_benchmark(ucx network::get network/get.cpp)
assay_benchmark(ucx network::ping_pong network/ping_pong.cpp)
assay_benchmark(ucx network::message_rate network/message_rate.cpp)
assay_finish_module(ucx)
