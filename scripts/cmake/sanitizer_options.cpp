// SPDX-License-Identifier: Apache-2.0
//
// The options of the address sanitizer in all programs of the build with sanitizers; ASAN_OPTIONS adds to them. A worker
// gets no such variable, and tests start hundreds: each would look for leaks at its end, keep 256 MB of freed memory,
// and note thirty functions for each allocation, which together take half of its time. What is looked for in the tests'
// own processes is in AssayTargets.cmake.

// NOLINTBEGIN: the name that the sanitizer calls
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    // intercept_tls_get_addr: in GCC 12, the leak check takes thread-local storage of oneDNN's threads for its own and
    // crashes at exit ("Tracer caught signal 11").
    return "detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=16:malloc_context_"
           "size=1:"
           "intercept_tls_get_addr=0";
}
// NOLINTEND
