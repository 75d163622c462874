# The module `cufft`: NVIDIA's library for Fourier transforms, part of the CUDA Toolkit.
if(NOT TARGET CUDA::cufft)
    message(STATUS "Module cufft is left out: the CUDA Toolkit has no cuFFT (Debian: libcufft-dev)")
    return()
endif()

assay_cuda_module(cufft HOOKS fft/device_transform.cu LINK CUDA::cufft)
assay_benchmark(cufft fft::device_transform)
# Found again at run time, whatever the loader's search path says, as in openblas.cmake.
get_target_property(cufft_library CUDA::cufft IMPORTED_LOCATION)
get_filename_component(cufft_folder "${cufft_library}" DIRECTORY)
set_property(TARGET assay_module_cufft APPEND PROPERTY INSTALL_RPATH "${cufft_folder}")
assay_finish_module(cufft)
