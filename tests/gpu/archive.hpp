// SPDX-License-Identifier: Apache-2.0
//
// All that is brought home from a machine: one .tar (ustar) that is whole whenever somebody looks, because it is
// written beside itself and renamed, and never larger than what may travel.

#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::gpu {

/// Order in the archive, for when there is little room.
enum class Rank : std::uint8_t { report, result, detail, log };

struct Entry {
    std::string name; ///< quick/run.json; at most 99 characters count
    std::string content;
    Rank rank = Rank::log;
};

/// Archive in the format that `tar x` reads.
std::string tar_of(const std::vector<Entry>& entries);

/// Its beginning and its end, where it is longer than `most` bytes.
std::string shortened_log(const std::string& text, std::size_t most);

class Archive {
public:
    Archive(std::filesystem::path path, std::size_t limit)
        : path_{std::move(path)}, limit_{limit} {}

    /// Takes the place of what had this name.
    void put(Entry entry);
    void drop(const std::string& name);
    /// Names of those that there is no room for, the last ones of the last rank first.
    std::vector<std::string> left_out() const;
    /// An error leaves the archive that was there.
    Result<void> write() const;
    const std::filesystem::path& path() const { return path_; }

private:
    std::vector<Entry> fitting(std::vector<std::string>* left_out) const;

    std::filesystem::path path_;
    std::size_t limit_;
    std::vector<Entry> entries_;
};

} // namespace assay::gpu
