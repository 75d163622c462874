// SPDX-License-Identifier: Apache-2.0
#include "machine/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace assay::machine {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// What could not be printed becomes '?'.
std::string printable(std::string text) {
    std::ranges::replace_if(text, [](char c) { return (c < ' ' || c > '~') && !is_blank(c); }, '?');
    return text;
}

/// Reads up to `limit` bytes. Only regular files: a named pipe would hang, a device surprise us.
std::string read_start(const std::filesystem::path& path, std::size_t limit) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return {};
    std::string content;
    struct stat facts{};
    if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
        // The kernel's files say nothing true about their size: start with a page or so.
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

std::string Files::link_name(const std::filesystem::path& path) const {
    std::error_code problem;
    const auto target = std::filesystem::read_symlink(at(path), problem);
    return problem ? std::string{} : printable(target.filename().string());
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

std::string tidied(std::string_view text) {
    return fmt::format("{}", fmt::join(words(text.substr(0, 200)), " "));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (text = trim(text); !text.empty(); text = trim(text)) {
        const auto length = std::min(text.find_first_of(" \t\r\n"), text.size());
        found.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return found;
}

std::optional<std::int64_t> to_number(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc{} || stop != end || text.empty()) return std::nullopt;
    return value;
}

std::string_view value_of(std::string_view text, std::string_view key, char separator) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const auto middle = line.find(separator);
        if (middle != std::string_view::npos && trim(line.substr(0, middle)) == key)
            return trim(line.substr(middle + 1));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return {};
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string lower(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return result;
}

} // namespace assay::machine
