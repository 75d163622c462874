// SPDX-License-Identifier: Apache-2.0
//
// Sizes that the contracts do not try, in several orders of threads and copies: rings of bulk copies, clusters.
#include "block.hpp"
#include "case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace assay::device_on_cpu {
namespace {

using testing::HasSubstr;

/// Before the first call of the runtime.
const bool is_set_up = ::setenv("ASSAY_HOLD_STREAMS", "0", 1) == 0;

const assay_benchmark& benchmark(const std::string& id) {
    return benchmark_of(ASSAY_MODULES_ON_CPU "/cuda.so", id);
}

/// Right in every order, wrong after one bit was changed.
void expect_right(const std::string& id, const Given& given) {
    for (const char* schedule : {"sequence", "reversed", "1", "2"}) {
        std::string trace = id + " in order " + schedule;
        for (const auto& [name, value] : given) trace += ' ' + name + '=' + value;
        SCOPED_TRACE(trace);
        set_schedule(schedule);
        Case one{benchmark(id), given};
        ASSERT_EQ(one.misfit(), "");
        ASSERT_EQ(one.create(), "");
        EXPECT_EQ(one.poison(), "");
        EXPECT_NE(one.verdict(), "");
        EXPECT_EQ(one.sample(1), "");
        EXPECT_EQ(one.verdict(), "");
        EXPECT_EQ(one.spoil(), "");
        EXPECT_NE(one.verdict(), "");
    }
    set_schedule("sequence");
}
std::string misfit(const std::string& id, const Given& given) {
    return Case{benchmark(id), given}.misfit();
}

TEST(BulkCopies, AreRightInRingsOfEverySize) {
    for (const char* kernel : {"copy", "read", "write"})
        for (const int pieces : {2, 4, 8, 16, 32, 64, 128})
            expect_right("memory.bulk_copy", {{"kernel", kernel},
                                              {"piece", "1024"},
                                              {"in_flight", std::to_string(pieces * 1024)},
                                              {"footprint", "600000"}});
}

TEST(Clusters, AreRightInEverySize) {
    for (const char* cluster : {"2", "4", "8", "16"}) {
        expect_right("latency.cluster", {{"operation", "load"}, {"cluster", cluster}});
        expect_right("latency.cluster", {{"operation", "barrier"}, {"cluster", cluster}});
        expect_right("memory.cluster", {{"cluster", cluster}});
    }
}

TEST(Sizes, ThatDoNotFitAreNamed) {
    EXPECT_THAT(misfit("latency.cluster", {{"cluster", "6"}}), HasSubstr("2, 4, 8 or 16 blocks"));
    EXPECT_THAT(misfit("memory.bulk_copy", {{"piece", "3000"}}), HasSubstr("powers of two"));
    EXPECT_THAT(misfit("memory.bulk_copy", {{"piece", "16384"}, {"in_flight", "16384"}}),
                HasSubstr("2 to 128 pieces"));
    ::setenv("ASSAY_CPU_CAPABILITY", "80", 1);
    for (const char* id : {"memory.bulk_copy", "memory.cluster", "latency.cluster"})
        EXPECT_THAT(misfit(id, {{"footprint", "65536"}}),
                    HasSubstr("not applicable: needs compute capability 9.0"));
    ::unsetenv("ASSAY_CPU_CAPABILITY");
}

} // namespace
} // namespace assay::device_on_cpu
