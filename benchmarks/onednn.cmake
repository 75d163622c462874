# The module `onednn`. Found by header and file: its CMake package insists on OpenCL's development
# files, which a CPU needs not.
find_package(OpenMP COMPONENTS CXX)
find_path(ONEDNN_INCLUDE dnnl.hpp)
find_library(ONEDNN_LIBRARY dnnl)
mark_as_advanced(ONEDNN_INCLUDE ONEDNN_LIBRARY)
if(NOT ONEDNN_INCLUDE OR NOT ONEDNN_LIBRARY OR NOT OpenMP_CXX_FOUND)
    message(STATUS "Module onednn is left out: it needs libdnnl-dev (or set ONEDNN_INCLUDE and "
        "ONEDNN_LIBRARY) and a compiler with OpenMP")
    return()
endif()

assay_module(onednn HOOKS gemm/onednn.cpp LINK OpenMP::OpenMP_CXX)
target_include_directories(assay_module_onednn SYSTEM PRIVATE "${ONEDNN_INCLUDE}")
target_link_libraries(assay_module_onednn PRIVATE "${ONEDNN_LIBRARY}")
assay_benchmark(onednn gemm::onednn_square)
assay_benchmark(onednn workload::convolution workload/convolution.cpp)
assay_benchmark(onednn workload::convolution3d workload/convolution3d.cpp)
assay_benchmark(onednn workload::transformer_layer workload/transformer.cpp)
assay_benchmark(onednn model::image_classification model/image_classification.cpp)
if(TARGET assay_kernels_llm) # Highway was found
    target_link_libraries(assay_module_onednn PRIVATE assay_kernels_attention assay_kernels_llm hwy::hwy)
    assay_benchmark(onednn model::llm_decode model/onednn_llm.cpp)
    assay_benchmark(onednn model::llm_prefill)
endif()
assay_finish_module(onednn)
