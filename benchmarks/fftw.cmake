# The module `fftw`: FFTW in both precisions, with the threads of OpenMP: those of its other builds are
# not the ones that the harness binds to cores. Found by header and file, as Debian has no package file.
find_package(OpenMP COMPONENTS CXX)
find_path(FFTW_INCLUDE fftw3.h)
set(fftw_libraries "")
foreach(part IN ITEMS fftw3_omp fftw3 fftw3f_omp fftw3f)
    string(TOUPPER "${part}_LIBRARY" variable)
    find_library(${variable} ${part})
    mark_as_advanced(${variable})
    list(APPEND fftw_libraries "${${variable}}")
endforeach()
mark_as_advanced(FFTW_INCLUDE)
if(NOT FFTW_INCLUDE OR fftw_libraries MATCHES "NOTFOUND" OR NOT OpenMP_CXX_FOUND)
    message(STATUS "Module fftw is left out: it needs libfftw3-dev (or set FFTW_INCLUDE, FFTW3_LIBRARY, "
        "FFTW3_OMP_LIBRARY, FFTW3F_LIBRARY and FFTW3F_OMP_LIBRARY) and a compiler with OpenMP")
    return()
endif()

assay_module(fftw HOOKS fft/transform.cpp LINK OpenMP::OpenMP_CXX)
target_include_directories(assay_module_fftw PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_include_directories(assay_module_fftw SYSTEM PRIVATE "${FFTW_INCLUDE}")
target_link_libraries(assay_module_fftw PRIVATE ${fftw_libraries})
assay_benchmark(fftw fft::transform fft/wisdom_file.cpp)
assay_finish_module(fftw)
