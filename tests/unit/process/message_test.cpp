// SPDX-License-Identifier: Apache-2.0
#include "process/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <variant>

namespace {

using namespace assay;
using namespace assay::harness;
using testing::HasSubstr;

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
    const auto heard = message::parse_to_worker(message::to_line(message::ToWorker{sent}));
    ASSERT_TRUE(heard) << heard.error().message;
    const auto& got = std::get<message::Measure>(*heard);
    EXPECT_EQ(got.id, sent.id);
    EXPECT_EQ(got.build, sent.build);
    EXPECT_EQ(got.parameters, sent.parameters);
    EXPECT_EQ(got.protocol.target, sent.protocol.target);
    EXPECT_EQ(got.protocol.min_batches, sent.protocol.min_batches);
    EXPECT_EQ(got.replica, sent.replica);
    EXPECT_EQ(got.place, sent.place);
    EXPECT_EQ(got.log, sent.log);
}

TEST(Message, EveryMessageIsOneLineAndKeepsItsKind) {
    const std::vector<message::ToWorker> down{
        message::Welcome{}, message::Measure{}, message::AskFacts{.id = 3},
        message::Stop{},    message::Ping{},    message::Proceed{.id = 5}};
    for (const auto& sent : down) {
        const auto line = message::to_line(sent);
        EXPECT_EQ(line.find('\n'), std::string::npos);
        const auto heard = message::parse_to_worker(line);
        ASSERT_TRUE(heard) << line << heard.error().message;
        EXPECT_EQ(heard->index(), sent.index());
    }
    message::Result result{.id = 4};
    result.result.verification = record::Verification{.passed = true, .method = "m", .bound = 1.0};
    const std::vector<message::FromWorker> up{
        message::Hello{.token = "t"},      message::Phase{.phase = "p"},
        message::Log{"line\nline"},        result,
        message::Facts{.problem = "none"}, message::Done{.reason = "r"},
        message::Reached{.point = "ready"}};
    for (const auto& sent : up) {
        const auto line = message::to_line(sent);
        EXPECT_EQ(line.find('\n'), std::string::npos);
        const auto heard = message::parse_from_worker(line);
        ASSERT_TRUE(heard) << line << heard.error().message;
        EXPECT_EQ(heard->index(), sent.index());
    }
}

TEST(Message, AResultKeepsItsNumbersExactly) {
    message::Result sent{.id = 1, .samples = {0.1, 1.0 / 3.0}};
    sent.result.replicas = {
        {.status = record::Status::ok, .values = {0.1, 2e-9}, .seconds = 1.0 / 3.0}};
    sent.result.work = {{"flops", 1e15}};
    sent.result.settings = {{"kernel", std::string{"brg:avx512"}}};
    auto heard = message::parse_from_worker(message::to_line(message::FromWorker{sent}));
    ASSERT_TRUE(heard) << heard.error().message;
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
        ASSERT_FALSE(heard) << line.substr(0, 100);
        EXPECT_EQ(heard.error().fault, Fault::benchmark);
        EXPECT_THAT(heard.error().message, HasSubstr("message of a worker"));
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
