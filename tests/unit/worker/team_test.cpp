// SPDX-License-Identifier: Apache-2.0
//
// Ranks as threads. A rank that makes another sequence of collective calls than its fellows would
// hang in the field; here the sequences are compared.

#include "fakes.hpp"
#include "worker/engine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <random>
#include <thread>

namespace assay::measure {
namespace {

using record::Status;

/// What the ranks share.
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
                mine.result = measure(subject, Protocol{}, clock, runner, fellow.team(), {});
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
} // namespace assay::measure
