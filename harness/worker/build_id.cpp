// SPDX-License-Identifier: Apache-2.0
#include "worker/build_id.hpp"

#include "base/hash.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

namespace assay::harness {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; } // notes are words

/// The GNU build id among the notes of one segment; "" without.
std::string id_in_notes(Bytes notes) {
    ElfW(Nhdr) head{};
    while (notes.size() >= sizeof head) {
        std::memcpy(&head, notes.data(), sizeof head);
        const std::size_t whole =
            sizeof head + padded(head.n_namesz) + padded(std::size_t{head.n_descsz});
        if (whole > notes.size()) return {};
        const std::string_view name{
            reinterpret_cast<const char*>(notes.subspan(sizeof head).data()), head.n_namesz};
        if (head.n_type == NT_GNU_BUILD_ID && name == std::string_view{"GNU\0", 4}) {
            std::string id;
            const auto bytes = notes.subspan(sizeof head + padded(head.n_namesz), head.n_descsz);
            for (const unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
            return id;
        }
        notes = notes.subspan(whole);
    }
    return {};
}

struct Search {
    std::uintptr_t address;
    std::string id;
};

bool holds(const dl_phdr_info& library, std::uintptr_t address) {
    for (const auto& segment : std::span{library.dlpi_phdr, library.dlpi_phnum}) {
        const std::uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz)
            return true;
    }
    return false;
}

int visit(dl_phdr_info* library, std::size_t /*size*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    if (!holds(*library, search.address)) return 0;
    for (const auto& segment : std::span{library->dlpi_phdr, library->dlpi_phnum}) {
        if (segment.p_type != PT_NOTE || !search.id.empty()) continue;
        const auto* begin =
            reinterpret_cast<const unsigned char*>(library->dlpi_addr + segment.p_vaddr);
        search.id = id_in_notes(Bytes{begin, segment.p_memsz});
    }
    return 1;
}

} // namespace

Result<std::string> build_id(const std::filesystem::path& file, const void* address) {
    Search search{.address = reinterpret_cast<std::uintptr_t>(address), .id = {}};
    ::dl_iterate_phdr(&visit, &search);
    if (!search.id.empty()) return search.id;

    std::ifstream stream{file, std::ios::binary};
    std::vector<char> block(std::size_t{1} << 20U);
    Hash hash;
    while (stream) {
        stream.read(block.data(), static_cast<std::streamsize>(block.size()));
        hash.add({block.data(), static_cast<std::size_t>(stream.gcount())});
    }
    if (!stream.eof())
        return fail(fmt::format("cannot read {}", file.string()), Fault::environment);
    return hash.hex();
}

} // namespace assay::harness
