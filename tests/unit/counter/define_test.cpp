// SPDX-License-Identifier: Apache-2.0

#include <assay/define.hpp>
#include <assay/units.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace assay {
namespace {

using namespace units;

enum class Colour : std::uint8_t { red, green };

/// Every kind of axis, every optional member, and what it was asked to do.
struct Probe {
    struct Params {
        Symbolic threads;
        std::int64_t size = 0;
        double ratio = 0;
        bool is_packed = false;
        Colour colour = Colour::red;
        std::string label;
    };
    static constexpr Info info{.id = "test.probe",
                               .version = 3,
                               .question = "Does it cross?",
                               .method = "m",
                               .caveats = "c",
                               .headline = "bandwidth",
                               .ceiling = "peak.probe"};
    static constexpr std::tuple axes{
        symbolic("threads", "help", "", &Params::threads, {Symbolic{Symbol::all}, Symbolic{4}},
                 {1, 8}, {Symbol::one, Symbol::all}),
        integer("size", "help", "B", &Params::size, {64, 128}, {1, 1_MiB}),
        real("ratio", "help", "s", &Params::ratio, {0.5}, {0.0, 1.0}),
        boolean("is_packed", "help", &Params::is_packed, {false, true}),
        choice("colour", "help", &Params::colour,
               {Name{"red", Colour::red}, Name{"green", Colour::green}}, {Colour::green}),
        text("label", "help", &Params::label, {"none"})};
    static constexpr std::uint64_t safe_calls = 5;
    static constexpr bool is_ceiling = true;

    static Fit fit(const Params& p, const Machine& m) {
        if (p.label == "throw") throw std::runtime_error{"fit broke"};
        return Fit::needs(m.workers(p.threads) <= m.cores(), "more cores");
    }
    Probe(const Params& p, const Context& context) : params{p} {
        if (p.label == "throw") throw std::bad_alloc{};
        if (p.label == "throw an int") throw 1; // NOLINT: not a std::exception on purpose
        context.setting("size", static_cast<double>(p.size));
        context.setting("colour", p.colour == Colour::green ? "green" : "red");
    }
    void run() noexcept { ++calls; }
    Work work() const { return {.flops = 1, .bytes = 2, .pairs = static_cast<double>(calls)}; }
    Check verify() const {
        if (calls == 0) throw std::logic_error{"nothing was run"};
        return {.passed = true, .error = 1, .bound = 2, .method = std::string(1000, 'm')};
    }
    void poison() { calls = -1; }
    void spoil() { calls = -2; }
    void rewind() { calls = 0; }
    void metrics(const Metrics& metrics) const { metrics.add("planning_time", 0.25); }

    Params params;
    int calls = 0;
};

/// Only what must be there.
struct Plain {
    struct Params {
        std::int64_t size = 0;
    };
    static constexpr Info info{
        .id = "test.plain", .question = "?", .method = "", .caveats = "", .headline = "time"};
    static constexpr std::tuple axes{integer("size", "", "", &Params::size, {1}, {1, 2})};
    static Fit fit(const Params&, const Machine&) { return Fit::yes(); }
    Plain(const Params&, const Context&) {}
    void run() noexcept {}
    Work work() const { return {}; }
    Check verify() const { return {}; }
    void poison() {}
    void spoil() {}
};

constinit const assay_benchmark probe = define<Probe>();
constinit const assay_benchmark plain = define<Plain>();

/// A place with a clock of its own, on which every call takes a quarter of a second.
struct Elsewhere {
    struct Params {
        bool is_lost = false;
    };
    struct Clock {
        static constexpr double resolution = 1e-6;
        bool is_lost = false;
        template <class Run>
        double seconds(std::uint64_t calls, Run&& run) {
            if (is_lost) throw std::runtime_error{"the device is lost"};
            for (std::uint64_t i = 0; i < calls; ++i) run();
            return 0.25 * static_cast<double>(calls);
        }
    };
    static constexpr Info info{.id = "test.elsewhere",
                               .question = "Is it timed there?",
                               .method = "m",
                               .caveats = "c",
                               .headline = "time",
                               .place = "cuda"};
    static constexpr std::tuple axes{boolean("is_lost", "help", &Params::is_lost, {false})};
    static constexpr bool all_devices = true;
    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return Fit::yes(); }
    Elsewhere(const Params& p, const Context& /*context*/) : own{.is_lost = p.is_lost} {}
    Clock& clock() { return own; }
    void run() { ++calls; } // may throw: the clock carries it out
    Work work() const { return {.items = 1}; }
    Check verify() const { return {.passed = calls == 3, .method = "calls"}; }
    void poison() {}
    void spoil() {}

    Clock own;
    int calls = 0;
};

struct Ears {
    std::map<std::string, double> numbers;
    std::map<std::string, std::string> texts;
};

class Define : public testing::Test {
protected:
    Define() {
        services_.struct_size = sizeof services_;
        services_.context = &ears_;
        services_.fact = [](void*, const char* name) {
            return std::string_view{name} == "cores" ? 4.0
                                                     : std::numeric_limits<double>::quiet_NaN();
        };
        services_.fact_text = [](void*, const char*) -> const char* { return nullptr; };
        services_.setting_number = [](void* ears, const char* name, double value) {
            static_cast<Ears*>(ears)->numbers[name] = value;
        };
        services_.setting_text = [](void* ears, const char* name, const char* value) {
            static_cast<Ears*>(ears)->texts[name] = value;
        };
        services_.metric = services_.setting_number;
        services_.log = [](void*, std::int32_t, const char*) {};
    }
    static std::array<assay_value, 6> values(assay_value threads, const char* label) {
        return {threads,
                detail::value_of(std::int64_t{77}),
                detail::value_of(0.75),
                detail::value_of(true),
                detail::value_of_name("green"),
                detail::value_of_text(label)};
    }
    Probe* make(assay_value threads, const char* label) {
        void* state = nullptr;
        const auto given = values(threads, label);
        result_ = probe.create(&services_, given.data(), &state, &text_);
        return static_cast<Probe*>(state);
    }

    Ears ears_;
    assay_services services_{};
    std::array<char, 64> buffer_{};
    assay_text text_{buffer_.data(), buffer_.size()};
    std::int32_t result_ = -1;
};

TEST_F(Define, DescribesParametersAsTables) {
    ASSERT_EQ(probe.parameter_count, 6U);
    const assay_parameter& threads = probe.parameters[0];
    EXPECT_EQ(threads.kind, ASSAY_INTEGER + 0U);
    ASSERT_EQ(threads.name_count, 2U);
    EXPECT_STREQ(threads.names[1], "all");
    ASSERT_EQ(threads.default_count, 2U);
    EXPECT_EQ(threads.defaults[0].kind, ASSAY_NAME + 0U);
    EXPECT_STREQ(threads.defaults[0].text, "all");
    EXPECT_EQ(threads.defaults[1].integer, 4);
    EXPECT_EQ(threads.integer_high, 8);

    EXPECT_EQ(probe.parameters[1].integer_high, 1'048'576);
    EXPECT_STREQ(probe.parameters[1].unit, "B");
    EXPECT_EQ(probe.parameters[2].kind, ASSAY_REAL + 0U);
    EXPECT_EQ(probe.parameters[2].defaults[0].real, 0.5);
    EXPECT_EQ(probe.parameters[3].default_count, 2U);
    EXPECT_EQ(probe.parameters[4].kind, ASSAY_NAME + 0U);
    EXPECT_EQ(probe.parameters[4].name_count, 2U);
    EXPECT_STREQ(probe.parameters[4].defaults[0].text, "green");
    EXPECT_EQ(probe.parameters[5].kind, ASSAY_STRING + 0U);
    EXPECT_STREQ(probe.parameters[5].defaults[0].text, "none");
}

TEST_F(Define, CarriesInfoAndFlags) {
    EXPECT_EQ(probe.version, 3U);
    EXPECT_STREQ(probe.ceiling, "peak.probe");
    EXPECT_EQ(probe.flags, ASSAY_REWINDS + ASSAY_IS_CEILING + 0U);
    EXPECT_EQ(probe.safe_calls, 5U);
    EXPECT_EQ(plain.flags, 0U);
    EXPECT_EQ(plain.rewind, nullptr);
    EXPECT_EQ(plain.metrics, nullptr);
    EXPECT_STREQ(plain.ceiling, "");
}

TEST_F(Define, BringsValuesIntoTheirFields) {
    Probe* const made = make(detail::value_of(std::int64_t{3}), "hello");
    ASSERT_EQ(result_, 0);
    EXPECT_EQ(made->params.threads.number, 3);
    EXPECT_EQ(made->params.threads.symbol, Symbol::none);
    EXPECT_EQ(made->params.size, 77);
    EXPECT_EQ(made->params.ratio, 0.75);
    EXPECT_TRUE(made->params.is_packed);
    EXPECT_EQ(made->params.colour, Colour::green);
    EXPECT_EQ(made->params.label, "hello");
    EXPECT_EQ(ears_.numbers.at("size"), 77);
    EXPECT_EQ(ears_.texts.at("colour"), "green");
    probe.destroy(made);

    Probe* const symbolic = make(detail::value_of_name("all"), "");
    ASSERT_EQ(result_, 0);
    EXPECT_EQ(symbolic->params.threads.symbol, Symbol::all);
    probe.destroy(symbolic);
}

TEST_F(Define, AnswersFitWithAReason) {
    EXPECT_EQ(probe.fit(&services_, values(detail::value_of_name("all"), "").data(), &text_), 0);
    const auto eight = values(detail::value_of(std::int64_t{8}), "");
    EXPECT_EQ(probe.fit(&services_, eight.data(), &text_), 1);
    EXPECT_STREQ(buffer_.data(), "needs more cores");
}

TEST_F(Define, EndsExceptionsAtTheBoundary) {
    const auto broken = values(detail::value_of(std::int64_t{1}), "throw");
    EXPECT_EQ(probe.fit(&services_, broken.data(), &text_), 1);
    EXPECT_STREQ(buffer_.data(), "fit broke");
    EXPECT_EQ(make(detail::value_of(std::int64_t{1}), "throw"), nullptr);
    EXPECT_EQ(result_, 1);
    EXPECT_STREQ(buffer_.data(), "std::bad_alloc");
    EXPECT_EQ(make(detail::value_of(std::int64_t{1}), "throw an int"), nullptr);
    EXPECT_EQ(result_, 1);
    EXPECT_NE(std::string{buffer_.data()}.find("not a std::exception"), std::string::npos);
}

TEST_F(Define, CallsTheMembers) {
    Probe* const made = make(detail::value_of(std::int64_t{1}), "");
    ASSERT_EQ(result_, 0);
    assay_check check{};
    check.method = text_;
    std::array<char, 32> detail{};
    check.detail = {detail.data(), detail.size()};
    EXPECT_EQ(probe.verify(made, &check, &text_), 1);
    EXPECT_STREQ(buffer_.data(), "nothing was run");

    double seconds = -1;
    EXPECT_EQ(probe.sample(made, 7, &seconds, &text_), 0);
    EXPECT_GE(seconds, 0);
    EXPECT_EQ(made->calls, 7);
    assay_work work{};
    EXPECT_EQ(probe.work(made, &work, &text_), 0);
    EXPECT_EQ(work.bytes, 2);
    EXPECT_EQ(work.pairs, 7);
    EXPECT_EQ(probe.verify(made, &check, &text_), 0);
    EXPECT_EQ(check.passed, 1);
    EXPECT_EQ(check.bound, 2);
    EXPECT_EQ(std::string{buffer_.data()}, std::string(buffer_.size() - 1, 'm')) << "cut to fit";

    EXPECT_EQ(probe.poison(made, &text_), 0);
    EXPECT_EQ(made->calls, -1);
    EXPECT_EQ(probe.spoil(made, &text_), 0);
    EXPECT_EQ(made->calls, -2);
    EXPECT_EQ(probe.rewind(made, &text_), 0);
    EXPECT_EQ(made->calls, 0);
    EXPECT_EQ(probe.metrics(made, &services_, &text_), 0);
    EXPECT_EQ(ears_.numbers.at("planning_time"), 0.25);
    probe.destroy(made);
}

TEST_F(Define, APlaceMayHaveAClockOfItsOwn) {
    constexpr assay_benchmark b = define<Elsewhere>();
    EXPECT_EQ(b.clock_resolution, 1e-6);
    EXPECT_EQ(define<Plain>().clock_resolution, 0) << "the host's";
    EXPECT_EQ(b.flags & ASSAY_ALL_DEVICES, ASSAY_ALL_DEVICES);

    std::array<char, 64> words{};
    assay_text error{words.data(), words.size()};
    for (const std::int64_t lost : {0, 1}) {
        const assay_value value{ASSAY_BOOLEAN, 0, lost, 0, nullptr};
        void* state = nullptr;
        ASSERT_EQ(b.create(&services_, &value, &state, &error), 0);
        double seconds = 0;
        EXPECT_EQ(b.sample(state, 3, &seconds, &error), static_cast<std::int32_t>(lost));
        if (lost == 0) {
            EXPECT_EQ(seconds, 0.75);
            EXPECT_TRUE(static_cast<Elsewhere*>(state)->verify().passed);
        } else {
            EXPECT_STREQ(words.data(), "the device is lost");
        }
        b.destroy(state);
    }
}

TEST_F(Define, MachineKnowsSymbolsAndInstructionSets) {
    services_.fact_text = [](void*, const char* name) -> const char* {
        return std::string_view{name} == "isa" ? "sse2 avx2 avx512f" : nullptr;
    };
    const Machine machine{&services_};
    EXPECT_TRUE(machine.has("sse2") && machine.has("avx2") && machine.has("avx512f"));
    EXPECT_FALSE(machine.has("avx") || machine.has("avx512") || machine.has(""));
    EXPECT_EQ(machine.workers(Symbol::one), 1);
    EXPECT_EQ(machine.workers(Symbol::all), 4);
    EXPECT_EQ(machine.workers(7), 7);
    EXPECT_EQ(machine.bytes(1000), 1000);
    EXPECT_EQ(machine.bytes(Symbol::beyond_cache), 64_MiB) << "the caches are unknown";
    EXPECT_EQ(machine.number("numa.nodes"), 0);
    EXPECT_EQ(machine.text("cpu.model"), "");
}

// --- states of several precisions, trials, poison ----------------------------------------------------

// Shared parts of benchmarks besides data and checks: states of several precisions, trials, poison.

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
    const host::Trial known{.best = 1, .times = {3.0049, 1, 1.5}};
    const std::vector<std::string> names{"a", "b", "c"};
    EXPECT_EQ(host::others_of(known, [&](std::size_t i) { return names[i]; }), "a 3, c 1.5");
}

TEST(Spoil, IsBeyondTheBoundInBothPrecisions) {
    for (const double bound : {1e-6, 0.01}) {
        EXPECT_GT(off_by_twice(3.0, bound) / 3.0 - 1, bound);
        EXPECT_GT(static_cast<double>(off_by_twice(3.0F, bound)) / 3.0 - 1, bound);
    }
}

} // namespace
} // namespace assay
