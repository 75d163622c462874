// SPDX-License-Identifier: Apache-2.0
//
// The order of cases, what is measured again, waiting for a quiet machine, and neighbours.
#include "record/summary.hpp"
#include "run/forecast.hpp"
#include "run/neighbours.hpp"
#include "run/order.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace assay;
using namespace assay::run;
using assay::made::TemporaryFolder;
using namespace testing;

// --- order ----------------------------------------------------------------------------------------

plan::Plan plan_of(const std::vector<std::size_t>& blocks) {
    plan::Plan plan;
    for (const auto block : blocks) {
        plan::PlannedCase planned{};
        planned.block = block;
        plan.cases.push_back(planned);
    }
    return plan;
}

TEST(Order, WithoutASeedIsThePlan) {
    const auto plan = plan_of({0, 0, 1, 2, 2, 2});
    EXPECT_THAT(order_of(plan, std::nullopt, 3), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(order_of(plan::Plan{}, 1, 0), IsEmpty());
}

TEST(Order, BlocksAreShuffledForEachReplicaAndStayTogether) {
    const auto plan = plan_of({0, 0, 1, 2, 2, 2, 3, 4, 5, 5});
    std::set<std::vector<std::size_t>> orders;
    for (int replica = 0; replica < 20; ++replica) {
        const auto order = order_of(plan, 42, replica);
        EXPECT_THAT(order, UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
        std::size_t changes = 0;
        for (std::size_t i = 1; i < order.size(); ++i) {
            const bool same = plan.cases[order[i]].block == plan.cases[order[i - 1]].block;
            if (same) EXPECT_EQ(order[i], order[i - 1] + 1) << "the plan's order inside a block";
            changes += same ? 0U : 1U;
        }
        EXPECT_EQ(changes, 5U) << "blocks are not torn apart";
        orders.insert(order);
    }
    EXPECT_GT(orders.size(), 15U);
    EXPECT_EQ(order_of(plan, 42, 3), order_of(plan, 42, 3));
    EXPECT_NE(order_of(plan, 42, 3), order_of(plan, 43, 3));
}

// --- a budget -------------------------------------------------------------------------------------

/// Replicas and cases in the order of a run, by a clock that goes on by what each case takes.
struct Course {
    double ended = 0;
    std::vector<int> measured; ///< replicas of each case
    bool is_over = false;
};
Course course_of(const plan::Plan& plan, const std::vector<double>& planned, double seconds,
                 std::optional<double> limit = {}) {
    Course course{.measured = std::vector<int>(planned.size(), 0)};
    double now = 0;
    Forecast forecast{planned, plan.replicas, [&] { return now; }};
    for (int replica = 0; replica < plan.replicas; ++replica)
        for (const auto index : order_of(plan, {}, replica)) {
            const auto room =
                room_for(plan, index, replica, now + forecast.seconds_of(index), limit);
            course.is_over |= room.is_over;
            if (!room.is_there) continue;
            forecast.begin(index);
            now += seconds;
            forecast.end(index);
            ++course.measured[index];
        }
    course.ended = now;
    return course;
}

TEST(Budget, CutsOffProgramsAndKeepsTheFirstReplicaOfOthers) {
    plan::Benchmark program;
    program.long_calls = true;
    const plan::Benchmark other;
    auto plan = plan_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    plan.replicas = 3;
    for (auto& planned : plan.cases) planned.benchmark = &program;
    const std::vector<double> planned(plan.cases.size(), 2.5);
    plan.hard_seconds = 40;
    const auto all = course_of(plan, planned, 2.5);
    EXPECT_EQ(all.ended, 40);
    EXPECT_THAT(all.measured, Each(1));
    EXPECT_FALSE(all.is_over) << "each case was measured";
    // Three times as slow as planned: late by one step at most, and the cases that are missing are known.
    const auto slow = course_of(plan, planned, 7.5);
    EXPECT_LE(slow.ended, 40 + 7.5);
    EXPECT_THAT(slow.measured, Contains(0));
    EXPECT_TRUE(slow.is_over);
    // No case fits: nothing begins.
    const auto none = course_of(plan, std::vector<double>(plan.cases.size(), 60), 60);
    EXPECT_EQ(none.ended, 0);
    EXPECT_TRUE(none.is_over);
    // Calls that can be cut short: the protocol does it, and only --time-limit ends the run.
    for (auto& one : plan.cases) one.benchmark = &other;
    plan.most_seconds = 40;
    EXPECT_THAT(course_of(plan, planned, 7.5).measured, Each(1));
    const auto limited = course_of(plan, planned, 2.5, 20);
    EXPECT_EQ(limited.ended, 20);
    EXPECT_TRUE(limited.is_over);
}

// --- measuring again ------------------------------------------------------------------------------

/// One letter for each replica: q quiet, d disturbed, c crashed.
record::Case case_of(const std::string& replicas, int wanted = 5) {
    record::Case c;
    c.spread = record::Spread{.replicas = wanted};
    for (const char letter : replicas) {
        record::Replica replica;
        replica.index = static_cast<int>(c.replicas.size());
        replica.status = letter == 'q'   ? record::Status::ok
                         : letter == 'd' ? record::Status::disturbed
                                         : record::Status::crashed;
        c.replicas.push_back(replica);
    }
    return c;
}

bool wants(const std::string& replicas, int again = 0) {
    const auto c = case_of(replicas);
    return wants_another({&c}, again);
}

TEST(MeasuredAgain, UntilEnoughAreUndisturbed) {
    EXPECT_FALSE(wants("qqqqq"));
    EXPECT_TRUE(wants("qqdqq"));
    EXPECT_FALSE(wants("qqdqqq"));
    EXPECT_TRUE(wants("qddddddddddd", 7)) << "now and then the machine is quiet";
    EXPECT_TRUE(wants("ddddd"));
    EXPECT_TRUE(wants("dddddd", 1));
    EXPECT_FALSE(wants("ddddddd", 2)) << "two more in vain: this does not go away";
    EXPECT_TRUE(wants("ddddddd")) << "but it may have gone when the run is resumed";
    EXPECT_FALSE(wants("qdcqq")) << "a crash is final";
    EXPECT_FALSE(wants(""));
    auto old = case_of("qqdqq");
    old.spread.reset();
    EXPECT_FALSE(wants_another({&old}));
}

TEST(MeasuredAgain, NotWhereTheFastestAgreeWithinTheTarget) {
    auto c = case_of("qdddd");
    c.headline = "time";
    c.spread->between_replicas = 0.01;
    c.spread->degrees = 3;
    c.spread->limit = 0.05;
    c.spread->rules = record::current_rules;
    for (auto& replica : c.replicas) replica.seconds = 1.0 + 0.001 * replica.index;
    EXPECT_FALSE(wants_another({&c}));
    for (auto& replica : c.replicas) replica.seconds = 1.0 + 0.2 * replica.index;
    EXPECT_TRUE(wants_another({&c})) << "they do not agree";
    for (auto& replica : c.replicas) replica.seconds = 1.0;
    c.replicas.front().status = record::Status::disturbed;
    EXPECT_TRUE(wants_another({&c})) << "all may have been slowed alike";
}

/// The times of its replicas, in seconds; all undisturbed.
record::Case timed(const std::string& benchmark, const std::vector<double>& seconds) {
    auto c = case_of(std::string(seconds.size(), 'q'));
    c.benchmark = benchmark;
    c.headline = "time";
    c.spread->between_replicas = 0.01;
    c.spread->degrees = 3;
    c.spread->limit = 0.05;
    c.spread->rules = record::current_rules;
    for (std::size_t i = 0; i < seconds.size(); ++i) c.replicas[i].seconds = seconds[i];
    return c;
}

TEST(Enough, IsWhatAgreesUndisturbed) {
    const auto agreeing = timed("a", {1, 1.001, 1.002});
    EXPECT_TRUE(is_enough({&agreeing}, 3));
    EXPECT_FALSE(is_enough({&agreeing}, 4));
    EXPECT_FALSE(is_enough({&agreeing}, std::nullopt)) << "exactly the planned ones";
    const auto scattered = timed("a", {1, 1.2, 1.4});
    EXPECT_FALSE(is_enough({&scattered}, 3));
    EXPECT_FALSE(is_enough({&agreeing, &scattered}, 3)) << "measured at the same time";
    auto disturbed = agreeing;
    disturbed.replicas[1].status = record::Status::disturbed;
    EXPECT_FALSE(is_enough({&disturbed}, 3));
    disturbed.replicas[1].status = record::Status::crashed;
    EXPECT_FALSE(is_enough({&disturbed}, 3));
}

TEST(Enough, IsWhatTheJudgeHasDecided) {
    const auto decided = timed("decided", {1, 2});
    const auto open = timed("open", {1, 1.001, 1.001, 1.001, 1});
    const auto other = timed("other", {1, 2});
    const auto once = timed("decided", {1});
    const Judgement judgement{{record::identity(decided), {}},
                              {record::identity(open), {.is_open = true, .replicas = 10}}};
    EXPECT_TRUE(is_enough({&decided}, 3, &judgement)) << "whatever its replicas say";
    EXPECT_TRUE(is_enough({&other}, 3, &judgement)) << "no limit is about it";
    EXPECT_FALSE(is_enough({&once}, 3, &judgement));
    EXPECT_FALSE(is_enough({&open}, 3, &judgement)) << "nor do replicas decide that agree";
    EXPECT_TRUE(wants_another({&open}, 0, &judgement)) << "ten may decide it";
    auto noisy = case_of("qdddd");
    EXPECT_TRUE(wants_another({&noisy}));
    EXPECT_FALSE(wants_another({&noisy}, 0, &judgement)) << "no limit is about it";
    const Judgement hopeless{{record::identity(open), {.is_open = true}}};
    EXPECT_FALSE(wants_another({&open}, 0, &hopeless)) << "more would not help";
}

TEST(MeasuredAgain, APairIsAPairOnlyUndisturbedOnBothSides) {
    const auto a = case_of("qdqqq");
    const auto b = case_of("qqdqq");
    EXPECT_EQ(undisturbed_on_all({&a, &b}), 3);
    EXPECT_TRUE(wants_another({&a, &b}));
    EXPECT_EQ(next_index({&a, &b}), 5);
    const auto crashed = case_of("qcqqq");
    EXPECT_FALSE(wants_another({&a, &crashed}));
}

TEST(MeasuredAgain, NotUnderALoadWithoutPauses) {
    const auto all = case_of("ddddd");
    const auto one = case_of("ddqdd");
    const auto few = case_of("dd", 2);
    EXPECT_TRUE(is_always_busy({&all, &all}));
    EXPECT_FALSE(is_always_busy({&all, &one}));
    const auto chance = case_of("qddddddddddddddddddd");
    EXPECT_TRUE(is_always_busy({&chance})) << "one in twenty is chance";
    EXPECT_FALSE(is_always_busy({&few})) << "two windows prove nothing";
    EXPECT_FALSE(is_always_busy({}));
}

// --- waiting for a quiet machine ------------------------------------------------------------------

/// A machine of two CPUs whose other programs use this share of them at a time.
class FakeMachine {
public:
    explicit FakeMachine(std::function<double(double)> load) : load_{std::move(load)} { write(); }
    QuietOptions options() {
        return {.files = machine::Files{folder_.path()},
                .now = [this] { return now_; },
                .pause =
                    [this](double seconds) {
                        ticks_ += load_(now_) * seconds * 2 * 100;
                        now_ += seconds;
                        write();
                        return now_ < stop_at_;
                    },
                .own_seconds = [] { return 0.0; }};
    }
    double now() const { return now_; }
    void stop_at(double seconds) { stop_at_ = seconds; }
    void forget() { std::filesystem::remove(folder_.path() / "proc/stat"); }

private:
    void write() {
        std::filesystem::create_directories(folder_.path() / "proc");
        std::ofstream{folder_.path() / "proc/stat"}
            << fmt::format("cpu {} 0 0 100 0 0 0 0 0 0\ncpu0 0 0 0 50 0 0 0 0 0 0\n"
                           "cpu1 0 0 0 50 0 0 0 0 0 0\n",
                           static_cast<long>(ticks_));
    }
    TemporaryFolder folder_;
    std::function<double(double)> load_;
    double now_ = 0;
    double ticks_ = 0;
    double stop_at_ = 1e9;
};

TEST(Quiet, WaitsUntilTheLoadEnds) {
    FakeMachine quiet{[](double) { return 0.0; }};
    EXPECT_TRUE(wait_for_quiet(quiet.options(), 10));
    EXPECT_LT(quiet.now(), 0.5);
    FakeMachine burst{[](double now) { return now < 7 ? 0.5 : 0.0; }};
    EXPECT_TRUE(wait_for_quiet(burst.options(), 10));
    EXPECT_GT(burst.now(), 7);
    EXPECT_LT(burst.now(), 7.6);
}

TEST(Quiet, GivesUpInTime) {
    FakeMachine busy{[](double) { return 0.5; }};
    EXPECT_FALSE(wait_for_quiet(busy.options(), 3));
    EXPECT_NEAR(busy.now(), 3, 0.3);
    FakeMachine stopped{[](double) { return 0.5; }};
    stopped.stop_at(1);
    EXPECT_FALSE(wait_for_quiet(stopped.options(), 3));
    EXPECT_LT(stopped.now(), 1.3);
    FakeMachine silent{[](double) { return 0.5; }};
    auto options = silent.options();
    silent.forget();
    EXPECT_TRUE(wait_for_quiet(options, 3)) << "a kernel that does not tell is not waited for";
}

// --- neighbours -----------------------------------------------------------------------------------

TEST(Neighbours, TheBestIsThatOfEarlierRuns) {
    ProbeHistory history;
    EXPECT_FALSE(history.best());
    history.add("2026-01-01T00:00:00Z", std::vector<ProbeReading>(19, ProbeReading{50e9}));
    EXPECT_FALSE(history.best()) << "too few";
    history.add("2026-01-02T00:00:00Z", std::vector<ProbeReading>(19, ProbeReading{80e9}));
    const auto again = ProbeHistory::parse(history.text());
    ASSERT_TRUE(again.best());
    EXPECT_NEAR(*again.best(), 80e9, 1);
    history.add("2026-01-03T00:00:00Z", {ProbeReading{500e9}});
    EXPECT_LT(*history.best(), 100e9) << "one odd probe is not the best";
    for (int run = 0; run < 30; ++run)
        history.add("later", std::vector<ProbeReading>(5, ProbeReading{40e9}));
    EXPECT_NEAR(*history.best(), 40e9, 1) << "old runs are forgotten";
}

TEST(Neighbours, CpusThatShareACacheAreHeldAgainstTheirOwnBest) {
    ProbeHistory history;
    history.add("2026-01-01T00:00:00Z", std::vector<ProbeReading>(40, ProbeReading{100e9, 210e-9}));
    EXPECT_FALSE(history.best(50e-9)) << "never seen there";
    history.add("2026-01-02T00:00:00Z", std::vector<ProbeReading>(40, ProbeReading{57e9, 50e-9}));
    history = ProbeHistory::parse(history.text());
    EXPECT_NEAR(history.best(45e-9).value_or(0), 57e9, 1);
    EXPECT_NEAR(history.best(200e-9).value_or(0), 100e9, 1);
    EXPECT_NEAR(history.best().value_or(0), 100e9, 1) << "where the distance is not known";
}

TEST(Neighbours, CpusThatMoveInTheWindowDisturbIt) {
    record::Telemetry telemetry;
    judge_placement(telemetry, std::nullopt, 50e-9);
    EXPECT_FALSE(telemetry.core_latency_seconds);
    judge_placement(telemetry, 50e-9, 60e-9);
    EXPECT_NEAR(telemetry.core_latency_seconds.value_or(0), 54.8e-9, 1e-10);
    EXPECT_THAT(telemetry.disturbed_by, IsEmpty());
    judge_placement(telemetry, 50e-9, 210e-9);
    ASSERT_EQ(telemetry.disturbed_by.size(), 1U);
    EXPECT_EQ(telemetry.disturbed_by[0].code, record::DisturbanceCode::cpus_moved);
    EXPECT_THAT(telemetry.disturbances,
                ElementsAre(HasSubstr("50.0 ns between them before, 210 ns")));
}

TEST(Neighbours, MessagesBetweenCpusTakeNanoseconds) {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one CPU";
    std::optional<double> seconds; // not where other programs hold the second CPU all the time
    for (int tries = 0; tries < 100 && !seconds; ++tries) seconds = core_latency();
    ASSERT_TRUE(seconds);
    EXPECT_GT(*seconds, 1e-9);
    EXPECT_LT(*seconds, 1e-3);
}

TEST(Neighbours, ADamagedHistoryIsNone) {
    ProbeHistory history;
    history.add("2026-01-01T00:00:00Z", std::vector<ProbeReading>(30, ProbeReading{50e9}));
    const auto text = history.text();
    for (std::size_t length = 0; length + 2 < text.size(); length += 7)
        EXPECT_FALSE(ProbeHistory::parse(text.substr(0, length)).best()) << length;
    for (const char* wrong :
         {"", "[]", "{}", R"({"schema":"assay.probes/9","runs":[]})",
          R"({"schema":"assay.probes/1","runs":[{"started":1,"bytes_per_second":[1]}]})",
          R"({"schema":"assay.probes/1","runs":[{"started":"","bytes_per_second":"x"}]})"})
        EXPECT_FALSE(ProbeHistory::parse(wrong).best()) << wrong;
}

TEST(Neighbours, AProbeFarBelowTheBestDisturbs) {
    record::Telemetry telemetry;
    judge_neighbours(telemetry, 76e9, 80e9);
    EXPECT_THAT(telemetry.disturbed_by, IsEmpty());
    judge_neighbours(telemetry, 48e9, 80e9);
    ASSERT_EQ(telemetry.disturbed_by.size(), 1U);
    EXPECT_EQ(telemetry.disturbed_by[0].code, record::DisturbanceCode::neighbours);
    EXPECT_NEAR(*record::number(telemetry.disturbed_by[0].values, "share"), 0.6, 1e-12);
    EXPECT_THAT(telemetry.disturbances, ElementsAre(HasSubstr("60% of the best")));
}

TEST(Neighbours, TheProbeMovesMemory) {
    record::Machine machine;
    machine.caches = {{.level = 3, .bytes = 1 << 20, .count = 1}};
    machine.memory_bytes = std::int64_t{4} << 30U;
    MemoryProbe probe{machine};
    const auto first = probe.measure();
    const auto second = probe.measure();
    ASSERT_TRUE(first && second);
    EXPECT_GT(*first, 1e7); // far below any memory, also under sanitizers
    machine.memory_bytes = 0;
    EXPECT_FALSE(MemoryProbe{machine}.measure()) << "no memory to spare, no probe";
}

} // namespace
