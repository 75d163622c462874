// SPDX-License-Identifier: Apache-2.0
//
// A made-up /proc and /sys for one test, gone afterwards.

#pragma once

#include "machine/files.hpp"
#include "support/temporary_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace assay::machine {

class Scratch {
public:
    /// A copy of `tree`, unless it is empty.
    explicit Scratch(const std::filesystem::path& tree = {}) {
        if (!tree.empty()) copy(tree);
    }
    void write(const std::filesystem::path& path, std::string_view text) const {
        folder_.write(path.relative_path(), text);
    }
    /// Files of a folder, each with its line.
    void write_lines(const std::string& folder,
                     std::initializer_list<std::pair<const char*, const char*>> files) const {
        for (const auto& [name, line] : files) write(folder + name, std::string{line} + '\n');
    }
    void link(const std::filesystem::path& target, const std::filesystem::path& path) const {
        const auto file = root() / path.relative_path();
        std::filesystem::create_directories(file.parent_path());
        std::filesystem::create_directory_symlink(target, file);
    }
    void copy(const std::filesystem::path& tree) const {
        std::filesystem::copy(tree, root(),
                              std::filesystem::copy_options::recursive |
                                  std::filesystem::copy_options::overwrite_existing);
    }
    const std::filesystem::path& root() const { return folder_.path(); }
    machine::Files files() const { return machine::Files{root()}; }

private:
    made::TemporaryFolder folder_;
};

/// Machines that we do not have: what their kernels show, as folders under trees/.
inline std::filesystem::path tree_path(std::string_view name) {
    return std::filesystem::path{ASSAY_TREES} / name;
}
inline machine::Files tree(std::string_view name) { return machine::Files{tree_path(name)}; }

/// A table of amdgpu with numbers at some places, and all bits set elsewhere.
class AmdTable {
public:
    AmdTable(std::uint16_t size, std::uint8_t revision) : bytes_(size, '\xff') {
        put<std::uint16_t>(0, size);
        put<std::uint8_t>(2, 1);
        put<std::uint8_t>(3, revision);
    }
    template <class T>
    AmdTable& put(std::size_t at, T value) {
        std::memcpy(bytes_.data() + at, &value, sizeof value);
        return *this;
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

} // namespace assay::machine
