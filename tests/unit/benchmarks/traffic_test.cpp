// SPDX-License-Identifier: Apache-2.0
//
// Which way messages must have taken, from what was counted; and the counting itself, on a connection
// of this process with itself.
#include "collective/traffic.hpp"
#include "support/temporary_folder.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace assay::collective;

constexpr double message = 100e6; // bytes that had to be moved

TEST(Traffic, NamesThePathThatCarriedTheMessages) {
    EXPECT_EQ(path_of({.tcp = 110e6, .rdma = 0}, message, 2, 2), "tcp");
    EXPECT_EQ(path_of({.tcp = 1e3, .rdma = 100e6}, message, 2, 2), "rdma");
    EXPECT_EQ(path_of({.tcp = 1e3, .rdma = 0}, message, 1, 2), "shared_memory");
    EXPECT_EQ(path_of({.tcp = 60e6, .rdma = 0}, message, 2, 4), "tcp, and perhaps shared_memory");
    EXPECT_EQ(path_of({.tcp = 1e3, .rdma = 0}, message, 2, 2), "") << "nobody knows";
}

TEST(Traffic, ALabelThatIsNotTrueIsSeen) {
    EXPECT_EQ(contradiction(Transport::tcp, {.tcp = 100e6, .rdma = 0}, message), "");
    EXPECT_EQ(contradiction(Transport::tcp, {.tcp = 1e3, .rdma = 0}, message),
              "TCP carried 1000 of at least 100000000 bytes");
    EXPECT_NE(contradiction(Transport::shared_memory, {.tcp = 100e6, .rdma = 0}, message), "");
    EXPECT_EQ(contradiction(Transport::shared_memory, {.tcp = 1e5, .rdma = 0}, message), "");
    EXPECT_EQ(contradiction(Transport::shared_memory, {.tcp = 1e5, .rdma = 0}, 8), "")
        << "a launcher talks, too";
    EXPECT_NE(contradiction(Transport::rdma, {.tcp = 100e6, .rdma = 100e6}, message), "");
    EXPECT_NE(contradiction(Transport::rdma, {.tcp = 0, .rdma = 0}, message), "");
    EXPECT_EQ(contradiction(Transport::rdma, {.tcp = 0, .rdma = 100e6}, message), "");
    EXPECT_EQ(contradiction(Transport::any, {.tcp = 0, .rdma = 0}, message), "");
}

/// Folders and files as the kernel has them under /sys/class/infiniband.
class FakeDevices {
public:
    void write(const std::string& file, const std::string& content) const {
        const auto path = folder_.path() / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream{path} << content << '\n';
    }
    const char* path() const { return folder_.path().c_str(); }

private:
    assay::made::TemporaryFolder folder_;
};

TEST(Rdma, IsThereWhereTheKernelListsADevice) {
    const FakeDevices devices;
    EXPECT_FALSE(has_rdma(devices.path())) << "the folder stays when the last device is gone";
    EXPECT_FALSE(has_rdma("/nowhere"));
    devices.write("mlx5_0/ports/1/state", "4: ACTIVE");
    EXPECT_TRUE(has_rdma(devices.path()));
}

TEST(Rdma, CountersOfAllPortsAreAddedUpInBytes) {
    const FakeDevices devices;
    EXPECT_EQ(rdma_bytes(devices.path()), 0);
    devices.write("mlx5_0/ports/1/counters/port_xmit_data", "1000");
    devices.write("mlx5_0/ports/1/counters/port_rcv_data", "250");
    devices.write("mlx5_0/ports/1/hw_counters/tx_bytes", "77");
    devices.write("mlx5_1/ports/2/counters/port_xmit_data", "3000000000000");
    EXPECT_EQ(rdma_bytes(devices.path()), 4 * (1000 + 250 + 3e12)) << "words of four bytes";
    devices.write("rdmap16s27/ports/1/hw_counters/tx_bytes", "500");
    devices.write("rdmap16s27/ports/1/hw_counters/rx_bytes", "24");
    EXPECT_EQ(rdma_bytes(devices.path()), 4 * (1000 + 250 + 3e12) + 524) << "EFA has bytes";
    devices.write("hfi1_0/ports/1/counters/port_xmit_data", "N/A (no PMA)");
    devices.write("rxe0/ports/1/hw_counters/sent_pkts", "9");
    EXPECT_EQ(rdma_bytes(devices.path()), 4 * (1000 + 250 + 3e12) + 524);
}

TEST(Traffic, CountsBothEndsOfAConnectionOfThisProcess) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listener, plain, size), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    ASSERT_EQ(::getsockname(listener, plain, &size), 0);
    const int one = ::socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(::connect(one, plain, size), 0);
    const int other = ::accept(listener, nullptr, nullptr);
    const auto before = traffic_now();
    const std::string text(10'000, 'x');
    ASSERT_EQ(::send(one, text.data(), text.size(), 0), 10'000);
    std::string back(text.size(), ' ');
    ASSERT_EQ(::recv(other, back.data(), back.size(), MSG_WAITALL), 10'000);
    EXPECT_GE(traffic_now().tcp - before.tcp, 20'000);
    for (const int descriptor : {one, other, listener}) ::close(descriptor);
}

} // namespace
