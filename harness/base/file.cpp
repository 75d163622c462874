// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace assay {
namespace {

/// An open file that closes itself.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_{fd} {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    explicit operator bool() const { return fd_ >= 0; }
    int get() const { return fd_; }

private:
    int fd_;
};

tl::unexpected<Error> system_error(std::string_view action, const std::filesystem::path& path) {
    return fail(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(errno)),
                Fault::environment);
}

} // namespace

bool write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

void flush_folder(const std::filesystem::path& folder) {
    const Descriptor fd{
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (fd) ::fsync(fd.get());
}

Result<void> write_atomically(const std::filesystem::path& path, std::string_view content) {
    const std::string temporary = fmt::format("{}.{}.tmp", path.string(), ::getpid());
    {
        const Descriptor fd{
            ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
        if (!fd) return system_error("write", path);
        if (!write_all(fd.get(), content) || ::fsync(fd.get()) != 0) {
            auto error = system_error("write", path);
            ::unlink(temporary.c_str());
            return error;
        }
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        auto error = system_error("write", path);
        ::unlink(temporary.c_str());
        return error;
    }
    flush_folder(path.parent_path());
    return {};
}

Result<std::string> read_whole(const std::filesystem::path& path, std::size_t limit) {
    // O_NONBLOCK: a named pipe must not hang us.
    const Descriptor fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (!fd) return fail(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
    struct stat facts{};
    if (::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return fail(fmt::format("cannot read {}: not a regular file", path.string()));
    const auto too_large = [&] {
        return fail(
            fmt::format("{} is larger than {} bytes, the most that is read", path.string(), limit));
    };
    if (std::cmp_greater(facts.st_size, limit)) return too_large();
    std::string content;
    // A parser that reads in blocks wants room behind the end (simdjson: 64 bytes).
    constexpr std::size_t room = 64;
    content.reserve(static_cast<std::size_t>(facts.st_size) + room);
    std::array<char, 1U << 16U> block{};
    for (;;) {
        const ssize_t got = ::read(fd.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return fail(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
        if (got == 0) return content;
        content.append(block.data(), static_cast<std::size_t>(got));
        if (content.size() > limit) return too_large();
    }
}

Layout layout() {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const auto root = program.parent_path().parent_path();
    return {.programs = root / "bin",
            .modules = root / "lib" / "assay",
            .share = root / "share" / "assay"};
}

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

} // namespace assay
