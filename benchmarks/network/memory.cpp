// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

namespace assay::network {

Memory::Memory(Wire& wire, std::size_t words, Where where)
    : wire_{wire}, words_{words}, where_{where}, copy_(where == Where::device ? words : 0) {
    wire_.agree(wire_.allocate(region_, bytes(), where_));
    std::fill_n(seen(), words_, Word{0});
    push();
    std::vector<std::byte> own;
    wire_.agree(wire_.describe(region_, own));
    wire_.agree(wire_.adopt(region_, wire_.swap(own)));
}

Memory::~Memory() { wire_.release(region_); }

void Memory::push() {
    if (where_ == Where::device) to_device(region_.data, copy_.data(), bytes());
}

std::span<const Word> Memory::held() const {
    if (where_ == Where::host) return {region_.data, words_};
    from_device(copy_.data(), region_.data, bytes());
    return copy_;
}

void Memory::spoil(std::size_t i) {
    static_cast<void>(held());
    seen()[i] ^= 1U;
    push();
}

void fill(Memory& memory, int sender) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = word_of(sender, i);
    memory.push();
}

void poison(Memory& memory, int sender) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = ~word_of(sender, i);
    memory.push();
}

Check check_words(std::span<const Word> got, int sender, std::string method) {
    return check_each(
        got.size(), [&](std::size_t i) { return got[i] == word_of(sender, i) ? 0.0 : 1.0; }, 0,
        std::move(method));
}

} // namespace assay::network
