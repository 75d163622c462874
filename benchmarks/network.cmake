# What the modules `ucx`, `ucx_cuda` and `ofi` share: the benchmarks of pairs, and the job whose ranks meet over MPI.

# assay_network_benchmarks(<module> <source>...): with what carries the messages, and where their data lies.
function(assay_network_benchmarks module)
    target_include_directories(assay_module_${module} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    target_compile_definitions(assay_module_${module} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    target_sources(assay_module_${module} PRIVATE collective/world.cpp collective/ranks.cpp collective/traffic.cpp
        network/lanes.cpp network/meeting.cpp network/memory.cpp network/pairs.cpp network/way.cpp ${ARGN})
    assay_benchmark(${module} network::put network/put.cpp)
    assay_benchmark(${module} network::get network/get.cpp)
    assay_benchmark(${module} network::ping_pong network/ping_pong.cpp)
    assay_benchmark(${module} network::message_rate network/message_rate.cpp)
    assay_finish_module(${module})
endfunction()
