// SPDX-License-Identifier: Apache-2.0
//
// Memory on pages of a wanted size, and what the system really gave: huge pages are a request that a
// full, fragmented or differently configured machine silently turns down.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::memory {

enum class Pages : std::uint8_t { huge, small };

/// Bytes of a range that are in memory, and of these the bytes on huge pages.
struct Resident {
    std::size_t bytes = 0;
    std::size_t huge = 0;

    /// "huge", "small", "mixed", or "none" where nothing is in memory.
    const char* words() const;
};

/// Sums up what `smaps`, the text of /proc/self/smaps, says about mappings that lie within
/// [begin, end). Lines that it does not understand count for nothing.
Resident parse_smaps(std::string_view smaps, std::uintptr_t begin, std::uintptr_t end);

/// Does the system give huge pages to those who ask? Found out by asking for one.
bool gives_huge_pages();
inline constexpr const char* huge_pages_words = "transparent huge pages, which the system does not "
                                                "provide: see /sys/kernel/mm/transparent_hugepage";

/// Anonymous memory of its own, all zero, no page of it touched yet. It begins on a huge page and has
/// whole ones to the end, so that 8 KiB can lie on a huge page too; between inaccessible pages, so that
/// the kernel cannot merge it with a neighbour and account for both together.
class Memory {
public:
    Memory() = default;
    /// Throws std::system_error where there is no address space, std::length_error where `bytes` is
    /// out of reach.
    Memory(std::size_t bytes, Pages pages);
    Memory(Memory&& other) noexcept { swap(other); }
    Memory& operator=(Memory&& other) noexcept {
        Memory{static_cast<Memory&&>(other)}.swap(*this);
        return *this;
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();

    std::byte* data() { return data_; }
    const std::byte* data() const { return data_; }
    std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(data_); }
    std::size_t size() const { return size_; } ///< bytes, as asked for

    /// Pages are placed by whoever touches them first; this touches all that hold [first, last).
    void touch(std::size_t first, std::size_t last);
    /// Gives all pages back: the memory is as it was made.
    void give_back();
    /// The present state by /proc/self/smaps; nothing if that cannot be read.
    Resident resident() const;

    void swap(Memory& other) noexcept;

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t usable_ = 0; // bytes, whole huge pages
    void* mapping_ = nullptr;
    std::size_t mapped_ = 0; // bytes
};

} // namespace assay::memory
