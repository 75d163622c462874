// SPDX-License-Identifier: Apache-2.0
#include "machine/files.hpp"

#include "base/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace assay::machine {
namespace {

/// Replaces unprintable bytes by '?'.
std::string printable(std::string text) {
    std::ranges::replace_if(text, [](char c) { return (c < ' ' || c > '~') && !is_blank(c); }, '?');
    return text;
}

/// Reads up to `limit` bytes. Only regular files: a named pipe or a device could hang.
std::string read_start(const std::filesystem::path& path, std::size_t limit) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return {};
    std::string content;
    struct stat facts{};
    if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
        // The kernel's files do not report their size: start with about a page.
        content.resize(std::min<std::size_t>(limit, 8192));
        std::size_t used = 0;
        while (used < limit) {
            if (used == content.size()) content.resize(std::min(limit, 4 * content.size()));
            const ssize_t got = ::read(fd, content.data() + used, content.size() - used);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            used += static_cast<std::size_t>(got);
        }
        content.resize(used);
    }
    ::close(fd);
    return content;
}

} // namespace

bool Files::exists(const std::filesystem::path& path) const {
    std::error_code ignored;
    return std::filesystem::exists(at(path), ignored);
}

std::string Files::text(const std::filesystem::path& path, std::size_t limit) const {
    std::string content = read_start(at(path), limit);
    // A NUL ends texts that come from a device tree.
    if (const auto end = content.find('\0'); end != std::string::npos) content.resize(end);
    return printable(std::move(content));
}

std::string Files::line(const std::filesystem::path& path) const {
    const std::string content = text(path, 4096);
    const std::string_view all = trim(content);
    return tidied(all.substr(0, all.find('\n')));
}

std::optional<std::int64_t> Files::number(const std::filesystem::path& path) const {
    const std::string content = line(path);
    const auto parts = words(content);
    return parts.empty() ? std::nullopt : to_number(parts.front());
}

std::vector<std::string> Files::names(const std::filesystem::path& folder) const {
    std::vector<std::string> found;
    std::error_code problem;
    std::filesystem::directory_iterator entry{at(folder), problem};
    while (!problem && entry != std::filesystem::directory_iterator{} && found.size() < 10'000) {
        found.push_back(printable(entry->path().filename().string()));
        entry.increment(problem);
    }
    std::ranges::sort(found);
    return found;
}

std::string Files::bytes(const std::filesystem::path& path, std::size_t limit) const {
    return read_start(at(path), limit);
}

std::string Files::link_target(const std::filesystem::path& path) const {
    std::error_code problem;
    const auto target = std::filesystem::read_symlink(at(path), problem);
    return problem ? std::string{} : printable(target.string());
}

std::string Files::link_name(const std::filesystem::path& path) const {
    return std::filesystem::path{link_target(path)}.filename().string();
}

} // namespace assay::machine
