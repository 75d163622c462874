# The module `cublaslt`: matrix products of NVIDIA's library.
if(NOT TARGET CUDA::cublasLt)
    message(STATUS "Module cublaslt is left out: the CUDA toolkit has no cuBLASLt (libcublas-dev)")
    return()
endif()

# Tiles, stages and clusters are numbers; their names stand in the header of this very version.
set(cublaslt_header "")
foreach(folder IN LISTS CUDAToolkit_INCLUDE_DIRS)
    if(EXISTS "${folder}/cublasLt.h")
        set(cublaslt_header "${folder}/cublasLt.h")
        break()
    endif()
endforeach()
if(NOT cublaslt_header)
    message(STATUS "Module cublaslt is left out: the CUDA toolkit has no cublasLt.h (libcublas-dev)")
    return()
endif()
set(cublaslt_names "")
foreach(kind IN ITEMS tile_names:MATMUL_TILE stage_names:MATMUL_STAGES cluster_names:CLUSTER_SHAPE)
    string(REGEX MATCH "^(.*):(.*)$" kind "${kind}")
    set(array "${CMAKE_MATCH_1}")
    set(prefix "CUBLASLT_${CMAKE_MATCH_2}_")
    file(STRINGS "${cublaslt_header}" lines REGEX "^ *${prefix}[0-9]+x[0-9A-Zx]+ *=")
    set(entries "")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^ *${prefix}([0-9A-Zx]+) *=.*$" "\\1" name "${line}")
        string(APPEND entries "    Named{${prefix}${name}, \"${name}\"},\n")
    endforeach()
    string(APPEND cublaslt_names "inline constexpr std::array ${array}{\n${entries}};\n")
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/cublaslt/cublaslt_names.hpp" @ONLY CONTENT
"// SPDX-License-Identifier: Apache-2.0
// Written by cublaslt.cmake from cublasLt.h.
#pragma once
#include \"gemm/algorithm_text.hpp\"
#include <cublasLt.h>
#include <array>
namespace assay::gemm {
@cublaslt_names@} // namespace assay::gemm
")

assay_cuda_module(cublaslt HOOKS gemm/cublaslt_hooks.cpp LINK ${CMAKE_DL_LIBS})
target_include_directories(assay_module_cublaslt PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/cublaslt")
target_sources(assay_module_cublaslt PRIVATE gemm/cublaslt_library.cpp gemm/cublaslt_product.cpp gemm/cublaslt_tuned.cpp
    gemm/device_matrices.cpp gemm/device_matrices.cu)
assay_benchmark(cublaslt gemm::cublaslt_square gemm/cublaslt_square.cpp)
assay_benchmark(cublaslt gemm::cublaslt_shapes gemm/cublaslt_shapes.cpp)
# Opened at run time (cublaslt_library.cpp), here first, whatever the loader's search path says.
get_target_property(cublaslt_library CUDA::cublasLt IMPORTED_LOCATION)
get_filename_component(cublaslt_folder "${cublaslt_library}" DIRECTORY)
set_property(TARGET assay_module_cublaslt APPEND PROPERTY INSTALL_RPATH "${cublaslt_folder}")
set_property(TARGET assay_module_cublaslt APPEND PROPERTY BUILD_RPATH "${cublaslt_folder}")
assay_finish_module(cublaslt)
