// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu.hpp"
#include "trees.hpp"

#include <gtest/gtest.h>

namespace assay::machine {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30U;
constexpr std::int64_t mib = std::int64_t{1} << 20U;

TEST(Cgroup, Version2InAContainer) {
    const Files files = tree("cgroup2");
    EXPECT_EQ(cpu_quota(files), 1.5);
    EXPECT_EQ(read_memory(files).limit_bytes, 4 * gib);
    // 4 GiB minus 2 GiB used, of which 512 MiB can be given back.
    EXPECT_EQ(available_memory(files), 2 * gib + 512 * mib);
    EXPECT_EQ(throttled_seconds(files), 0.25);
}

TEST(Cgroup, TheLowestLimitAboveUsCounts) {
    const Files files = tree("cgroup2-nested");
    EXPECT_EQ(cpu_quota(files), 8.0);
    // memory.high of the step is below memory.max of the job.
    EXPECT_EQ(read_memory(files).limit_bytes, 6 * gib);
    EXPECT_EQ(available_memory(files), 5 * gib);
    EXPECT_EQ(throttled_seconds(files), std::nullopt);
}

TEST(Cgroup, Version1WithTheGroupAsRootOfTheMount) {
    const Files files = tree("cgroup1");
    EXPECT_EQ(cpu_quota(files), 2.5);
    EXPECT_EQ(read_memory(files).limit_bytes, 2 * gib);
    EXPECT_EQ(available_memory(files), gib + 512 * mib);
    EXPECT_DOUBLE_EQ(throttled_seconds(files).value(), 0.03);
}

TEST(Cgroup, NoLimitIsNone) {
    for (const char* const name : {"cgroup1-unlimited", "aws-c7a"}) {
        const Files files = tree(name);
        EXPECT_EQ(cpu_quota(files), std::nullopt) << name;
        EXPECT_EQ(read_memory(files).limit_bytes, std::nullopt) << name;
        EXPECT_TRUE(memory_limits(files).empty()) << name;
    }
    EXPECT_EQ(available_memory(tree("cgroup1-unlimited")), std::int64_t{60'000'000} * 1024);
}

TEST(Cgroup, AGroupOutsideOfTheMountIsSeenAtTheMountPoint) {
    const Scratch scratch;
    scratch.copy(tree_path("cgroup2"));
    for (const char* const group : {"0::/../../other\n", "0::/not/there\n", "0::relative\n"}) {
        scratch.write("/proc/self/cgroup", group);
        EXPECT_EQ(cpu_quota(scratch.files()), 1.5) << group;
    }
}

TEST(Cgroup, NonsenseIsNoQuota) {
    const Scratch scratch;
    scratch.copy(tree_path("cgroup2"));
    for (const char* const text : {"", "max", "1", "0 100000", "-5 100000", "100000 0", "a b",
                                   "99999999999999999999 1", "1 2 3"}) {
        scratch.write("/sys/fs/cgroup/cpu.max", text);
        EXPECT_EQ(cpu_quota(scratch.files()), std::nullopt) << text;
    }
}

TEST(Memory, UsageAboveTheLimitLeavesNothing) {
    const Scratch scratch;
    scratch.copy(tree_path("cgroup2"));
    scratch.write("/sys/fs/cgroup/memory.current", "99999999999\n");
    EXPECT_EQ(available_memory(scratch.files()), 0);
}

TEST(Memory, IsReadAnew) {
    const Scratch scratch;
    scratch.write("/proc/meminfo", "MemAvailable:   1000 kB\n");
    EXPECT_EQ(available_memory(scratch.files()), 1'024'000);
    scratch.write("/proc/meminfo", "MemAvailable:   500 kB\n");
    EXPECT_EQ(available_memory(scratch.files()), 512'000);
}

TEST(Memory, UnknownIsAbsent) {
    const Scratch scratch;
    EXPECT_EQ(available_memory(scratch.files()), std::nullopt);
    EXPECT_EQ(read_memory(scratch.files()).bytes, 0);
    scratch.write("/proc/meminfo", "MemTotal: -5 kB\nMemAvailable: 9223372036854775807 kB\n");
    EXPECT_EQ(available_memory(scratch.files()), std::nullopt);
    EXPECT_EQ(read_memory(scratch.files()).bytes, 0);
}

TEST(Memory, HugePages) {
    EXPECT_EQ(read_memory(tree("aws-c7a")).huge_pages, "always");
    const Scratch scratch;
    scratch.write("/sys/kernel/mm/transparent_hugepage/enabled", "]always[ madvise\n");
    EXPECT_EQ(read_memory(scratch.files()).huge_pages, "");
}

} // namespace
} // namespace assay::machine
