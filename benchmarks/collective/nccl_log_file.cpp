// SPDX-License-Identifier: Apache-2.0

#include "collective/nccl_log_file.hpp"

#include <assay/text.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace assay::collective {
namespace {

/// -1 where the kernel gives none: then nothing is proved.
int open_log() {
    const int file = ::memfd_create("nccl-log", MFD_CLOEXEC);
    if (file < 0) return file;
    const std::string path = joined("/proc/self/fd/", file);
    constexpr int replace = 1;
    // NOLINTBEGIN(concurrency-mt-unsafe): before the first thread of NCCL
    ::setenv("NCCL_DEBUG", "INFO", replace);
    ::setenv("NCCL_DEBUG_SUBSYS", "INIT,GRAPH,TUNING,ENV,NET,P2P,SHM", replace);
    ::setenv("NCCL_DEBUG_FILE", path.c_str(), replace);
    // NOLINTEND(concurrency-mt-unsafe)
    return file;
}

/// One for the process, as NCCL has one.
int log_of_process() {
    static const int file = open_log();
    return file;
}

std::int64_t size_of(int file) {
    struct stat status{};
    if (file < 0 || ::fstat(file, &status) != 0) return 0;
    return status.st_size;
}

} // namespace

LogFile::LogFile() : file_{log_of_process()}, begin_{size_of(file_)} {}

std::string LogFile::text() const {
    constexpr std::int64_t most = std::int64_t{16} << 20U; // 8 devices write less than one
    const auto length = std::clamp<std::int64_t>(size_of(file_) - begin_, 0, most);
    std::string text(static_cast<std::size_t>(length), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const auto got = ::pread(file_, text.data() + done, text.size() - done,
                                 begin_ + static_cast<std::int64_t>(done));
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

void LogFile::forget() const {
    // NCCL goes on writing where it was, so the length stays.
    if (const auto size = size_of(file_); size > 0)
        ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size);
}

} // namespace assay::collective
