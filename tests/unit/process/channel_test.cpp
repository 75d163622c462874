// SPDX-License-Identifier: Apache-2.0

#include "process/channel.hpp"
#include "process/message.hpp"
#include "process/scratch.hpp"
#include "support/results.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace assay::process {
namespace {

using namespace testing;

TEST(Addresses, ReadBackAsTheyWereWritten) {
    for (const char* text : {"unix:@assay-0123", "tcp:127.0.0.1:4242", "tcp:[::1]:9"}) {
        EXPECT_EQ(to_text(*valid(parse_address(text))), text);
    }
    for (const char* wrong : {"", "tcp:", "tcp:h1:1", "tcp:1.2.3.4", "tcp:1.2.3.4:65536",
                              "tcp:[::1:2", "tcp::1", "udp:1.2.3.4:5"})
        EXPECT_FALSE(parse_address(wrong)) << wrong;
}

TEST(Addresses, ToBeRefusedIsAnAnswer) { EXPECT_TRUE(does_answer("127.0.0.1")); }

TEST(Addresses, AWorkerElsewhereConnectsToWhatTheParentSays) {
    const auto own = valid(own_address_towards("127.0.0.1"));
    auto listener = valid(Listener::open(*own));
    EXPECT_THAT(listener->address(), ::testing::StartsWith("tcp:127.0.0.1:"));
    auto worker = valid(Connection::open(listener->address()));
    auto parent = valid(listener->accept());
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

// --- channels ----------------------------------------------------------------------------------------

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

/// A worker that is connected to its parent.
struct Channel : testing::Test {
    void connect() {
        worker = Connection::open(listener->address());
        ASSERT_TRUE(worker) << worker.error().message;
        parent = listener->accept();
        ASSERT_TRUE(parent);
    }
    void SetUp() override {
        ASSERT_TRUE(listener) << listener.error().message;
        EXPECT_FALSE(listener->accept());
        connect();
    }
    assay::Result<Listener> listener = Listener::open();
    assay::Result<Connection> worker = assay::fail("not yet");
    std::optional<Connection> parent;
};

TEST_F(Channel, BothSidesHearEachOther) {
    ASSERT_TRUE(worker->send("hello"));
    ASSERT_TRUE(parent->send_at_once("welcome"));
    std::vector<std::string> heard;
    ASSERT_TRUE(parent->receive(heard).value_or(false));
    ASSERT_TRUE(worker->receive(heard).value_or(false));
    EXPECT_THAT(heard, ElementsAre("hello", "welcome"));
    worker->shut();
    EXPECT_FALSE(*valid(parent->receive(heard)));
    // Sending to somebody who has gone is an error, not the end of this process.
    EXPECT_FALSE(parent->send_at_once(std::string(1000, 'x')));
}

TEST_F(Channel, APeerThatDoesNotReadCannotBlockTheParent) {
    EXPECT_FALSE(parent->send_at_once(std::string(std::size_t{64} << 20U, 'x')));
}

TEST_F(Channel, AStrangerMaySayLittle) {
    std::vector<std::string> heard;
    ASSERT_TRUE(worker->send(std::string(longest_greeting, 'x')));
    ASSERT_TRUE(parent->receive(heard).value_or(false));
    parent->trust();
    ASSERT_TRUE(worker->send(std::string(2 * longest_greeting, 'y')));
    ASSERT_TRUE(parent->receive(heard).value_or(false));
    EXPECT_EQ(heard.size(), 2U);

    connect();
    ASSERT_TRUE(worker->send(std::string(longest_greeting + 1, 'x')));
    EXPECT_FALSE(parent->receive(heard));
}

TEST(Channels, AddressesThatAreNoneAreRefused) {
    for (const std::string address :
         {"", "unix:@", "tcp:somewhere:80", "unix:/tmp/x", "unix:@nobody-listens-here"})
        EXPECT_FALSE(Connection::open(address)) << address;
    EXPECT_FALSE(Connection::open("unix:@" + std::string(200, 'x')));
}

TEST(Channels, TokensDiffer) {
    EXPECT_EQ(assay::random_token().size(), 32U);
    EXPECT_NE(assay::random_token(), assay::random_token());
    EXPECT_TRUE(same_token("ab", "ab"));
    for (const auto* other : {"", "a", "ac", "abc", "bb"}) EXPECT_FALSE(same_token("ab", other));
}

// --- messages ----------------------------------------------------------------------------------------

TEST(Message, AMeasureRequestComesBackAsItWas) {
    const message::Measure sent{.id = 7,
                                .module = "/lib/assay/host.so",
                                .build = "8f14e45f",
                                .benchmark = "memory.stream",
                                .parameters = {{"threads", std::string{"all"}},
                                               {"size", std::int64_t{1} << 40U},
                                               {"factor", 0.1},
                                               {"whole", 2.0},
                                               {"plain", true}},
                                .protocol = {.target = 0.03, .min_batches = 11},
                                .replica = 2,
                                .place = {.kind = "cuda", .uuid = "GPU-1", .index = 3},
                                .log = "/tmp/\"odd\"\n"};
    const auto heard = valid(message::parse_to_worker(message::to_line(message::ToWorker{sent})));
    const auto& got = std::get<message::Measure>(*heard);
    EXPECT_EQ(message::to_line(*heard), message::to_line(message::ToWorker{sent}));
    EXPECT_EQ(got.parameters, sent.parameters);
    EXPECT_EQ(got.protocol.target, sent.protocol.target);
    EXPECT_EQ(got.place, sent.place);
    EXPECT_EQ(got.log, sent.log);
}

TEST(Message, EveryMessageIsOneLineAndKeepsItsKind) {
    const std::vector<message::ToWorker> down{
        message::Welcome{}, message::Measure{}, message::AskFacts{.id = 3},
        message::Stop{},    message::Ping{},    message::Proceed{.id = 5}};
    const auto expect_back = [](const auto& sent, const auto& parse) {
        const auto line = message::to_line(sent);
        EXPECT_EQ(line.find('\n'), std::string::npos);
        const auto heard = parse(line);
        ASSERT_TRUE(heard) << line << heard.error().message;
        EXPECT_EQ(heard->index(), sent.index());
    };
    for (const auto& sent : down) expect_back(sent, message::parse_to_worker);
    message::Result result{.id = 4};
    result.result.verification = record::Verification{.passed = true, .method = "m", .bound = 1.0};
    const std::vector<message::FromWorker> up{
        message::Hello{.token = "t"},      message::Phase{.phase = "p"},
        message::Log{"line\nline"},        result,
        message::Facts{.problem = "none"}, message::Done{.reason = "r"},
        message::Reached{.point = "ready"}};
    for (const auto& sent : up) expect_back(sent, message::parse_from_worker);
}

TEST(Message, AResultKeepsItsNumbersExactly) {
    message::Result sent{.id = 1, .samples = {0.1, 1.0 / 3.0}};
    sent.result.replicas = {
        {.status = record::Status::ok, .values = {0.1, 2e-9}, .seconds = 1.0 / 3.0}};
    sent.result.work = {{"flops", 1e15}};
    sent.result.settings = {{"kernel", std::string{"brg:avx512"}}};
    auto heard = valid(message::parse_from_worker(message::to_line(message::FromWorker{sent})));
    auto& got = std::get<message::Result>(*heard);
    EXPECT_EQ(got.replica().seconds, sent.replica().seconds);
    EXPECT_EQ(got.replica().values, sent.replica().values);
    EXPECT_EQ(got.samples, sent.samples);
    EXPECT_EQ(got.result.settings, sent.result.settings);
    EXPECT_EQ(got.result.work, sent.result.work);
}

TEST(Message, HostileLinesAreErrorsOfTheBenchmark) {
    const std::vector<std::string> lines{
        "",
        "null",
        "[]",
        "{}",
        "{\"type\":7}",
        "{\"type\":\"result\"}",
        "{\"type\":\"hello\",\"token\":\"t\",\"rank\":99999999999,\"pid\":1}",
        "{\"type\":\"hello\",\"token\":\"t\",\"rank\":0.5,\"pid\":1}",
        "{\"type\":\"phase\",\"id\":-1,\"phase\":\"p\"}",
        "{\"type\":\"done\",\"id\":1,\"reason\":null}",
        "{\"type\":\"log\",\"text\":\"a\"}{\"type\":\"log\",\"text\":\"b\"}",
        "{\"type\":\"result\",\"id\":1,\"result\":[],\"samples\":[]}",
        "{\"type\":\"log\",\"type\":\"log\",\"text\":\"a\"}",
        std::string(100'000, '['),
        std::string("{\"type\":\"log\",\"text\":\"\xff\"}"),
        "{\"type\":\"" + std::string(100'000, 'x') + "\"}"};
    for (const auto& line : lines) {
        const auto heard = message::parse_from_worker(line);
        EXPECT_THAT(heard, Fails(Fault::benchmark, HasSubstr("message of a worker")))
            << line.substr(0, 100);
        EXPECT_LT(heard.error().message.size(), 1000U);
        EXPECT_FALSE(message::parse_to_worker(line));
    }
}

TEST(Message, WhatOneSideSaysTheOtherMayNot) {
    EXPECT_FALSE(message::parse_from_worker(message::to_line(message::ToWorker{message::Stop{}})));
    EXPECT_FALSE(message::parse_to_worker(message::to_line(message::FromWorker{message::Done{}})));
}

TEST(Message, DamagedLinesNeverThrow) {
    message::Result result{.id = 1};
    result.result.replicas = {{.values = {0.5, 0.25}}};
    const auto whole = message::to_line(message::FromWorker{result});
    std::mt19937 random{11};
    for (int round = 0; round < 5000; ++round) {
        auto line = whole;
        for (auto hits = 1 + random() % 3; hits > 0; --hits)
            line[random() % line.size()] = static_cast<char>(random() % 256);
        line.resize(random() % (line.size() + 1));
        EXPECT_NO_THROW((void)message::parse_from_worker(line));
    }
}

} // namespace
} // namespace assay::process
