# The modules `nccl` (one process with all devices) and `nccl_mpi` (a process for each): NVIDIA's collectives.
# Found by header and file: the library comes with no package file.
find_path(NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(NCCL_INCLUDE NCCL_LIBRARY)
set(nccl_version "0")
if(NCCL_INCLUDE)
    file(STRINGS "${NCCL_INCLUDE}/nccl.h" nccl_lines REGEX "^#define NCCL_(MAJOR|MINOR) +[0-9]+")
    string(REGEX REPLACE "^.*MAJOR +([0-9]+).*MINOR +([0-9]+).*$" "\\1.\\2" nccl_version "${nccl_lines}")
endif()
if(NOT NCCL_INCLUDE OR NOT NCCL_LIBRARY OR nccl_version VERSION_LESS 2.18)
    message(STATUS "Modules nccl and nccl_mpi are left out: they need NCCL 2.18 or later (libnccl-dev, or set "
        "NCCL_INCLUDE and NCCL_LIBRARY)")
    return()
endif()

# What does not depend on the processes, compiled once.
add_library(assay_nccl OBJECT collective/nccl_choice.cpp collective/nccl_data.cu collective/nccl_log.cpp
    collective/device_product.cu collective/traffic.cpp gemm/device_matrices.cpp gemm/device_matrices.cu)
target_link_libraries(assay_nccl PUBLIC assay_counter PRIVATE assay_warnings)
target_compile_options(assay_nccl PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O3>)
set_target_properties(assay_nccl PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
assay_cuda_target(assay_nccl)
assay_compile_together(assay_nccl)

# assay_nccl_module(<name> HOOKS <source> [SOURCES <source>...] [LINK <target>...])
function(assay_nccl_module name)
    cmake_parse_arguments(NCCL "" "HOOKS" "SOURCES;LINK" ${ARGN})
    assay_cuda_module(${name} HOOKS "${NCCL_HOOKS}" LINK assay_nccl "${NCCL_LIBRARY}" ${NCCL_LINK})
    target_include_directories(assay_module_${name} SYSTEM PRIVATE "${NCCL_INCLUDE}")
    target_sources(assay_module_${name} PRIVATE collective/nccl_fit.cpp collective/nccl_group.cpp
        ${NCCL_SOURCES})
    assay_benchmark(${name} collective::device_allreduce collective/nccl_collectives.cpp)
    assay_benchmark(${name} collective::device_reduce_scatter)
    assay_benchmark(${name} collective::device_allgather)
    assay_benchmark(${name} collective::device_broadcast)
    assay_benchmark(${name} collective::device_alltoall)
    assay_benchmark(${name} collective::device_send_receive)
    assay_benchmark(${name} collective::device_overlap collective/device_overlap.cpp)
    assay_finish_module(${name})
endfunction()

assay_nccl_module(nccl HOOKS collective/nccl_alone.cpp)

if(NOT TARGET assay_module_mpi)
    message(STATUS "Module nccl_mpi is left out: it needs an MPI, as module mpi does")
    return()
endif()
assay_nccl_module(nccl_mpi HOOKS collective/nccl_job.cpp
    SOURCES collective/world.cpp LINK MPI::MPI_CXX)
target_compile_definitions(assay_module_nccl_mpi PRIVATE ASSAY_NCCL_TEAM OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
