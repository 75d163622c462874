# The module `rccl`: the collectives of module `nccl` by AMD's library, which is opened at run time.
assay_hip_module(rccl HOOKS collective/nccl_alone.cpp)
target_compile_definitions(assay_module_rccl PRIVATE ASSAY_RCCL)
target_include_directories(assay_module_rccl BEFORE PRIVATE hip/rccl)
target_link_libraries(assay_module_rccl PRIVATE ${CMAKE_DL_LIBS})
target_sources(assay_module_rccl PRIVATE collective/nccl_choice.cpp collective/nccl_data.cu collective/nccl_fit.cpp
    collective/nccl_group.cpp collective/nccl_log.cpp collective/rccl_library.cpp collective/traffic.cpp device/block.cu
    device/properties.cpp)
assay_benchmark(rccl collective::device_allreduce collective/nccl_collectives.cpp)
assay_benchmark(rccl collective::device_reduce_scatter)
assay_benchmark(rccl collective::device_allgather)
assay_benchmark(rccl collective::device_broadcast)
assay_benchmark(rccl collective::device_alltoall)
assay_benchmark(rccl collective::device_send_receive)
assay_finish_hip_module(rccl)
