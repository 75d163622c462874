// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "base/text.hpp"
#include "base/utc.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

namespace assay {
namespace {

tl::unexpected<Error> system_error(std::string_view action, const std::filesystem::path& path) {
    return fail(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(errno)),
                Fault::environment);
}

/// Never 0, 1 or 2: what somebody prints would be written into it.
Descriptor open_file(const std::filesystem::path& path, int flags) {
    Descriptor file{::open(path.c_str(), flags | O_CLOEXEC, 0644)};
    if (!file || file.get() > STDERR_FILENO) return file;
    return Descriptor{::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
}

/// The descriptor that a path like /dev/fd/63, a shell's `>(command)`, stands for; -1: none.
int descriptor_named(const std::filesystem::path& path) {
    const auto folder = path.parent_path();
    if (folder != "/dev/fd" && folder != "/proc/self/fd") return -1;
    return static_cast<int>(to_number(path.filename().string()).value_or(-1));
}

/// Where the links at `path` lead, be it there or not: /dev/stdout is one to /proc/self/fd/1.
std::filesystem::path behind_links(std::filesystem::path path) {
    constexpr int most = 40; // as many as the kernel follows
    std::error_code error;
    for (int link = 0; link < most && descriptor_named(path) < 0; ++link) {
        const auto next = std::filesystem::read_symlink(path, error);
        if (error) break;
        path = path.parent_path() / next;
    }
    return path;
}

/// Bytes up to the end of the last whole line of the first `size`; -1 where they cannot be read.
off_t whole_lines(int fd, off_t size) {
    std::array<char, 4096> block{};
    while (size > 0) {
        const auto length = std::min<std::size_t>(block.size(), static_cast<std::size_t>(size));
        const off_t begin = size - static_cast<off_t>(length);
        if (!std::cmp_equal(::pread(fd, block.data(), length, begin), length)) return -1;
        const auto end = std::string_view{block.data(), length}.rfind('\n');
        if (end != std::string_view::npos) return begin + static_cast<off_t>(end) + 1;
        size = begin;
    }
    return 0;
}

/// False leaves the reason in errno.
bool lock(int fd, std::chrono::milliseconds patience) {
    constexpr std::chrono::milliseconds pause{10};
    const auto end = std::chrono::steady_clock::now() + patience;
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(pause);
    }
    return true;
}

constexpr std::string_view draft_begins = ".assay-";
constexpr std::string_view draft_ends = ".tmp";
constexpr std::size_t draft_bytes = 16; // of its token

bool is_there(const std::filesystem::path& path) {
    struct stat facts{};
    return ::lstat(path.c_str(), &facts) == 0;
}

} // namespace

void Descriptor::close() {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
}

Draft make_draft(const std::filesystem::path& folder, DraftOf kind) {
    for (;;) {
        Draft draft{.path = folder / fmt::format("{}{}{}", draft_begins, random_token(draft_bytes),
                                                 draft_ends)};
        if (kind == DraftOf::folder && ::mkdir(draft.path.c_str(), 0777) != 0) return draft;
        draft.held = kind == DraftOf::folder
                         ? open_file(draft.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
                         : open_file(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
        if (!draft.held) return draft;
        // Between making and locking it, another process may take it for abandoned. Some file systems have no locks.
        const bool taken =
            ::flock(draft.held.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!taken && is_there(draft.path)) return draft;
    }
}

bool is_draft(const std::filesystem::path& path) {
    const auto name = path.filename().string();
    return name.size() == draft_begins.size() + 2 * draft_bytes + draft_ends.size() &&
           name.starts_with(draft_begins) && name.ends_with(draft_ends);
}

void remove_abandoned_drafts(const std::filesystem::path& folder) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry{folder.empty() ? "." : folder, error}, end;
         !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        const auto type = entry->symlink_status(ignored).type();
        const bool is_ours = type == std::filesystem::file_type::directory ||
                             type == std::filesystem::file_type::regular;
        if (!is_ours || !is_draft(entry->path())) continue;
        const Descriptor held{
            ::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
        if (held && ::flock(held.get(), LOCK_EX | LOCK_NB) == 0)
            std::filesystem::remove_all(entry->path(), ignored);
    }
}

LineFile::LineFile(std::filesystem::path path, Descriptor descriptor)
    : path_{std::move(path)}, descriptor_{std::move(descriptor)} {}

Result<LineFile> LineFile::open(const std::filesystem::path& path,
                                std::chrono::milliseconds patience) {
    LineFile file{path, open_file(path, O_RDWR | O_CREAT | O_APPEND)};
    const int fd = file.descriptor_.get();
    if (fd < 0) return system_error("write", path);
    if (!lock(fd, patience))
        return errno == EWOULDBLOCK
                   ? fail(fmt::format("{} is being written by another run", path.string()),
                          Fault::environment)
                   : system_error("lock", path);
    const auto bytes = whole_lines(fd, ::lseek(fd, 0, SEEK_END));
    if (bytes < 0) return system_error("read", path);
    if (::ftruncate(fd, bytes) != 0) return system_error("write", path);
    file.bytes_ = static_cast<std::uint64_t>(bytes);
    return file;
}

bool is_being_written(const std::filesystem::path& path) {
    const Descriptor fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<void> LineFile::add(std::string line) {
    line += '\n';
    if (write_all(descriptor_.get(), line) && ::fdatasync(descriptor_.get()) == 0) {
        bytes_ += line.size();
        return {};
    }
    auto error = system_error("write", path_);
    // Half a line must not stay: the next one would be glued to it. Where it cannot be taken back,
    // nothing more is written.
    if (::ftruncate(descriptor_.get(), static_cast<off_t>(bytes_)) != 0) descriptor_.close();
    return error;
}

bool write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN) { // a terminal or pipe that somebody made non-blocking
            pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
            ::poll(&ready, 1, -1);
            continue;
        }
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

TemporaryFolder::TemporaryFolder() {
    std::error_code failed;
    const auto folder = std::filesystem::temp_directory_path(failed) / ("assay-" + random_token());
    if (!failed && ::mkdir(folder.c_str(), 0700) == 0) path_ = folder;
}
TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string random_token(std::size_t bytes) {
    std::string raw(bytes, '\0');
    std::size_t have = 0;
    while (have < bytes) {
        const auto got = ::getrandom(raw.data() + have, bytes - have, 0);
        if (got > 0) have += static_cast<std::size_t>(got);
    }
    std::string text;
    for (const char byte : raw) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

Result<void> make_folders(const std::filesystem::path& folder) {
    std::error_code error;
    if (folder.empty() || std::filesystem::is_directory(folder, error)) return {};
    ASSAY_TRY(make_folders(folder.parent_path()));
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
        return system_error("create", folder);
    flush_folder(folder.parent_path());
    return {};
}

Result<void> write_atomically(const std::filesystem::path& path, std::string_view content) {
    return write_atomically(path, [&](const Sink& sink) { return sink(content); });
}

Result<void> write_atomically(const std::filesystem::path& path, const Produce& produce) {
    const auto write_to = [&](int fd) {
        return produce([fd](std::string_view part) { return write_all(fd, part); });
    };
    const auto target = behind_links(path);
    if (const int fd = descriptor_named(target); fd >= 0)
        return write_to(fd) ? Result<void>{} : system_error("write", path);
    // By its own name: the system may forbid to follow a link that somebody else planted.
    struct stat before{};
    const bool exists = ::stat(path.c_str(), &before) == 0;
    if (!exists && errno != ENOENT) return system_error("write", path);
    std::error_code ignored;
    if (const auto folder = target.parent_path();
        !folder.empty() && !std::filesystem::exists(folder, ignored))
        return fail(fmt::format("cannot write {}: folder {} does not exist; create it: mkdir -p {}",
                                path.string(), folder.string(), folder.string()),
                    Fault::environment);
    if (exists && !S_ISREG(before.st_mode)) {
        const auto file = open_file(path, O_WRONLY);
        return file && write_to(file.get()) ? Result<void>{} : system_error("write", path);
    }
    const auto draft = make_draft(target.parent_path(), DraftOf::file);
    const auto& [temporary, file] = draft;
    const auto written = [&] {
        if (!file) return false;
        if (exists) { // the owner, where the system allows it; first, because it clears bits of the mode
            [[maybe_unused]] const int kept = ::fchown(file.get(), before.st_uid, before.st_gid);
            ::fchmod(file.get(), before.st_mode & ~static_cast<mode_t>(S_IFMT));
        }
        return write_to(file.get()) && ::fsync(file.get()) == 0;
    };
    if (!written() || ::rename(temporary.c_str(), target.c_str()) != 0) {
        auto error = system_error("write", path);
        ::unlink(temporary.c_str());
        return error;
    }
    flush_folder(target.parent_path());
    return {};
}

Result<std::string> read_whole(const std::filesystem::path& path, std::size_t limit) {
    const auto unreadable = [&] {
        const int cause = errno;
        auto error = system_error("read", path);
        constexpr std::array of_the_file{ENOENT, ENOTDIR, EISDIR,      EACCES,
                                         EPERM,  ELOOP,   ENAMETOOLONG};
        if (std::ranges::find(of_the_file, cause) != of_the_file.end())
            error.value().fault = Fault::usage;
        return error;
    };
    const auto not_regular = [&] {
        return fail(fmt::format("cannot read {}: not a regular file", path.string()));
    };
    // Opening a device may do something: it is not opened unless it takes the file's place in between. Nor may a named
    // pipe hang us, or a terminal become ours.
    struct stat facts{};
    if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) return not_regular();
    const Descriptor fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (!fd) return unreadable();
    if (::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return not_regular();
    const auto too_large = [&] {
        return fail(
            fmt::format("{} is larger than {} bytes, the most that is read", path.string(), limit));
    };
    if (std::cmp_greater(facts.st_size, limit)) return too_large();
    std::string content;
    // A parser that reads in blocks needs padding after the end (simdjson: 64 bytes).
    constexpr std::size_t room = 64;
    content.reserve(static_cast<std::size_t>(facts.st_size) + room);
    std::array<char, 1U << 16U> block{};
    for (;;) {
        const ssize_t got = ::read(fd.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return unreadable();
        if (got == 0) return content;
        content.append(block.data(), static_cast<std::size_t>(got));
        if (content.size() > limit) return too_large();
    }
}

Result<std::string> read_text(const std::filesystem::path& path, std::size_t limit) {
    ASSAY_TRY(auto content, read_whole(path, limit));
    content.erase(0, content.size() - without_mark(content).size());
    return content;
}

Layout layout() {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const auto root = program.parent_path().parent_path();
    return {.programs = root / "bin",
            .modules = root / "lib" / "assay",
            .share = root / "share" / "assay"};
}

std::string utc_now() { return utc_of(steady_seconds_now()); }

} // namespace assay
