# The module `mpi`: whichever MPI the compiler wrapper on the path stands for.
find_package(MPI COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
    message(STATUS "Module mpi is left out: it needs an MPI (Debian: libopenmpi-dev and openmpi-bin)")
    return()
endif()

assay_module(mpi HOOKS collective/mpi_collectives.cpp LINK MPI::MPI_CXX)
# The C interface alone: Open MPI's old C++ one would pull in another library and its warnings.
target_include_directories(assay_module_mpi PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}") # for the gemm
target_compile_definitions(assay_module_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_sources(assay_module_mpi PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/collective/world.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/collective/ranks.cpp"
    "${CMAKE_CURRENT_SOURCE_DIR}/collective/traffic.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/collective/transport.cpp")
assay_benchmark(mpi collective::allreduce)
assay_benchmark(mpi collective::allgather)
assay_benchmark(mpi collective::alltoall)
assay_benchmark(mpi collective::broadcast)
assay_benchmark(mpi collective::reduce_scatter)
assay_benchmark(mpi collective::overlap collective/overlap.cpp)
assay_benchmark(mpi collective::pairs collective/pairs.cpp)
assay_benchmark(mpi collective::fabric collective/fabric.cpp)
assay_benchmark(mpi collective::send_receive)
assay_finish_module(mpi)
