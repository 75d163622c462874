// SPDX-License-Identifier: Apache-2.0
//
// What benchmarks share besides data and checks: states of several precisions, trials, poison.

#include <assay/define.hpp>

#include <gtest/gtest.h>

namespace assay {
namespace {

template <class T>
struct State {
    State(const std::int64_t& size, int& made) : value{static_cast<T>(size)} { ++made; }
    State(const State&) = delete;
    State(State&&) = delete;
    State& operator=(const State&) = delete;
    State& operator=(State&&) = delete;
    ~State() = default;
    void run() noexcept { value += 1; }
    Work work() const { return {.bytes = sizeof(T)}; }
    Check verify() const { return check_value(static_cast<double>(value), 8, "test"); }
    void poison() { value = 1000; }
    void spoil() { value += 100; }
    T value;
};

struct InTwo : OneOf<State<double>, State<float>> {
    InTwo(Precision precision, int& made) : OneOf{precision, std::int64_t{7}, made} {}
};

TEST(OneOf, MakesTheStateOfThePrecisionInPlaceAndOnce) {
    int made = 0;
    InTwo wide{Precision::fp64, made};
    const InTwo narrow{Precision::fp32, made};
    EXPECT_EQ(made, 2);
    EXPECT_EQ(wide.work().bytes, size_of(Precision::fp64));
    EXPECT_EQ(narrow.work().bytes, size_of(Precision::fp32));
    wide.run();
    EXPECT_TRUE(wide.verify().passed);
    wide.spoil();
    EXPECT_FALSE(wide.verify().passed);
}

TEST(Trial, TakesTheFastestWayAndNeedsOne) {
    struct Way {
        const char* name;
        double seconds;
    };
    const std::vector<Way> ways{{"slow", 3e-3}, {"fast", 3e-4}, {"slower", 6e-3}};
    const auto best = host::fastest_of(ways, [](const Way& way) {
        for (const Stopwatch watch; watch.seconds() < way.seconds;) clobber();
    });
    EXPECT_STREQ(best.name, "fast");
    EXPECT_THROW(host::fastest_of(std::vector<Way>{}, [](const Way&) {}), std::runtime_error);
}

TEST(Trial, SaysHowFarTheOthersWereBehind) {
    const std::vector<double> seconds{6e-4, 2e-4, 3e-4};
    const host::Trial trial = host::try_in_turns(seconds.size(), [&](std::size_t i) {
        for (const Stopwatch watch; watch.seconds() < seconds[i];) clobber();
    });
    EXPECT_EQ(trial.best, 1U);
    ASSERT_EQ(trial.times.size(), seconds.size());
    EXPECT_NEAR(trial.times[0], 3, 0.5);
    EXPECT_EQ(trial.times[1], 1);
    EXPECT_NEAR(trial.times[2], 1.5, 0.3);
    const host::Trial known{.best = 1, .times = {3.0049, 1, 1.5}};
    const std::vector<std::string> names{"a", "b", "c"};
    EXPECT_EQ(host::others_of(known, [&](std::size_t i) { return names[i]; }), "a 3, c 1.5");
}

TEST(Poison, IsNoNumberAnywhere) {
    HostBuffer<float> buffer{1001};
    fill_nan(buffer, 2);
    for (const float value : buffer.view()) ASSERT_TRUE(std::isnan(value));
}

TEST(Spoil, IsBeyondTheBoundInBothPrecisions) {
    for (const double bound : {1e-6, 0.01}) {
        EXPECT_GT(off_by_twice(3.0, bound) / 3.0 - 1, bound);
        EXPECT_GT(static_cast<double>(off_by_twice(3.0F, bound)) / 3.0 - 1, bound);
    }
}

} // namespace
} // namespace assay
