// SPDX-License-Identifier: Apache-2.0
#include "base/console.hpp"

#include "base/file.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <system_error>

namespace assay {
namespace {

constexpr char32_t escape = 0x1B;

void append(std::string& out, char32_t code) {
    const auto put = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0U | (code >> 6U));
        put(0x80U | (code & 0x3FU));
    } else if (code < 0x10000) {
        put(0xE0U | (code >> 12U));
        put(0x80U | ((code >> 6U) & 0x3FU));
        put(0x80U | (code & 0x3FU));
    } else {
        put(0xF0U | (code >> 18U));
        put(0x80U | ((code >> 12U) & 0x3FU));
        put(0x80U | ((code >> 6U) & 0x3FU));
        put(0x80U | (code & 0x3FU));
    }
}

/// Marks that reorder or hide text ("Trojan source"), and line separators of Unicode.
bool is_treacherous(char32_t code) {
    const auto within = [&](char32_t first, char32_t last) {
        return code >= first && code <= last;
    };
    return within(0x200B, 0x200F) || within(0x2028, 0x202E) || within(0x2060, 0x206F) ||
           code == 0x061C || code == 0xFEFF || within(0xE0000, 0xE007F) || within(0xFFF9, 0xFFFB) ||
           code == 0xFFFE || code == 0xFFFF;
}
bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code <= 0x9F); }

/// Skips the rest of an escape sequence whose ESC is already taken: ESC [ ... letter, or a string
/// (ESC ] and the like) up to BEL or ESC \, or ESC and one character.
void skip_escape(std::string_view& text) {
    if (text.empty()) return;
    const char kind = text.front();
    text.remove_prefix(1);
    if (kind == '[') {
        while (!text.empty() && text.front() >= 0x20 && text.front() <= 0x3F) text.remove_prefix(1);
        if (!text.empty() && text.front() >= 0x40 && text.front() <= 0x7E) text.remove_prefix(1);
    } else if (kind == ']' || kind == 'P' || kind == '_' || kind == '^' || kind == 'X') {
        const auto end = text.find_first_of("\a\x1B");
        text.remove_prefix(end == std::string_view::npos ? text.size() : end);
        if (!text.empty() && text.front() == '\a') text.remove_prefix(1);
    }
}

/// How much at the front is plain ASCII, as nearly all is.
std::size_t printable_length(std::string_view text) {
    const auto end = std::ranges::find_if(text, [](char c) { return c < 0x20 || c >= 0x7F; });
    return static_cast<std::size_t>(end - text.begin());
}

/// Takes the next character that may be shown, line breaks and tabs among them; 0 at the end.
char32_t take_visible(std::string_view& text) {
    while (!text.empty()) {
        const auto code = take_character(text);
        if (code == escape)
            skip_escape(text);
        else if (is_blank(static_cast<char>(code)) && code < 0x80)
            return code;
        else if (!is_control(code) && !is_treacherous(code))
            return code;
    }
    return 0;
}

/// errno of the first write to stdout that failed; as ferror() of a FILE.
int& first_failure() {
    static int error = 0;
    return error;
}

/// With every character above U+007F as an escape of JSON (backslash, u, four hex digits), which says the same.
std::string ascii_json(std::string_view json) {
    std::string out;
    while (!json.empty()) {
        const auto code = take_character(json);
        if (code < 0x80)
            out += static_cast<char>(code);
        else if (code < 0x10000)
            out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
        else // two surrogates
            out += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0U + (code >> 10U),
                               0xDC00U + (code & 0x3FFU));
    }
    return out;
}

Result<void> to_stdout(std::string_view text) {
    auto& failure = first_failure();
    if (failure == 0 && !write_all(STDOUT_FILENO, text)) failure = errno;
    return printed();
}

} // namespace

bool is_plain(std::string_view text) {
    constexpr std::size_t longest = 1000; // as the limit of plain()
    return text.size() <= longest && printable_length(text) == text.size();
}

std::string plain(std::string_view text, std::size_t limit) {
    if (text.size() <= limit && printable_length(text) == text.size())
        return std::string{text}; // nearly always
    std::string out;
    out.reserve(std::min(text.size(), limit));
    for (std::size_t characters = 0; const auto code = take_visible(text);) {
        if (++characters > limit) return out + "…";
        append(out, code < 0x20 ? U' ' : code);
    }
    return out;
}

std::string shown(std::string_view text, bool colour) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        if (const auto length = std::max(printable_length(text), colour ? painted_at(text) : 0);
            length > 0) {
            out += text.substr(0, length);
            text.remove_prefix(length);
        } else if (const auto code = take_visible(text); code != 0 && code != '\r') {
            if (code >= 0x80 && ascii_only())
                out += ascii_of(code);
            else
                append(out, code);
        }
    }
    return out;
}

bool open_standard_streams() {
    // The lowest free number is taken, so the loop ends with one above stderr.
    int fd = 0;
    while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
    if (fd >= 0) ::close(fd);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN); // writing beyond `ulimit -f` fails with EFBIG
    rlimit stack{};
    constexpr rlim_t least = rlim_t{1} << 20U; // bytes; threads take as much
    if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < least) {
        constexpr std::string_view words =
            "error: the stack limit is below 1 MiB: ulimit -s 8192\n";
        write_all(STDERR_FILENO, words);
        return false;
    }
    use_ascii(locale_is_ascii());
    return true;
}

Result<void> print(std::string_view text) {
    return to_stdout(shown(text, terminal_of(STDOUT_FILENO).colour));
}

Result<void> print_json(std::string_view json) {
    return print(ascii_only() ? ascii_json(json) : json);
}

Result<void> print_json(const Produce& produce) {
    produce([](std::string_view part) {
        print_json(part);
        return first_failure() == 0;
    });
    return printed();
}

Result<void> print_file(std::string_view content) {
    return terminal_of(STDOUT_FILENO).present ? print(content) : to_stdout(content);
}

Result<void> print_file(const Produce& produce) {
    produce([](std::string_view part) {
        print_file(part);
        return first_failure() == 0;
    });
    return printed();
}

Result<void> printed() {
    const int failure = first_failure();
    if (failure == 0 || failure == EPIPE) return {};
    return fail(fmt::format("cannot write to standard output: {}", std::strerror(failure)),
                Fault::environment);
}

void print_error(std::string_view text) {
    // Without a copy where nothing has to be made safe: there may be no memory.
    if (std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); })) {
        write_all(STDERR_FILENO, text);
        return;
    }
    write_all(STDERR_FILENO, shown(text, terminal_of(STDERR_FILENO).colour));
}

void overwrite_line(std::string_view line) {
    // Back to the first column, clear to the end.
    write_all(STDERR_FILENO, fmt::format("\r\x1b[K{}", shown(plain(line), false)));
}

Error error_from(const std::exception& exception) {
    if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
        return {.message = "not enough memory", .fault = Fault::environment};
    if (const auto* refused = dynamic_cast<const std::system_error*>(&exception);
        refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again)
        return {.message = "cannot start a thread; the limit of processes is reached (`ulimit -u`, "
                           "or pids.max of the control group)",
                .fault = Fault::environment};
    return {.message = exception.what(), .fault = Fault::environment};
}

} // namespace assay
