// SPDX-License-Identifier: Apache-2.0
#include "wisdom_file.hpp"

#include <assay/text.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace assay::fft {
namespace {

// The file: five lines, and then the library's text to the end.
//   assay fft wisdom 1
//   <key>
//   <seconds that planning took>
//   <bytes of the text>
//   <checksum of all of the above but the first line, and of the text>
constexpr std::string_view magic = "assay fft wisdom 1";

/// FNV-1a: sees damage, not malice; whoever can write here can also replace the library.
std::uint64_t checksum(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325U) {
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
    }
    return hash;
}

std::string hexadecimal(std::uint64_t value) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return {digits.data(), end};
}

std::string checked_part(const std::string& key, const Wisdom& wisdom) {
    return joined(key, '\n', wisdom.planning_seconds, '\n', wisdom.text.size(), '\n');
}

/// The file's bytes, or why not; nothing at all where there is no file.
class File {
public:
    explicit File(int descriptor) : descriptor_{descriptor} {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { ::close(descriptor_); }

    bool read_all(std::string& to) const {
        to.resize(largest_wisdom + 1);
        std::size_t got = 0;
        while (got < to.size()) {
            const auto n = ::read(descriptor_, to.data() + got, to.size() - got);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return false;
            if (n == 0) break;
            got += static_cast<std::size_t>(n);
        }
        to.resize(got);
        return true;
    }
    bool write_all(std::string_view text) const {
        while (!text.empty()) {
            const auto n = ::write(descriptor_, text.data(), text.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(n));
        }
        return ::fsync(descriptor_) == 0;
    }
    bool is_regular() const {
        struct stat about{};
        return ::fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode);
    }

private:
    int descriptor_;
};

std::optional<std::string_view> take_line(std::string_view& text) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    return line;
}

template <class Number>
bool parse(std::string_view text, Number& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc{} && end == text.data() + text.size();
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

Reading ignored(std::string why) {
    return {.found = false, .wisdom = {}, .problem = std::move(why)};
}

Reading understand(std::string_view text, const std::string& key) {
    if (text.size() > largest_wisdom) return ignored("is larger than any wisdom");
    if (take_line(text) != magic) return ignored("is no wisdom of this version");
    const auto own_key = take_line(text);
    if (own_key != key) return ignored("is about another plan");
    const auto seconds = take_line(text);
    const auto size = take_line(text);
    const auto sum = take_line(text);
    if (!seconds || !size || !sum) return ignored("is cut off");

    Wisdom wisdom;
    std::size_t bytes = 0;
    if (!parse(*seconds, wisdom.planning_seconds) || !std::isfinite(wisdom.planning_seconds) ||
        wisdom.planning_seconds < 0 || !parse(*size, bytes))
        return ignored("is damaged");
    if (bytes != text.size()) return ignored(bytes > text.size() ? "is cut off" : "is damaged");
    wisdom.text = text;
    if (hexadecimal(checksum(text, checksum(checked_part(key, wisdom)))) != *sum ||
        !is_printable(text))
        return ignored("is damaged");
    return {.found = true, .wisdom = std::move(wisdom), .problem = {}};
}

std::string system_words() { return std::strerror(errno); } // NOLINT(concurrency-mt-unsafe)

} // namespace

std::filesystem::path wisdom_path(const std::filesystem::path& folder, const std::string& key) {
    return folder / (key + ".wisdom");
}

Reading read_wisdom(const std::filesystem::path& folder, const std::string& key) {
    const auto path = wisdom_path(folder, key);
    // Neither a link to elsewhere nor a pipe that never ends.
    const int descriptor =
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); // NOLINT: its form
    if (descriptor < 0) {
        if (errno == ENOENT) return {};
        return ignored("cannot be opened (" + system_words() + ")");
    }
    const File file{descriptor};
    if (!file.is_regular()) return ignored("is no file");
    std::string text;
    if (!file.read_all(text)) return ignored("cannot be read (" + system_words() + ")");
    return understand(text, key);
}

std::string keep_wisdom(const std::filesystem::path& folder, const std::string& key,
                        const Wisdom& wisdom) {
    if (wisdom.text.size() + 1000 > largest_wisdom) return "it is larger than any wisdom";
    const std::string head = checked_part(key, wisdom);
    const std::string text = std::string{magic} + '\n' + head +
                             hexadecimal(checksum(wisdom.text, checksum(head))) + '\n' +
                             wisdom.text;

    const auto path = wisdom_path(folder, key);
    const auto unfinished = joined(path.string(), '.', ::getpid());
    ::unlink(unfinished.c_str()); // left by a process of that number that died here
    {
        constexpr mode_t readable = 0644;
        const int descriptor = ::open(unfinished.c_str(), // NOLINT: its form
                                      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readable);
        if (descriptor < 0) return system_words();
        if (!File{descriptor}.write_all(text)) {
            std::string problem = system_words();
            ::unlink(unfinished.c_str());
            return problem;
        }
    }
    if (::rename(unfinished.c_str(), path.c_str()) == 0) return {};
    std::string problem = system_words();
    ::unlink(unfinished.c_str());
    return problem;
}

} // namespace assay::fft
