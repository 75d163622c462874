# The module `onednn`: filled by its benchmarks.
