// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"

#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

namespace assay {
namespace {

/// errno of the first write to stdout that failed; as ferror() of a FILE.
int& first_failure() {
    static int error = 0;
    return error;
}

} // namespace

void open_standard_streams() {
    // The lowest free number is taken, so the loop ends with one above stderr.
    int fd = 0;
    while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
    if (fd >= 0) ::close(fd);
    ::signal(SIGPIPE, SIG_IGN);
}

Result<void> print(std::string_view text) {
    auto& failure = first_failure();
    if (failure == 0 && !write_all(STDOUT_FILENO, text)) failure = errno;
    return printed();
}

Result<void> printed() {
    const int failure = first_failure();
    if (failure == 0 || failure == EPIPE) return {};
    return fail(fmt::format("cannot write to standard output: {}", std::strerror(failure)),
                Fault::environment);
}

void print_error(std::string_view text) { write_all(STDERR_FILENO, text); }

void overwrite_line(std::string_view line) {
    // Back to the first column, clear to the end.
    write_all(STDERR_FILENO, fmt::format("\r\x1b[K{}", line));
}

} // namespace assay
