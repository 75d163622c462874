// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a program, makes one call into the C library fail, or it and all later ones:
//
//     FAIL_NTH=KIND:N:ERRNO:once|always:parent|worker
//
// in `assay` and `assay-report` themselves or in their workers. With N = 0 nothing fails; FAIL_COUNT=FILE gets
// how many calls of KIND there were. FILES_TAKE=MICROSECONDS makes every call that changes files take up to so long, as
// over a network, in every process. CLOCK_SET=SECONDS:FILE sets the wall clock by so much while there is FILE, in every
// process. Counts from main() on: initialisers of libraries that allocate come before it.
// Allocates nothing itself.

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the C library's own names
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace {

char kind[16];
long chosen = 0;
int fault = 0;
bool always = false;
bool armed = false;
std::atomic<long> calls{0};
long most_delay = 0; ///< microseconds
std::atomic<unsigned> dice{1};
long clock_set = 0; ///< seconds, while there is `clock_file`
char clock_file[4096];

bool is_worker() {
    char line[4096] = {};
    const int fd = open("/proc/self/cmdline", O_RDONLY);
    if (fd < 0) return false;
    const auto got = read(fd, line, sizeof line - 1);
    close(fd);
    const char* second = got > 0 ? line + std::strlen(line) + 1 : line;
    return std::strcmp(second, "worker") == 0;
}

void arm() {
    if (const char* delay = std::getenv("FILES_TAKE")) {
        most_delay = std::strtol(delay, nullptr, 10);
        dice = static_cast<unsigned>(getpid());
    }
    if (const char* set = std::getenv("CLOCK_SET"))
        std::sscanf(set, "%ld:%4095s", &clock_set, clock_file);
    const char* wish = std::getenv("FAIL_NTH");
    char how[8] = {};
    char who[8] = {};
    if (wish == nullptr ||
        std::sscanf(wish, "%15[a-z]:%ld:%d:%7[a-z]:%7[a-z]", kind, &chosen, &fault, how, who) != 5)
        return;
    always = std::strcmp(how, "always") == 0;
    armed = is_worker() == (std::strcmp(who, "worker") == 0);
}

__attribute__((destructor)) void report() {
    const char* file = std::getenv("FAIL_COUNT");
    if (!armed || file == nullptr) return;
    armed = false;
    if (std::FILE* out = std::fopen(file, "w")) {
        std::fprintf(out, "%ld\n", calls.load());
        std::fclose(out);
    }
}

/// For a time between nothing and `most_delay`, the same for all calls of a process in the same order.
void wait_as_for_a_server(const char* of) {
    if (most_delay == 0) return;
    bool changes_files = false;
    for (const char* slow : {"write", "fsync", "rename", "mkdir"})
        changes_files = changes_files || std::strcmp(slow, of) == 0;
    if (!changes_files) return;
    const unsigned roll = (dice = dice * 1664525U + 1013904223U) >> 8U; // Numerical Recipes
    const timespec pause{.tv_sec = 0, .tv_nsec = static_cast<long>(roll) % most_delay * 1000};
    nanosleep(&pause, nullptr);
}

/// Is this the call that fails? Sets errno then.
bool fails(const char* of) {
    wait_as_for_a_server(of);
    if (!armed || std::strcmp(kind, of) != 0) return false;
    const long mine = ++calls;
    if (chosen == 0 || (always ? mine < chosen : mine != chosen)) return false;
    errno = fault;
    return true;
}

template <class Function>
Function* real(Function* /*of*/, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, va_list more) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

using Main = int(int, char**, char**);
Main* program = nullptr;
int armed_main(int count, char** arguments, char** environment) {
    arm();
    return program(count, arguments, environment);
}

} // namespace

// NOLINTNEXTLINE(bugprone-macro-parentheses,readability-identifier-naming): `name` is a name
#define FAIL_NTH_REAL(name) static auto* const next = real(&name, #name)
// The C library's function of this name, which fails where its turn is: `failed` is what it returns then.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define FAIL_NTH(kind, failed, result, name, parameters, ...)                                      \
    result name parameters {                                                                       \
        FAIL_NTH_REAL(name);                                                                       \
        return fails(kind) ? failed : next(__VA_ARGS__);                                           \
    }

// With the mode that comes where a file may be made.
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define FAIL_NTH_OPEN(name, parameters, ...)                                                       \
    int name parameters {                                                                          \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        const mode_t mode = mode_of(flags, more);                                                  \
        va_end(more);                                                                              \
        FAIL_NTH_REAL(name);                                                                       \
        return fails("open") ? -1 : next(__VA_ARGS__);                                             \
    }

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
int __libc_start_main(Main* main, int count, char** arguments, void (*begin)(), void (*end)(),
                      void (*unload)(), void* stack) {
    auto* const next = real(&__libc_start_main, "__libc_start_main");
    program = main;
    return next(armed_main, count, arguments, begin, end, unload, stack);
}

FAIL_NTH_OPEN(open, (const char* path, int flags, ...), path, flags, mode)
FAIL_NTH_OPEN(open64, (const char* path, int flags, ...), path, flags, mode)
FAIL_NTH_OPEN(openat, (int folder, const char* path, int flags, ...), folder, path, flags, mode)
FAIL_NTH("open", nullptr, std::FILE*, fopen, (const char* path, const char* mode), path, mode)
FAIL_NTH("open", nullptr, std::FILE*, fopen64, (const char* path, const char* mode), path, mode)
FAIL_NTH("write", -1, ssize_t, write, (int fd, const void* data, std::size_t size), fd, data, size)
FAIL_NTH("write", -1, ssize_t, writev, (int fd, const iovec* parts, int count), fd, parts, count)
FAIL_NTH("write", 0, std::size_t, fwrite,
         (const void* data, std::size_t size, std::size_t count, std::FILE* file), data, size,
         count, file)
FAIL_NTH("fsync", -1, int, fsync, (int fd), fd)
FAIL_NTH("fsync", -1, int, fdatasync, (int fd), fd)
FAIL_NTH("rename", -1, int, rename, (const char* from, const char* to), from, to)
FAIL_NTH("mkdir", -1, int, mkdir, (const char* path, mode_t mode), path, mode)
FAIL_NTH("mmap", MAP_FAILED, void*, mmap,
         (void* at, std::size_t size, int protection, int flags, int fd, off_t offset), at, size,
         protection, flags, fd, offset)
FAIL_NTH("mmap", MAP_FAILED, void*, mmap64,
         (void* at, std::size_t size, int protection, int flags, int fd, off64_t offset), at, size,
         protection, flags, fd, offset)
std::time_t time(std::time_t* out) noexcept {
    FAIL_NTH_REAL(time);
    const bool is_set = clock_set != 0 && access(clock_file, F_OK) == 0;
    const std::time_t now = next(nullptr) + (is_set ? clock_set : 0);
    if (out != nullptr) *out = now;
    return now;
}
/// By the kernel: a sanitizer asks for the time before the C library's function can be found.
int clock_gettime(clockid_t which, timespec* out) noexcept {
    const auto done = static_cast<int>(syscall(SYS_clock_gettime, which, out));
    if (which == CLOCK_REALTIME && clock_set != 0 && access(clock_file, F_OK) == 0)
        out->tv_sec += clock_set;
    return done;
}
FAIL_NTH("fork", -1, pid_t, fork, ())
FAIL_NTH("fork", fault, int, posix_spawn,
         (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
         child, path, actions, attributes, arguments, environment)
FAIL_NTH("fork", fault, int, pthread_create,
         (pthread_t * thread, const pthread_attr_t* attributes, void* (*run)(void*),
          void* argument),
         thread, attributes, run, argument)
FAIL_NTH("socket", -1, int, socket, (int domain, int type, int protocol), domain, type, protocol)
FAIL_NTH("socket", -1, int, socketpair, (int domain, int type, int protocol, int* pair), domain,
         type, protocol, pair)
FAIL_NTH("socket", -1, int, pipe2, (int* ends, int flags), ends, flags)

#ifndef FAIL_NTH_OF_FILES_ALONE
void* malloc(std::size_t size) { return fails("malloc") ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
    return fails("malloc") ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
    return fails("malloc") ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return fails("malloc") ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    if (fails("malloc")) return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out == nullptr ? ENOMEM : 0;
}
#endif
}
