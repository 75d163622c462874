// SPDX-License-Identifier: Apache-2.0
//
// The small text files by which a kernel describes its machine, below a root that tests replace.
// Nothing is trusted: a file that is missing, huge, not regular or not text reads as empty, and only
// printable bytes are returned.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::machine {

class Files {
public:
    // 256 KiB hold the first fifty processors of any cpuinfo, and all of every other file read here.
    static constexpr std::size_t text_limit = std::size_t{256} << 10U;

    explicit Files(std::filesystem::path root = "/") : root_{std::move(root)} {}

    const std::filesystem::path& root() const { return root_; }
    std::filesystem::path at(const std::filesystem::path& path) const {
        return root_ / path.relative_path();
    }
    bool exists(const std::filesystem::path& path) const;
    /// The first `limit` bytes, as printable ASCII and line ends; other bytes become '?'.
    std::string text(const std::filesystem::path& path, std::size_t limit = text_limit) const;
    /// The first line, tidied.
    std::string line(const std::filesystem::path& path) const;
    /// The number at the beginning of the file.
    std::optional<std::int64_t> number(const std::filesystem::path& path) const;
    /// Names in a folder, sorted; at most 10,000.
    std::vector<std::string> names(const std::filesystem::path& folder) const;
    /// The first `limit` bytes as they are.
    std::string bytes(const std::filesystem::path& path, std::size_t limit) const;
    /// A symbolic link's target, and its last component.
    std::string link_target(const std::filesystem::path& path) const;
    std::string link_name(const std::filesystem::path& path) const;

private:
    std::filesystem::path root_;
};

} // namespace assay::machine
