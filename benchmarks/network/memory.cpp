// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include "collective/world.hpp"

namespace assay::network {

Memory::Memory(Wire& wire, std::size_t words, Where where)
    : wire_{wire}, words_{words}, where_{where}, copy_(where == Where::device ? words : 0) {
    wire_.agree(allocate());
    std::fill_n(seen(), words_, Word{0});
    push();

    void* packed = nullptr;
    std::size_t length = 0;
    const auto status = ucp_rkey_pack(wire_.context(), handle_, &packed, &length);
    wire_.agree(
        status == UCS_OK ? "" : std::string{"UCX cannot pack a key: "} + ucs_status_string(status));
    const auto key = wire_.swap({static_cast<const std::byte*>(packed), length});
    ucp_rkey_buffer_release(packed);
    wire_.agree(unpack(key));

    const auto own = reinterpret_cast<std::uint64_t>(data_);
    const auto address = wire_.swap(std::as_bytes(std::span{&own, 1}));
    std::memcpy(&remote_, address.data(), std::min(sizeof remote_, address.size()));
}

Memory::~Memory() {
    key_.reset();
    if (handle_ != nullptr) ucp_mem_unmap(wire_.context(), handle_);
}

std::string Memory::allocate() {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_FLAGS | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    params.memory_type = where_ == Where::host ? UCS_MEMORY_TYPE_HOST : UCS_MEMORY_TYPE_CUDA;
    params.address = nullptr;
    params.length = bytes();
    params.flags = UCP_MEM_MAP_ALLOCATE;
    auto status = ucp_mem_map(wire_.context(), &params, &handle_);
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    if (status == UCS_OK) status = ucp_mem_query(handle_, &attributes);
    if (status != UCS_OK)
        return joined("UCX cannot allocate ", bytes(),
                      " bytes of memory: ", ucs_status_string(status));
    data_ = static_cast<Word*>(attributes.address);
    return {};
}

std::string Memory::unpack(const std::vector<std::byte>& key) {
    ucp_rkey_h handle = nullptr;
    const auto status = ucp_ep_rkey_unpack(wire_.endpoint(), key.data(), &handle);
    if (status != UCS_OK)
        return std::string{"UCX cannot use the partner's key: "} + ucs_status_string(status);
    key_.reset(handle);
    return {};
}

void Memory::push() {
    if (where_ == Where::device) to_device(data_, copy_.data(), bytes());
}

std::span<const Word> Memory::held() const {
    if (where_ == Where::host) return {data_, words_};
    from_device(copy_.data(), data_, bytes());
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
