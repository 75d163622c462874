// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::stencil {

/// Through the caches, or past them.
enum class Stores : std::uint8_t { plain, streaming };

constexpr const char* name_of(Stores stores) {
    return stores == Stores::plain ? "plain" : "streaming";
}

} // namespace assay::stencil
