// SPDX-License-Identifier: Apache-2.0
//
// How each program of a build with sanitizers treats its memory; a worker gets no variable that could say it.
// NOLINTBEGIN: names that the sanitizer and the C library read

#if defined(__SANITIZE_ADDRESS__)
// ASAN_OPTIONS adds to these. Tests start hundreds of programs: each would look for leaks at its end, keep 256 MB of
// freed memory, and note thirty functions for each allocation, which together take half of its time. What is looked for
// in the tests' own processes is in AssayTargets.cmake.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    // intercept_tls_get_addr: in GCC 12, the leak check takes thread-local storage of oneDNN's threads for its own and
    // crashes at exit ("Tracer caught signal 11").
    return "detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=16:malloc_context_"
           "size=1:"
           "intercept_tls_get_addr=0";
}
#else
// Memory begins and ends with a byte that makes invalid pointers, lengths and text, so that a use before or after its
// time is seen: what the address sanitizer would say at once, at a fraction of its cost.
#include <malloc.h>
static const int pattern_is_set = mallopt(M_PERTURB, 0xA5);
#endif
// NOLINTEND
