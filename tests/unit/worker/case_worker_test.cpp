// SPDX-License-Identifier: Apache-2.0
#include "worker/case_worker.hpp"
#include "worker/module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::harness {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Worker {
public:
    message::Result measure(bool sustained, const std::string& place, bool leaks = false) {
        return worker_.measure(
            {.module = ASSAY_LASTING_MODULE,
             .benchmark = "test.lasting",
             .parameters = {{"sustained", sustained}, {"leaks", leaks}},
             // A leak must be seen however slowly a busy machine hands out pages: ten times as many calls.
             .protocol = {.min_seconds = leaks ? 0.05 : 0.005,
                          .budget_seconds = leaks ? 1.0 : 0.1,
                          .warmup_seconds = 0.01},
             .place = {.kind = place}});
    }

private:
    CaseWorker worker_{
        record::Machine{}, 0, "", {.phase = [](const auto&) {}, .log = [](const auto&) {}}};
};

std::string device_at_start(const message::Result& result) {
    const auto* value = record::find(result.result.settings, "device_at_start");
    return value == nullptr ? "" : record::to_string(*value);
}

TEST(CaseWorker, ItemsHaveTheNameThatTheBenchmarkGivesThem) {
    auto result = Worker{}.measure(false, "host");
    ASSERT_TRUE(result.replica().seconds) << result.replica().reason;
    const auto* items = record::find(result.result.settings, "items");
    ASSERT_NE(items, nullptr);
    EXPECT_EQ(record::to_string(*items), "waits");
    const auto module = Module::load(ASSAY_LASTING_MODULE);
    ASSERT_TRUE(module);
    EXPECT_EQ(describe(*module)->benchmarks.front().items, "waits");
}

TEST(CaseWorker, ACaseThatIsSustainedHasLongBatchesAfterALoad) {
    auto result = Worker{}.measure(true, "host");
    ASSERT_TRUE(result.replica().seconds) << result.replica().reason;
    EXPECT_GE(*result.replica().warmup_seconds, 1);
    // 5 ms are asked for, 0.1 ms is usual; a busy machine may have made calls look slower while they were calibrated.
    EXPECT_GE(static_cast<double>(*result.replica().calls) * *result.replica().seconds, 0.0004);
    EXPECT_EQ(device_at_start(result), "");
}

TEST(CaseWorker, MemoryThatGrowsInTheWindowIsSaid) {
    Worker worker;
    auto steady = worker.measure(false, "host");
    ASSERT_TRUE(steady.replica().resident_bytes);
    EXPECT_THAT(steady.result.warnings, IsEmpty());
    auto growing = worker.measure(false, "host", true);
    EXPECT_THAT(growing.result.warnings,
                ElementsAre(AllOf(HasSubstr("memory of the process grew from "),
                                  HasSubstr("while the same calls were repeated"))));
    EXPECT_GT(*growing.replica().resident_bytes, *steady.replica().resident_bytes + 16e6);
}

TEST(CaseWorker, SaysWhetherTheDeviceWasWarm) {
    Worker worker;
    EXPECT_EQ(device_at_start(worker.measure(false, "pretended")), "cold");
    EXPECT_EQ(device_at_start(worker.measure(false, "pretended")), "warm");
}

} // namespace
} // namespace assay::harness
