// SPDX-License-Identifier: Apache-2.0
#include "external/file_system.hpp"

#include "external/description.hpp"
#include "external/scratch.hpp"

#include <assay/text.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

/// Takes a field off the front; the kernel writes blanks inside of one as \040.
std::string take_field(std::string_view& line) {
    const auto end = std::min(line.find(' '), line.size());
    std::string field;
    for (std::size_t i = 0; i < end; ++i) {
        const auto digit = [&](std::size_t at) {
            return static_cast<unsigned>(line[i + at] - '0');
        };
        const bool is_octal =
            line[i] == '\\' && i + 3 < end && digit(1) < 4 && digit(2) < 8 && digit(3) < 8;
        field += is_octal ? static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3)) : line[i];
        i += is_octal ? 3 : 0;
    }
    line.remove_prefix(std::min(end + 1, line.size()));
    return field;
}

bool is_in(std::string_view path, std::string_view mount) {
    if (mount == "/") return path.starts_with('/');
    return path.starts_with(mount) && (path.size() == mount.size() || path[mount.size()] == '/');
}

} // namespace

std::string file_system_in(std::string_view mounts, std::string_view path) {
    std::string type;
    std::size_t longest = 0;
    while (!mounts.empty()) {
        auto line = mounts.substr(0, mounts.find('\n'));
        mounts.remove_prefix(std::min(line.size() + 1, mounts.size()));
        constexpr std::string_view between =
            " - "; // any number of optional fields stands before it
        const auto rest = line.find(between);
        if (rest == line.npos) continue;
        auto end = line.substr(rest + between.size());
        for (int before = 0; before < 4; ++before) take_field(line); // mount, parent, device, root
        const auto point = take_field(line);
        // If two mounts share one place, the later one hides the other: NFS mounted by autofs.
        if (!is_in(path, point) || point.size() < longest) continue;
        longest = point.size();
        type = take_field(end);
    }
    return type;
}

std::string file_system_of(const fs::path& folder) {
    std::ifstream file{"/proc/self/mountinfo"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    std::error_code error;
    const auto path = fs::weakly_canonical(folder, error);
    return error ? std::string{} : file_system_in(text, path.string());
}

bool has_direct_io(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (descriptor < 0) return false;
    ::close(descriptor);
    return true;
}

std::string why_no_direct_io(const fs::path& folder) try {
    const Scratch scratch{folder};
    const auto file = scratch.folder() / "direct";
    std::ofstream{file} << '\n';
    if (has_direct_io(file)) return {};
    return joined("the file system of ", folder.string(), " (", file_system_of(folder),
                  ") has no direct I/O");
} catch (const Problem& problem) {
    return problem.what();
}

} // namespace assay::external
