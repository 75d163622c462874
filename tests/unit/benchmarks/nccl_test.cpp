// SPDX-License-Identifier: Apache-2.0
//
// What NCCL's log proves, on lines as its versions write them; and the numbers that its collectives
// send, get and must find, on all ranks at once.
#include "collective/nccl_log.hpp"
#include "collective/nccl_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace assay::collective;

std::string line(const std::string& message) {
    return "node7:4242:4301 [0] NCCL INFO " + message + "\n";
}
const std::string ring_by_nvlink = line(
    "Pattern 4, crossNic 0, nChannels 12, bw 30.000000/30.000000, type NVL/PIX, sameChannels 1");
const std::string ring_by_pcie = line(
    "Pattern 4, crossNic 0, nChannels 2, bw 24.000000/24.000000, type PHB/PIX, sameChannels 1");
const std::string peers = line("Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer");
const std::string shared = line("Channel 03 : 1[1] -> 0[0] via SHM/direct/direct");
const std::string rdma = line("Channel 00/0 : 1[1] -> 0[0] [receive] via NET/IB/0/GDRDMA");
const std::string socket = line("Channel 01/0 : 0[0] -> 1[1] [send] via NET/Socket/0");
NcclChoice by(Way way) { return {.way = way}; }
std::string choice(const std::string& algorithm, const std::string& protocol) {
    return line("AllReduce: 1073741824 Bytes -> Algo " + algorithm + " proto " + protocol +
                " channel{Lo..Hi}={0..15}");
}

constexpr Element elements[] = {Element::fp32, Element::fp64,     Element::fp16,
                                Element::bf16, Element::fp8_e4m3, Element::fp8_e5m2};
constexpr Kind kinds[] = {Kind::allreduce, Kind::reduce_scatter, Kind::allgather,
                          Kind::broadcast, Kind::alltoall,       Kind::send_receive};

TEST(NcclLog, ReadsPathAlgorithmProtocolAndChannels) {
    const auto log = read_nccl_log("NCCL version 2.28.9+cuda13.0\n" + ring_by_nvlink + peers +
                                   choice("RING", "LL") + choice("NVLS", "SIMPLE"));
    EXPECT_EQ(path_of(log), "nvlink");
    EXPECT_EQ(log.algorithm, "NVLS");
    EXPECT_EQ(log.protocol, "SIMPLE");
    EXPECT_EQ(log.channels, 16);
}

TEST(NcclLog, ReadsNumbersOfOlderVersions) {
    const auto log = read_nccl_log(line("4096 Bytes -> Algo 1 proto 0 time 12.345678"));
    EXPECT_EQ(log.algorithm, "RING");
    EXPECT_EQ(log.protocol, "LL");
    EXPECT_EQ(log.channels, 0) << "not in these lines";
    EXPECT_EQ(read_nccl_log(line("4096 Bytes -> Algo 99 proto 7 time 1")).algorithm, "");
}

TEST(NcclLog, KnowsTheKindsOfConnections) {
    EXPECT_EQ(path_of(read_nccl_log(ring_by_pcie + peers)), "pcie_peer");
    EXPECT_EQ(path_of(read_nccl_log(peers)), "peer") << "which link is not known";
    EXPECT_EQ(path_of(read_nccl_log(shared)), "shared_memory");
    EXPECT_EQ(path_of(read_nccl_log(rdma)), "rdma (to device memory)");
    EXPECT_EQ(path_of(read_nccl_log(socket + shared)), "shared_memory and tcp");
    EXPECT_EQ(
        path_of(read_nccl_log(line("Channel 00/0 : 0[0] -> 1[1] [send] via NET/AWS Libfabric/0"))),
        "another network");
    EXPECT_EQ(path_of(read_nccl_log(line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read"))),
              "peer");
    EXPECT_EQ(path_of(read_nccl_log(line("NET/IB : Using [0]mlx5_0:1/RoCE"))), "")
        << "found, not used";
}

const std::string libfabric = line("Channel 00/0 : 0[0] -> 1[1] [send] via NET/AWS Libfabric/0");

/// Logs of NCCL 2.18 to 2.28 with the plugins of EFA, gIB and SHARP.
TEST(NcclLog, NamesThePluginThatCarriedMessages) {
    const auto plugin = [](const std::string& text) { return net_plugin_of(read_nccl_log(text)); };
    const std::string loaded = line("NET/Plugin: Loaded net plugin AWS Libfabric (v8)");
    const std::string used = line("Using network AWS Libfabric");
    EXPECT_EQ(plugin(loaded + used + libfabric), "AWS Libfabric v8");
    EXPECT_EQ(plugin(loaded + line("NET/OFI Initializing aws-ofi-nccl 1.16.2") +
                     line("NET/OFI Selected provider is efa, fabric is efa (found 1 nics)") + used +
                     libfabric),
              "AWS Libfabric v8, aws-ofi-nccl 1.16.2, efa");
    EXPECT_EQ(plugin(line("NET/OFI Selected Provider is efa (found 4 nics)") + used + libfabric),
              "AWS Libfabric, efa");
    EXPECT_EQ(plugin(loaded + used + peers), "") << "loaded, but no message left the machine";
    EXPECT_EQ(plugin(loaded + line("Using network Socket") + socket), "") << "it gave up";
    EXPECT_EQ(plugin(line("NET/Plugin: Could not find: libnccl-net.so. Using internal network "
                          "plugin.") +
                     line("Using network IB") + rdma),
              "");
    EXPECT_EQ(plugin(line("NET/Plugin: Using internal network plugin.") + socket), "");
    const std::string sharp = line("NET/Plugin: Loaded net plugin IBext_v8 (v8)");
    EXPECT_EQ(plugin(loaded + sharp + line("Using network IBext_v8") + rdma), "IBext_v8 v8");
    EXPECT_EQ(plugin(line("NET/Plugin: Loaded net plugin uninitialized_shim_v7 (v7)") +
                     line("Using network FasTrak") +
                     line("Channel 0 : 0[0] -> 1[1] via NET/FasTrak/0")),
              "FasTrak v7");
    EXPECT_EQ(plugin(loaded + sharp + line("Using network gIB") + rdma), "gIB")
        << "which of two is not known";
}

TEST(NcclLog, PluginsAreToldOnceInAProcess) {
    auto first = read_nccl_log(line("NET/Plugin: Loaded net plugin AWS Libfabric (v11)") +
                               line("Using network AWS Libfabric") + libfabric);
    recall_plugins(first);
    auto second = read_nccl_log(line("Using network AWS Libfabric") + libfabric);
    recall_plugins(second);
    EXPECT_EQ(net_plugin_of(second), "AWS Libfabric v11");
    EXPECT_EQ(net_plugin_of(second), net_plugin_of(first));
}

TEST(NcclLog, ALabelThatIsNotTrueIsSeen) {
    const auto ring = read_nccl_log(ring_by_nvlink + peers + choice("RING", "SIMPLE"));
    const auto nvls = read_nccl_log(ring_by_nvlink + peers + choice("NVLS", "SIMPLE"));
    const auto staged = read_nccl_log(ring_by_nvlink + shared + choice("RING", "SIMPLE"));
    EXPECT_EQ(contradiction(by(Way::nvlink_ring), ring), "");
    EXPECT_EQ(contradiction(by(Way::nvlink_ring), nvls),
              "NCCL's log shows the algorithm NVLS, which goes through NVLink's switch");
    EXPECT_EQ(contradiction(by(Way::nvlink_ring), read_nccl_log(peers + choice("TREE", "LL"))),
              "NCCL's log shows the algorithm TREE");
    EXPECT_NE(contradiction(by(Way::nvlink_ring), read_nccl_log(ring_by_pcie + peers)), "");
    EXPECT_NE(contradiction(by(Way::pcie_peer), ring), "");
    EXPECT_EQ(contradiction(by(Way::pcie_peer), read_nccl_log(ring_by_pcie + peers)), "");
    EXPECT_EQ(contradiction(by(Way::host_staged), staged), "")
        << "a type of link is what there is, a connection is what is used";
    EXPECT_EQ(contradiction(by(Way::host_staged), ring),
              "NCCL's log shows connections by peer access");
    EXPECT_EQ(contradiction(by(Way::rdma), read_nccl_log(rdma)), "");
    EXPECT_NE(contradiction(by(Way::rdma), read_nccl_log(socket)), "");
    EXPECT_EQ(contradiction(by(Way::tcp), read_nccl_log(socket)), "");
    EXPECT_EQ(contradiction(by(Way::tcp), read_nccl_log(socket + shared)),
              "NCCL's log shows connections by shared memory");
    EXPECT_EQ(contradiction(by(Way::fastest), nvls), "");
}

const std::string window =
    line("AllReduce [Symmetric]: 1024 Bytes -> Kernel AllReduce_RSxLDMC_AGxSTMC "
         "nchannels 16 nthreads 512 nWorks 1");

TEST(NcclLog, TellsKernelsForSymmetricBuffersFromAlgorithms) {
    const auto log = read_nccl_log(peers + choice("RING", "LL") + window);
    EXPECT_EQ(log.kernel, "AllReduce_RSxLDMC_AGxSTMC");
    EXPECT_EQ(log.algorithm + log.protocol, "") << "of the last call";
    EXPECT_EQ(log.channels, 16);
    EXPECT_EQ(read_nccl_log(window + choice("RING", "LL")).kernel, "");
    EXPECT_EQ(contradiction({.buffers = Allocation::symmetric}, log), "");
    EXPECT_NE(contradiction({.buffers = Allocation::plain}, log), "");
    EXPECT_EQ(unproved({.buffers = Allocation::symmetric}, read_nccl_log(window)), "");
}

TEST(NcclLog, AnAlgorithmOrProtocolThatWasNotUsedIsSeen) {
    const NcclChoice tree{.algorithm = NcclAlgorithm::tree, .protocol = NcclProtocol::ll128};
    EXPECT_EQ(contradiction(tree, read_nccl_log(peers + choice("TREE", "LL128"))), "");
    EXPECT_EQ(contradiction(tree, read_nccl_log(peers + choice("RING", "LL128"))),
              "NCCL's log shows the algorithm RING, not TREE");
    EXPECT_EQ(contradiction(tree, read_nccl_log(peers + choice("TREE", "SIMPLE"))),
              "NCCL's log shows the protocol SIMPLE, not LL128");
    EXPECT_EQ(contradiction(tree, read_nccl_log(line("64 Bytes -> Algo 0 proto 1 time 9"))), "");
    EXPECT_EQ(contradiction({.algorithm = NcclAlgorithm::collnet_direct},
                            read_nccl_log(choice("COLLNET_DIRECT", "SIMPLE"))),
              "");
    EXPECT_EQ(unproved(tree, read_nccl_log(peers)), "no algorithm in NCCL's log");
    EXPECT_EQ(unproved({.protocol = NcclProtocol::ll}, read_nccl_log(peers)),
              "no protocol in NCCL's log");
}

TEST(NcclChoice, WhatDoesNotGoTogetherIsSaidInOneWay) {
    const auto of = [](const NcclChoice& choice, Kind kind = Kind::allreduce, int hosts = 1) {
        return conflict(choice, kind, 8, hosts);
    };
    EXPECT_EQ(of({}), "");
    EXPECT_EQ(of({.way = Way::nvlink_ring, .algorithm = NcclAlgorithm::ring}), "");
    EXPECT_EQ(of({.way = Way::nvlink_ring, .algorithm = NcclAlgorithm::tree}),
              "transport nvlink_ring is a ring, not algorithm tree");
    EXPECT_EQ(of({.way = Way::host_staged, .algorithm = NcclAlgorithm::tree}), "");
    EXPECT_EQ(of({.way = Way::tcp, .algorithm = NcclAlgorithm::nvls}),
              "algorithm nvls goes through NVLink's switch, which transport tcp turns off");
    EXPECT_EQ(of({.algorithm = NcclAlgorithm::nvls, .protocol = NcclProtocol::ll}),
              "algorithm nvls has the protocol simple alone");
    EXPECT_EQ(of({.algorithm = NcclAlgorithm::nvls, .protocol = NcclProtocol::simple}), "");
    EXPECT_EQ(of({.algorithm = NcclAlgorithm::nvls_tree}),
              "algorithm nvls_tree is one between hosts");
    EXPECT_EQ(of({.algorithm = NcclAlgorithm::collnet_chain}, Kind::allreduce, 2), "");
    EXPECT_EQ(of({.algorithm = NcclAlgorithm::tree}, Kind::allgather),
              "NCCL has no algorithm tree for this collective");
    EXPECT_EQ(of({.algorithm = NcclAlgorithm::ring}, Kind::broadcast),
              "NCCL has no algorithm ring for this collective");
    EXPECT_EQ(of({.algorithm = NcclAlgorithm::pat}, Kind::allgather, 2),
              "algorithm pat takes one device of each host");
    EXPECT_EQ(of({.algorithm = NcclAlgorithm::pat}, Kind::allgather, 8), "");
    EXPECT_EQ(of({.way = Way::host_staged}, Kind::broadcast, 2),
              "transport host_staged does not reach another host");
    EXPECT_EQ(of({.way = Way::rdma}, Kind::broadcast, 2), "");
    EXPECT_EQ(of({.buffers = Allocation::symmetric}), "");
    EXPECT_NE(of({.way = Way::tcp, .buffers = Allocation::symmetric}), "");
    EXPECT_NE(of({.protocol = NcclProtocol::ll, .buffers = Allocation::symmetric}), "");
}

TEST(NcclChoice, EveryValueButTheFirstStandsForAVariable) {
    const auto check = [](const auto& names, const auto& variables) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto count = std::ranges::count_if(variables, [&](const assay_variable& v) {
                return std::string{v.value} == names[i].text;
            });
            EXPECT_EQ(count > 0, i > 0) << names[i].text;
        }
    };
    check(way_names, way_variables);
    check(algorithm_names, algorithm_variables);
    check(protocol_names, protocol_variables);
}

TEST(NcclCounted, TheLabelOrTheLogSaysWhatNvlinkCarries) {
    const auto expected = [](const NcclChoice& choice, const std::string& log, int machines = 1) {
        return expected_of_nvlink(choice, read_nccl_log(log), 1000, machines);
    };
    EXPECT_EQ(expected(by(Way::nvlink_ring), "").least, 1000) << "the label promises it";
    for (const Way way : {Way::pcie_peer, Way::host_staged, Way::rdma, Way::tcp}) {
        EXPECT_EQ(expected(by(way), ring_by_nvlink + peers).least, std::nullopt);
        EXPECT_EQ(expected(by(way), "").most, 100);
    }
    EXPECT_EQ(expected({}, ring_by_nvlink + peers).least, 1000);
    EXPECT_EQ(expected({}, choice("NVLS", "SIMPLE")).least, 1000);
    EXPECT_EQ(expected({}, ring_by_pcie + peers).most, 100);
    EXPECT_EQ(expected({}, ring_by_pcie + shared).most, 100);
    for (const std::string& log : {std::string{}, peers, ring_by_nvlink + peers + shared, window}) {
        EXPECT_EQ(expected({}, log).least, std::nullopt) << log;
        EXPECT_EQ(expected({}, log).most, std::nullopt) << log;
    }
    EXPECT_EQ(expected({}, ring_by_nvlink + peers, 2).least, std::nullopt) << "a part of it";
    EXPECT_EQ(expected(by(Way::tcp), "", 2).most, 100);
}

TEST(NcclCounted, TheLeastIsWhatNoAlgorithmCanSave) {
    EXPECT_DOUBLE_EQ(least_carried(Kind::allreduce, 800, 8), 700);
    EXPECT_DOUBLE_EQ(least_carried(Kind::send_receive, 800, 8), 800);
    for (const Kind kind : kinds)
        EXPECT_LE(least_carried(kind, 1, 8), bus_factor(kind, 8)) << "what a ring moves is more";
}

TEST(NcclLog, WhatIsNotThereProvesNothing) {
    EXPECT_EQ(contradiction(by(Way::tcp), read_nccl_log("")), "");
    EXPECT_EQ(unproved(by(Way::tcp), read_nccl_log("")), "no connection in NCCL's log");
    EXPECT_EQ(unproved(by(Way::nvlink_ring), read_nccl_log(peers)),
              "no type of link in NCCL's log");
    EXPECT_EQ(unproved(by(Way::nvlink_ring), read_nccl_log(peers + ring_by_nvlink)), "");
    EXPECT_EQ(unproved(by(Way::tcp), read_nccl_log(socket)), "");
}

TEST(NcclLog, DamagedLogsDoNoHarm) {
    const std::string good =
        ring_by_nvlink + peers + shared + rdma + socket + choice("RING", "LL128");
    for (std::size_t length = 0; length < good.size(); ++length) {
        const auto log = read_nccl_log(std::string_view{good}.substr(0, length));
        EXPECT_TRUE(log.link.empty() || log.link == "NVL") << length;
        EXPECT_EQ(log.algorithm, "") << length << ": the last line is not whole";
    }
    for (const std::string& odd :
         {std::string(100'000, 'A'),
          std::string(1000, '\n'),
          std::string("\0\0\n", 3),
          line("Pattern 4, type "),
          line("Pattern 4, crossNic 0, type " + std::string(99, 'N') + "/"),
          line("Channel via NET/"),
          line("Channel via "),
          line("Using network "),
          line("Using network \x1b[31m"),
          line("Using network " + std::string(99, 'N')),
          line("NET/Plugin: Loaded net plugin "),
          line("NET/Plugin: Loaded net plugin  (v"),
          line("NET/Plugin: Loaded net plugin \xff (v8)"),
          line("NET/OFI Initializing aws-ofi-nccl "),
          line("NET/OFI Selected provider is \n"),
          line("NET/OFI Selected "),
          line(" Bytes -> Algo  proto "),
          line(" Bytes -> Algo \x1b[31m proto \xff ={1..999999999999999}"),
          line(" Bytes -> Algo -5 proto 9 channel{Lo..Hi}={9..2}"),
          line("AllReduce [Symmetric]: 1 Bytes -> Kernel " + std::string(99, 'K') +
               " nchannels 16"),
          line("X [Symmetric]: 1 Bytes -> Kernel \xff nchannels 99999999999")}) {
        const auto log = read_nccl_log(odd);
        EXPECT_EQ(log.link + log.algorithm + log.protocol + log.kernel, "") << odd.substr(0, 60);
        EXPECT_EQ(log.channels, 0);
        EXPECT_EQ(log.network + log.plugins.release + log.plugins.provider, "");
        EXPECT_TRUE(log.plugins.loaded.empty()) << odd.substr(0, 60);
    }
}

TEST(NcclLog, TheFileHasNoNameAndKeepsWhatCameSince) {
    const LogFile first;
    const char* path = std::getenv("NCCL_DEBUG_FILE"); // NOLINT: one thread
    ASSERT_NE(path, nullptr);
    std::ofstream library{path};
    library << "before\n" << std::flush;
    const LogFile second;
    library << "since\n" << std::flush;
    EXPECT_EQ(first.text(), "before\nsince\n");
    EXPECT_EQ(second.text(), "since\n");
    second.forget();
    const LogFile third;
    library << "later\n" << std::flush;
    EXPECT_EQ(third.text(), "later\n");
}

TEST(NcclValues, SumsStayExactInEveryType) {
    for (const Element element : elements)
        for (const int ranks : {2, 3, 8, 16, 72}) {
            const auto largest = largest_value(element, ranks);
            EXPECT_LE(largest * ranks, exact_integers(element));
            EXPECT_LE(largest, 125);
        }
    EXPECT_EQ(largest_value(Element::fp8_e5m2, 8), 1);
    EXPECT_EQ(largest_value(Element::fp8_e5m2, 9), 0) << "cannot be checked";
    EXPECT_EQ(largest_value(Element::fp8_e4m3, 8), 2);
    EXPECT_EQ(largest_value(Element::fp16, 8), 125);
    EXPECT_EQ(largest_value(Element::bf16, 8), 32);
    // Adding the others' blocks so often keeps every sum an integer that fp32 holds.
    const auto calls = exact_scatters(Element::fp32, 8, 125);
    EXPECT_LE((calls + 1) * 8 * 125, 1U << 24U);
    EXPECT_GT(calls, 1000U);
}

TEST(NcclValues, ValuesUseTheirWholeRangeAndDiffer) {
    for (const std::int64_t largest : {1, 125}) {
        double low = 0;
        double high = 0;
        int same = 0;
        for (std::uint64_t i = 0; i < 10'000; ++i) {
            const double value = value_at(0, i, largest);
            low = std::min(low, value);
            high = std::max(high, value);
            same += value == value_at(1, i, largest) ? 1 : 0;
        }
        EXPECT_EQ(low, -static_cast<double>(largest));
        EXPECT_EQ(high, static_cast<double>(largest));
        EXPECT_LT(same, 4000);
    }
}

/// The collective as plain loops over the arrays of all ranks.
std::vector<std::vector<double>> done(Kind kind, std::size_t count, int ranks,
                                      const std::vector<std::vector<double>>& in) {
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<std::vector<double>> out(n);
    for (std::size_t me = 0; me < n; ++me) {
        out[me].assign(received(kind, count, ranks), 0);
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t other = 0; other < n; ++other) {
                if (kind == Kind::allreduce) out[me][i] += in[other][i];
                if (kind == Kind::reduce_scatter) out[me][i] += in[other][me * count + i];
                if (kind == Kind::allgather) out[me][other * count + i] = in[other][i];
                if (kind == Kind::alltoall) out[me][other * count + i] = in[other][me * count + i];
                if (kind == Kind::broadcast) out[me][i] = in[0][i];
                if (kind == Kind::send_receive) out[me][i] = in[(me + n - 1) % n][i];
            }
    }
    return out;
}

TEST(NcclValues, EveryRankFindsWhatTheCollectiveMakes) {
    constexpr std::size_t count = 37;
    constexpr int ranks = 5;
    constexpr std::int64_t largest = 100;
    for (const Kind kind : kinds) {
        std::vector<std::vector<double>> in(ranks);
        for (int rank = 0; rank < ranks; ++rank)
            for (std::size_t i = 0; i < sent(kind, count, ranks); ++i)
                in[static_cast<std::size_t>(rank)].push_back(value_at(rank, i, largest));
        const auto out = done(kind, count, ranks, in);
        for (int rank = 0; rank < ranks; ++rank) {
            const Expected expected{.kind = kind,
                                    .rank = rank,
                                    .ranks = ranks,
                                    .count = count,
                                    .largest = largest,
                                    .growth = 1,
                                    .times = 1};
            const auto& found = out[static_cast<std::size_t>(rank)];
            for (std::size_t i = 0; i < found.size(); ++i) {
                ASSERT_EQ(expected.error(i, found[i]), 0) << static_cast<int>(kind) << ' ' << i;
                ASSERT_NE(expected.error(i, spoiled(found[i], 1)), 0);
            }
        }
    }
}

TEST(NcclValues, SumsInPlaceAreKnownAfterManyCalls) {
    constexpr int ranks = 3;
    std::vector<double> held;
    for (int rank = 0; rank < ranks; ++rank) held.push_back(value_at(rank, 7, 125));
    std::vector<double> all = held;
    double own = value_at(1, 1 * 10 + 7, 125); // block 1 of rank 1
    const double others = value_at(0, 17, 125) + value_at(2, 17, 125);
    for (int calls = 1; calls <= 4; ++calls) {
        const double sum = all[0] + all[1] + all[2];
        all.assign(ranks, sum);
        own += others;
        const Expected reduced{.kind = Kind::allreduce,
                               .rank = 0,
                               .ranks = ranks,
                               .count = 10,
                               .largest = 125,
                               .growth = std::pow(3.0, calls - 1),
                               .times = 1};
        EXPECT_EQ(reduced.error(7, sum), 0) << calls;
        const Expected scattered{.kind = Kind::reduce_scatter,
                                 .rank = 1,
                                 .ranks = ranks,
                                 .count = 10,
                                 .largest = 125,
                                 .growth = 1,
                                 .times = static_cast<double>(calls)};
        EXPECT_EQ(scattered.error(7, own), 0) << calls;
    }
}

TEST(NcclValues, SizesAndFactorsAreThoseOfItsTests) {
    EXPECT_EQ(count_of(Kind::allreduce, bytes_of(Element::fp32), 1 << 20, 8), 1U << 18U);
    EXPECT_EQ(count_of(Kind::allgather, bytes_of(Element::fp32), 1 << 20, 8), 1U << 15U);
    EXPECT_EQ(count_of(Kind::alltoall, bytes_of(Element::fp32), 8, 8), 1U)
        << "one number a rank at least";
    EXPECT_EQ(sent(Kind::reduce_scatter, 10, 8), 80U);
    EXPECT_EQ(received(Kind::reduce_scatter, 10, 8), 10U);
    EXPECT_EQ(received(Kind::allgather, 10, 8), 80U);
    EXPECT_EQ(held_in_place(Kind::allgather, 10, 8), 80U);
    EXPECT_EQ(own_part(Kind::allgather, 10, 3), 30U);
    EXPECT_EQ(own_part(Kind::broadcast, 10, 3), 0U);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::allreduce, 8), 1.75);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::alltoall, 8), 0.875);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::broadcast, 8), 1);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::send_receive, 8), 1);
    // 16 GiB of bytes in blocks: no 32-bit numbers on the way.
    EXPECT_EQ(
        received(Kind::alltoall,
                 count_of(Kind::alltoall, bytes_of(Element::fp8_e4m3), std::int64_t{1} << 34U, 8),
                 8),
        std::size_t{1} << 34U);
}

} // namespace
