// SPDX-License-Identifier: Apache-2.0
//
// One matrix product as cuBLASLt knows it: types, layouts, scales, and the algorithms that the library
// offers for it.

#pragma once

#include "gemm/algorithm_text.hpp"
#include "gemm/cublaslt_handles.hpp"
#include "gemm/device_matrices.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::gemm {

/// Version in the format of CUBLAS_VERSION, the older of the one built with and the one loaded.
int cublas_version();
/// Version of the loaded library.
std::size_t library_version();

/// Beside the matrices.
struct Scratch {
    void* workspace = nullptr;
    std::size_t bytes = 0;
    std::int32_t* mantissa_bits = nullptr; ///< on the device: what emulation reports there
};

class Product {
public:
    /// How many algorithms are asked for.
    static constexpr int most = 16;

    /// `library` must outlive it.
    Product(const Library& library, DevicePrecision precision, Accumulation accumulation,
            const Operands& operands, const Scratch& scratch);

    /// How many algorithms there are, the best by the library's own estimate first.
    std::size_t algorithms() const { return algorithms_.size(); }
    /// Why there are none.
    const std::string& why_none() const { return why_none_; }

    /// Queues C = A B^T, with what is added. Throws LibraryError where this algorithm cannot do it after all.
    void queue(std::size_t algorithm, const device::Stream& stream) const;

    AlgorithmConfig config(std::size_t algorithm) const;
    /// "tensor fp16, sums fp32": which units are used, on which types. "" where the library chooses in
    /// every call.
    std::string arithmetic(std::size_t algorithm) const;

private:
    struct Algorithm {
        bool is_known = true; // false: the library chooses in every call
        cublasLtMatmulAlgo_t algorithm{};
        std::size_t workspace = 0;
    };

    void describe_bias();
    void describe_scales();
    void describe_emulation();
    void ask();
    bool emulates(const cublasLtMatmulAlgo_t& algorithm) const;

    DevicePrecision precision_;
    Operands operands_;
    Scratch scratch_;
    const Library& library_;
#if CUBLAS_VERSION >= 130100
    Emulation emulation_;
#endif
    Operation operation_;
    Layout a_;
    Layout b_;
    Layout c_;
    std::vector<Algorithm> algorithms_;
    std::string why_none_;
};

} // namespace assay::gemm
