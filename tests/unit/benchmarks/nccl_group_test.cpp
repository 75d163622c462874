// SPDX-License-Identifier: Apache-2.0
//
// Collectives on devices from end to end on pretended ones: every benchmark of the module, through the C interface,
// in all sizes and places that have a code path of their own.
#include "nccl_all.hpp"
#include "pretended.hpp"
#include "pretended_case.hpp"

#include <assay/module.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace {

using namespace assay::collective;
using assay::pretended::Case;
using assay::pretended::Given;
using assay::pretended::World;
using assay::pretended::world;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NcclGroup : public testing::Test {
protected:
    void SetUp() override { world() = World{}; }
    void TearDown() override {
        EXPECT_THAT(world().complaint, IsEmpty());
        EXPECT_EQ(world().memories, 0);
        EXPECT_EQ(world().streams + world().events, 0);
        EXPECT_EQ(world().communicators + world().registrations, 0);
    }
};

void keeps_its_promises(const assay_benchmark& benchmark, const Given& given) {
    Case one{benchmark, given};
    ASSERT_EQ(one.misfit(), "");
    ASSERT_EQ(one.create(), "");
    EXPECT_EQ(one.sample(1), "");
    EXPECT_EQ(one.verdict(), "");
    EXPECT_EQ(one.spoil(), "");
    EXPECT_NE(one.verdict(), "") << "one element off by one step";
    EXPECT_EQ(one.sample(1), "");
    EXPECT_EQ(one.verdict(), "") << "after a spoiled result";
    EXPECT_EQ(one.poison(), "");
    EXPECT_NE(one.verdict(), "") << "poisoned";
    EXPECT_EQ(one.sample(150), "");
    EXPECT_EQ(one.verdict(), "") << "after 150 calls, in which sums in place outgrow fp32";
    EXPECT_GT(one.bus_bytes(), 0);
    EXPECT_EQ(one.texts["path"], "nvlink");
}

TEST_F(NcclGroup, EveryCollectiveComputesAndIsChecked) {
    for (const auto* benchmark : all_of_nccl)
        for (const char* ranks : {"2", "3", "4"})
            for (const char* bytes : {"8", "1000", "65536"})
                for (const char* in_place : {"false", "true"}) {
                    if (std::string{in_place} == "true" && !Case{*benchmark, {}}.has("in_place"))
                        continue;
                    SCOPED_TRACE(std::string{benchmark->id} + " ranks=" + ranks +
                                 " bytes=" + bytes + " in_place=" + in_place);
                    keeps_its_promises(
                        *benchmark, {{"ranks", ranks}, {"bytes", bytes}, {"in_place", in_place}});
                }
}

TEST_F(NcclGroup, EveryKindOfBufferAndNumber) {
    for (const auto* benchmark : all_of_nccl)
        for (const char* buffers : {"plain", "registered", "symmetric"}) {
            SCOPED_TRACE(std::string{benchmark->id} + ' ' + buffers);
            keeps_its_promises(*benchmark, {{"bytes", "4096"}, {"buffers", buffers}});
        }
    keeps_its_promises(device_allreduce,
                       {{"bytes", "4096"}, {"type", "fp64"}, {"in_place", "true"}});
    keeps_its_promises(device_reduce_scatter, {{"bytes", "4096"}, {"type", "fp64"}});
}

TEST_F(NcclGroup, SaysWhatItFound) {
    Case one{device_allreduce, {{"bytes", "1048576"}}};
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

TEST_F(NcclGroup, AnotherWayThanTheLabelIsAFailedCheck) {
    const auto verdict = [](const Given& given) {
        Case one{device_allreduce, given};
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
    world().connection = "SHM/direct/direct";
    EXPECT_EQ(verdict({{"bytes", "8"}, {"transport", "host_staged"}}), "");
}

TEST_F(NcclGroup, WhatDoesNotApplyHasAReason) {
    const auto misfit = [](const Given& given,
                           const assay_benchmark& benchmark = device_allreduce) {
        return Case{benchmark, given}.misfit();
    };
    EXPECT_EQ(misfit({}), "");
    EXPECT_EQ(misfit({{"ranks", "5"}}), "not applicable: needs 5 devices, there are 4");
    EXPECT_THAT(misfit({{"transport", "nvlink_ring"}, {"algorithm", "tree"}}),
                HasSubstr("not applicable: transport nvlink_ring is a ring"));
    EXPECT_THAT(misfit({{"algorithm", "pat"}}, device_allgather), HasSubstr("not applicable"));
    EXPECT_THAT(misfit({{"type", "fp16"}, {"in_place", "true"}}), HasSubstr("this narrow"));
    EXPECT_EQ(misfit({{"type", "fp8_e4m3"}}), "");
    EXPECT_THAT(misfit({{"bytes", "68719476736"}}), HasSubstr("bytes of free memory"));
    world().capability = 80;
    EXPECT_THAT(misfit({{"type", "fp8_e4m3"}}), HasSubstr("compute capability 9.0"));
    EXPECT_THAT(misfit({{"algorithm", "nvls"}}), HasSubstr("compute capability 9.0"));
    world().reach_each_other = false;
    EXPECT_THAT(misfit({{"transport", "pcie_peer"}}), HasSubstr("does not reach the memory"));
    world().devices = 1;
    EXPECT_EQ(misfit({}), "not applicable: needs two devices, there is one");
    world().devices = 0;
    EXPECT_THAT(misfit({}), HasSubstr("not applicable: no CUDA device"));
}

TEST_F(NcclGroup, AFailedCallGivesTheCommunicatorsUp) {
    world().fails_at = 1;
    {
        Case one{device_allreduce, {{"bytes", "4096"}, {"buffers", "registered"}}};
        ASSERT_EQ(one.create(), "");
        EXPECT_EQ(one.sample(1), "");
        EXPECT_THAT(one.sample(1), HasSubstr("NCCL: internal error: as pretended"));
    }
    EXPECT_EQ(world().aborted, 4) << "destroying would wait for what never ends";
    EXPECT_EQ(world().registrations, 8) << "given up with them";
    world().registrations = 0;
}

TEST_F(NcclGroup, NoWindowIsAnErrorOfSetUp) {
    world().has_windows = false;
    {
        Case one{device_allreduce, {{"bytes", "4096"}, {"buffers", "symmetric"}}};
        EXPECT_THAT(one.create(), HasSubstr("peer access between all devices"));
    }
    EXPECT_EQ(world().communicators, 4) << "they belong to nobody yet; the process ends after this";
    world().communicators = 0;
}

} // namespace
