// SPDX-License-Identifier: Apache-2.0
//
// The libraries of the device on the CPU themselves: what a benchmark's check could not tell from a fault of the benchmark.
#include "noticed.hpp"

#include <cblas.h>
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cufftXt.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

/// Before the first call of the runtime.
const bool is_set_up = [] {
    ::setenv("ASSAY_CPU_DEVICES", "2", 1);
    ::setenv("ASSAY_CPU_DEVICE_MIB", "4096", 1);
    ::setenv("ASSAY_CPU_CAPABILITY", "100", 1);
    return ::setenv("ASSAY_HOLD_STREAMS", "0", 1) == 0;
}();

/// Memory of the current device, which the host reaches too: the device is the CPU.
template <class T>
class OnDevice {
public:
    explicit OnDevice(std::size_t count) : count_{count} {
        void* made = nullptr;
        EXPECT_EQ(cudaMalloc(&made, count * sizeof(T)), cudaSuccess);
        data_ = static_cast<T*>(made);
        std::fill_n(data_, count, T{});
    }
    explicit OnDevice(const std::vector<T>& values) : OnDevice{values.size()} {
        std::copy(values.begin(), values.end(), data_);
    }
    ~OnDevice() { cudaFree(data_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    T* get() const { return data_; }
    T& operator[](std::size_t i) const { return data_[i]; }
    std::vector<T> values() const { return {data_, data_ + count_}; }

private:
    T* data_ = nullptr;
    std::size_t count_;
};

template <class T>
std::vector<T> random_numbers(std::size_t count, unsigned seed) {
    std::mt19937 engine{seed};
    std::uniform_real_distribution<double> any{-1, 1};
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(any(engine));
    return values;
}

// --- cuBLASLt ------------------------------------------------------------------------------------------

/// A product as cuBLASLt has it.
class Product {
public:
    Product(cublasComputeType_t compute, cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b,
            cudaDataType_t d, bool transpose_a, bool transpose_b, std::array<int, 3> mnk,
            int padding = 0, int batches = 1) {
        const auto [m, n, k] = mnk;
        cublasLtCreate(&library_);
        cublasLtMatmulDescCreate(&operation, compute, scale);
        const cublasOperation_t ta = transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
        const cublasOperation_t tb = transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
        set(CUBLASLT_MATMUL_DESC_TRANSA, ta);
        set(CUBLASLT_MATMUL_DESC_TRANSB, tb);
        layout(layouts_[0], a, transpose_a ? k : m, transpose_a ? m : k, padding, batches);
        layout(layouts_[1], b, transpose_b ? n : k, transpose_b ? k : n, padding, batches);
        layout(layouts_[2], d, m, n, padding, batches);
        cublasLtMatmulPreferenceCreate(&preference_);
        const std::uint64_t workspace = 1 << 20U;
        cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &workspace, sizeof workspace);
    }
    ~Product() {
        for (auto* one : layouts_) cublasLtMatrixLayoutDestroy(one);
        cublasLtMatmulPreferenceDestroy(preference_);
        cublasLtMatmulDescDestroy(operation);
        cublasLtDestroy(library_);
    }
    Product(const Product&) = delete;
    Product& operator=(const Product&) = delete;

    template <class T>
    void set(cublasLtMatmulDescAttributes_t name, const T& value) {
        ASSERT_EQ(cublasLtMatmulDescSetAttribute(operation, name, &value, sizeof value),
                  CUBLAS_STATUS_SUCCESS);
    }
    void add_bias(const void* bias) {
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
        set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    }
    cublasStatus_t ask(std::vector<cublasLtMatmulHeuristicResult_t>& found) {
        found.resize(8);
        int count = 0;
        const auto status = cublasLtMatmulAlgoGetHeuristic(library_, operation, layouts_[0],
                                                           layouts_[1], layouts_[2], layouts_[2],
                                                           preference_, 8, found.data(), &count);
        found.resize(static_cast<std::size_t>(count));
        return status;
    }
    cublasStatus_t status() {
        std::vector<cublasLtMatmulHeuristicResult_t> found;
        return ask(found);
    }
    cublasStatus_t multiply(const void* alpha, const void* a, const void* b, const void* beta,
                            void* c, const cublasLtMatmulAlgo_t* algorithm = nullptr,
                            void* workspace = nullptr, std::size_t bytes = 0) {
        return cublasLtMatmul(library_, operation, alpha, a, layouts_[0], b, layouts_[1], beta, c,
                              layouts_[2], c, layouts_[2], algorithm, workspace, bytes, nullptr);
    }

    cublasLtMatmulDesc_t operation = nullptr;

private:
    static void layout(cublasLtMatrixLayout_t& made, cudaDataType_t type, int rows, int columns,
                       int padding, int batches) {
        cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), rows + padding);
        const std::int64_t offset = static_cast<std::int64_t>(rows + padding) * columns;
        cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches,
                                         sizeof batches);
        cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &offset,
                                         sizeof offset);
    }
    cublasLtHandle_t library_ = nullptr;
    std::array<cublasLtMatrixLayout_t, 3> layouts_{};
    cublasLtMatmulPreference_t preference_ = nullptr;
};

void multiply_by_blas(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::array<int, 3> mnk, double alpha,
                      const double* a, int lda, const double* b, int ldb, double beta, double* c,
                      int ldc) {
    cblas_dgemm(CblasColMajor, ta, tb, mnk[0], mnk[1], mnk[2], alpha, a, lda, b, ldb, beta, c, ldc);
}
void multiply_by_blas(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::array<int, 3> mnk, float alpha,
                      const float* a, int lda, const float* b, int ldb, float beta, float* c,
                      int ldc) {
    cblas_sgemm(CblasColMajor, ta, tb, mnk[0], mnk[1], mnk[2], alpha, a, lda, b, ldb, beta, c, ldc);
}

/// Batches of padded matrices by every algorithm that works, against BLAS.
template <class T>
void compare_with_blas(bool transpose_a, bool transpose_b) {
    constexpr bool twice = std::is_same_v<T, double>;
    constexpr auto type = twice ? CUDA_R_64F : CUDA_R_32F;
    constexpr std::array mnk{7, 5, 11};
    constexpr int padding = 3;
    constexpr std::size_t batches = 2;
    Product product{twice ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                    type,
                    type,
                    type,
                    type,
                    transpose_a,
                    transpose_b,
                    mnk,
                    padding,
                    batches};
    const auto [m, n, k] = mnk;
    const int lda = (transpose_a ? k : m) + padding;
    const int ldb = (transpose_b ? n : k) + padding;
    const int ldc = m + padding;
    const auto size = [](int leading, int columns) {
        return static_cast<std::size_t>(leading) * static_cast<std::size_t>(columns);
    };
    const std::size_t a_size = size(lda, transpose_a ? m : k);
    const std::size_t b_size = size(ldb, transpose_b ? k : n);
    const std::size_t c_size = size(ldc, n);
    const OnDevice<T> a{random_numbers<T>(batches * a_size, 1)};
    const OnDevice<T> b{random_numbers<T>(batches * b_size, 2)};
    const auto before = random_numbers<T>(batches * c_size, 3);
    const T alpha = 2;
    const T beta = -3;
    auto expected = before;
    for (std::size_t batch = 0; batch < batches; ++batch)
        multiply_by_blas(transpose_a ? CblasTrans : CblasNoTrans,
                         transpose_b ? CblasTrans : CblasNoTrans, mnk, alpha,
                         a.get() + batch * a_size, lda, b.get() + batch * b_size, ldb, beta,
                         expected.data() + batch * c_size, ldc);

    const auto bias = random_numbers<T>(static_cast<std::size_t>(m), 4);
    const OnDevice<T> bias_there{bias};
    if (!twice) { // which has none
        product.add_bias(bias_there.get());
        for (std::size_t column = 0; column < batches * static_cast<std::size_t>(n); ++column)
            for (std::size_t row = 0; row < bias.size(); ++row)
                expected[column * static_cast<std::size_t>(ldc) + row] += bias[row];
    }

    std::vector<cublasLtMatmulHeuristicResult_t> found;
    ASSERT_EQ(product.ask(found), CUBLAS_STATUS_SUCCESS);
    const OnDevice<char> workspace{1 << 16U};
    int worked = 0;
    bool used_workspace = false;
    for (const auto& one : found) {
        const OnDevice<T> c{before};
        if (one.state != CUBLAS_STATUS_SUCCESS ||
            product.multiply(&alpha, a.get(), b.get(), &beta, c.get(), &one.algo, workspace.get(),
                             one.workspaceSize) != CUBLAS_STATUS_SUCCESS)
            continue;
        ++worked;
        used_workspace = used_workspace || one.workspaceSize > 0;
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_NEAR(c[i], expected[i], twice ? 1e-14 : 1e-5) << "element " << i;
    }
    EXPECT_GE(worked, 3);
    EXPECT_TRUE(used_workspace);
    EXPECT_LT(static_cast<std::size_t>(worked), found.size()) << "some of a list do not work";
}

TEST(CublasltOnCpu, MultipliesAsBlasDoes) {
    for (const bool transpose_a : {false, true})
        for (const bool transpose_b : {false, true}) {
            SCOPED_TRACE(std::to_string(transpose_a) + std::to_string(transpose_b));
            compare_with_blas<double>(transpose_a, transpose_b);
            compare_with_blas<float>(transpose_a, transpose_b);
        }
}

constexpr std::array square{128, 128, 128};

TEST(CublasltOnCpu, RefusesWhatTheLibraryRefuses) {
    const auto status = [](cublasComputeType_t compute, cudaDataType_t scale, cudaDataType_t a,
                           cudaDataType_t b, cudaDataType_t d, std::array<int, 3> mnk = square,
                           bool transpose_a = true, bool transpose_b = false) {
        return Product{compute, scale, a, b, d, transpose_a, transpose_b, mnk}.status();
    };
    constexpr auto fp32 = CUBLAS_COMPUTE_32F;
    EXPECT_EQ(status(fp32, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_R_16BF),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(status(fp32, CUDA_R_32F, CUDA_R_8F_E5M2, CUDA_R_8F_E5M2, CUDA_R_16BF),
              CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_EQ(status(fp32, CUDA_R_64F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F),
              CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_EQ(status(fp32, CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_16F),
              CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_EQ(
        status(fp32, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16BF, {128, 128, 120}),
        CUBLAS_STATUS_NOT_SUPPORTED)
        << "rows that are no multiple of 16 bytes";
    EXPECT_EQ(status(fp32, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16BF, square, false),
              CUBLAS_STATUS_NOT_SUPPORTED)
        << "A is not transposed";
    EXPECT_EQ(status(fp32, CUDA_R_32F, CUDA_R_4F_E2M1, CUDA_R_4F_E2M1, CUDA_R_16BF),
              CUBLAS_STATUS_NOT_SUPPORTED)
        << "without scales of blocks";
    EXPECT_EQ(status(CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_8I, CUDA_R_32I),
              CUBLAS_STATUS_NOT_SUPPORTED)
        << "the heuristics are silent on int8";

    Product product{fp32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, true, false, {4, 4, 4}};
    const OnDevice<float> memory{64};
    std::array<float, 64> of_host{};
    const float one = 1;
    const auto multiply = [&](const float* a, float* c) {
        return product.multiply(&one, a, memory.get(), &one, c);
    };
    EXPECT_EQ(multiply(memory.get(), memory.get() + 16), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(multiply(of_host.data(), memory.get()), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(multiply(memory.get() + 56, memory.get()), CUBLAS_STATUS_INVALID_VALUE)
        << "half of A lies behind the memory";
    product.add_bias(memory.get() + 62);
    EXPECT_EQ(multiply(memory.get(), memory.get() + 16), CUBLAS_STATUS_INVALID_VALUE)
        << "half of the bias lies behind the memory";
    Product twice{CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F,
                  CUDA_R_64F,         true,       false,      square};
    twice.add_bias(memory.get());
    EXPECT_EQ(twice.status(), CUBLAS_STATUS_NOT_SUPPORTED);
}

// --- cuFFT ---------------------------------------------------------------------------------------------

cufftResult make_plan(cufftHandle plan, std::vector<long long> n, cudaDataType in, cudaDataType out,
                      cudaDataType compute, long long batch = 1) {
    std::size_t bytes = 0;
    return cufftXtMakePlanMany(plan, static_cast<int>(n.size()), n.data(), nullptr, 1, 0, in,
                               nullptr, 1, 0, out, batch, &bytes, compute);
}

TEST(CufftOnCpu, TransformsByDefinitionWithStrides) {
    cufftHandle plan = 0;
    ASSERT_EQ(cufftCreate(&plan), CUFFT_SUCCESS);
    std::array<long long, 1> n{6};
    std::size_t bytes = 0;
    // Two transforms of every second number, 13 apart; bins in every third place, 18 apart.
    ASSERT_EQ(cufftXtMakePlanMany(plan, 1, n.data(), n.data(), 2, 13, CUDA_C_64F, n.data(), 3, 18,
                                  CUDA_C_64F, 2, &bytes, CUDA_C_64F),
              CUFFT_SUCCESS);
    using Number = std::complex<double>;
    const OnDevice<double> points{random_numbers<double>(52, 4)};
    const OnDevice<double> bins{72};
    ASSERT_EQ(cufftXtExec(plan, points.get(), bins.get(), CUFFT_FORWARD), CUFFT_SUCCESS);
    const auto at = [](const OnDevice<double>& all, std::size_t i) {
        return Number{all[2 * i], all[2 * i + 1]};
    };
    for (std::size_t batch = 0; batch < 2; ++batch)
        for (std::size_t bin = 0; bin < 6; ++bin) {
            Number sum = 0;
            for (std::size_t i = 0; i < 6; ++i)
                sum += at(points, 13 * batch + 2 * i) *
                       std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * bin) / 6);
            EXPECT_LT(std::abs(at(bins, 18 * batch + 3 * bin) - sum), 1e-14) << batch << ' ' << bin;
        }
    cufftDestroy(plan);
}

TEST(CufftOnCpu, RealRowsInPlaceHaveRoomForTheirBins) {
    cufftHandle there = 0;
    cufftHandle back = 0;
    cufftCreate(&there);
    cufftCreate(&back);
    ASSERT_EQ(make_plan(there, {3, 4}, CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, 2), CUFFT_SUCCESS);
    ASSERT_EQ(make_plan(back, {3, 4}, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, 2), CUFFT_SUCCESS);
    const auto before = random_numbers<float>(36, 5); // rows of 4, and room for two more
    const OnDevice<float> numbers{before};
    ASSERT_EQ(cufftXtExec(there, numbers.get(), numbers.get(), CUFFT_FORWARD), CUFFT_SUCCESS);
    ASSERT_EQ(cufftXtExec(back, numbers.get(), numbers.get(), CUFFT_INVERSE), CUFFT_SUCCESS);
    for (std::size_t i = 0; i < before.size(); ++i)
        if (i % 6 < 4) {
            EXPECT_NEAR(numbers[i], 12 * before[i], 1e-5) << "not normalised, " << i;
        }
    cufftDestroy(there);
    cufftDestroy(back);
}

TEST(CufftOnCpu, RefusesWhatTheLibraryRefuses) {
    cufftHandle plan = 0;
    EXPECT_EQ(make_plan(12345, {8}, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F), CUFFT_INVALID_PLAN);
    cufftCreate(&plan);
    EXPECT_EQ(make_plan(plan, {12}, CUDA_C_16F, CUDA_C_16F, CUDA_C_16F), CUFFT_NOT_SUPPORTED)
        << "half precision takes powers of two";
    EXPECT_EQ(make_plan(plan, {0}, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F), CUFFT_INVALID_SIZE);
    EXPECT_EQ(make_plan(plan, {8}, CUDA_C_32F, CUDA_C_64F, CUDA_C_64F), CUFFT_INVALID_TYPE);
    EXPECT_EQ(make_plan(plan, {8}, CUDA_R_32F, CUDA_R_32F, CUDA_C_32F), CUFFT_INVALID_TYPE);
    EXPECT_EQ(cufftSetAutoAllocation(plan, 0), CUFFT_SUCCESS);
    EXPECT_EQ(make_plan(plan, {8}, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F), CUFFT_SUCCESS);
    EXPECT_EQ(make_plan(plan, {8}, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F), CUFFT_INVALID_PLAN)
        << "a plan is made once";
    const OnDevice<float> memory{1024};
    std::array<float, 16> of_host{};
    EXPECT_EQ(cufftXtExec(plan, memory.get(), memory.get(), CUFFT_FORWARD), CUFFT_NO_WORKSPACE);
    EXPECT_EQ(cufftSetWorkArea(plan, of_host.data()), CUFFT_INVALID_VALUE);
    EXPECT_EQ(cufftSetWorkArea(plan, memory.get() + 512), CUFFT_SUCCESS);
    EXPECT_EQ(cufftXtExec(plan, of_host.data(), memory.get(), CUFFT_FORWARD), CUFFT_INVALID_VALUE);
    EXPECT_EQ(cufftXtExec(plan, memory.get() + 1016, memory.get(), CUFFT_FORWARD),
              CUFFT_INVALID_VALUE)
        << "half of the points lie behind the memory";
    EXPECT_EQ(cufftXtExec(plan, memory.get(), memory.get(), CUFFT_FORWARD), CUFFT_SUCCESS);
    EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
    EXPECT_EQ(cufftDestroy(plan), CUFFT_INVALID_PLAN);
}

// --- NCCL ----------------------------------------------------------------------------------------------

class NcclOnCpu : public testing::Test {
protected:
    static constexpr std::size_t ranks = 2;

    void SetUp() override {
        ASSERT_EQ(ncclCommInitAll(members.data(), ranks, nullptr), ncclSuccess);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            cudaSetDevice(static_cast<int>(rank));
            memory.push_back(std::make_unique<OnDevice<float>>(8));
        }
        cudaSetDevice(0);
    }
    void TearDown() override {
        for (auto* member : members) ncclCommDestroy(member);
    }

    std::array<ncclComm_t, ranks> members{};
    std::vector<std::unique_ptr<OnDevice<float>>> memory;
};

TEST_F(NcclOnCpu, MessagesOfOneGroupKeepTheirOrder) {
    OnDevice<float>& first = *memory[0];
    OnDevice<float>& second = *memory[1];
    first[0] = 1;
    first[1] = 2;
    ncclGroupStart();
    for (std::size_t i = 0; i < 2; ++i)
        ncclRecv(second.get() + i, 1, ncclFloat32, 0, members[1], nullptr);
    for (std::size_t i = 0; i < 2; ++i)
        ncclSend(first.get() + i, 1, ncclFloat32, 1, members[0], nullptr);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(second.values(), (std::vector<float>{1, 2, 0, 0, 0, 0, 0, 0}));
}

TEST_F(NcclOnCpu, ARankThatIsMissingIsNamedInsteadOfWaitedFor) {
    EXPECT_EQ(ncclAllReduce(memory[0]->get(), memory[0]->get(), 8, ncclFloat32, ncclSum, members[0],
                            nullptr),
              ncclInvalidUsage);
    EXPECT_STREQ(ncclGetLastError(nullptr), "a rank takes no part in the call");
}

TEST_F(NcclOnCpu, RanksThatDisagreeAreRefused) {
    ncclGroupStart();
    ncclAllReduce(memory[0]->get(), memory[0]->get(), 8, ncclFloat32, ncclSum, members[0], nullptr);
    ncclAllReduce(memory[1]->get(), memory[1]->get(), 7, ncclFloat32, ncclSum, members[1], nullptr);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_STREQ(ncclGetLastError(nullptr), "ranks call different collectives");
}

TEST_F(NcclOnCpu, MemoryOfAnotherDeviceIsRefused) {
    EXPECT_EQ(ncclAllReduce(memory[1]->get(), memory[0]->get(), 8, ncclFloat32, ncclSum, members[0],
                            nullptr),
              ncclInvalidArgument);
    EXPECT_EQ(ncclSend(memory[0]->get(), 9, ncclFloat32, 1, members[0], nullptr),
              ncclInvalidArgument)
        << "one number more than there is";
}

// --- are faults of a library noticed by the benchmarks? --------------------------------------------------

using assay::device_on_cpu::expect_noticed;

TEST(PlantedFaults, ATransformWithAWrongSign) {
    for (const char* precision : {"fp64", "fp32", "fp16"})
        for (const char* type : {"c2c", "r2c"})
            expect_noticed("cufft", "cufft", "fft.transform",
                           {{"points", "8"}, {"precision", precision}, {"type", type}});
}

TEST(PlantedFaults, SumsWithoutTheirLastProduct) {
    for (const char* precision : {"fp64", "tf32", "bf16", "fp8_e5m2", "int8", "nvfp4"})
        expect_noticed("cublaslt", "cublaslt", "gemm.square",
                       {{"precision", precision}, {"size", "128"}});
    // Several sequences and heads; one token, no whole number of the tiles of attention, more than a block of them; rows that
    // several warps normalise.
    for (const char* precision : {"bf16", "fp16"})
        for (const auto& [sequence, hidden] : {std::pair{"1", "576"}, {"24", "576"}, {"72", "192"}})
            expect_noticed("cublaslt", "cublaslt", "workload.transformer_layer",
                           {{"batch", "2"},
                            {"sequence", sequence},
                            {"hidden", hidden},
                            {"precision", precision}});
}

TEST(PlantedFaults, ScalesOfOtherBlocks) {
    for (const char* precision : {"mxfp8", "nvfp4"})
        expect_noticed("cublaslt_scales", "cublaslt", "gemm.square",
                       {{"precision", precision}, {"size", "128"}});
}

TEST(PlantedFaults, ACollectiveWithoutItsLastRank) {
    for (const char* name : {"allreduce", "reduce_scatter", "allgather", "broadcast"})
        expect_noticed("nccl", "nccl", std::string{"collective."} + name, {{"bytes", "4096"}});
}

} // namespace
