// SPDX-License-Identifier: Apache-2.0
//
// A soak by a fake clock: every call compared, what is wrong located, steps of work and idling.

#include "fakes.hpp"
#include "worker/engine.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cstring>
#include <functional>

namespace assay::measure {
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
        result = measure::measure(subject, protocol, clock, runner, alone, hooks);
        return result.replica.soak.value_or(record::SoakVisit{});
    }

    FakeClock clock;
    Computing subject{clock};
    DirectRunner runner;
    Protocol protocol;
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
    const auto& one = found.corruptions.front();
    EXPECT_EQ(one.at, "then");
    EXPECT_EQ(one.held_against, HeldAgainst::calls);
    EXPECT_EQ(one.right_again, Replay::same_state);
    EXPECT_EQ(one.block, 1);
    EXPECT_EQ(one.wrong_blocks, 1);
    EXPECT_EQ(one.element, 11);
    EXPECT_EQ(one.wrong_elements, 1);
    EXPECT_EQ(one.wrong_bits, 1);
    EXPECT_EQ(one.expected, "3ff8000000000000");
    EXPECT_EQ(one.got, "3ff8010000000000");
    EXPECT_EQ(one.bits, "0000010000000000");
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

} // namespace
} // namespace assay::measure
