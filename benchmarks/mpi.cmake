# The module `mpi`: filled by its benchmarks.
