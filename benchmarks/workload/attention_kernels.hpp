// SPDX-License-Identifier: Apache-2.0
//
// Queries against a stretch of cached keys and values, for the instruction set of this machine.

#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::workload {

/// The numbers of a stretch: exp(score - largest) summed up, alone and times the values. Stretches of
/// one sequence are joined with weights exp(largest - largest of all).
struct Attended {
    float largest;
    float sum;
};

/// Rows in 8 bits: a number is numbers[row * size + i] * scales[row].
struct ScaledRows {
    const std::int8_t* numbers;
    const float* scales;
};

/// One query, scaled already. Keys and values are rows of `size` numbers, a multiple of 16, in fp32, bf16 or 8 bits; sums
/// are fp32. Each row is read once. Writes `size` numbers to `result`.
Attended attend(const float* query, const float* keys, const float* values, std::size_t rows,
                std::size_t size, float* result);
Attended attend(const float* query, const std::uint16_t* keys, const std::uint16_t* values,
                std::size_t rows, std::size_t size, float* result);
Attended attend(const float* query, const ScaledRows& keys, const ScaledRows& values,
                std::size_t rows, std::size_t size, float* result);

/// Queries that share keys and values, each of as many numbers as a row, and scaled already.
inline constexpr std::size_t largest_group = 128;
struct Group {
    std::size_t count;
    const float* queries;
    float* results;
    Attended* states;
    float* scratch; ///< attention_scratch() numbers
};
/// Queries without a use make the group a multiple of what one loop takes.
constexpr std::size_t padded_group(std::size_t count) { return (count + 3) / 4 * 4; }
constexpr std::size_t attention_scratch(std::size_t count, std::size_t size) {
    return 2 * padded_group(count) * size;
}

/// Each row is read once from memory, for all queries.
void attend(const Group& group, const float* keys, const float* values, std::size_t rows,
            std::size_t size);
void attend(const Group& group, const std::uint16_t* keys, const std::uint16_t* values,
            std::size_t rows, std::size_t size);
void attend(const Group& group, const ScaledRows& keys, const ScaledRows& values, std::size_t rows,
            std::size_t size);

const char* attention_instructions();

} // namespace assay::workload
