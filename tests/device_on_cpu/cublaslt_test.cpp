// SPDX-License-Identifier: Apache-2.0
//
// The module cublaslt with a library that has less than the one it was built with: see
// pretended_cublaslt.cpp.
#include "gemm/cublaslt_product.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>

namespace assay::gemm {
namespace {

/// The library that was opened.
void* pretended() { return ::dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_NOLOAD); }

constexpr std::size_t workspace_bytes = std::size_t{32} << 20U;

class Products : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(why_no_library(), ""); }

    Product product(DevicePrecision precision) {
        const PrecisionSpec spec = spec_of(precision);
        const auto operand = [&](Storage storage) {
            return Operand{storage, memory_.data(), memory_.data(), 256, 256};
        };
        return {library_,
                precision,
                Accumulation::exact,
                {.a = operand(spec.a), .b = operand(spec.b), .c = operand(spec.c)},
                {.workspace = memory_.data(),
                 .bytes = workspace_bytes,
                 .mantissa_bits = reinterpret_cast<std::int32_t*>(memory_.data())}};
    }
    /// Bytes that the library was given for a call of the only algorithm; by_library: that it chose itself.
    std::size_t workspace_of(DevicePrecision precision, bool by_library) {
        const Product made = product(precision);
        EXPECT_EQ(made.algorithms(), 1U);
        made.queue(0, stream_);
        const auto had_algorithm =
            reinterpret_cast<bool (*)()>(::dlsym(pretended(), "pretended_algorithm"));
        EXPECT_EQ(had_algorithm(), !by_library);
        return reinterpret_cast<std::size_t (*)()>(::dlsym(pretended(), "pretended_workspace"))();
    }

private:
    alignas(256) std::array<std::uint8_t, 512> memory_{};
    Library library_ = open_library();
    device::Stream stream_;
};

TEST_F(Products, AnAlgorithmGetsTheWorkspaceItAsksFor) {
    EXPECT_EQ(workspace_of(DevicePrecision::bf16, false), 4096U);
}

TEST_F(Products, WhereTheLibraryChoosesItMayUseAllOfTheWorkspace) {
    EXPECT_EQ(workspace_of(DevicePrecision::int8, true), workspace_bytes);
}

TEST_F(Products, ALibraryWithoutEmulationIsUsedForTheRest) {
    EXPECT_EQ(cublas_version(), 130000);
    if (CUBLAS_VERSION < 130100) return;
    EXPECT_THROW(product(DevicePrecision::fp64_emulated), LibraryError);
    EXPECT_EQ(product(DevicePrecision::fp64).algorithms(), 1U);
}

} // namespace
} // namespace assay::gemm
