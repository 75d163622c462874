// SPDX-License-Identifier: Apache-2.0
#include "process/address.hpp"
#include "process/channel.hpp"
#include "process/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::harness {
namespace {

using ::testing::HasSubstr;

TEST(Addresses, ReadBackAsTheyWereWritten) {
    for (const char* text : {"unix:@assay-0123", "tcp:127.0.0.1:4242", "tcp:[::1]:9"}) {
        const auto address = parse_address(text);
        ASSERT_TRUE(address) << text;
        EXPECT_EQ(to_text(*address), text);
    }
    for (const char* wrong : {"", "tcp:", "tcp:h1:1", "tcp:1.2.3.4", "tcp:1.2.3.4:65536",
                              "tcp:[::1:2", "tcp::1", "udp:1.2.3.4:5"})
        EXPECT_FALSE(parse_address(wrong)) << wrong;
}

TEST(Addresses, ToBeRefusedIsAnAnswer) { EXPECT_TRUE(does_answer("127.0.0.1")); }

TEST(Addresses, AWorkerElsewhereConnectsToWhatTheParentSays) {
    const auto own = own_address_towards("127.0.0.1");
    ASSERT_TRUE(own) << own.error().message;
    auto listener = Listener::open(*own);
    ASSERT_TRUE(listener) << listener.error().message;
    EXPECT_THAT(listener->address(), ::testing::StartsWith("tcp:127.0.0.1:"));
    auto worker = Connection::open(listener->address());
    ASSERT_TRUE(worker) << worker.error().message;
    auto parent = listener->accept();
    ASSERT_TRUE(parent);
    // A welcome with a whole machine in it is sent without waiting.
    const std::string welcome(std::size_t{100} << 10U, 'x');
    ASSERT_TRUE(parent->send_at_once(welcome));
    std::vector<std::string> heard;
    while (heard.empty()) ASSERT_TRUE(worker->receive(heard).value_or(false));
    EXPECT_EQ(heard[0], welcome);
}

TEST(Complaints, AreSaidInOneSentence) {
    EXPECT_THAT(
        complaint_in_text("...\nAt least one pair of MPI processes are unable to reach each "
                          "other for\nMPI communications.\n"),
        HasSubstr("no common transport"));
    EXPECT_EQ(complaint_in_text("all is well"), "");
    EXPECT_EQ(complaint_in("/nowhere/log"), "");
}

} // namespace
} // namespace assay::harness
