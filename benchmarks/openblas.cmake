# The module `openblas`: the OpenMP build of OpenBLAS, and no other. The build with threads of its own
# ends up on one core when the harness binds OpenMP's threads, so the file is named by its path: the
# alternatives system may point `libopenblas` elsewhere.
find_package(OpenMP COMPONENTS CXX)
find_path(OPENBLAS_OPENMP_INCLUDE cblas.h
    PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
find_library(OPENBLAS_OPENMP_LIBRARY openblas
    PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
mark_as_advanced(OPENBLAS_OPENMP_INCLUDE OPENBLAS_OPENMP_LIBRARY)
if(NOT OPENBLAS_OPENMP_INCLUDE OR NOT OPENBLAS_OPENMP_LIBRARY OR NOT OpenMP_CXX_FOUND)
    message(STATUS "Module openblas is left out: it needs libopenblas-openmp-dev (or set "
        "OPENBLAS_OPENMP_INCLUDE and OPENBLAS_OPENMP_LIBRARY) and a compiler with OpenMP")
    return()
endif()

assay_module(openblas HOOKS gemm/openblas.cpp LINK OpenMP::OpenMP_CXX)
target_include_directories(assay_module_openblas SYSTEM PRIVATE "${OPENBLAS_OPENMP_INCLUDE}")
target_link_libraries(assay_module_openblas PRIVATE "${OPENBLAS_OPENMP_LIBRARY}")
# Found beside the header's build also at run time, whatever the alternatives say.
get_filename_component(openblas_folder "${OPENBLAS_OPENMP_LIBRARY}" DIRECTORY)
set_property(TARGET assay_module_openblas APPEND PROPERTY INSTALL_RPATH "${openblas_folder}")
assay_benchmark(openblas gemm::openblas_square)
assay_finish_module(openblas)
