// SPDX-License-Identifier: Apache-2.0
#include "archive.hpp"

#include "base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace assay::gpu {
namespace {

constexpr std::size_t block = 512; // POSIX.1-2001, pax: everything is padded to this

std::size_t padded(std::size_t bytes) { return (bytes + block - 1) / block * block; }

std::string header_of(const Entry& entry) {
    std::array<char, block> bytes{};
    const auto field = [&](std::size_t at, std::size_t size, std::string_view text) {
        std::ranges::copy(text.substr(0, size), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    };
    constexpr std::size_t most = 99;
    field(0, most, entry.name);
    field(100, 8, "0000644");
    field(108, 8, "0000000");
    field(116, 8, "0000000");
    field(124, 12, fmt::format("{:011o}", entry.content.size()));
    field(136, 12, "00000000000"); // no time: the report says when
    field(148, 8, "        ");
    field(156, 1, "0");
    field(257, 8, std::string_view{"ustar\00000", 8});
    const auto sum = std::accumulate(bytes.begin(), bytes.end(), 0U, [](unsigned all, char c) {
        return all + static_cast<unsigned char>(c);
    });
    field(148, 8, std::string_view{fmt::format("{:06o}", sum) + '\0' + ' '});
    return {bytes.data(), bytes.size()};
}

std::size_t bytes_of(const Entry& entry) { return block + padded(entry.content.size()); }

} // namespace

std::string tar_of(const std::vector<Entry>& entries) {
    std::string tar;
    for (const auto& entry : entries) {
        tar += header_of(entry);
        tar += entry.content;
        tar.resize(padded(tar.size()), '\0');
    }
    return tar.append(2 * block, '\0');
}

std::string shortened_log(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    return fmt::format("{}\n... {} bytes are left out ...\n{}", text.substr(0, most / 2),
                       text.size() - most, text.substr(text.size() - most / 2));
}

void Archive::put(Entry entry) {
    const auto found = std::ranges::find(entries_, entry.name, &Entry::name);
    if (found == entries_.end())
        entries_.push_back(std::move(entry));
    else
        *found = std::move(entry);
}

void Archive::drop(const std::string& name) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.name == name; });
}

std::vector<Entry> Archive::fitting(std::vector<std::string>* left_out) const {
    auto all = entries_;
    std::ranges::stable_sort(all, {}, &Entry::rank);
    std::size_t bytes = 2 * block;
    std::vector<Entry> kept;
    for (auto& entry : all) {
        if (bytes + bytes_of(entry) > limit_) {
            if (left_out != nullptr) left_out->push_back(entry.name);
            continue;
        }
        bytes += bytes_of(entry);
        kept.push_back(std::move(entry));
    }
    return kept;
}

std::vector<std::string> Archive::left_out() const {
    std::vector<std::string> names;
    fitting(&names);
    return names;
}

Result<void> Archive::write() const { return write_atomically(path_, tar_of(fitting(nullptr))); }

} // namespace assay::gpu
