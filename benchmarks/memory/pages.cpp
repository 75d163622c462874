// SPDX-License-Identifier: Apache-2.0

#include "pages.hpp"

#include <assay/host.hpp>
#include <assay/text.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace assay::memory {
namespace {

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// Takes a number off the front of `text`; false if it does not begin with one.
template <class T>
bool take_number(std::string_view& text, T& value, int base) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

/// "7f0000000000-7f0000200000 rw-p ...": the first line of a mapping.
bool take_range(std::string_view line, std::uintptr_t& begin, std::uintptr_t& end) {
    if (!take_number(line, begin, 16) || !line.starts_with('-')) return false;
    line.remove_prefix(1);
    return take_number(line, end, 16) && line.starts_with(' ') && begin < end;
}

/// "Rss:                2048 kB": its bytes; 0 for any other line.
std::size_t take_bytes(std::string_view line, std::string_view name) {
    if (!line.starts_with(name)) return 0;
    line.remove_prefix(name.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    std::size_t kilobytes = 0;
    if (!take_number(line, kilobytes, 10) || !line.starts_with(" kB")) return 0;
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 1024;
    return kilobytes > most ? 0 : kilobytes * 1024;
}

} // namespace

const char* Resident::words() const {
    if (bytes == 0) return "none";
    if (huge == 0) return "small";
    return huge >= bytes ? "huge" : "mixed";
}

Resident parse_smaps(std::string_view smaps, std::uintptr_t begin, std::uintptr_t end) {
    Resident sum;
    bool is_inside = false;
    while (!smaps.empty()) {
        const std::string_view line = smaps.substr(0, smaps.find('\n'));
        smaps.remove_prefix(std::min(line.size() + 1, smaps.size()));
        std::uintptr_t first = 0;
        std::uintptr_t last = 0;
        if (take_range(line, first, last)) is_inside = begin <= first && last <= end;
        if (!is_inside) continue;
        sum.bytes += take_bytes(line, "Rss:");
        sum.huge += take_bytes(line, "AnonHugePages:");
    }
    return sum;
}

bool gives_huge_pages() {
    Memory page{huge_page, Pages::huge};
    page.touch(0, 1);
    return page.resident().huge == huge_page;
}

Memory::Memory(std::size_t bytes, Pages pages) : size_{bytes} {
    if (bytes == 0) return;
    // Half of the address space leaves room for rounding.
    if (bytes > std::numeric_limits<std::size_t>::max() / 2)
        throw std::length_error{joined(bytes, " bytes do not fit into the address space")};
    usable_ = round_up(bytes, huge_page);
    // One huge page to align in, and another so that at least a page before and after stays closed.
    mapped_ = usable_ + 2 * huge_page;
    void* const mapping =
        ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) // NOLINT: the system's macro casts
        throw std::system_error{errno, std::generic_category(),
                                joined("cannot get ", mapped_, " bytes of memory")};
    mapping_ = mapping;
    auto* const start = static_cast<std::byte*>(mapping);
    data_ = start + (huge_page - reinterpret_cast<std::uintptr_t>(start) % huge_page);
    if (::mprotect(data_, usable_, PROT_READ | PROT_WRITE) != 0) {
        const int error = errno;
        ::munmap(mapping_, mapped_);
        throw std::system_error{error, std::generic_category(),
                                joined("cannot open ", usable_, " bytes of memory")};
    }
    // Advice only: resident() says what became of it.
    ::madvise(data_, usable_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

Memory::~Memory() {
    if (mapping_ != nullptr) ::munmap(mapping_, mapped_);
}

void Memory::touch(std::size_t first, std::size_t last) {
    constexpr std::size_t step = 4096; // bytes; the smallest page there is
    auto* const bytes = reinterpret_cast<volatile std::byte*>(data_);
    for (std::size_t at = first; at < last; at += step) bytes[at] = std::byte{0};
}

void Memory::give_back() {
    if (::madvise(data_, usable_, MADV_DONTNEED) != 0)
        throw std::system_error{errno, std::generic_category(), "cannot give memory back"};
}

Resident Memory::resident() const {
    std::ifstream file{"/proc/self/smaps"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const auto begin = reinterpret_cast<std::uintptr_t>(data_);
    return parse_smaps(text, begin, begin + usable_);
}

void Memory::swap(Memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(usable_, other.usable_);
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_, other.mapped_);
}

} // namespace assay::memory
