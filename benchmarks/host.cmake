# The module `host`: filled by its benchmarks.
