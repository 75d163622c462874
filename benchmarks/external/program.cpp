// SPDX-License-Identifier: Apache-2.0
#include "external/program.hpp"

#include "external/output.hpp"
#include "external/process.hpp"

#include <assay/text.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <mutex>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

constexpr double version_patience = 10; // seconds

bool is_program(const fs::path& file) {
    std::error_code error;
    return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

/// Pieces of a list with one of these between; empty ones too.
template <class Take>
void each_piece(std::string_view text, std::string_view between, Take&& take) {
    while (true) {
        const auto end = std::min(text.find_first_of(between), text.size());
        take(text.substr(0, end));
        if (end == text.size()) return;
        text.remove_prefix(end + 1);
    }
}

std::string variable(const char* name) {
    const char* const value =
        std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets any here
    return value == nullptr ? "" : value;
}

bool is_block_device(const std::string& path) {
    struct stat status{};
    return path.starts_with('/') && ::stat(path.c_str(), &status) == 0 && S_ISBLK(status.st_mode);
}

bool is_allowed(const std::string& path) {
    bool is = false;
    each_piece(variable("ASSAY_ALLOW_DEVICE"), ":", [&](std::string_view allowed) {
        struct stat one{};
        struct stat other{};
        is = is || (is_block_device(std::string{allowed}) &&
                    ::stat(std::string{allowed}.c_str(), &one) == 0 &&
                    ::stat(path.c_str(), &other) == 0 && one.st_rdev == other.st_rdev);
    });
    return is;
}

/// A file system, a volume or another program has it.
bool is_in_use(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC);
    const bool is = file < 0 && errno == EBUSY;
    if (file >= 0) ::close(file);
    return is;
}

} // namespace

std::string find_program(const std::string& name) {
    if (name.find('/') != name.npos)
        return name.starts_with('/') && is_program(name) ? name : std::string{};
    std::string found;
    each_piece(variable("PATH") + ":/usr/sbin:/sbin", ":", [&](std::string_view folder) {
        const auto file = fs::path{folder} / name;
        if (found.empty() && folder.starts_with('/') && is_program(file)) found = file.string();
    });
    return found;
}

std::string version_of(const Description& description, const std::string& program) {
    static std::mutex mutex;
    static std::map<std::string, std::string> known;
    const std::scoped_lock lock{mutex};
    const auto key = description.id + ' ' + program;
    if (const auto found = known.find(key); found != known.end()) return found->second;
    Command command{.program = program,
                    .arguments = description.program_version.command,
                    .environment = {},
                    .folder = "/",
                    .limit = version_patience};
    command.arguments.front() = program;
    const auto outcome = run(command);
    const Where line{.text = description.program_version.pattern, .take = Where::Take::first};
    try {
        return known[key] = find({{"stdout", outcome.output + '\n' + outcome.errors}}, line);
    } catch (const Problem& problem) {
        throw Problem{joined("unknown version of ", program, ": ", problem.what())};
    }
}

bool is_below(std::string_view version, std::string_view least) {
    const auto next = [](std::string_view& text) {
        const auto digit = std::min(text.find_first_of("0123456789"), text.size());
        text.remove_prefix(digit);
        unsigned long number = 0;
        const auto* const end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return number;
    };
    while (!least.empty()) {
        const auto wanted = next(least);
        const auto found = next(version);
        if (found != wanted) return found < wanted;
    }
    return false;
}

std::string why_not_touched(const Arguments& arguments) {
    std::string why;
    const auto look = [&](std::string_view piece) {
        const std::string path{piece};
        if (!why.empty() || !is_block_device(path)) return;
        if (!is_allowed(path))
            why = joined(
                path, " is a device and its data may be lost; to allow it: --allow-device ", path);
        else if (is_in_use(path))
            why = joined(path, " is in use, by a file system or another program");
    };
    for (const auto& argument : arguments) {
        look(argument);
        each_piece(argument, "=", look);
        each_piece(argument, "=:,", look);
    }
    return why;
}

} // namespace assay::external
