# HIP: kernels of benchmarks/device.cmake for AMD's Instinct. A machine without a clang that compiles HIP builds
# everything else; ASSAY_HIP=ON makes its absence an error, OFF leaves the module out. CMake's own language HIP does not
# find Debian's packages (CMake 3.25 looks for a ROCm tree), so kernels are compiled by commands of ours.
#
# assay_hip_module(<name> [HOOKS <source>]) is assay_module() whose `.cu` sources are compiled by that clang when
# assay_finish_hip_module(<name>) is called in place of assay_finish_module().

set(ASSAY_HIP_ARCHITECTURES gfx90a CACHE STRING
    "AMD devices to compile for, a list such as gfx90a;gfx942, of those that clang and its device libraries know")
set(ASSAY_HIP_FOUND OFF)
if(ASSAY_HIP STREQUAL "OFF" OR ASSAY_SANITIZE OR ASSAY_FUZZ)
    return()
endif()

# ROCm's own clang (6.1 or later), or one of Debian: hipcc depends on clang 15, which cannot read these sources.
find_program(ASSAY_HIP_CLANG NAMES clang++ PATHS /opt/rocm/llvm/bin NO_DEFAULT_PATH)
find_program(ASSAY_HIP_CLANG NAMES clang++-20 clang++-19 clang++-18 clang++-17)
find_path(ASSAY_HIP_HEADERS hip/hip_runtime_api.h HINTS /opt/rocm/include)
find_library(ASSAY_HIP_LIBRARY amdhip64 HINTS /opt/rocm/lib)
find_path(ASSAY_HIP_DEVICE_LIBRARIES ockl.bc HINTS /opt/rocm/amdgcn/bitcode
    PATH_SUFFIXES amdgcn/bitcode lib/${CMAKE_LIBRARY_ARCHITECTURE}/amdgcn/bitcode)
mark_as_advanced(ASSAY_HIP_CLANG ASSAY_HIP_HEADERS ASSAY_HIP_LIBRARY ASSAY_HIP_DEVICE_LIBRARIES)
foreach(needed IN ITEMS CLANG HEADERS LIBRARY DEVICE_LIBRARIES)
    if(NOT ASSAY_HIP_${needed})
        assay_left_out(ASSAY_HIP "Module hip is left out" "there is no clang 17 or later with HIP (Debian: clang-19 lld-19 clang-tools-19 libamdhip64-dev rocm-device-libs; AMD: ROCm 6.1)")
        return()
    endif()
endforeach()

list(TRANSFORM ASSAY_HIP_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE architectures)
get_filename_component(hip_root "${ASSAY_HIP_HEADERS}" DIRECTORY)
set(assay_hip_command ${CMAKE_CXX_COMPILER_LAUNCHER} "${ASSAY_HIP_CLANG}" -x hip ${architectures}
    "--rocm-path=${hip_root}" "--rocm-device-lib-path=${ASSAY_HIP_DEVICE_LIBRARIES}" -std=c++20 -O3 -fPIC
    -fvisibility=hidden -fvisibility-inlines-hidden -Wall -Werror -Wno-unused-result -Wno-pass-failed)
file(WRITE "${PROJECT_BINARY_DIR}/hip_probe.hip"
    "#include <hip/hip_runtime.h>\n__global__ void probe(double* x) { *x = sin(*x); }\n")
execute_process(COMMAND ${assay_hip_command} -c "${PROJECT_BINARY_DIR}/hip_probe.hip"
    -o "${PROJECT_BINARY_DIR}/hip_probe.o" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why)
if(NOT failed EQUAL 0)
    string(REGEX MATCH "[^\n]*error[^\n]*" why "${why}")
    assay_left_out(ASSAY_HIP "Module hip is left out" "${ASSAY_HIP_CLANG} does not compile for ${ASSAY_HIP_ARCHITECTURES}: ${why}")
    return()
endif()
set(ASSAY_HIP_FOUND ON)
message(STATUS "Module hip: ${ASSAY_HIP_CLANG}, architectures ${ASSAY_HIP_ARCHITECTURES}")

# What both compilers are told.
set(assay_hip_definitions ASSAY_HIP ASSAY_WARP_LANES=64 __HIP_PLATFORM_AMD__)
set(assay_hip_includes "${PROJECT_SOURCE_DIR}/benchmarks/hip" "${PROJECT_SOURCE_DIR}/benchmarks"
    "${PROJECT_SOURCE_DIR}/harness/include")

function(assay_hip_module name)
    assay_module(${name} ${ARGN})
    target_compile_definitions(assay_module_${name} PRIVATE ${assay_hip_definitions})
    target_include_directories(assay_module_${name} BEFORE PRIVATE ${assay_hip_includes})
    target_include_directories(assay_module_${name} SYSTEM PRIVATE "${ASSAY_HIP_HEADERS}")
    # HIP marks its errors as not to be ignored; those of what is given back are, as CUDA's.
    target_compile_options(assay_module_${name} PRIVATE -Wno-unused-result)
    target_link_libraries(assay_module_${name} PRIVATE "${ASSAY_HIP_LIBRARY}")
endfunction()

function(assay_finish_hip_module name)
    get_target_property(sources assay_module_${name} SOURCES)
    list(REMOVE_DUPLICATES sources)
    set(kernels ${sources})
    list(FILTER kernels INCLUDE REGEX "\\.cu$")
    list(FILTER sources EXCLUDE REGEX "\\.cu$")
    get_target_property(definitions assay_module_${name} COMPILE_DEFINITIONS)
    get_target_property(includes assay_module_${name} INCLUDE_DIRECTORIES)
    list(TRANSFORM definitions PREPEND -D)
    list(TRANSFORM includes PREPEND -I)
    set(objects "${CMAKE_CURRENT_BINARY_DIR}/hip/${name}")
    foreach(kernel IN LISTS kernels)
        get_filename_component(kernel "${kernel}" ABSOLUTE)
        file(RELATIVE_PATH object "${PROJECT_SOURCE_DIR}" "${kernel}")
        string(MAKE_C_IDENTIFIER "${object}" object)
        set(object "${objects}/${object}.o")
        add_custom_command(OUTPUT "${object}"
            COMMAND ${assay_hip_command} ${definitions} ${includes} -include "${PROJECT_SOURCE_DIR}/benchmarks/hip/words.hpp"
                -MD -MF "${object}.d" -c "${kernel}" -o "${object}"
            DEPENDS "${kernel}" DEPFILE "${object}.d" VERBATIM COMMENT "Building HIP object ${object}")
        list(APPEND sources "${object}")
    endforeach()
    file(MAKE_DIRECTORY "${objects}")
    set_target_properties(assay_module_${name} PROPERTIES SOURCES "${sources}" LINKER_LANGUAGE CXX)
    assay_finish_module(${name})
endfunction()
