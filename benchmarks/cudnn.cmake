# The module `cudnn`: convolutions and attention by NVIDIA's library for neural networks, through its graph interface.
# Found by its header: the library itself is opened at run time (workload/cudnn_graph.cpp).
find_path(CUDNN_INCLUDE cudnn_graph.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(CUDNN_INCLUDE CUDNN_LIBRARY)
set(cudnn_attention "")
if(CUDNN_INCLUDE)
    file(STRINGS "${CUDNN_INCLUDE}/cudnn_graph.h" cudnn_attention REGEX "CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC")
endif()
if(NOT cudnn_attention)
    message(STATUS "Module cudnn is left out: it needs a cuDNN 9 that has attention as one operation (9.19 has; "
        "libcudnn9-dev-cuda-13, or set CUDNN_INCLUDE)")
    return()
endif()

assay_cuda_module(cudnn HOOKS workload/cudnn_convolution.cu LINK ${CMAKE_DL_LIBS})
target_include_directories(assay_module_cudnn SYSTEM PRIVATE "${CUDNN_INCLUDE}")
target_sources(assay_module_cudnn PRIVATE workload/cudnn_graph.cpp)
assay_benchmark(cudnn workload::device_convolution)
assay_benchmark(cudnn workload::device_convolution3d)
assay_benchmark(cudnn workload::cudnn_attention workload/cudnn_attention.cu)
assay_benchmark(cudnn model::cudnn_image_classification model/cudnn_image_classification.cu)
# Opened at run time, here first, whatever the loader's search path says.
if(CUDNN_LIBRARY)
    get_filename_component(cudnn_folder "${CUDNN_LIBRARY}" DIRECTORY)
    set_property(TARGET assay_module_cudnn APPEND PROPERTY INSTALL_RPATH "${cudnn_folder}")
    set_property(TARGET assay_module_cudnn APPEND PROPERTY BUILD_RPATH "${cudnn_folder}")
endif()
assay_finish_module(cudnn)
