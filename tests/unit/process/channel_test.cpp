// SPDX-License-Identifier: Apache-2.0
#include "process/channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using namespace assay::harness;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(LineBuffer, CutsAnywhereAndLosesNothing) {
    const std::vector<std::string> wanted{"", "one", std::string(5000, 'x'), "", "last"};
    std::string stream;
    for (const auto& line : wanted) stream += line + '\n';
    std::mt19937 random{7};
    for (int round = 0; round < 200; ++round) {
        LineBuffer buffer;
        std::vector<std::string> lines;
        std::string_view rest{stream};
        while (!rest.empty()) {
            const auto size = 1 + random() % rest.size();
            ASSERT_TRUE(buffer.feed(rest.substr(0, size), lines));
            rest.remove_prefix(size);
        }
        ASSERT_EQ(lines, wanted);
    }
}

TEST(LineBuffer, ALineBeyondTheLimitFails) {
    LineBuffer buffer{10};
    std::vector<std::string> lines;
    EXPECT_TRUE(buffer.feed("0123456789\n01234", lines));
    EXPECT_THAT(lines, ElementsAre("0123456789"));
    EXPECT_TRUE(buffer.feed("56789", lines));
    EXPECT_FALSE(buffer.feed("x", lines));
    LineBuffer whole{10};
    EXPECT_FALSE(whole.feed("0123456789x\n", lines));
}

TEST(LineBuffer, AnUnfinishedLineIsNoLine) {
    LineBuffer buffer;
    std::vector<std::string> lines;
    ASSERT_TRUE(buffer.feed("half", lines));
    EXPECT_THAT(lines, IsEmpty());
}

TEST(Channel, BothSidesHearEachOther) {
    auto listener = Listener::open();
    ASSERT_TRUE(listener) << listener.error().message;
    EXPECT_FALSE(listener->accept());
    auto worker = Connection::open(listener->address());
    ASSERT_TRUE(worker) << worker.error().message;
    auto parent = listener->accept();
    ASSERT_TRUE(parent);
    ASSERT_TRUE(worker->send("hello"));
    ASSERT_TRUE(parent->send_at_once("welcome"));
    std::vector<std::string> heard;
    ASSERT_TRUE(parent->receive(heard).value_or(false));
    ASSERT_TRUE(worker->receive(heard).value_or(false));
    EXPECT_THAT(heard, ElementsAre("hello", "welcome"));
    worker->shut();
    const auto open = parent->receive(heard);
    ASSERT_TRUE(open);
    EXPECT_FALSE(*open);
    // Sending to somebody who has gone is an error, not the end of this process.
    EXPECT_FALSE(parent->send_at_once(std::string(1000, 'x')));
}

TEST(Channel, APeerThatDoesNotReadCannotBlockTheParent) {
    auto listener = Listener::open();
    ASSERT_TRUE(listener);
    auto worker = Connection::open(listener->address());
    ASSERT_TRUE(worker);
    auto parent = listener->accept();
    ASSERT_TRUE(parent);
    EXPECT_FALSE(parent->send_at_once(std::string(std::size_t{64} << 20U, 'x')));
}

TEST(Channel, AStrangerMaySayLittle) {
    auto listener = Listener::open();
    ASSERT_TRUE(listener);
    auto worker = Connection::open(listener->address());
    auto parent = listener->accept();
    ASSERT_TRUE(worker && parent);
    std::vector<std::string> heard;
    ASSERT_TRUE(worker->send(std::string(longest_greeting, 'x')));
    ASSERT_TRUE(parent->receive(heard).value_or(false));
    parent->trust();
    ASSERT_TRUE(worker->send(std::string(2 * longest_greeting, 'y')));
    ASSERT_TRUE(parent->receive(heard).value_or(false));
    EXPECT_EQ(heard.size(), 2U);

    auto stranger = Connection::open(listener->address());
    auto unknown = listener->accept();
    ASSERT_TRUE(stranger && unknown);
    ASSERT_TRUE(stranger->send(std::string(longest_greeting + 1, 'x')));
    EXPECT_FALSE(unknown->receive(heard));
}

TEST(Channel, AddressesThatAreNoneAreRefused) {
    for (const std::string address :
         {"", "unix:@", "tcp:somewhere:80", "unix:/tmp/x", "unix:@nobody-listens-here"})
        EXPECT_FALSE(Connection::open(address)) << address;
    EXPECT_FALSE(Connection::open("unix:@" + std::string(200, 'x')));
}

TEST(Channel, TokensDiffer) {
    EXPECT_EQ(assay::random_token().size(), 32U);
    EXPECT_NE(assay::random_token(), assay::random_token());
    EXPECT_TRUE(same_token("ab", "ab"));
    for (const auto* other : {"", "a", "ac", "abc", "bb"}) EXPECT_FALSE(same_token("ab", other));
}

} // namespace
