// SPDX-License-Identifier: Apache-2.0
//
// The graph of a prompt's attention for cuDNN: softmax(scale Q K^T) V by matrix products, pointwise operations and
// reductions, in the order in which its engines know them as one operation (as its front end writes them).

#pragma once

#include "workload/cudnn_plans.hpp"
#include "workload/prefill_data.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

namespace assay::workload::cudnn {

template <bool is_causal>
class PrefillOperations {
public:
    /// Queries, keys, values, results, the scale, and with a mask what stands for a score that is left out: the last two
    /// are numbers in the host's memory.
    static constexpr auto uids = [] {
        if constexpr (is_causal)
            return std::array<std::int64_t, 6>{1, 2, 3, 4, 5, 6};
        else
            return std::array<std::int64_t, 5>{1, 2, 3, 4, 5};
    }();
    static constexpr float left_out = -std::numeric_limits<float>::infinity();

    PrefillOperations(const PrefillShape& shape, Precision precision) {
        const auto s = shape.tokens;
        const auto d = shape.size;
        const auto h = shape.heads;
        const auto shared = h / shape.group;
        const auto type = data_type_of(precision);
        const TensorShape rows = packed({shape.batch, h, s, d});
        const auto& queries = add(tensor(uids[0], rows, type));
        const auto& keys = add(
            tensor(uids[1], {{shape.batch, shared, d, s}, {shared * s * d, s * d, 1, d}}, type));
        const auto& values = add(tensor(uids[2], packed({shape.batch, shared, s, d}), type));
        const auto& results = add(tensor(uids[3], rows, type));
        scores_ = packed({shape.batch, h, s, s});
        const TensorShape one_each = packed({shape.batch, h, s, 1});

        const auto& products = hand_on(scores_);
        multiply(queries, keys, products);
        const auto* scores = &hand_on(scores_);
        pointwise(CUDNN_POINTWISE_MUL, products, &number(uids[4]), *scores);
        if constexpr (is_causal) scores = &masked(*scores);
        const auto& largest = hand_on(one_each);
        reduce(CUDNN_REDUCE_TENSOR_MAX, *scores, largest);
        const auto& lower = hand_on(scores_);
        pointwise(CUDNN_POINTWISE_SUB, *scores, &largest, lower);
        const auto& weights = hand_on(scores_);
        pointwise(CUDNN_POINTWISE_EXP, lower, nullptr, weights);
        const auto& total = hand_on(one_each);
        reduce(CUDNN_REDUCE_TENSOR_ADD, weights, total);
        const auto& logarithm = hand_on(one_each); // nobody wants it, but the engines look for it
        pointwise(CUDNN_POINTWISE_LOG, total, nullptr, logarithm);
        pointwise(CUDNN_POINTWISE_ADD, largest, &logarithm, hand_on(one_each));
        const auto& probabilities = hand_on(scores_, type);
        pointwise(CUDNN_POINTWISE_DIV, weights, &total, probabilities);
        multiply(probabilities, values, results);
    }
    std::vector<const Descriptor*> operations() const { return operations_; }

private:
    const Descriptor& add(Descriptor made) { return parts_.emplace_back(std::move(made)); }
    const Descriptor& hand_on(const TensorShape& shape, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
        return add(tensor(next_++, shape, type, true));
    }
    /// A number in the host's memory.
    const Descriptor& number(std::int64_t uid) {
        Descriptor made{CUDNN_BACKEND_TENSOR_DESCRIPTOR};
        made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, uid);
        made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
        made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::vector<std::int64_t>(4, 1));
        made.set(CUDNN_ATTR_TENSOR_STRIDES, std::vector<std::int64_t>(4, 1));
        made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
        made.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
        made.finalize();
        return add(std::move(made));
    }
    /// Scores where the query's number is at least the key's, and elsewhere `left_out`.
    const Descriptor& masked(const Descriptor& scores) {
        const auto& row = hand_on(scores_, CUDNN_DATA_INT32);
        const auto& column = hand_on(scores_, CUDNN_DATA_INT32);
        index(scores, 2, row);
        index(scores, 3, column);
        const auto& is_kept = hand_on(scores_, CUDNN_DATA_BOOLEAN);
        pointwise(CUDNN_POINTWISE_CMP_GE, row, &column, is_kept, CUDNN_DATA_BOOLEAN);
        const auto& kept = hand_on(scores_);
        auto& select = operation_with(how(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT), scores,
                                      &number(uids.back()), kept);
        select.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, is_kept);
        select.finalize();
        return kept;
    }

    Descriptor how(cudnnPointwiseMode_t mode, cudnnDataType_t compute) {
        Descriptor made{CUDNN_BACKEND_POINTWISE_DESCRIPTOR};
        made.set(CUDNN_ATTR_POINTWISE_MODE, mode);
        made.set(CUDNN_ATTR_POINTWISE_MATH_PREC, compute);
        return made;
    }
    Descriptor& operation_with(Descriptor how, const Descriptor& x, const Descriptor* b,
                               const Descriptor& y) {
        how.finalize();
        Descriptor made{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR};
        made.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add(std::move(how)));
        made.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
        if (b != nullptr) made.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
        made.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
        return queued(std::move(made));
    }
    void pointwise(cudnnPointwiseMode_t mode, const Descriptor& x, const Descriptor* b,
                   const Descriptor& y, cudnnDataType_t compute = CUDNN_DATA_FLOAT) {
        operation_with(how(mode, compute), x, b, y).finalize();
    }
    void index(const Descriptor& x, std::int64_t axis, const Descriptor& y) {
        Descriptor made = how(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT);
        made.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
        operation_with(std::move(made), x, nullptr, y).finalize();
    }
    void multiply(const Descriptor& a, const Descriptor& b, const Descriptor& c) {
        Descriptor how{CUDNN_BACKEND_MATMUL_DESCRIPTOR};
        how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
        how.finalize();
        Descriptor made{CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR};
        made.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, add(std::move(how)));
        made.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
        made.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
        made.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
        queued(std::move(made)).finalize();
    }
    void reduce(cudnnReduceTensorOp_t by, const Descriptor& x, const Descriptor& y) {
        Descriptor how{CUDNN_BACKEND_REDUCTION_DESCRIPTOR};
        how.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &by);
        how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
        how.finalize();
        Descriptor made{CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR};
        made.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, add(std::move(how)));
        made.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
        made.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
        queued(std::move(made)).finalize();
    }
    Descriptor& queued(Descriptor made) {
        Descriptor& kept = parts_.emplace_back(std::move(made));
        operations_.push_back(&kept);
        return kept;
    }

    std::int64_t next_ = 10; ///< of what one operation hands to the next
    TensorShape scores_;
    std::deque<Descriptor> parts_;
    std::vector<const Descriptor*> operations_;
};

} // namespace assay::workload::cudnn
