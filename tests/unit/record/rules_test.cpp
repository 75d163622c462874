// SPDX-License-Identifier: Apache-2.0
//
// What can slow which case, what a case is worth whose run ended early, and older files read again.
#include "counted.hpp"
#include "decide/check.hpp"
#include "record/convert.hpp"
#include "record/noise.hpp"
#include "record/reader.hpp"
#include "record/summary.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::record {
namespace {

using namespace testing;

using Code = record::DisturbanceCode;

constexpr int wanted = 5;

record::Case case_of(const char* benchmark, const char* place, const char* library,
                     const record::NamedList& parameters = {}) {
    record::Case c;
    c.benchmark = benchmark;
    c.place.kind = place;
    c.library = library;
    c.parameters = parameters;
    return c;
}

record::Case measured(record::Case c, const std::vector<double>& seconds,
                      int rules = record::current_rules) {
    c.work = {{"bytes", 1000.0}};
    c.headline = "bandwidth";
    c.verification = record::Verification{.passed = true, .method = "compared"};
    c.spread = record::Spread{.between_replicas = 0.01,
                              .between_runs = 0.02,
                              .degrees = 3,
                              .limit = 0.045,
                              .replicas = wanted,
                              .source = "memory",
                              .rules = rules};
    add_replicas(c, seconds);
    return c;
}
record::Case on_device(const std::vector<double>& seconds, int rules = record::current_rules) {
    return measured(case_of("memory.stream", "cuda", "cuda"), seconds, rules);
}
record::Case on_host(const std::vector<double>& seconds, int rules = record::current_rules) {
    return measured(case_of("memory.stream", "host", "host"), seconds, rules);
}

void disturb_all(record::Case& c, Code code) {
    for (record::Replica& replica : c.replicas)
        disturb(replica.telemetry, code, {{"share", 0.3}}, "something happened");
}

record::Run run_of(std::vector<record::Case> cases) {
    record::Run run{.id = "r", .suite = "s", .status = "done"};
    run.machine.virtualization = "kvm";
    run.cases = std::move(cases);
    return run;
}

TEST(Influence, IsToldFromWhatFilesRecord) {
    const record::NamedList by_device{{"interval", "device"}};
    const record::NamedList by_host{{"interval", "completion"}};
    EXPECT_EQ(influence_of(case_of("gemm.square", "cuda", "cublaslt")), record::Influence::device);
    EXPECT_EQ(influence_of(case_of("memory.latency", "hip", "hip")), record::Influence::device);
    EXPECT_EQ(influence_of(case_of("transfer.device", "cuda", "cuda")), record::Influence::device);
    EXPECT_EQ(influence_of(case_of("transfer.host", "cuda", "cuda")), record::Influence::link);
    EXPECT_EQ(influence_of(case_of("latency.kernel", "cuda", "cuda", by_host)),
              record::Influence::launch);
    EXPECT_EQ(influence_of(case_of("latency.kernel", "cuda", "cuda", by_device)),
              record::Influence::device);
    EXPECT_EQ(influence_of(case_of("transfer.latency", "cuda", "cuda", by_host)),
              record::Influence::launch);
    EXPECT_EQ(influence_of(case_of("transfer.latency", "cuda", "cuda", by_device)),
              record::Influence::device);
    EXPECT_EQ(influence_of(case_of("latency.stream", "cuda", "cuda")), record::Influence::launch);
    EXPECT_EQ(influence_of(case_of("collective.allreduce", "cuda", "nccl")),
              record::Influence::launch);
    EXPECT_EQ(influence_of(case_of("ffmpeg.nvdec", "cuda", "external")),
              record::Influence::program);
    EXPECT_EQ(influence_of(case_of("peak.fma", "host", "host")), record::Influence::host);
    EXPECT_EQ(influence_of(case_of("stencil.heat3d", "host", "host")),
              record::Influence::host_memory);
}

TEST(Influence, TableOfDisturbances) {
    using enum Influence;
    const std::map<Code, std::vector<record::Influence>> slowing{
        {Code::foreign_cpu, {link, program, host, host_memory}},
        {Code::steal, {launch, program, host, host_memory}},
        {Code::waiting, {launch, program, host, host_memory}},
        {Code::clock_low, {launch, program, host, host_memory}},
        {Code::cpus_moved, {program, host, host_memory}},
        {Code::neighbours, {link, program, host_memory}},
        {Code::device_shared, {device, link, launch, program}}};
    for (const auto code : all_values<Code>()) // the others none
        for (const auto influence : {device, link, launch, program, host, host_memory})
            EXPECT_EQ(can_slow(code, influence),
                      slowing.contains(code) && std::ranges::count(slowing.at(code), influence) > 0)
                << to_string(code) << ' ' << static_cast<int>(influence);
}

TEST(Rules, HostDoesNotDisturbKernelsTimedOnDevice) {
    record::Case c = on_device({1.0, 1.0, 1.0, 1.0, 1.0});
    for (std::size_t i = 0; i < c.replicas.size(); ++i)
        c.replicas[i].telemetry.core_clock_hz = i == 0 ? 3e9 : 2e9;
    conclude(c, wanted);
    EXPECT_EQ(undisturbed(c), wanted);
    EXPECT_THAT(c.telemetry.disturbances, IsEmpty());
    disturb_all(c, Code::steal);
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::ok);
    EXPECT_EQ(undisturbed(c), wanted);
    EXPECT_THAT(c.telemetry.disturbances, ElementsAre("something happened")) << "recorded";
    disturb_all(c, Code::device_shared);
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::disturbed);
}

TEST(Influence, EventsOfHostDoNotConcernKernelsOfDevice) {
    for (const auto code : {Code::clock_rose, Code::too_hot, Code::quota, Code::steal}) {
        EXPECT_FALSE(concerns(code, record::Influence::device)) << to_string(code);
        EXPECT_TRUE(concerns(code, record::Influence::host)) << to_string(code);
    }
    EXPECT_TRUE(concerns(Code::device_slowed, record::Influence::device));
    EXPECT_TRUE(concerns(Code::memory_corrected, record::Influence::device));
}

TEST(Rules, OwnFaultsNeverExcuse) {
    for (const auto code : {Code::too_hot, Code::device_slowed, Code::memory_uncorrected})
        for (record::Case c :
             {on_device({1.0, 1.0, 1.0, 1.0, 1.0}), on_host({1.0, 1.0, 1.0, 1.0, 1.0})}) {
            disturb_all(c, code);
            conclude(c, wanted);
            EXPECT_EQ(c.status, record::Status::ok) << to_string(code);
            EXPECT_EQ(undisturbed(c), wanted) << to_string(code);
            EXPECT_EQ(c.telemetry.disturbed_by.size(), 1U) << "named";
        }
    // The clock fell because of the heat.
    record::Case c = on_host({1.0, 1.2, 1.2, 1.2, 1.2});
    for (std::size_t i = 0; i < c.replicas.size(); ++i) {
        c.replicas[i].telemetry.core_clock_hz = i == 0 ? 3e9 : 2e9;
        if (i > 0) disturb(c.replicas[i].telemetry, Code::too_hot, {}, "hot");
    }
    conclude(c, wanted);
    EXPECT_EQ(undisturbed(c), wanted);
}

TEST(Rules, DisturbedReplicasThatAreAsFastAsAQuietOneCount) {
    record::Case c = on_host({1.0, 1.005, 1.01, 1.6, 1.7});
    for (const auto i : {1U, 2U, 3U, 4U})
        disturb(c.replicas[i].telemetry, Code::foreign_cpu, {{"share", 0.3}}, "others ran");
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::ok) << c.reason;
    EXPECT_THAT(counted_indexes(c), ElementsAre(0, 1, 2));
    EXPECT_NEAR(value_of(c), 1000 / 1.005, 0.1);
    EXPECT_TRUE(fastest_agree(c));
    // Where none was quiet nothing says that they were not all slowed alike.
    disturb(c.replicas[0].telemetry, Code::foreign_cpu, {{"share", 0.3}}, "others ran");
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::disturbed);
    EXPECT_FALSE(fastest_agree(c));
    EXPECT_EQ(knowledge_of(c), record::Knowledge::at_least);
    EXPECT_NEAR(value_of(c), 1000 / 1.005, 0.1) << "the same value";
}

TEST(Rules, ValuePercentilesAndTablesAreOfTheSameReplicas) {
    record::Case c = on_host({1.0, 1.005, 1.01, 1.6, 1.7});
    for (auto& replica : c.replicas) {
        replica.p99 = *replica.seconds * 1.02;
        replica.tables = {
            {.metric = "latency", .rows = {"a"}, .columns = {"b"}, .values = {*replica.seconds}}};
    }
    conclude(c, wanted);
    EXPECT_EQ(knowledge_of(c), record::Knowledge::known) << "most are on the fastest level";
    ASSERT_GE(c.metrics.size(), 2U);
    const auto& time = c.metrics[1];
    EXPECT_EQ(time.name, "time");
    EXPECT_EQ(time.median, 1.005);
    EXPECT_EQ(time.p95, 1.01);
    EXPECT_NEAR(*time.p99, 1.005 * 1.02, 1e-4);
    EXPECT_EQ(c.tables[0].values[0], 1.005);
    EXPECT_NEAR(*c.metrics[0].levels->slow, 1000 / 1.65, 1);
    EXPECT_NEAR(*c.metrics[0].levels->share, 0.6, 1e-9);
    for (auto& replica : c.replicas) replica.p99 = 0.9;
    conclude(c, wanted);
    EXPECT_FALSE(c.metrics[1].p99) << "calls that were timed alone do not show what is slow";
    auto run = run_of({c});
    EXPECT_THAT(decide::check_summaries(run), IsEmpty());
    run.cases[0].metrics[1].p99 = 0.9;
    EXPECT_FALSE(decide::check_summaries(run).empty());
}

TEST(Rules, FastestOfFewIsRough) {
    record::Case c = on_host({1.0, 1.005, 1.6, 1.61, 1.7});
    conclude(c, wanted);
    EXPECT_EQ(c.reason_code, record::ReasonCode::two_levels);
    EXPECT_EQ(knowledge_of(c), record::Knowledge::rough);
    EXPECT_THAT(counted_indexes(c), ElementsAre(0, 1));
    EXPECT_FALSE(fastest_agree(c));
}

TEST(Partial, ReplicasThereAreGiveTheValue) {
    for (const std::size_t count : {1U, 2U, 4U}) {
        record::Case c = on_device(std::vector<double>(count, 1.0));
        conclude(c, wanted);
        EXPECT_EQ(c.status, record::Status::ok) << count;
        EXPECT_EQ(c.reason_code, record::ReasonCode::not_measured);
        EXPECT_EQ(c.reason, std::to_string(count) + " of 5 replicas were measured");
        EXPECT_EQ(number(c.reason_values, "planned"), 5.0);
        EXPECT_NEAR(value_of(c), 1000, 1e-9);
        EXPECT_EQ(c.metrics[0].interval_scope, count == 1
                                                   ? record::IntervalScope::within_process
                                                   : record::IntervalScope::between_replicas);
        ASSERT_TRUE(part_of(c));
        EXPECT_EQ(part_of(c)->measured, static_cast<int>(count));
    }
    record::Case all = on_device({1.0, 1.0, 1.0, 1.0, 1.0});
    conclude(all, wanted);
    EXPECT_FALSE(part_of(all));
    EXPECT_EQ(all.reason_code, record::ReasonCode::none);
}

TEST(Partial, InterruptedReplicaDoesNotVetoMeasuredOnes) {
    record::Case c = on_device({1.0, 1.0, 1.0});
    record::Replica stopped;
    stopped.index = 3;
    stopped.status = record::Status::interrupted;
    stopped.reason = "the run was stopped";
    c.replicas.push_back(stopped);
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::ok) << c.reason;
    EXPECT_EQ(c.reason, "3 of 5 replicas were measured");
    c.replicas.back().status = record::Status::crashed;
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::crashed);
    c.replicas = {stopped};
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::interrupted);
}

TEST(Partial, SameTestsAsAWholeCase) {
    record::Case c = on_device({1.0, 1.0});
    disturb(c.replicas[0].telemetry, Code::device_shared, {}, "another process");
    c.replicas[0].seconds = 2;
    conclude(c, wanted);
    EXPECT_EQ(c.status, record::Status::disturbed) << "both of two are needed";
    record::Case wide = on_device({1.0, 1.5});
    conclude(wide, wanted);
    EXPECT_EQ(wide.status, record::Status::unstable);
    EXPECT_EQ(wide.reason_code, record::ReasonCode::wide_interval);
    EXPECT_TRUE(part_of(wide)) << "still said";
}

TEST(OlderFiles, AreConcludedAgainWhenTheyAreRead) {
    record::Case busy = on_device({1.0, 1.0, 1.0001, 1.0, 1.0}, 1);
    for (std::size_t i = 0; i < 4; ++i)
        disturb(busy.replicas[i].telemetry, Code::clock_low, {{"hz", 2e9}, {"best_hz", 3e9}},
                "low");
    record::Case part = on_device({1.0, 1.0, 1.0}, 1);
    record::Case hot = on_device({1.0, 1.0, 1.0, 1.0, 1.0}, 1);
    disturb_all(hot, Code::device_slowed);
    hot.parameters = {{"kernel", "copy"}};
    part.parameters = {{"kernel", "triad"}};
    for (auto* c : {&busy, &part, &hot}) conclude(*c, wanted);
    for (auto* c : {&busy, &hot}) { // as rules 1 concluded
        c->status = record::Status::disturbed;
        c->reason = "something happened";
    }
    part.status = record::Status::interrupted;
    part.metrics.clear();
    const auto text = to_text(run_of({busy, part, hot}));
    for (const bool values : {true, false}) {
        const auto run = parse_run(text, "run.json", {.values = values, .details = values}).value();
        for (const record::Case& c : run.cases) {
            EXPECT_EQ(c.status, record::Status::ok) << c.reason;
            EXPECT_EQ(c.spread->rules, record::current_rules);
            EXPECT_EQ(c.spread->degrees, 3);
            EXPECT_LT(c.spread->between_replicas, 0.001) << "that of a device";
            EXPECT_EQ(c.spread->limit, 0.045) << "the target is at most that";
            EXPECT_NEAR(value_of(c), 1000, 0.1);
        }
        EXPECT_TRUE(part_of(run.cases[1]));
        EXPECT_TRUE(run.cases[1].metrics[0].median);
        EXPECT_EQ(run.cases[2].replicas[0].status, record::Status::ok);
    }
    const auto stored = parse_run(text, "run.json", {.as_stored = true}).value();
    EXPECT_EQ(stored.cases[0].status, record::Status::disturbed);
    EXPECT_THAT(decide::check_summaries(stored), IsEmpty());
    auto changed = stored;
    changed.cases[0].metrics[0].value = 2000;
    EXPECT_THAT(decide::check_summaries(changed), SizeIs(1)) << "no replica reached it";
}

TEST(OlderFiles, OwnHistoryAndOtherEndsStay) {
    record::Case own = on_device({1.0, 1.0, 1.0, 1.0, 1.0}, 1);
    own.spread->source = "history";
    conclude(own, wanted);
    record::Case crashed = on_device({1.0, 1.0}, 1);
    crashed.replicas[1].status = record::Status::crashed;
    conclude(crashed, wanted);
    record::Case imported = on_device({1.0}, 1);
    imported.spread.reset();
    conclude(imported, 1);
    auto run = run_of({own, crashed, imported});
    judge_again(run);
    EXPECT_EQ(run.cases[0].spread->between_replicas, 0.01);
    EXPECT_EQ(run.cases[1].status, record::Status::crashed);
    EXPECT_EQ(run.cases[1].spread->rules, 1);
    EXPECT_FALSE(run.cases[2].spread);
    const auto before = to_json(run);
    judge_again(run);
    EXPECT_EQ(to_json(run), before) << "once is enough";
}

TEST(Noise, BelongsToAPlace) {
    record::Machine guest;
    guest.virtualization = "kvm";
    record::Machine metal;
    metal.virtualization = "none";
    const auto device = case_of("memory.stream", "cuda", "cuda");
    const auto host = case_of("memory.stream", "host", "host");
    const auto copy = case_of("transfer.host", "cuda", "cuda");
    EXPECT_EQ(noise_place(device, guest), record::NoisePlace::device);
    EXPECT_EQ(noise_place(copy, metal), record::NoisePlace::device_and_host);
    EXPECT_EQ(noise_place(host, metal), record::NoisePlace::bare_metal);
    EXPECT_EQ(noise_place(host, guest), record::NoisePlace::guest);
    EXPECT_EQ(noise_place(host, record::Machine{}), record::NoisePlace::guest)
        << "nothing says that it is alone";
    EXPECT_EQ(noise_level("weather", record::NoisePlace::device).degrees, 0);
}

} // namespace
} // namespace assay::record
