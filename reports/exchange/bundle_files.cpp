// SPDX-License-Identifier: Apache-2.0

#include "exchange/bundle_files.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

namespace assay::report {

namespace fs = std::filesystem;

bool is_result(std::string_view path) {
    return path.starts_with(results_folder) && path.ends_with("/run.json");
}
bool is_bundle(const fs::path& path) {
    std::error_code ignored;
    return std::ranges::any_of(std::array{manifest_file, signature_file, about_file, earlier_file},
                               [&](const char* name) { return fs::exists(path / name, ignored); });
}

std::string fault_of_path(std::string_view path) {
    constexpr std::size_t longest = 500; // bytes; ours have 60
    if (path.empty()) return "is empty";
    if (path.size() > longest) return fmt::format("is longer than {} bytes", longest);
    if (path.front() == '/') return "is absolute";
    if (plain(path, longest) != path || path.find('\\') != path.npos)
        return "has characters that no name in a bundle has";
    for (const auto part : split(path, '/'))
        if (part.empty() || part == "." || part == "..") return "leads out of the bundle";
    return "";
}

Result<BundleFiles> files_of_bundle(const fs::path& folder) {
    constexpr std::size_t most = 200'000; // ten thousand runs with twenty logs each
    BundleFiles files;
    std::error_code error;
    fs::recursive_directory_iterator entry{folder, error};
    for (; !error && entry != fs::recursive_directory_iterator{}; entry.increment(error)) {
        const auto status = entry->symlink_status(error);
        if (error) break;
        if (status.type() == fs::file_type::directory) continue;
        auto path = entry->path().lexically_relative(folder).string();
        const bool regular = status.type() == fs::file_type::regular;
        (regular ? files.regular : files.others).insert(std::move(path));
        if (files.regular.size() + files.others.size() > most)
            return fail(fmt::format("{}: more than {} files, the most that a bundle has",
                                    folder.string(), most));
    }
    if (error) return fail(fmt::format("cannot read {}: {}", folder.string(), error.message()));
    return files;
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view source) {
    Manifest manifest;
    constexpr std::size_t digits = 64;
    constexpr std::size_t gap = 2; // blanks, of sha256sum
    const auto wrong = [&](std::string_view what) {
        return fail(
            fmt::format("{}:{}: {}; expected a SHA-256, two blanks and a path, in the order "
                        "of the paths, as sha256sum writes them",
                        source, manifest.size() + 1, what));
    };
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (end == text.npos) return wrong("the line has no end: the file was cut");
        const auto line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (line.size() <= digits + gap || line.find_first_not_of("0123456789abcdef") != digits ||
            line.substr(digits, gap) != "  ")
            return wrong(fmt::format("got {}", json::show_text(line)));
        const auto path = line.substr(digits + gap);
        if (const auto fault = fault_of_path(path); !fault.empty())
            return wrong(fmt::format("the path {} {}", json::show_text(path), fault));
        if (!manifest.empty() && path <= manifest.rbegin()->first)
            return wrong(fmt::format("{} is there twice or out of order", json::show_text(path)));
        manifest.emplace(path, line.substr(0, digits));
    }
    if (manifest.empty()) return fail(fmt::format("{}: is empty", source));
    return manifest;
}

Result<void> write_manifest(const fs::path& folder) {
    ASSAY_TRY(const auto files, files_of_bundle(folder));
    std::string lines;
    for (const auto& path : files.regular) {
        if (path == manifest_file || path == signature_file) continue;
        ASSAY_TRY(const auto text, read_whole(folder / path, most_bytes_of_file));
        lines += fmt::format("{}  {}\n", to_hex(sha256(text)), path);
    }
    return write_atomically(folder / manifest_file, lines);
}

} // namespace assay::report
