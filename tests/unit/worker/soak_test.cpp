// SPDX-License-Identifier: Apache-2.0
//
// A soak by a fake clock: every call compared, what is wrong located, steps of work and idling.

#include "fakes.hpp"
#include "record/layout.hpp"
#include "worker/engine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <barrier>
#include <bit>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

namespace assay::worker {
namespace {

using record::HeldAgainst;
using record::Replay;
using record::Status;
using testing::HasSubstr;

/// Computes two blocks of 8 numbers; `harm` is told the number of the call and may change them.
class Computing final : public Subject {
public:
    explicit Computing(FakeClock& clock) : clock_{clock} { has_digest = reproducible = true; }

    Result<double> sample(std::uint64_t count) override {
        for (std::uint64_t i = 0; i < count; ++i) {
            values.assign(16, 1.5);
            values[3] = input;
            ++calls;
            is_whole = true;
            if (harm) harm(*this);
        }
        clock_.time += 0.01 * static_cast<double>(count);
        return 0.01 * static_cast<double>(count);
    }
    Result<record::Verification> verify() override {
        ++checks;
        return record::Verification{.passed = !wrong_by_check && values[0] == 1.5 && is_whole,
                                    .method = "scripted",
                                    .bound = 1,
                                    .error = wrong_by_check ? 7.0 : 0.0};
    }
    Result<void> poison() override {
        is_whole = false;
        values.assign(16, 0);
        return {};
    }
    Result<void> spoil() override { return poison(); }
    Result<void> rewind() override { return {}; }
    Result<Digest> digest() override {
        ++digests;
        Digest hashes;
        for (int block = 0; block < 2; ++block) {
            std::uint64_t hash = 0;
            for (int i = 0; i < 8; ++i)
                hash = std::rotl(hash, 7) ^ std::bit_cast<std::uint64_t>(
                                                values[static_cast<std::size_t>(8 * block + i)]);
            hashes.push_back(hash);
        }
        return hashes;
    }
    Result<OutputBlock> block(std::size_t index) override {
        OutputBlock found{.output = 0, .first_element = 8 * index, .element_bytes = 8};
        found.bytes.resize(64);
        std::memcpy(found.bytes.data(), &values[8 * index], 64);
        return found;
    }
    Result<void> renew() override {
        ++renewed;
        input = 2.0;
        return {};
    }
    void flip(std::size_t element, unsigned bit) {
        auto bits = std::bit_cast<std::uint64_t>(values[element]);
        values[element] = std::bit_cast<double>(bits ^ (std::uint64_t{1} << bit));
    }

    std::function<void(Computing&)> harm;
    std::vector<double> values = std::vector<double>(16, 0);
    double input = 2.0;
    std::uint64_t calls = 0;
    int checks = 0;
    int digests = 0;
    int renewed = 0;
    bool wrong_by_check = false;
    bool is_whole = true; ///< not poisoned since

private:
    FakeClock& clock_;
};

struct Soak {
    Soak() {
        protocol.soaks = true;
        protocol.budget_seconds = 10; // a thousand calls
        protocol.warmup_seconds = 0.05;
        hooks.utc = [] { return "then"; };
    }
    record::SoakVisit run() {
        const Team alone;
        result = worker::measure(subject, protocol, clock, runner, alone, hooks);
        return result.replica.soak.value_or(record::SoakVisit{});
    }

    FakeClock clock;
    Computing subject{clock};
    DirectRunner runner;
    record::Protocol protocol;
    Hooks hooks;
    Measurement result;
};

TEST(Soak, ComparesEveryCallForAsLongAsAsked) {
    Soak soak;
    const auto found = soak.run();
    EXPECT_EQ(soak.result.replica.status, Status::ok) << soak.result.replica.reason;
    EXPECT_NEAR(static_cast<double>(found.calls), 1000, 2);
    EXPECT_EQ(found.compared, found.calls);
    EXPECT_EQ(found.wrong, 0U);
    EXPECT_EQ(found.digest.size(), 16U);
    EXPECT_NEAR(*soak.result.replica.seconds, 0.01, 1e-9);
    EXPECT_EQ(soak.result.reference.size(), 2U);
}

TEST(Soak, OneBitInOneOfTenThousandCallsIsLocated) {
    Soak soak;
    soak.protocol.budget_seconds = 101; // of calls that take 10 ms each
    soak.protocol.limit_seconds = 1000;
    soak.subject.harm = [](Computing& at) {
        if (at.calls == 10'000) at.flip(11, 40);
    };
    const auto found = soak.run();
    EXPECT_EQ(soak.result.replica.status, Status::incorrect);
    EXPECT_THAT(soak.result.replica.reason, HasSubstr("element 11 of output 0"));
    ASSERT_EQ(found.corruptions.size(), 1U);
    auto one = found.corruptions.front();
    one.detail.clear();
    EXPECT_EQ(json::to_line(json::encode(one)),
              R"({"of":"","at":"then","visit":0,"call":9992,"held_against":"calls",)"
              R"("right_again":"same_state","output":0,"element":11,"wrong_elements":1,)"
              R"("wrong_bits":1,"block":1,"wrong_blocks":1,"expected":"3ff8000000000000",)"
              R"("got":"3ff8010000000000","bits":"0000010000000000","detail":""})");
}

TEST(Soak, DamagedMemoryIsRightAgainWhenItIsMadeAnew) {
    Soak soak;
    soak.subject.harm = [](Computing& at) {
        if (at.calls == 500) at.input = 2.5;
    };
    const auto found = soak.run();
    EXPECT_EQ(found.wrong, 1U);
    ASSERT_EQ(found.corruptions.size(), 1U);
    EXPECT_EQ(found.corruptions.front().right_again, Replay::fresh_state);
    EXPECT_EQ(found.corruptions.front().element, 3);
    EXPECT_EQ(soak.subject.renewed, 1);
}

TEST(Soak, AMajorityOfThreeCallsSaysWhatRightIs) {
    Soak sound;
    const auto right = sound.run().digest;
    for (const int wrong_one : {0, 1}) {
        Soak soak;
        bool window = false;
        soak.hooks.window_begins = [&] { window = true; };
        soak.subject.harm = [&](Computing& at) {
            if (window && at.digests == wrong_one) at.flip(2, 3);
        };
        const auto found = soak.run();
        EXPECT_EQ(found.digest, right);
        ASSERT_EQ(found.wrong, 1U);
        const auto& one = found.corruptions.at(0);
        EXPECT_EQ(one.call, 0U) << "before the first that is counted";
        EXPECT_EQ(one.block, 0);
        EXPECT_EQ(one.right_again, Replay::same_state);
        // The bytes of the first are gone when the others outvote it.
        EXPECT_EQ(one.element.has_value(), wrong_one == 1);
    }
}

TEST(Soak, OtherBitsThanElsewhereAreWrong) {
    Soak elsewhere;
    elsewhere.run();
    Soak same;
    same.hooks.expected = elsewhere.result.reference;
    EXPECT_EQ(same.run().wrong, 0U);

    Soak other;
    other.subject.harm = [](Computing& at) { at.flip(5, 0); };
    other.hooks.expected = elsewhere.result.reference;
    const auto found = other.run();
    ASSERT_EQ(found.corruptions.size(), 1U);
    EXPECT_EQ(found.corruptions.front().held_against, HeldAgainst::others);
    EXPECT_EQ(found.corruptions.front().right_again, Replay::none);
    EXPECT_EQ(found.corruptions.front().block, 0);
    EXPECT_FALSE(found.corruptions.front().element);

    other.subject.reproducible = false; // as any process may
    EXPECT_EQ(other.run().wrong, 0U);
}

TEST(Soak, WithoutADigestTheCheckIsAskedNowAndThen) {
    Soak soak;
    soak.subject.has_digest = soak.subject.reproducible = false;
    auto found = soak.run();
    EXPECT_EQ(found.compared, 0U);
    EXPECT_GT(found.checked, 10U);
    EXPECT_EQ(found.digest, "");

    Soak wrong;
    wrong.subject.has_digest = wrong.subject.reproducible = false;
    wrong.subject.harm = [](Computing& at) { at.wrong_by_check = at.calls == 500; };
    found = wrong.run();
    ASSERT_EQ(found.corruptions.size(), 1U);
    EXPECT_EQ(found.corruptions.front().held_against, HeldAgainst::check);
    EXPECT_EQ(found.corruptions.front().right_again, Replay::same_state);
    EXPECT_THAT(found.corruptions.front().detail, HasSubstr("error 7"));
}

TEST(Soak, StepsFromIdleToFullByTheClockOfTheMachine) {
    Soak soak;
    soak.protocol.step_seconds = 2;
    double idle = 0;
    soak.hooks.pause = [&](double seconds) {
        EXPECT_GT(seconds, 0);
        EXPECT_LE(seconds, 2);
        idle += seconds;
        soak.clock.time += seconds;
    };
    const auto found = soak.run();
    EXPECT_NEAR(idle, 5, 1.1);
    EXPECT_NEAR(static_cast<double>(found.calls), 500, 110);
}

// --- teams -------------------------------------------------------------------------------------------

// Ranks as threads. A rank that makes another sequence of collective calls than its fellows would
// hang in the field; here the sequences are compared.

/// State shared by the ranks.
struct Meeting {
    explicit Meeting(int size) : numbers(static_cast<std::size_t>(size)), door{size} {}
    std::vector<double> numbers;
    std::uint64_t from_root = 0;
    std::barrier<> door;
};

/// A rank of the team, and what it was asked for.
class Fellow {
public:
    Fellow(Meeting& meeting, int rank) : meeting_{meeting} {
        table_ = {.struct_size = sizeof table_,
                  .rank = rank,
                  .size = static_cast<int>(meeting.numbers.size()),
                  .context = this,
                  .barrier = [](void* self) { static_cast<Fellow*>(self)->barrier(); },
                  .max = [](void* self, double* values,
                            std::size_t /*count*/) { static_cast<Fellow*>(self)->max(*values); },
                  .broadcast =
                      [](void* self, void* data, std::size_t bytes) {
                          static_cast<Fellow*>(self)->broadcast(data, bytes);
                      }};
    }
    ~Fellow() { meeting_.door.arrive_and_drop(); } // leaves nobody waiting
    Fellow(const Fellow&) = delete;
    Fellow& operator=(const Fellow&) = delete;

    Team team() const { return Team{&table_}; }
    std::string log;

private:
    void barrier() {
        log += 'b';
        meeting_.door.arrive_and_wait();
    }
    void max(double& value) {
        log += 'm';
        meeting_.numbers[static_cast<std::size_t>(table_.rank)] = value;
        meeting_.door.arrive_and_wait();
        value = std::ranges::max(meeting_.numbers);
        meeting_.door.arrive_and_wait();
    }
    void broadcast(void* data, std::size_t bytes) {
        log += 'r';
        ASSERT_EQ(bytes, sizeof meeting_.from_root);
        if (table_.rank == 0) std::memcpy(&meeting_.from_root, data, bytes);
        meeting_.door.arrive_and_wait();
        std::memcpy(data, &meeting_.from_root, bytes);
        meeting_.door.arrive_and_wait();
    }

    Meeting& meeting_;
    assay_team table_{};
};

struct Rank {
    Measurement result;
    std::string collectives;
    std::vector<std::uint64_t> batch_calls;
};

using Prepare = std::function<void(int rank, FakeSubject& subject)>;

/// Measures with `size` ranks of different speed, noise and clocks.
std::vector<Rank> measure_together(int size, const Prepare& prepare) {
    Meeting meeting{size};
    std::vector<Rank> ranks(static_cast<std::size_t>(size));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < size; ++rank)
            threads.emplace_back([&, rank] {
                FakeClock clock;
                clock.time = 1000.0 * rank; // clocks of different machines do not agree
                std::mt19937_64 random{static_cast<std::uint64_t>(rank) + 1};
                std::normal_distribution<> noise{1, 0.05};
                FakeSubject subject{clock, [&] { return 1e-4 * (1 + 0.1 * rank) * noise(random); }};
                prepare(rank, subject);
                DirectRunner runner;
                Fellow fellow{meeting, rank};
                Rank& mine = ranks[static_cast<std::size_t>(rank)];
                mine.result =
                    measure(subject, record::Protocol{}, clock, runner, fellow.team(), {});
                mine.collectives = fellow.log;
                mine.batch_calls = subject.batch_calls;
            });
    }
    return ranks;
}

void expect_in_step(const std::vector<Rank>& ranks, Status status) {
    for (const Rank& rank : ranks) {
        EXPECT_EQ(rank.result.replica.status, status) << rank.result.replica.reason;
        EXPECT_EQ(rank.collectives, ranks.front().collectives);
    }
}

TEST(Team, EveryRankFindsTheSlowest) {
    for (const int size : {2, 3}) {
        const std::vector<Rank> ranks = measure_together(size, [](int, FakeSubject&) {});
        expect_in_step(ranks, Status::ok);
        for (const Rank& rank : ranks) {
            EXPECT_EQ(rank.result.replica.values, ranks.front().result.replica.values);
            EXPECT_EQ(rank.result.replica.low, ranks.front().result.replica.low);
            EXPECT_EQ(rank.batch_calls, ranks.front().batch_calls);
            EXPECT_GE(*rank.result.replica.seconds, 0.995e-4 * (1 + 0.1 * (size - 1)));
        }
    }
}

TEST(Team, RanksThatRewindStayInStep) {
    expect_in_step(measure_together(3,
                                    [](int, FakeSubject& subject) {
                                        subject.rewinds = true;
                                        subject.safe_calls = 2;
                                    }),
                   Status::ok);
}

TEST(Team, AFailureOnOneRankEndsAll) {
    const FakeSubject::Step failures[] = {
        {"sample", 1}, {"verify", 1}, {"spoil", 1},    {"verify", 2},   {"sample", 3},
        {"rewind", 4}, {"sample", 9}, {"sample", 250}, {"rewind", 250}, {"poison", 1},
        {"verify", 3}, {"poison", 2}, {"verify", 4}};
    for (const auto& failure : failures)
        for (const int culprit : {0, 2}) {
            const std::vector<Rank> ranks =
                measure_together(3, [&](int rank, FakeSubject& subject) {
                    subject.rewinds = true;
                    if (rank == culprit) subject.fail_at = failure;
                });
            SCOPED_TRACE(failure.name + std::to_string(failure.number));
            expect_in_step(ranks, Status::failed);
            for (int rank = 0; rank < 3; ++rank)
                EXPECT_EQ(ranks[static_cast<std::size_t>(rank)].result.replica.reason,
                          rank == culprit
                              ? failure.name + " broke"
                              : "rank " + std::to_string(culprit) + " of 3 failed: see its log");
        }
}

TEST(Team, AWrongResultOnOneRankIsIncorrectOnAll) {
    const std::vector<Rank> ranks = measure_together(
        3, [](int rank, FakeSubject& subject) { subject.computes_right = rank != 1; });
    expect_in_step(ranks, Status::incorrect);
    EXPECT_EQ(ranks[0].result.replica.reason,
              "rank 1 of 3 holds a wrong result; error 0 against a bound of 0.5");
}

TEST(Team, OneRankThatObjectsToASpoiledResultIsEnough) {
    const auto blind_from = [](int first) {
        return [first](int rank, FakeSubject& subject) { subject.blind = rank >= first; };
    };
    expect_in_step(measure_together(3, blind_from(1)), Status::ok);
    expect_in_step(measure_together(3, blind_from(0)), Status::incorrect);
}

} // namespace
} // namespace assay::worker
