# The module `hip`: kernels of module `cuda` for AMD's Instinct, on HIP's runtime, which workers load with the module.
include(device.cmake)
assay_hip_module(hip HOOKS device/hooks.cpp)
target_sources(assay_module_hip PRIVATE device/block.cu device/clock.cpp device/flush.cu device/output.cu
    device/properties.cpp)
assay_device_benchmarks(hip)
assay_finish_hip_module(hip)
