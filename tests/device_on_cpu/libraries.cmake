# Libraries that device modules use, for the device that is the CPU, and the modules on them. Headers are CUDA's and
# NCCL's; what calculates is FFTW and plain loops.
set(benchmarks "${PROJECT_SOURCE_DIR}/benchmarks")
# assay_library_on_cpu(<name> [<link>...]): <name>.cpp, for a module and for the library that one opens by its name.
function(assay_library_on_cpu name)
    add_library(${name}_library_on_cpu OBJECT ${name}.cpp)
    target_compile_options(${name}_library_on_cpu PRIVATE -O2)
    target_link_libraries(${name}_library_on_cpu PUBLIC device_on_cpu ${ARGN} PRIVATE assay_warnings assay_benchmark_sanitizers)
endfunction()
# The kernels of module `hip`, with warps of 64 threads and matrix instructions of CDNA, on the same runtime.
assay_module_on_cpu(hip DEFINITIONS ASSAY_HIP ASSAY_WARP_LANES=64 ASSAY_COMPILED_FOR=94)

if(FFTW_INCLUDE AND FFTW3_LIBRARY AND FFTW3F_LIBRARY AND EXISTS "${ASSAY_CUDA_HEADERS}/cufftXt.h")
    assay_library_on_cpu(cufft "${FFTW3_LIBRARY}" "${FFTW3F_LIBRARY}")
    target_include_directories(cufft_library_on_cpu SYSTEM PRIVATE "${FFTW_INCLUDE}")
    assay_module_on_cpu(cufft LINK cufft_library_on_cpu)
    # The module `hipfft` opens AMD's library by its name.
    add_library(hipfft_on_cpu_opened SHARED hipfft.cpp)
    target_link_libraries(hipfft_on_cpu_opened PRIVATE cufft_library_on_cpu assay_warnings)
    set_target_properties(hipfft_on_cpu_opened PROPERTIES OUTPUT_NAME hipfft SUFFIX ".so.0"
        LIBRARY_OUTPUT_DIRECTORY "${on_cpu_modules}/lib")
    assay_module_on_cpu(hipfft HOOKS fft/device_transform.cu BENCHMARKS fft::device_transform
        SOURCES fft/hipfft_library.cpp DEFINITIONS ASSAY_HIP ASSAY_WARP_LANES=64 ASSAY_HIPFFT LINK ${CMAKE_DL_LIBS})
    target_include_directories(hipfft_on_cpu BEFORE PRIVATE "${benchmarks}/hip/hipfft")
    add_dependencies(hipfft_on_cpu hipfft_on_cpu_opened)
endif()

if(EXISTS "${ASSAY_CUDA_HEADERS}/cublasLt.h")
    assay_library_on_cpu(cublaslt)
    target_compile_options(cublaslt_library_on_cpu PRIVATE -fopenmp-simd)
    # The module opens it by its name when it first needs it.
    add_library(cublaslt_on_cpu_opened SHARED)
    target_link_libraries(cublaslt_on_cpu_opened PRIVATE cublaslt_library_on_cpu)
    set_target_properties(cublaslt_on_cpu_opened PROPERTIES OUTPUT_NAME cublasLt SUFFIX ".so.13"
        LIBRARY_OUTPUT_DIRECTORY "${on_cpu_modules}/lib" LINKER_LANGUAGE CXX)
    include("${benchmarks}/gemm/cublaslt_names.cmake")
    assay_cublaslt_names("${ASSAY_CUDA_HEADERS}/cublasLt.h" "${CMAKE_CURRENT_BINARY_DIR}/cublaslt")
    assay_module_on_cpu(cublaslt LINK ${CMAKE_DL_LIBS} SOURCES gemm/cublaslt_library.cpp gemm/cublaslt_product.cpp
        gemm/cublaslt_tuned.cpp gemm/device_matrices.cpp gemm/device_matrices.cu)
    target_include_directories(cublaslt_on_cpu PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/cublaslt")
    add_dependencies(cublaslt_on_cpu cublaslt_on_cpu_opened)
    # The module `rocblas` opens AMD's library by its name.
    add_library(rocblas_on_cpu_opened SHARED rocblas.cpp)
    target_compile_options(rocblas_on_cpu_opened PRIVATE -O2 -fopenmp-simd)
    target_link_libraries(rocblas_on_cpu_opened PRIVATE device_on_cpu assay_warnings assay_benchmark_sanitizers)
    set_target_properties(rocblas_on_cpu_opened PROPERTIES OUTPUT_NAME rocblas SUFFIX ".so.4"
        LIBRARY_OUTPUT_DIRECTORY "${on_cpu_modules}/lib")
    assay_module_on_cpu(rocblas HOOKS gemm/rocblas_square.cpp BENCHMARKS gemm::rocblas_square
        SOURCES gemm/device_matrices.cpp gemm/device_matrices.cu DEFINITIONS ASSAY_HIP ASSAY_WARP_LANES=64
        LINK ${CMAKE_DL_LIBS})
    add_dependencies(rocblas_on_cpu rocblas_on_cpu_opened)
endif()

set(cudnn_attention "")
if(EXISTS "${ASSAY_CUDA_HEADERS}/cudnn_graph.h")
    file(STRINGS "${ASSAY_CUDA_HEADERS}/cudnn_graph.h" cudnn_attention REGEX "CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC")
endif()
if(cudnn_attention AND ONEDNN_INCLUDE AND ONEDNN_LIBRARY)
    # The module opens it by its name, as it does the real one.
    add_library(cudnn_on_cpu_opened SHARED cudnn.cpp)
    target_compile_options(cudnn_on_cpu_opened PRIVATE -O3)
    target_link_libraries(cudnn_on_cpu_opened PRIVATE device_on_cpu assay_warnings assay_benchmark_sanitizers "${ONEDNN_LIBRARY}")
    target_include_directories(cudnn_on_cpu_opened PRIVATE "${benchmarks}")
    target_include_directories(cudnn_on_cpu_opened SYSTEM PRIVATE "${ONEDNN_INCLUDE}")
    set_target_properties(cudnn_on_cpu_opened PROPERTIES OUTPUT_NAME cudnn SUFFIX ".so.9"
        LIBRARY_OUTPUT_DIRECTORY "${on_cpu_modules}/lib")
    assay_module_on_cpu(cudnn LINK ${CMAKE_DL_LIBS} SOURCES workload/cudnn_graph.cpp)
    add_dependencies(cudnn_on_cpu cudnn_on_cpu_opened)
endif()

find_package(MPI QUIET COMPONENTS CXX)
if(EXISTS "${ASSAY_CUDA_HEADERS}/nccl.h")
    assay_library_on_cpu(nccl rt)
    set(collectives "")
    foreach(name IN ITEMS allreduce reduce_scatter allgather broadcast alltoall send_receive overlap)
        list(APPEND collectives collective::device_${name})
    endforeach()
    set(sources collective/nccl_choice.cpp collective/nccl_data.cu collective/nccl_log.cpp collective/traffic.cpp
        collective/nccl_fit.cpp collective/nccl_group.cpp collective/nccl_collectives.cpp collective/device_overlap.cpp
        collective/device_product.cu gemm/device_matrices.cpp gemm/device_matrices.cu)
    assay_module_on_cpu(nccl HOOKS collective/nccl_alone.cpp BENCHMARKS ${collectives}
        SOURCES ${sources} LINK nccl_library_on_cpu)
    if(MPI_CXX_FOUND)
        assay_module_on_cpu(nccl_mpi HOOKS collective/nccl_job.cpp BENCHMARKS ${collectives}
            SOURCES ${sources} collective/world.cpp LINK nccl_library_on_cpu MPI::MPI_CXX)
        target_compile_definitions(nccl_mpi_on_cpu PRIVATE ASSAY_NCCL_TEAM OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    endif()
    # The module `rccl` opens AMD's library by its name.
    add_library(rccl_on_cpu_opened SHARED)
    target_link_libraries(rccl_on_cpu_opened PRIVATE nccl_library_on_cpu)
    set_target_properties(rccl_on_cpu_opened PROPERTIES OUTPUT_NAME rccl SUFFIX ".so.1"
        LIBRARY_OUTPUT_DIRECTORY "${on_cpu_modules}/lib" LINKER_LANGUAGE CXX)
    list(REMOVE_ITEM collectives collective::device_overlap)
    list(FILTER sources EXCLUDE REGEX "overlap|product|matrices")
    assay_module_on_cpu(rccl HOOKS collective/nccl_alone.cpp BENCHMARKS ${collectives} LINK ${CMAKE_DL_LIBS}
        SOURCES ${sources} collective/rccl_library.cpp DEFINITIONS ASSAY_HIP ASSAY_WARP_LANES=64 ASSAY_RCCL)
    target_include_directories(rccl_on_cpu BEFORE PRIVATE "${benchmarks}/hip/rccl")
    add_dependencies(rccl_on_cpu rccl_on_cpu_opened)
    target_link_options(rccl_on_cpu PRIVATE -Wl,--enable-new-dtags) # a test has another library in LD_LIBRARY_PATH
endif()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(UCX QUIET IMPORTED_TARGET ucx>=1.11)
endif()
if(UCX_FOUND AND MPI_CXX_FOUND)
    set(pairs "")
    foreach(name IN ITEMS put get ping_pong message_rate)
        list(APPEND pairs network::${name})
    endforeach()
    set_source_files_properties("${benchmarks}/network/resources.cpp" PROPERTIES
        COMPILE_DEFINITIONS transports_found=transports_of_host)
    assay_module_on_cpu(ucx_cuda HOOKS network/hooks.cpp BENCHMARKS ${pairs} LINK PkgConfig::UCX MPI::MPI_CXX
        SOURCES network/put.cpp network/get.cpp network/ping_pong.cpp network/message_rate.cpp collective/world.cpp
        collective/ranks.cpp collective/traffic.cpp network/lanes.cpp network/meeting.cpp network/memory.cpp
        network/pairs.cpp network/resources.cpp network/way.cpp network/ucx_wire.cpp network/where_device.cpp
        "${CMAKE_CURRENT_SOURCE_DIR}/ucx.cpp")
    target_compile_definitions(ucx_cuda_on_cpu PRIVATE ASSAY_UCX_CUDA OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    target_link_options(ucx_cuda_on_cpu PRIVATE -Wl,--wrap=ucp_mem_map -Wl,--wrap=ucp_mem_unmap)
endif()

assay_contract_on_cpu(hip ASSAY_CPU_DEVICES=3 ASSAY_CPU_DEVICE_MIB=2048 ASSAY_CPU_LANES=64 ASSAY_CPU_CAPABILITY=94)
# Some libraries can more than kernels, which are compiled for 9.0; workspaces are a gibibyte at most.
if(TARGET cufft_on_cpu)
    assay_contract_on_cpu(cufft EACH_VALUE)
    assay_contract_on_cpu(hipfft EACH_VALUE ASSAY_CPU_LANES=64)
endif()
if(TARGET nccl_on_cpu)
    assay_contract_on_cpu(nccl EACH_VALUE ASSAY_CPU_DEVICES=3 ASSAY_CPU_DEVICE_MIB=4096)
    assay_contract_on_cpu(rccl EACH_VALUE ASSAY_CPU_DEVICES=3 ASSAY_CPU_DEVICE_MIB=4096 ASSAY_CPU_LANES=64 ASSAY_CPU_LINK=XGMI)
endif()
if(TARGET cublaslt_on_cpu)
    assay_contract_on_cpu(rocblas EACH_VALUE ASSAY_CPU_LANES=64 ASSAY_CPU_CAPABILITY=94)
    assay_contract_on_cpu(cublaslt EACH_VALUE ASSAY_CPU_CAPABILITY=100 ASSAY_CPU_DEVICE_MIB=2304)
endif()
if(TARGET cudnn_on_cpu)
    assay_contract_on_cpu(cudnn EACH_VALUE ASSAY_CPU_DEVICE_MIB=4096)
endif()
# Several processes with a device each, by the programs that try the same promises on hosts.
function(assay_job_on_cpu name program)
    add_test(NAME ${name}_job_on_cpu COMMAND "${MPIRUN}" -np 2 --host localhost:2 --oversubscribe --bind-to none
        --mca plm isolated --mca pml ob1 --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none
        $<TARGET_FILE:${program}> $<TARGET_FILE:${name}_on_cpu> ${ARGN})
    set_tests_properties(${name}_job_on_cpu PROPERTIES TIMEOUT 240 SKIP_RETURN_CODE 77
        ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;ASSAY_CPU_DEVICES=2;ASSAY_CPU_DEVICE_MIB=4096;ASSAY_HOLD_STREAMS=0")
    add_dependencies(${program} ${name}_on_cpu)
endfunction()
if(TARGET nccl_mpi_on_cpu AND TARGET collective_job)
    assay_job_on_cpu(nccl_mpi collective_job 2 devices)
endif()
if(TARGET ucx_cuda_on_cpu AND TARGET network_job)
    assay_job_on_cpu(ucx_cuda network_job devices)
    set_property(TEST ucx_cuda_job_on_cpu APPEND PROPERTY ENVIRONMENT UCX_TLS=tcp,cuda_copy UCX_NET_DEVICES=lo)
endif()

if(TARGET nccl_on_cpu)
    assay_test(nccl_on_cpu_test SOURCES nccl_group_test.cpp LINK device_on_cpu assay_counter ${CMAKE_DL_LIBS}
        LABELS device_on_cpu)
    target_compile_definitions(nccl_on_cpu_test PRIVATE ASSAY_MODULES_ON_CPU="${on_cpu_modules}")
    add_dependencies(nccl_on_cpu_test nccl_on_cpu)
    # RCCL as it is found: whole, too old, and no library at all.
    add_library(pretended_rccl MODULE pretended_rccl.cpp)
    set_target_properties(pretended_rccl PROPERTIES OUTPUT_NAME rccl SUFFIX ".so.1" PREFIX "lib"
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/rccl_old")
    file(WRITE "${PROJECT_BINARY_DIR}/tests/rccl_none/librccl.so.1" "no library")
    add_executable(rccl_on_cpu_test rccl_test.cpp)
    target_link_libraries(rccl_on_cpu_test PRIVATE device_on_cpu assay_counter assay_warnings assay_benchmark_sanitizers
        ${CMAKE_DL_LIBS} GTest::gmock_main)
    target_compile_definitions(rccl_on_cpu_test PRIVATE ASSAY_MODULES_ON_CPU="${on_cpu_modules}")
    set_target_properties(rccl_on_cpu_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    target_link_options(rccl_on_cpu_test PRIVATE -Wl,--enable-new-dtags) # likewise; sanitized, the caller is this program
    add_dependencies(rccl_on_cpu_test rccl_on_cpu pretended_rccl)
    file(CREATE_LINK "${on_cpu_modules}/lib" "${PROJECT_BINARY_DIR}/tests/rccl_whole" SYMBOLIC)
    foreach(found IN ITEMS whole old none)
        add_test(NAME rccl_on_cpu_${found} COMMAND rccl_on_cpu_test)
        set_tests_properties(rccl_on_cpu_${found} PROPERTIES LABELS device_on_cpu ENVIRONMENT
            "ASSAY_RCCL_FOUND=${found};LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/tests/rccl_${found};ASSAY_CPU_LANES=64;ASSAY_CPU_LINK=XGMI")
    endforeach()
endif()
# What the ranks of a job tell each other.
if(TARGET nccl_mpi_on_cpu AND MPIRUN)
    add_executable(nccl_job nccl_job.cpp)
    target_sources(nccl_job PRIVATE "${benchmarks}/collective/nccl_choice.cpp" "${benchmarks}/collective/nccl_fit.cpp"
        "${benchmarks}/collective/nccl_job.cpp" "${benchmarks}/collective/traffic.cpp" "${benchmarks}/collective/world.cpp")
    assay_on_cpu_target(nccl_job)
    target_link_libraries(nccl_job PRIVATE device_on_cpu_tools nccl_library_on_cpu MPI::MPI_CXX)
    target_compile_definitions(nccl_job PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    set_target_properties(nccl_job PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    add_test(NAME nccl_job COMMAND "${MPIRUN}" -np 2 --host localhost:2 --oversubscribe --bind-to none
        --mca plm isolated --mca pml ob1 --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none
        $<TARGET_FILE:nccl_job>)
    set_tests_properties(nccl_job PROPERTIES TIMEOUT 120
        ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;ASSAY_CPU_DEVICES=2")
endif()
# Module cublaslt with another library than the one it was built with.
if(TARGET cublaslt_on_cpu)
    add_library(pretended_cublaslt MODULE pretended_cublaslt.cpp)
    target_include_directories(pretended_cublaslt SYSTEM PRIVATE "${ASSAY_CUDA_HEADERS}")
    set_target_properties(pretended_cublaslt PROPERTIES OUTPUT_NAME cublasLt SUFFIX ".so.13" PREFIX "lib"
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/cublaslt")
    assay_test(cublaslt_on_cpu_test SOURCES cublaslt_test.cpp "${benchmarks}/gemm/cublaslt_library.cpp"
        "${benchmarks}/gemm/cublaslt_product.cpp" LINK assay_counter device_on_cpu ${CMAKE_DL_LIBS} LABELS device_on_cpu)
    target_include_directories(cublaslt_on_cpu_test PRIVATE "${benchmarks}" "${CMAKE_CURRENT_BINARY_DIR}/cublaslt")
    # Found here and not where CUDA is.
    set_property(TARGET cublaslt_on_cpu_test APPEND PROPERTY BUILD_RPATH "${PROJECT_BINARY_DIR}/tests/cublaslt")
    add_dependencies(cublaslt_on_cpu_test pretended_cublaslt)
endif()

if(TARGET cufft_on_cpu AND TARGET cublaslt_on_cpu AND TARGET nccl_on_cpu)
    assay_test(libraries_on_cpu SOURCES libraries_test.cpp LINK assay_counter device_on_cpu ${CMAKE_DL_LIBS})
    target_compile_definitions(libraries_on_cpu PRIVATE ASSAY_MODULES_ON_CPU="${on_cpu_modules}")
    add_dependencies(libraries_on_cpu cufft_on_cpu cublaslt_on_cpu nccl_on_cpu)
endif()

# Graphs of cuDNN, offered to the real library, which needs no device for that, and to ours.
if(TARGET cudnn_on_cpu)
    function(assay_cudnn_graphs name library)
        assay_test(${name} SOURCES cudnn_graph_test.cpp "${benchmarks}/workload/cudnn_graph.cpp"
            LINK assay_counter ${CMAKE_DL_LIBS} LABELS device_on_cpu)
        target_include_directories(${name} PRIVATE "${benchmarks}")
        target_include_directories(${name} SYSTEM PRIVATE "${ASSAY_CUDA_HEADERS}")
        target_compile_definitions(${name} PRIVATE ASSAY_LIBCUDA="${ASSAY_CUDA_HEADERS}/../lib64/stubs/libcuda.so")
        set_property(TARGET ${name} APPEND PROPERTY BUILD_RPATH "${library}")
    endfunction()
    assay_cudnn_graphs(cudnn_graph_on_cpu_test "${on_cpu_modules}/lib")
    add_dependencies(cudnn_graph_on_cpu_test cudnn_on_cpu_opened)
    if(CUDNN_LIBRARY)
        get_filename_component(folder "${CUDNN_LIBRARY}" DIRECTORY)
        assay_cudnn_graphs(cudnn_graph_test "${folder}")
    endif()
    assay_test(cudnn_on_cpu_test SOURCES cudnn_test.cpp LINK assay_counter device_on_cpu ${CMAKE_DL_LIBS}
        LABELS device_on_cpu)
    target_compile_definitions(cudnn_on_cpu_test PRIVATE ASSAY_MODULES_ON_CPU="${on_cpu_modules}")
    add_dependencies(cudnn_on_cpu_test cudnn_on_cpu)
endif()

# Which of them have run on the CPU is what tests/gpu/status.md says.
add_test(NAME contract_on_cpu_status COMMAND module_contract "--gtest_filter=Modules.OfDevices*")
set_tests_properties(contract_on_cpu_status PROPERTIES ENVIRONMENT
    "ASSAY_CONTRACT_FOLDER=${on_cpu_modules};ASSAY_HOLD_STREAMS=0;ASSAY_CPU_DEVICES=3;ASSAY_CPU_DEVICE_MIB=4096")
