// SPDX-License-Identifier: Apache-2.0
//
// Memory that the library allocates and registers, so that processes of one machine can map it and network cards reach
// it, and the partner's piece that lies across from it. Every rank makes the same pieces in the same order.

#pragma once

#include "where.hpp"
#include "wire.hpp"

#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace assay::network {

class Memory {
public:
    /// All zero, touched by this rank first.
    Memory(Wire& wire, std::size_t words, Where where = data_lies);
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();

    std::size_t size() const { return words_; }
    std::size_t bytes() const { return words_ * sizeof(Word); }

    /// Memory that the host sees: the memory itself, or a copy of a device's, which push() sends there.
    Word& operator[](std::size_t i) { return seen()[i]; }
    void push();
    /// The present contents.
    std::span<const Word> held() const;
    /// Changes the lowest bit of a word.
    void spoil(std::size_t i);

    /// Words of this rank's, or of the partner's that lie across from them.
    Piece piece(std::size_t begin, std::size_t count) const {
        return {.region = region_, .begin = begin * sizeof(Word), .bytes = count * sizeof(Word)};
    }
    Piece all() const { return piece(0, words_); }

private:
    Word* seen() { return where_ == Where::host ? region_.data : copy_.data(); }

    Wire& wire_;
    std::size_t words_;
    Where where_;
    Region region_;
    mutable std::vector<Word> copy_; // of a device's memory
};

/// Data that a rank sends: random words that everybody can make again.
constexpr Word word_of(int sender, std::size_t i) {
    return random_bits(static_cast<std::uint64_t>(sender) + 100, i);
}
void fill(Memory& memory, int sender);
/// Nothing that is ever sent: what a call leaves untouched is seen.
void poison(Memory& memory, int sender);
/// Every word of the first `count`, exactly.
Check check_words(std::span<const Word> got, int sender, std::string method);

} // namespace assay::network
