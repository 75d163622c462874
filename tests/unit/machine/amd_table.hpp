// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace assay::machine {

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
