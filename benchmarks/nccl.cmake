# The module `nccl`: NVIDIA's collectives. Found by header and file: the library comes with no package file.
find_path(NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(NCCL_INCLUDE NCCL_LIBRARY)
set(nccl_version "0")
if(NCCL_INCLUDE)
    file(STRINGS "${NCCL_INCLUDE}/nccl.h" nccl_lines REGEX "^#define NCCL_(MAJOR|MINOR) +[0-9]+")
    string(REGEX REPLACE "^.*MAJOR +([0-9]+).*MINOR +([0-9]+).*$" "\\1.\\2" nccl_version "${nccl_lines}")
endif()
if(NOT NCCL_INCLUDE OR NOT NCCL_LIBRARY OR nccl_version VERSION_LESS 2.18)
    message(STATUS "Module nccl is left out: it needs NCCL 2.18 or later (libnccl-dev, or set NCCL_INCLUDE "
        "and NCCL_LIBRARY)")
    return()
endif()

assay_cuda_module(nccl HOOKS collective/nccl_hooks.cpp LINK "${NCCL_LIBRARY}")
target_include_directories(assay_module_nccl SYSTEM PRIVATE "${NCCL_INCLUDE}")
target_sources(assay_module_nccl PRIVATE
    "${CMAKE_CURRENT_SOURCE_DIR}/collective/nccl_data.cu" "${CMAKE_CURRENT_SOURCE_DIR}/collective/nccl_fit.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/collective/nccl_group.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/collective/traffic.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/collective/nccl_log.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/collective/nccl_log_file.cpp")
assay_benchmark(nccl collective::device_allreduce collective/nccl_reductions.cpp)
assay_benchmark(nccl collective::device_reduce_scatter)
assay_benchmark(nccl collective::device_allgather collective/nccl_exchanges.cpp)
assay_benchmark(nccl collective::device_broadcast)
assay_benchmark(nccl collective::device_alltoall)
assay_benchmark(nccl collective::device_send_receive)
assay_finish_module(nccl)
