# The module `openblas`: filled by its benchmarks.
