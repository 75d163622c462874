# The module `rocblas`: matrix products of AMD's library, which is opened at run time.
assay_hip_module(rocblas HOOKS gemm/rocblas_square.cpp)
target_link_libraries(assay_module_rocblas PRIVATE ${CMAKE_DL_LIBS})
target_sources(assay_module_rocblas PRIVATE gemm/device_matrices.cpp gemm/device_matrices.cu device/block.cu
    device/clock.cpp device/flush.cu device/output.cu device/properties.cpp)
assay_benchmark(rocblas gemm::rocblas_square)
assay_finish_hip_module(rocblas)
