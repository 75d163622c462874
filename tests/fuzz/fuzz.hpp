// SPDX-License-Identifier: Apache-2.0
//
// What every fuzz target is made of: the bytes as text, and a way to fail.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace assay::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process, which libFuzzer records together with the input.
inline void expect(bool holds) {
    if (!holds) __builtin_trap();
}

/// It was not accepted, and the message begins with what it is about.
template <class Result>
bool refused(const Result& result, std::string_view begins = "input") {
    if (!result) expect(result.error().message.starts_with(begins));
    return !result;
}

} // namespace assay::fuzz
