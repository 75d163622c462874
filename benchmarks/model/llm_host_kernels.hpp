// SPDX-License-Identifier: Apache-2.0
//
// What a language model computes beside the products of libraries, for the instruction set of this machine.

#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::model {

/// T: float, or std::uint16_t for bf16. Arithmetic is in fp32, results are rounded to nearest. Counts are multiples of 16.
template <class T>
struct LlmRows {
    /// x / sqrt(mean of squares + epsilon) scale
    void (*norm)(const T* in, const float* scales, std::size_t count, T* out);
    /// SiLU(gate) up
    void (*gate)(const T* gates, const T* ups, std::size_t count, T* out);
    /// One head of 2 `half` numbers: normalised if there are scales, then each number of the first half turns with its
    /// partner of the second, and both are multiplied by `factor`.
    void (*turn)(const T* in, const float* scales, const float* cosines, const float* sines,
                 float factor, std::size_t half, T* out);
    void (*widen)(const T* in, std::size_t count, float* out);
    void (*narrow)(const float* in, std::size_t count, T* out);
    /// Index of the first greatest number; -1 if all are NaN.
    std::int64_t (*greatest)(const T* in, std::size_t count);
};

template <class T>
LlmRows<T> llm_rows();
template <>
LlmRows<float> llm_rows<float>();
template <>
LlmRows<std::uint16_t> llm_rows<std::uint16_t>();

/// The product of a few rows with weights, as fast as memory gives them; oneDNN's kernels for five and more rows have no
/// prefetches and are slower. bf16, sums in fp32; needs avx512_bf16. Weights lie in panels of 64 outputs, one behind the other; a panel has [inputs / 2][64][2] numbers:
/// what oneDNN calls BA16a64b2a.
struct PanelProduct {
    static constexpr std::size_t width = 64;     ///< of a panel
    static constexpr std::size_t most_rows = 32; ///< beyond, libraries are faster

    std::size_t rows;
    std::size_t inputs;  ///< even
    std::size_t outputs; ///< a multiple of the width
    const std::uint16_t* in;
    const std::uint16_t* weights;
    const std::uint16_t* added; ///< to the results before they are rounded; null: nothing
    std::uint16_t* out;

    /// Panels [first, last).
    void run(std::size_t first, std::size_t last) const noexcept;
};

} // namespace assay::model
