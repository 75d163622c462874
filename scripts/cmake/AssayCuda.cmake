# Device code: found here, built by assay_cuda_module() in benchmarks/. A machine without nvcc builds
# everything else; ASSAY_CUDA=ON makes its absence an error, OFF leaves device modules out.
#
# assay_cuda_module(<name> [HOOKS <source>] [LINK <target>...]) is assay_module() for a library that works
# on devices: with the CUDA runtime inside it, so that it needs nothing but the driver, and with the
# tools of benchmarks/device.

set(ASSAY_CUDA_ARCHITECTURES auto CACHE STRING
    "Devices to compile for: auto, all, all-major, native, or a list such as 80;90")
set(ASSAY_CUDA_FOUND OFF)
if(ASSAY_CUDA STREQUAL "OFF" OR ASSAY_SANITIZE_ALL OR ASSAY_FUZZ)
    return() # sanitizers cannot follow what a driver does; the host's half of device code has unit tests
endif()

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(ASSAY_NVCC nvcc HINTS /usr/local/cuda/bin /opt/cuda/bin)
    mark_as_advanced(ASSAY_NVCC)
    if(NOT ASSAY_NVCC)
        assay_left_out(ASSAY_CUDA "Device modules are left out" "there is no nvcc on the path or in /usr/local/cuda (CUDA Toolkit 12.4 or later)")
        return()
    endif()
    set(CMAKE_CUDA_COMPILER "${ASSAY_NVCC}")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Who has a device compiles for it; who has none wants to know that everything compiles. Every
    # architecture takes twice as long as every major one: presets `cuda` and `package`.
    if(NOT ASSAY_CUDA_ARCHITECTURES STREQUAL "auto")
        set(CMAKE_CUDA_ARCHITECTURES "${ASSAY_CUDA_ARCHITECTURES}")
    elseif(EXISTS /dev/nvidia0)
        set(CMAKE_CUDA_ARCHITECTURES native)
    else()
        set(CMAKE_CUDA_ARCHITECTURES all-major)
    endif()
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
    assay_left_out(ASSAY_CUDA "Device modules are left out" "nvcc does not work with this compiler; see CMakeFiles/CMakeError.log")
    return()
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
    assay_left_out(ASSAY_CUDA "Device modules are left out" "nvcc is ${CMAKE_CUDA_COMPILER_VERSION}, 12.4 or later is needed")
    return()
endif()
# CMake 3.25.1 does not know that nvcc 12 and later speak C++20.
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
find_package(CUDAToolkit REQUIRED)
set(ASSAY_CUDA_FOUND ON)
message(STATUS "Device modules: CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")

# Where no device runs it, it is compiled to see that it compiles: large kernels in a fifth of the time.
set(assay_cuda_optimisation "")
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT EXISTS /dev/nvidia0 AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
    set(assay_cuda_optimisation --Ofast-compile=max)
endif()

function(assay_cuda_target target)
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON
        CUDA_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--Werror=all-warnings;${assay_cuda_optimisation}>)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/benchmarks")
    target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endfunction()

function(assay_cuda_module name)
    assay_module(${name} ${ARGN})
    assay_cuda_target(assay_module_${name})
    set_target_properties(assay_module_${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(assay_module_${name} PRIVATE assay_device CUDA::cudart_static)
endfunction()
