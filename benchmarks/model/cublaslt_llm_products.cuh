// SPDX-License-Identifier: Apache-2.0
//
// Tensors of a language model on a device, and its products, by cuBLASLt or by rows. For .cu files.

#pragma once

#include "gemm/cublaslt_tuned.hpp"
#include "llm_kernels.cuh"
#include "llm_stages.hpp"
#include "workload/device_tensor.cuh"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace assay::model {

using Number = __nv_bfloat16;

/// Numbers of a stage in bf16, or in fp8 times a power of two. `held` includes rows of padding.
class LlmTensor {
public:
    LlmTensor() = default;
    LlmTensor(std::int64_t count, std::int64_t held, const device::Stream& stream)
        : wide_{count, stream, held} {}
    LlmTensor(std::int64_t count, std::int64_t held, float scale, const device::Stream& stream)
        : narrow_{count, stream, held}, scale_{scale} {}

    bool is_fp8() const { return narrow_.data() != nullptr; }
    Number* data() const { return wide_.data(); }
    E4m3* fp8() const { return narrow_.data(); }
    void* numbers() const { return is_fp8() ? static_cast<void*>(fp8()) : data(); }
    float scale() const { return scale_; }
    /// Kernels store in both tensors; `narrow` may be empty.
    Results<Number> results(const LlmTensor& narrow) const {
        return {data(), narrow.fp8(), narrow.scale()};
    }
    Results<Number> results() const { return {data(), fp8(), scale()}; }

    void look_again() const { is_fp8() ? narrow_.look_again() : wide_.look_again(); }
    float element(std::size_t i) const {
        return is_fp8() ? narrow_.element(i) / scale_ : wide_.element(i);
    }
    template <class Change>
    void change(Slice elements, const Change& change) const {
        if (!is_fp8()) return wide_.change(elements, change);
        narrow_.change(elements, [&](float number) { return scale_ * change(number / scale_); });
    }
    Output output() const { return is_fp8() ? narrow_.output() : wide_.output(); }
    void poison() const { is_fp8() ? narrow_.poison() : wide_.poison(); }

private:
    workload::DeviceTensor<Number> wide_;
    workload::DeviceTensor<E4m3> narrow_;
    float scale_ = 1;
};

constexpr gemm::DevicePrecision precision_of_products(const LlmNarrow& narrow) {
    return narrow.products ? gemm::DevicePrecision::fp8_e4m3 : gemm::DevicePrecision::bf16;
}
/// Rows of a product, with padding: the library requires a multiple of 16 in fp8.
constexpr std::int64_t multiplied_rows(std::int64_t rows, gemm::DevicePrecision precision) {
    const std::int64_t multiple = gemm::spec_of(precision).multiple_of;
    return (rows + multiple - 1) / multiple * multiple;
}

/// Weights of one kind in every layer, and what they are multiplied with. All layers use what is the fastest by trial,
/// going round the layers, so that weights come from memory as they do in use: an algorithm of the library, or, for few
/// tokens, our rows.
class LayerProducts {
public:
    LayerProducts(const gemm::Library& library, device::Place& place, const gemm::Shape& shape,
                  const gemm::Scratch& scratch,
                  gemm::DevicePrecision precision = gemm::DevicePrecision::bf16)
        : library_{library}, place_{place}, shape_{shape}, scratch_{scratch},
          precision_{precision} {}

    /// outputs x inputs weights of a new layer, which the caller fills; in fp8 they are times `scale`.
    void* add(const LlmTensor& from, const LlmTensor& to, const LlmTensor* added, float scale = 1) {
        const auto bytes = gemm::data_bytes(gemm::spec_of(precision_).a,
                                            static_cast<std::uint64_t>(shape_.m * shape_.k));
        return add(weights_.emplace_back(bytes).data(), from, to, added, scale);
    }
    /// Uses existing weights.
    void* add(void* weights, const LlmTensor& from, const LlmTensor& to, const LlmTensor* added,
              float scale = 1) {
        const gemm::PrecisionSpec spec = gemm::spec_of(precision_);
        const std::int64_t rows = multiplied_rows(shape_.n, precision_);
        const auto operand = [](gemm::Storage storage, void* data, std::int64_t inner,
                                std::int64_t outer) {
            return gemm::Operand{storage, data, nullptr, static_cast<std::uint64_t>(inner),
                                 static_cast<std::uint64_t>(outer)};
        };
        const Number* const residual = added == nullptr ? nullptr : added->data();
        const float factor = 1 / (scale * from.scale());
        products_.emplace_back(library_, gemm::Conditions{.precision = precision_},
                               gemm::Operands{.a = operand(spec.a, weights, shape_.k, shape_.m),
                                              .b = operand(spec.b, from.numbers(), shape_.k, rows),
                                              .c = operand(spec.c, to.data(), shape_.m, rows),
                                              .added = residual,
                                              .scale = factor},
                               scratch_, place_.stream, place_.clock);
        rows_.push_back({weights, from.numbers(), residual, to.data(),
                         static_cast<std::uint32_t>(shape_.k), static_cast<std::uint32_t>(shape_.m),
                         factor});
        return weights;
    }
    /// What is the fastest; its name.
    std::string tune() {
        std::vector<gemm::ChosenProduct*> all;
        for (auto& product : products_) all.push_back(&product);
        place_.clock.expect_operations(4 * all.size()); // as in gemm.square
        const bool few = place_.properties.is_cpu();
        gemm::ChosenProduct::tune(all, few ? 3 : std::size_t{gemm::Product::most},
                                  {.rounds = few ? 1 : 3, .seconds = 1}, gemm::Queued::in_graph);
        by_rows_ = shape_.n <= most_row_tokens && (few || are_rows_faster());
        return by_rows_ ? "rows" : gemm::text_of(products_.front().config());
    }
    void queue(std::size_t layer) const {
        if (!by_rows_)
            products_[layer].queue();
        else if (precision_ == gemm::DevicePrecision::fp8_e4m3)
            queue_rows<E4m3>(rows_[layer], shape_.n, place_.stream);
        else
            queue_rows<Number>(rows_[layer], shape_.n, place_.stream);
    }

private:
    bool are_rows_faster() {
        return device::fastest_of(place_.clock, 2, [&](std::size_t rows) {
                   by_rows_ = rows == 1;
                   for (std::size_t i = 0; i < products_.size(); ++i) queue(i);
               }) == 1;
    }

    const gemm::Library& library_;
    device::Place& place_;
    gemm::Shape shape_;
    gemm::Scratch scratch_;
    gemm::DevicePrecision precision_;
    std::deque<device::Buffer<std::uint8_t>> weights_;
    std::deque<gemm::ChosenProduct> products_;
    std::vector<RowProduct<Number>> rows_;
    bool by_rows_ = false;
};

} // namespace assay::model
