# assay_cublaslt_names(<cublasLt.h> <folder>) writes <folder>/cublaslt_names.hpp: tiles, stages and clusters are numbers,
# and their names stand in the header of this very version.
function(assay_cublaslt_names header folder)
    set(cublaslt_names "")
    foreach(kind IN ITEMS tile_names:MATMUL_TILE stage_names:MATMUL_STAGES cluster_names:CLUSTER_SHAPE)
        string(REGEX MATCH "^(.*):(.*)$" kind "${kind}")
        set(array "${CMAKE_MATCH_1}")
        set(prefix "CUBLASLT_${CMAKE_MATCH_2}_")
        file(STRINGS "${header}" lines REGEX "^ *${prefix}[0-9]+x[0-9A-Zx]+ *=")
        set(entries "")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE "^ *${prefix}([0-9A-Zx]+) *=.*$" "\\1" name "${line}")
            string(APPEND entries "    Named{${prefix}${name}, \"${name}\"},\n")
        endforeach()
        # Their number is given: clang deduces no array of so many.
        list(LENGTH lines count)
        string(APPEND cublaslt_names "inline constexpr std::array<Named, ${count}> ${array}{{\n${entries}}};\n")
    endforeach()
    file(CONFIGURE OUTPUT "${folder}/cublaslt_names.hpp" @ONLY CONTENT
"// SPDX-License-Identifier: Apache-2.0
// Written by cublaslt_names.cmake from cublasLt.h.
#pragma once
#include \"gemm/algorithm_text.hpp\"
#include <cublasLt.h>
#include <array>
namespace assay::gemm {
@cublaslt_names@} // namespace assay::gemm
")
endfunction()
