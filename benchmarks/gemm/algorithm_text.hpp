// SPDX-License-Identifier: Apache-2.0
//
// The algorithm that a library chose, in words.

#pragma once

#include <assay/text.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace assay::gemm {

struct AlgorithmConfig {
    int id = 0;
    std::string tile;    ///< "128x256"
    std::string stages;  ///< "64xAUTO": elements along k, and how many of them are on their way
    std::string cluster; ///< of thread blocks, "2x1x1"
    int split_k = 1;
    unsigned reduction = 0; ///< how split sums are put together; 0: nothing is split
    unsigned swizzle = 0;
    unsigned custom = 0;
    unsigned inner = 0;
    std::size_t workspace = 0; ///< bytes
};

inline std::string text_of(const AlgorithmConfig& config) {
    std::string text = joined("id ", config.id);
    const auto add = [&](const char* name, const std::string& value) {
        text += ", ";
        text += name;
        text += ' ';
        text += value;
    };
    add("tile", config.tile);
    add("stages", config.stages);
    add("cluster", config.cluster);
    add("split-k", std::to_string(config.split_k));
    if (config.reduction != 0) add("reduction", std::to_string(config.reduction));
    add("swizzle", std::to_string(config.swizzle));
    if (config.custom != 0) add("custom", std::to_string(config.custom));
    if (config.inner != 0) add("inner", std::to_string(config.inner));
    add("workspace", std::to_string(config.workspace));
    return text;
}

/// A number that a library has a name for.
struct Named {
    std::int64_t value;
    const char* name;
};

/// Libraries newer than the headers have more of them, and "auto" or "undefined" is 0 in all of them.
inline std::string name_in(std::span<const Named> names, std::int64_t value) {
    for (const Named& known : names)
        if (known.value == value) return known.name;
    return value == 0 ? "auto" : joined("number ", value);
}

/// The names of all bits that are set, blank-separated.
inline std::string names_of_bits(std::span<const Named> names, std::uint64_t bits) {
    std::string text;
    for (const Named& known : names)
        if ((bits & static_cast<std::uint64_t>(known.value)) != 0) {
            if (!text.empty()) text += ' ';
            text += known.name;
        }
    return text;
}

} // namespace assay::gemm
