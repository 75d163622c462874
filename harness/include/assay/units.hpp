// SPDX-License-Identifier: Apache-2.0
//
// Literals for sizes in benchmarks. Stored values are always SI base units.

#pragma once

#include <cstdint>

// Inline namespace: no `using` needed within assay.
namespace assay::inline units {

consteval std::int64_t operator""_KiB(unsigned long long n) {
    return static_cast<std::int64_t>(n << 10U);
}
consteval std::int64_t operator""_MiB(unsigned long long n) {
    return static_cast<std::int64_t>(n << 20U);
}
consteval std::int64_t operator""_GiB(unsigned long long n) {
    return static_cast<std::int64_t>(n << 30U);
}
consteval std::int64_t operator""_TiB(unsigned long long n) {
    return static_cast<std::int64_t>(n << 40U);
}

} // namespace assay::inline units
