// SPDX-License-Identifier: Apache-2.0

#include "machine/cpu.hpp"
#include "machine/inventory.hpp"
#include "machine/system.hpp"
#include "machine/topology.hpp"
#include "scratch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <set>

namespace assay::machine {
namespace {

using namespace testing;

// Two sockets, two NUMA nodes each, eight cores per node in two groups with an L3, two threads.
const std::string big =
    "pack:2 numa:2 l3:2(size=33554432) l2:4(size=1048576) l1d:1(size=32768) core:1 pu:2";

TEST(Topology, CountsAMachine) {
    const machine::Shape shape = machine::described_shape(big);
    EXPECT_EQ(shape.sockets, 2);
    EXPECT_EQ(shape.numa_nodes, 4);
    EXPECT_EQ(shape.cores, 32);
    EXPECT_EQ(shape.threads, 64);
    EXPECT_THAT(shape.usable, SizeIs(32));
    EXPECT_THAT(shape.usable[0], ElementsAre(0, 1));
    using record::Cache;
    EXPECT_THAT(shape.caches,
                UnorderedElementsAre(AllOf(Field(&Cache::level, 1), Field(&Cache::bytes, 32768),
                                           Field(&Cache::count, 32), Field(&Cache::type, "data")),
                                     AllOf(Field(&Cache::level, 2), Field(&Cache::bytes, 1 << 20),
                                           Field(&Cache::count, 32)),
                                     AllOf(Field(&Cache::level, 3), Field(&Cache::bytes, 32 << 20),
                                           Field(&Cache::count, 8))));
}

TEST(Topology, OnlyWhatMayBeUsedCounts) {
    // One thread of the first core, and the second core.
    const machine::Shape shape = machine::described_shape(big, std::vector{1, 2, 3, -4, 1000});
    EXPECT_EQ(shape.threads, 64);
    EXPECT_EQ(shape.cores, 32);
    EXPECT_THAT(shape.usable, ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
    for (const auto& cache : shape.caches) EXPECT_EQ(cache.count, cache.level == 3 ? 1 : 2);
}

TEST(Topology, IsSharedOutInPartsThatDoNotOverlap) {
    const machine::Shape shape = machine::described_shape(big);
    const auto sockets = shares_of(shape, shape.socket_cpus);
    ASSERT_THAT(sockets, SizeIs(2));
    EXPECT_THAT(sockets[1].usable, SizeIs(16));
    EXPECT_THAT(sockets[1].usable.front(), ElementsAre(32, 33));
    EXPECT_EQ(sockets[1].sockets, 1);
    EXPECT_EQ(sockets[1].numa_nodes, 2);
    EXPECT_THAT(shares_of(shape, shape.numa_cpus), SizeIs(4));
    const machine::Shape half = machine::described_shape(big, std::vector{0, 1, 2, 3});
    EXPECT_THAT(shares_of(half, half.socket_cpus), SizeIs(1)) << "the other may not be used";
    const auto thirds = even_shares(shape, 3);
    ASSERT_THAT(thirds, SizeIs(3));
    EXPECT_EQ(thirds[0].usable.size() + thirds[1].usable.size() + thirds[2].usable.size(), 32U);
    EXPECT_EQ(thirds[1].sockets, 2) << "it is of both";
    EXPECT_THAT(even_shares(half, 5), SizeIs(2));
}

TEST(Topology, CanBeNarrowedToWhatIsNear) {
    machine::Shape shape = machine::described_shape(big);
    keep_usable(shape, "16-31,60");
    EXPECT_THAT(shape.usable, SizeIs(9));
    EXPECT_THAT(shape.usable.front(), ElementsAre(16, 17));
    for (const char* nonsense : {"", "200-300", "what", "0-"}) {
        machine::Shape whole = machine::described_shape(big);
        keep_usable(whole, nonsense);
        EXPECT_FALSE(whole.usable.empty()) << nonsense;
    }
}

TEST(Topology, NonsenseIsAnEmptyShape) {
    EXPECT_EQ(machine::described_shape("").threads, 0);
    EXPECT_EQ(machine::described_shape("no such machine").threads, 0);
}

TEST(ChooseCpus, CoresBeforeSiblings) {
    const machine::Shape shape = machine::described_shape("pack:1 core:4 pu:2");
    EXPECT_THAT(choose_cpus(shape, 1), ElementsAre(0));
    EXPECT_THAT(choose_cpus(shape, 4), ElementsAre(0, 2, 4, 6));
    EXPECT_THAT(choose_cpus(shape, 6), ElementsAre(0, 2, 4, 6, 1, 3));
    EXPECT_THAT(choose_cpus(shape, 8), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST(ChooseCpus, SpreadsOverSockets) {
    const machine::Shape shape = machine::described_shape(big);
    EXPECT_THAT(choose_cpus(shape, 2), ElementsAre(0, 32));
    EXPECT_THAT(choose_cpus(shape, 4), ElementsAre(0, 16, 32, 48));
}

TEST(ChooseCpus, NeverMoreThanThereAre) {
    const machine::Shape shape = machine::described_shape("pack:1 core:2 pu:1");
    EXPECT_THAT(choose_cpus(shape, 5), ElementsAre(0, 1));
    EXPECT_THAT(choose_cpus(shape, 0), IsEmpty());
    EXPECT_THAT(choose_cpus(shape, -3), IsEmpty());
    EXPECT_THAT(choose_cpus(machine::Shape{}, 3), IsEmpty());
}

TEST(ChooseCpus, EveryNumberOfThreadsGetsDifferentCpus) {
    const machine::Shape shape =
        machine::described_shape(big, std::vector{1, 2, 3, 8, 9, 20, 33, 40, 63});
    for (int threads = 1; threads <= 9; ++threads) {
        const auto cpus = choose_cpus(shape, threads);
        EXPECT_THAT(std::set(cpus.begin(), cpus.end()), SizeIs(threads));
        EXPECT_TRUE(std::ranges::all_of(cpus, [&](int cpu) {
            return std::ranges::any_of(shape.usable, [&](const auto& core) {
                return std::ranges::find(core, cpu) != core.end();
            });
        }));
    }
}

TEST(Cpus, AreThoseThatThisProcessMayUse) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    const auto last = machine::choose_cpus(1 << 20).back();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_THAT(machine::choose_cpus(8), ElementsAre(last));
    EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

// --- clock -------------------------------------------------------------------------------------------

TEST(CoreClock, IsAPossibleOneAndRepeats) {
    // Other work may take the CPU for all of one measurement: the best of five is compared.
    double first = 0;
    double second = 0;
    for (int i = 0; i < 5; ++i) {
        first = std::max(first, machine::measure_core_clock());
        second = std::max(second, machine::measure_core_clock());
    }
    EXPECT_GT(first, 0.3e9); // slower than any machine we would measure
    EXPECT_LT(first, 8e9);   // faster than any, or additions were merged
    EXPECT_NEAR(second / first, 1, 0.05);
}

TEST(CoreClock, LeavesTheAffinityAsItWas) {
    cpu_set_t before;
    cpu_set_t after;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    machine::measure_core_clock();
    ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

// --- control groups and memory -----------------------------------------------------------------------

constexpr std::int64_t gib = std::int64_t{1} << 30U;
constexpr std::int64_t mib = std::int64_t{1} << 20U;

TEST(Cgroup, Version2InAContainer) {
    const machine::Files files = tree("cgroup2");
    EXPECT_EQ(cpu_quota(files), 1.5);
    EXPECT_EQ(read_memory(files).limit_bytes, 4 * gib);
    // 4 GiB minus 2 GiB used, of which 512 MiB can be given back.
    EXPECT_EQ(available_memory(files), 2 * gib + 512 * mib);
    EXPECT_EQ(throttled_seconds(files), 0.25);
}

TEST(Cgroup, TheLowestLimitAboveUsCounts) {
    const machine::Files files = tree("cgroup2-nested");
    EXPECT_EQ(cpu_quota(files), 8.0);
    // memory.high of the step is below memory.max of the job.
    EXPECT_EQ(read_memory(files).limit_bytes, 6 * gib);
    EXPECT_EQ(available_memory(files), 5 * gib);
    EXPECT_EQ(throttled_seconds(files), std::nullopt);
}

TEST(Cgroup, Version1WithTheGroupAsRootOfTheMount) {
    const machine::Files files = tree("cgroup1");
    EXPECT_EQ(cpu_quota(files), 2.5);
    EXPECT_EQ(read_memory(files).limit_bytes, 2 * gib);
    EXPECT_EQ(available_memory(files), gib + 512 * mib);
    EXPECT_DOUBLE_EQ(throttled_seconds(files).value(), 0.03);
}

TEST(Cgroup, NoLimitIsNone) {
    for (const char* const name : {"cgroup1-unlimited", "aws-c7a"}) {
        const machine::Files files = tree(name);
        EXPECT_EQ(cpu_quota(files), std::nullopt) << name;
        EXPECT_EQ(read_memory(files).limit_bytes, std::nullopt) << name;
        EXPECT_TRUE(memory_limits(files).empty()) << name;
    }
    EXPECT_EQ(available_memory(tree("cgroup1-unlimited")), std::int64_t{60'000'000} * 1024);
}

TEST(Cgroup, AGroupOutsideOfTheMountIsSeenAtTheMountPoint) {
    const Scratch scratch{tree_path("cgroup2")};
    for (const char* const group : {"0::/../../other\n", "0::/not/there\n", "0::relative\n"}) {
        scratch.write("/proc/self/cgroup", group);
        EXPECT_EQ(cpu_quota(scratch.files()), 1.5) << group;
    }
}

TEST(Cgroup, NonsenseIsNoQuota) {
    const Scratch scratch{tree_path("cgroup2")};
    for (const char* const text : {"", "max", "1", "0 100000", "-5 100000", "100000 0", "a b",
                                   "99999999999999999999 1", "1 2 3"}) {
        scratch.write("/sys/fs/cgroup/cpu.max", text);
        EXPECT_EQ(cpu_quota(scratch.files()), std::nullopt) << text;
    }
}

TEST(Memory, UsageAboveTheLimitLeavesNothing) {
    const Scratch scratch{tree_path("cgroup2")};
    scratch.write("/sys/fs/cgroup/memory.current", "99999999999\n");
    EXPECT_EQ(available_memory(scratch.files()), 0);
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

TEST(Memory, KnowsNodesWithoutMemoryAndWithoutCpus) {
    const Scratch scratch;
    scratch.write("/proc/meminfo", "MemTotal:  600000 kB\n");
    const auto node = [&](int number, int kilobytes, const char* cpus) {
        const auto folder = fmt::format("/sys/devices/system/node/node{}/", number);
        scratch.write(folder + "meminfo", fmt::format("Node {0} MemTotal:  {1} kB\nNode {0} "
                                                      "MemFree:  1 kB\n",
                                                      number, kilobytes));
        scratch.write(folder + "cpulist", cpus);
    };
    node(0, 500000, "0-71\n");
    node(1, 100000, "\n"); // a GPU's
    node(2, 0, "\n");
    node(3, 0, "72-143\n");
    node(10, 0, "144-151\n");
    scratch.write("/sys/devices/system/node/node11/meminfo", "Node 11 MemTotal: 0 kB\n");
    scratch.write("/sys/devices/system/node/node11/cpumap", "00000100,00000000\n");
    scratch.write("/sys/devices/system/node/possible", "0-10\n");
    const auto memory = read_memory(scratch.files());
    EXPECT_EQ(memory.far_bytes, 100000LL << 10U);
    EXPECT_THAT(memory.nodes_without, ElementsAre("3", "10", "11"));
    // Bytes that the kernel counts as its own on Grace are the host's without the GPUs'.
    const auto bytes = [&] { return inspect(Sources{.files = scratch.files()}).memory_bytes; };
    EXPECT_EQ(bytes(), 600000LL << 10U);
    scratch.write("/sys/bus/soc/devices/soc0/soc_id", "jep106:036b:0241\n");
    EXPECT_EQ(bytes(), 500000LL << 10U);
}

TEST(Firmware, RefusesWhatVendorsDidNotFillIn) {
    const Scratch scratch;
    scratch.write_lines("/sys/class/dmi/id/",
                        {{"board_vendor", "Maker"}, {"board_name", "X11"}, {"sys_vendor", "OEM"}});
    for (const char* const text : {"To be filled by O.E.M", "TO BE FILLED BY OEM", "Default string",
                                   "00000000", "........", "xxxxxxx", "0123456789", "-", "0"}) {
        scratch.write("/sys/class/dmi/id/product_name", std::string{text} + "\n");
        EXPECT_EQ(system_name(read_firmware(scratch.files())), "Maker X11") << text;
    }
    scratch.write("/sys/class/dmi/id/product_name", "R750\n");
    EXPECT_EQ(system_name(read_firmware(scratch.files())), "Maker R750");
}

} // namespace
} // namespace assay::machine
