// SPDX-License-Identifier: Apache-2.0
//
// Collectives on four devices of the CPU through the C interface, beside their contract: what they say they found, and
// what becomes of a machine that cannot do them.
#include "../support/variable.hpp"
#include "case.hpp"
#include "runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using assay::device_on_cpu::Case;
using assay::device_on_cpu::Given;
using assay::device_on_cpu::Held;
using assay::device_on_cpu::held;
using assay::test::Variable;
using ::testing::HasSubstr;

/// Before the first call of the runtime.
const bool is_set_up = [] {
    ::setenv("ASSAY_CPU_DEVICES", "4", 1);
    ::setenv("ASSAY_CPU_DEVICE_MIB", "4096", 1);
    return ::setenv("ASSAY_HOLD_STREAMS", "0", 1) == 0;
}();

const assay_benchmark& collective(const std::string& name) {
    return assay::device_on_cpu::benchmark_of(ASSAY_MODULES_ON_CPU "/nccl.so",
                                              "collective." + name);
}

class NcclGroup : public testing::Test {
protected:
    void SetUp() override {
        held() = Held{};
        before_ = free_memory();
    }
    void TearDown() override {
        EXPECT_EQ(free_memory(), before_);
        EXPECT_EQ(held().handles, 0);
        EXPECT_EQ(held().communicators + held().registrations, 0);
    }

private:
    static std::size_t free_memory() {
        std::size_t sum = 0;
        for (int device = 0; device < 4; ++device) {
            std::size_t available = 0;
            std::size_t total = 0;
            EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
            EXPECT_EQ(cudaMemGetInfo(&available, &total), cudaSuccess);
            sum += available;
        }
        return sum;
    }
    std::size_t before_ = 0;
};

/// Every value of every parameter: the module's contract.
TEST_F(NcclGroup, SumsInPlaceAreRightAfterMoreCallsThanFp32Holds) {
    for (const char* name : {"allreduce", "reduce_scatter"})
        for (const char* type : {"fp32", "fp64"}) {
            SCOPED_TRACE(std::string{name} + ' ' + type);
            Case one{collective(name), {{"bytes", "4096"}, {"type", type}, {"in_place", "true"}}};
            ASSERT_EQ(one.misfit(), "");
            ASSERT_EQ(one.create(), "");
            EXPECT_EQ(one.sample(150), "");
            EXPECT_EQ(one.verdict(), "");
            EXPECT_EQ(one.texts["path"], "nvlink");
        }
}

TEST_F(NcclGroup, SaysWhatItFound) {
    Case one{collective("allreduce"), {{"bytes", "1048576"}}};
    ASSERT_EQ(one.create(), "");
    EXPECT_EQ(one.sample(1), "");
    EXPECT_EQ(one.verdict(), "");
    EXPECT_EQ(one.numbers["ranks"], 4);
    EXPECT_EQ(one.numbers["processes"], 1);
    EXPECT_EQ(one.numbers["message_bytes"], 1048576);
    EXPECT_EQ(one.texts["nccl.algorithm"], "RING");
    EXPECT_EQ(one.texts["nccl.protocol"], "SIMPLE");
    EXPECT_EQ(one.numbers["nccl.channels"], 4);
    EXPECT_EQ(one.numbers["nvlink.devices"], 4);
    EXPECT_DOUBLE_EQ(one.numbers["nvlink.least_bytes"], 1048576 * 0.75);
    EXPECT_DOUBLE_EQ(one.bus_bytes(), 1048576 * 1.5);
}

TEST_F(NcclGroup, SaysWhichPluginCarriedMessages) {
    const Variable network{"NCCL_NET", "AWS Libfabric"};
    const Variable apart{"NCCL_P2P_DISABLE", "1"};
    const auto said = [](const char* bytes) {
        Case one{collective("allreduce"), {{"bytes", bytes}}};
        EXPECT_EQ(one.create(), "");
        EXPECT_EQ(one.sample(1), "");
        EXPECT_EQ(one.verdict(), "");
        return one.texts["net_plugin"];
    };
    EXPECT_EQ(said("8"), "") << "chosen, but messages went through memory";
    const Variable far{"NCCL_SHM_DISABLE", "1"};
    EXPECT_EQ(said("8"), "AWS Libfabric");
}

TEST_F(NcclGroup, AnotherWayThanTheLabelIsAFailedCheck) {
    const auto verdict = [](const Given& given) {
        Case one{collective("allreduce"), given};
        EXPECT_EQ(one.create(), "");
        EXPECT_EQ(one.sample(1), "");
        return one.verdict();
    };
    EXPECT_THAT(verdict({{"bytes", "8"}, {"transport", "host_staged"}}),
                HasSubstr("connections by peer access"));
    EXPECT_THAT(verdict({{"bytes", "8"}, {"algorithm", "tree"}}),
                HasSubstr("the algorithm RING, not TREE"));
    EXPECT_THAT(verdict({{"bytes", "8"}, {"protocol", "ll"}}), HasSubstr("SIMPLE, not LL"));
    EXPECT_EQ(verdict({{"bytes", "8"}, {"transport", "nvlink_ring"}, {"protocol", "simple"}}), "");
    const Variable staged{"NCCL_P2P_DISABLE", "1"};
    EXPECT_EQ(verdict({{"bytes", "8"}, {"transport", "host_staged"}}), "");
}

TEST_F(NcclGroup, WhatDoesNotApplyHasAReason) {
    const auto misfit = [](const Given& given,
                           const assay_benchmark& benchmark = collective("allreduce")) {
        return Case{benchmark, given}.misfit();
    };
    EXPECT_EQ(misfit({}), "");
    EXPECT_EQ(misfit({{"ranks", "5"}}), "not applicable: needs 5 devices, there are 4");
    EXPECT_THAT(misfit({{"transport", "nvlink_ring"}, {"algorithm", "tree"}}),
                HasSubstr("not applicable: transport nvlink_ring is a ring"));
    EXPECT_THAT(misfit({{"algorithm", "pat"}}, collective("allgather")),
                HasSubstr("not applicable"));
    EXPECT_THAT(misfit({{"type", "fp16"}, {"in_place", "true"}}), HasSubstr("this narrow"));
    EXPECT_EQ(misfit({{"type", "fp8_e4m3"}}), "");
    EXPECT_THAT(misfit({{"bytes", "68719476736"}}), HasSubstr("bytes of free memory"));
    const Variable older{"ASSAY_CPU_CAPABILITY", "80"};
    EXPECT_THAT(misfit({{"type", "fp8_e4m3"}}), HasSubstr("compute capability 9.0"));
    EXPECT_THAT(misfit({{"algorithm", "nvls"}}), HasSubstr("compute capability 9.0"));
    const Variable apart{"ASSAY_CPU_PEERS", "0"};
    EXPECT_THAT(misfit({{"transport", "pcie_peer"}}), HasSubstr("does not reach the memory"));
    {
        const Variable one{"CUDA_VISIBLE_DEVICES", "0"};
        EXPECT_EQ(misfit({}), "not applicable: needs two devices, there is one");
    }
    const Variable none{"CUDA_VISIBLE_DEVICES", ""};
    EXPECT_THAT(misfit({}), HasSubstr("not applicable: no CUDA device"));
}

TEST_F(NcclGroup, AFailedCallGivesTheCommunicatorsUp) {
    {
        Case one{collective("allreduce"), {{"bytes", "4096"}, {"buffers", "registered"}}};
        ASSERT_EQ(one.create(), "");
        EXPECT_EQ(one.sample(1), "");
        const Variable fault{"ASSAY_CPU_FAULT", "nccl_call"};
        EXPECT_THAT(one.sample(1), HasSubstr("NCCL: internal error: as planted"));
    }
    EXPECT_EQ(held().aborted, 4) << "destroying would wait for what never ends";
    EXPECT_EQ(held().registrations, 8) << "given up with them";
    held().registrations = 0;
}

TEST_F(NcclGroup, OverlapChecksTheSumAndTheProducts) {
    const assay_benchmark& overlap = collective("overlap");
    const Given given{{"ranks", "2"}, {"bytes", "65536"}, {"size", "256"}};
    EXPECT_THAT((Case{overlap, {{"bytes", "65536"}, {"size", "200"}}}.misfit()),
                HasSubstr("a multiple of 128 rows, not 200"));
    {
        const Variable older{"ASSAY_CPU_CAPABILITY", "75"};
        EXPECT_THAT((Case{overlap, given}.misfit()), HasSubstr("compute capability 8.0"));
    }
    Case one{overlap, given};
    ASSERT_EQ(one.misfit(), "");
    ASSERT_EQ(one.create(), "");
    EXPECT_GE(one.numbers["products"], 1);
    EXPECT_GT(one.numbers["gemm_rate"], 0);
    for (const char* wrong :
         {"allowed is 0", "allowed is 1"}) { // of the sum's check, of the product's
        EXPECT_EQ(one.sample(1), "");
        EXPECT_EQ(one.verdict(), "");
        EXPECT_EQ(one.spoil(), "");
        EXPECT_THAT(one.verdict(), HasSubstr(wrong));
    }
    EXPECT_EQ(one.sample(1), "");
    EXPECT_EQ(one.verdict(), "");
}

TEST_F(NcclGroup, NoWindowIsAnErrorOfSetUp) {
    const Variable fault{"ASSAY_CPU_FAULT", "nccl_windows"};
    {
        Case one{collective("allreduce"), {{"bytes", "4096"}, {"buffers", "symmetric"}}};
        EXPECT_THAT(one.create(), HasSubstr("peer access between all devices"));
    }
    EXPECT_EQ(held().communicators, 4) << "they belong to nobody yet; the process ends after this";
    held().communicators = 0;
}

} // namespace
