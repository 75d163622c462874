// SPDX-License-Identifier: Apache-2.0
#include "machine/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <set>

namespace assay::machine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// Two sockets, two NUMA nodes each, eight cores per node in two groups with an L3, two threads.
const std::string big =
    "pack:2 numa:2 l3:2(size=33554432) l2:4(size=1048576) l1d:1(size=32768) core:1 pu:2";

TEST(Topology, CountsAMachine) {
    const Shape shape = described_shape(big);
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
    const Shape shape = described_shape(big, std::vector{1, 2, 3, -4, 1000});
    EXPECT_EQ(shape.threads, 64);
    EXPECT_EQ(shape.cores, 32);
    EXPECT_THAT(shape.usable, ElementsAre(ElementsAre(1), ElementsAre(2, 3)));
    for (const auto& cache : shape.caches) EXPECT_EQ(cache.count, cache.level == 3 ? 1 : 2);
}

TEST(Topology, IsSharedOutInPartsThatDoNotOverlap) {
    const Shape shape = described_shape(big);
    const auto sockets = shares_of(shape, shape.socket_cpus);
    ASSERT_THAT(sockets, SizeIs(2));
    EXPECT_THAT(sockets[1].usable, SizeIs(16));
    EXPECT_THAT(sockets[1].usable.front(), ElementsAre(32, 33));
    EXPECT_EQ(sockets[1].sockets, 1);
    EXPECT_EQ(sockets[1].numa_nodes, 2);
    EXPECT_THAT(shares_of(shape, shape.numa_cpus), SizeIs(4));
    const Shape half = described_shape(big, std::vector{0, 1, 2, 3});
    EXPECT_THAT(shares_of(half, half.socket_cpus), SizeIs(1)) << "the other may not be used";
    const auto thirds = even_shares(shape, 3);
    ASSERT_THAT(thirds, SizeIs(3));
    EXPECT_EQ(thirds[0].usable.size() + thirds[1].usable.size() + thirds[2].usable.size(), 32U);
    EXPECT_EQ(thirds[1].sockets, 2) << "it is of both";
    EXPECT_THAT(even_shares(half, 5), SizeIs(2));
}

TEST(Topology, CanBeNarrowedToWhatIsNear) {
    Shape shape = described_shape(big);
    keep_usable(shape, "16-31,60");
    EXPECT_THAT(shape.usable, SizeIs(9));
    EXPECT_THAT(shape.usable.front(), ElementsAre(16, 17));
    for (const char* nonsense : {"", "200-300", "what", "0-"}) {
        Shape whole = described_shape(big);
        keep_usable(whole, nonsense);
        EXPECT_FALSE(whole.usable.empty()) << nonsense;
    }
}

TEST(Topology, NonsenseIsAnEmptyShape) {
    EXPECT_EQ(described_shape("").threads, 0);
    EXPECT_EQ(described_shape("no such machine").threads, 0);
}

TEST(Topology, ThisMachineHasSomethingToUse) {
    const Shape shape = read_shape();
    EXPECT_GE(shape.threads, 1);
    EXPECT_GE(shape.sockets, 1);
    EXPECT_THAT(shape.usable, Not(IsEmpty()));
    EXPECT_LE(shape.usable.size(), static_cast<std::size_t>(shape.cores));
}

TEST(ChooseCpus, CoresBeforeSiblings) {
    const Shape shape = described_shape("pack:1 core:4 pu:2");
    EXPECT_THAT(choose_cpus(shape, 1), ElementsAre(0));
    EXPECT_THAT(choose_cpus(shape, 4), ElementsAre(0, 2, 4, 6));
    EXPECT_THAT(choose_cpus(shape, 6), ElementsAre(0, 2, 4, 6, 1, 3));
    EXPECT_THAT(choose_cpus(shape, 8), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST(ChooseCpus, SpreadsOverSockets) {
    const Shape shape = described_shape(big);
    EXPECT_THAT(choose_cpus(shape, 2), ElementsAre(0, 32));
    EXPECT_THAT(choose_cpus(shape, 4), ElementsAre(0, 16, 32, 48));
}

TEST(ChooseCpus, NeverMoreThanThereAre) {
    const Shape shape = described_shape("pack:1 core:2 pu:1");
    EXPECT_THAT(choose_cpus(shape, 5), ElementsAre(0, 1));
    EXPECT_THAT(choose_cpus(shape, 0), IsEmpty());
    EXPECT_THAT(choose_cpus(shape, -3), IsEmpty());
    EXPECT_THAT(choose_cpus(Shape{}, 3), IsEmpty());
}

TEST(ChooseCpus, EveryNumberOfThreadsGetsDifferentCpus) {
    const Shape shape = described_shape(big, std::vector{1, 2, 3, 8, 9, 20, 33, 40, 63});
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
    const auto last = choose_cpus(1 << 20).back();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_THAT(choose_cpus(8), ElementsAre(last));
    EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

} // namespace
} // namespace assay::machine
