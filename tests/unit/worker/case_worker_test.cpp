// SPDX-License-Identifier: Apache-2.0

#include "record/layout.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"
#include "worker/case_worker.hpp"
#include "worker/module.hpp"
#include "worker/services.hpp"
#include "worker/transport.hpp"

#include <assay/benchmark.hpp>

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay::worker {
namespace {

using namespace testing;
using made::TemporaryFolder;
using telemetry::LinkBytes;

class Worker {
public:
    process::message::Result soak(double seconds) {
        return worker_.measure({.module = ASSAY_LASTING_MODULE,
                                .benchmark = "test.lasting",
                                .parameters = {{"sustained", false}, {"leaks", false}},
                                .protocol = {.min_seconds = 0.005,
                                             .budget_seconds = seconds,
                                             .warmup_seconds = 0.01,
                                             .soaks = true},
                                .place = {.kind = "host"}});
    }
    std::vector<std::string> phases;

    process::message::Result measure(bool sustained, const std::string& place, bool leaks = false) {
        return worker_.measure(
            {.module = ASSAY_LASTING_MODULE,
             .benchmark = "test.lasting",
             .parameters = {{"sustained", sustained}, {"leaks", leaks}},
             // A leak must be seen however slowly a busy machine hands out pages: ten times as many calls.
             .protocol = {.min_seconds = leaks ? 0.05 : 0.005,
                          .budget_seconds = leaks ? 1.0 : 0.1,
                          .warmup_seconds = 0.01},
             .place = {.kind = place}});
    }

private:
    CaseWorker worker_{record::Machine{},
                       0,
                       "",
                       {.phase = [this](const auto& one) { phases.push_back(one.phase); },
                        .log = [](const auto&) {}}};
};

std::string device_at_start(const process::message::Result& result) {
    const auto* value = record::find(result.result.settings, "device_at_start");
    return value == nullptr ? "" : record::to_string(*value);
}

TEST(CaseWorker, ItemsHaveTheNameThatTheBenchmarkGivesThem) {
    auto result = Worker{}.measure(false, "host");
    ASSERT_TRUE(result.replica().seconds) << result.replica().reason;
    const auto* items = record::find(result.result.settings, "items");
    ASSERT_NE(items, nullptr);
    EXPECT_EQ(record::to_string(*items), "waits");
    const auto module = valid(Module::load(ASSAY_LASTING_MODULE));
    EXPECT_EQ(describe(*module)->benchmarks.front().items, "waits");
}

TEST(CaseWorker, ACaseThatIsSustainedHasLongBatchesAfterALoad) {
    auto result = Worker{}.measure(true, "host");
    ASSERT_TRUE(result.replica().seconds) << result.replica().reason;
    EXPECT_GE(*result.replica().warmup_seconds, 1);
    // 5 ms are asked for, 0.1 ms is usual; a busy machine may have made calls look slower while they were calibrated.
    EXPECT_GE(static_cast<double>(*result.replica().calls) * *result.replica().seconds, 0.0004);
    EXPECT_EQ(device_at_start(result), "");
}

TEST(CaseWorker, MemoryThatGrowsInTheWindowIsSaid) {
    Worker worker;
    auto steady = worker.measure(false, "host");
    ASSERT_TRUE(steady.replica().resident_bytes);
    EXPECT_THAT(steady.result.warnings, IsEmpty());
    auto growing = worker.measure(false, "host", true);
    EXPECT_THAT(growing.result.warnings,
                ElementsAre(AllOf(HasSubstr("memory of the process grew from "),
                                  HasSubstr("during equal calls"))));
    EXPECT_GT(*growing.replica().resident_bytes, *steady.replica().resident_bytes + 16e6);
}

TEST(CaseWorker, ReportsFewPhasesWhileItChecksThousandsOfCalls) {
    Worker worker;
    auto result = worker.soak(0.2);
    ASSERT_TRUE(result.replica().soak) << result.replica().reason;
    EXPECT_TRUE(record::is_measured(result.replica().status)) << result.replica().reason;
    EXPECT_GT(result.replica().soak->checked, 200U) << "each is two changes of the phase";
    EXPECT_LT(worker.phases.size(), 120U);
    EXPECT_THAT(worker.phases, Contains("running and checking"));
}

TEST(CaseWorker, SaysWhetherTheDeviceWasWarm) {
    Worker worker;
    EXPECT_EQ(device_at_start(worker.measure(false, "pretended")), "cold");
    EXPECT_EQ(device_at_start(worker.measure(false, "pretended")), "warm");
}

// --- modules -----------------------------------------------------------------------------------------

std::filesystem::path odd(int number) {
    return std::filesystem::path{ASSAY_ODD_MODULES} / ("odd_" + std::to_string(number) + ".so");
}

/// Why the module cannot be used: refused by load() or by describe().
std::string refusal(const std::filesystem::path& path) {
    const auto module = Module::load(path);
    if (!module) return module.error().message;
    const auto manifest = describe(*module);
    return manifest ? "" : manifest.error().message;
}

TEST(Module, ASoundOneIsDescribed) {
    const auto module = valid(Module::load(odd(0)));
    const auto manifest = valid(describe(*module));
    EXPECT_EQ(manifest->module, "odd");
    EXPECT_EQ(manifest->build_id.size(), 40U) << "a SHA-1 by the linker";
    EXPECT_EQ(manifest->benchmarks.at(0).parameters.at(0).integer_high, 9);
    EXPECT_FALSE(manifest->benchmarks.at(0).items) << "it names none";
    EXPECT_NE(module->find("odd.one"), nullptr);
    EXPECT_EQ(module->find("odd.two"), nullptr);
}

TEST(Module, FieldsBeyondItsSizeAreNotRead) {
    const auto module = valid(Module::load(odd(3)));
    EXPECT_EQ(module->table().launcher, nullptr);
    EXPECT_EQ(module->table().facts, nullptr);
    EXPECT_EQ(valid(describe(*module))->launcher, "");
}

TEST(Module, OneFromBeforeDigestsHasNone) {
    const auto module = valid(Module::load(odd(13)));
    EXPECT_EQ(module->find("odd.one")->digest, nullptr);
    EXPECT_FALSE(valid(describe(*module))->benchmarks.at(0).reproducible.value());
}

TEST(Module, EntriesOfAShorterLayoutAreFoundByTheirSize) {
    const auto module = valid(Module::load(odd(4)));
    const auto* benchmark = module->find("odd.one");
    ASSERT_NE(benchmark, nullptr);
    ASSERT_EQ(benchmark->parameter_count, 2U);
    EXPECT_STREQ(benchmark->parameters[1].name, "second");
    EXPECT_EQ(benchmark->parameters[1].default_count, 0U);
}

TEST(Module, WhatIsDamagedIsRefusedWithAReason) {
    EXPECT_THAT(refusal(odd(1)),
                AllOf(HasSubstr("was built for interface 2"), HasSubstr("this assay has 1")));
    EXPECT_THAT(refusal(odd(2)), HasSubstr("returned no table"));
    EXPECT_THAT(refusal(odd(5)), HasSubstr("odd.one has no function sample"));
    EXPECT_THAT(refusal(odd(6)), HasSubstr("odd.one is given twice"));
    EXPECT_THAT(refusal(odd(7)), HasSubstr("null entry"));
    EXPECT_THAT(refusal(odd(8)), HasSubstr("damaged"));
    EXPECT_THAT(refusal(odd(9)), HasSubstr("entries of 0 bytes"));
    EXPECT_THAT(refusal(odd(10)), HasSubstr("module name"));
    EXPECT_THAT(refusal(odd(11)), HasSubstr("unknown kind"));
}

TEST(Module, AFileThatIsNoneIsRefused) {
    const TemporaryFolder folder;
    EXPECT_THAT(refusal(folder.path() / "absent.so"), HasSubstr("no such file"));
    EXPECT_THAT(refusal(folder.path()), HasSubstr("no such file"));
    EXPECT_THAT(refusal(folder.write("text.so", "hello")), HasSubstr("not an assay module"));
    EXPECT_THAT(refusal(folder.write("empty.so", "")), HasSubstr("not an assay module"));
    EXPECT_THAT(refusal(ASSAY_PLAIN_LIBRARY), HasSubstr("no symbol assay_module"));
}

TEST(Module, ALibraryThatIsMissingBelowIsAFaultOfTheEnvironment) {
    const TemporaryFolder folder;
    const auto path = folder.write("cut.so", std::string{"\x7f"
                                                         "ELF"} +
                                                 std::string(100, '\0'));
    EXPECT_THAT(Module::load(path), Fails(Fault::environment, testing::_));
}

// --- services ----------------------------------------------------------------------------------------

/// A table of one row whose columns have these values.
assay::Table table_of(const char* metric, std::vector<double> values) {
    return {.metric = metric,
            .row_title = "from core",
            .column_title = "to core",
            .rows = {"0"},
            .columns = {"0", "1"},
            .values = std::move(values)};
}

class ServicesTest : public testing::Test {
protected:
    record::Machine machine_;
    std::vector<std::string> warnings_;
    Services services_{machine_, 0, [this](const std::string& text) { warnings_.push_back(text); },
                       "/kept/here"};
};

TEST_F(ServicesTest, TellsWhereModulesMayKeepThings) {
    const Machine machine{services_.table()};
    EXPECT_EQ(machine.text("state.folder"), "/kept/here");
    EXPECT_EQ(machine.text("no.such.fact"), "");
}

TEST_F(ServicesTest, ATableArrivesWithItsUnitAndItsHoles) {
    const Metrics metrics{services_.table()};
    auto made = table_of("latency", {NAN, 2e-7, 3e-7, INFINITY});
    made.rows = {"0", "1"};
    metrics.add(made);
    ASSERT_EQ(services_.tables.size(), 1U);
    const auto& table = services_.tables[0];
    EXPECT_EQ(table.metric, "latency");
    EXPECT_EQ(table.unit, "s");
    EXPECT_EQ(table.row_title, "from core");
    EXPECT_THAT(table.rows, ElementsAre("0", "1"));
    EXPECT_THAT(table.values, ElementsAre(std::nullopt, 2e-7, 3e-7, std::nullopt));
    services_.clear();
    EXPECT_TRUE(services_.tables.empty());
}

TEST_F(ServicesTest, ATableThatMakesNoSenseIsDroppedWithAWarning) {
    const Metrics metrics{services_.table()};
    EXPECT_THROW(metrics.add(table_of("latency", {1})), std::logic_error);
    metrics.add(table_of("warmth", {1, 2}));
    const std::array<const char*, 1> label{"x"};
    const double value = 1;
    assay_table huge{};
    huge.metric = "latency";
    huge.rows = huge.columns = label.data();
    huge.row_count = huge.column_count = SIZE_MAX / 2; // their product wraps
    huge.values = &value;
    services_.table()->table(services_.table()->context, &huge);
    services_.table()->table(services_.table()->context, nullptr);
    EXPECT_TRUE(services_.tables.empty());
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("\"warmth\" is an unknown metric"),
                                       HasSubstr("too large"), HasSubstr("no name")));
}

TEST_F(ServicesTest, AValueOfNoMetricIsDroppedAndSaysWhichThereAre) {
    const Metrics metrics{services_.table()};
    metrics.add("latency_p98", 1);
    metrics.add("latency_p99", 2);
    ASSERT_EQ(services_.metrics.size(), 1U);
    EXPECT_EQ(services_.metrics.front().name, "latency_p99");
    EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("latency_p98"), HasSubstr("did you mean"),
                                             HasSubstr("assay list --metrics"))));
}

TEST_F(ServicesTest, EvidenceArrivesAndWhatIsNotToldStays) {
    const Context context{services_.table()};
    EXPECT_TRUE(services_.evidence.empty());
    context.tell({.links = Links::peer, .footprint_bytes = 3e9, .directions = 2});
    context.tell({.machines = 2, .ranks = 16, .switch_work = "NVLS"});
    context.tell({.links = Links::nvlink, .network_devices = "mlx5_0:1"});
    context.sustained(0.02, 2);
    EXPECT_EQ(json::to_line(json::encode(services_.evidence)),
              R"({"links":"nvlink","footprint_bytes":3000000000.0,"directions":2,"machines":2,)"
              R"("ranks":16,"batch_seconds":0.02,"load_seconds":2.0,"switch_work":"NVLS",)"
              R"("network_devices":"mlx5_0:1"})");
    services_.clear();
    EXPECT_TRUE(services_.evidence.empty());
    context.nvlink_at_least(4, 1e6);
    EXPECT_EQ(services_.evidence.nvlink_least_bytes, 1e6);
    context.nvlink_at_most(4, 0);
    EXPECT_EQ(services_.evidence.nvlink_most_bytes, 0);
    EXPECT_EQ(services_.evidence.nvlink_devices, 4);
}

TEST_F(ServicesTest, EvidenceThatMakesNoSenseIsPassedOver) {
    const Context context{services_.table()};
    context.tell({.footprint_bytes = NAN, .cache_bytes = INFINITY, .batch_seconds = -1});
    services_.table()->evidence(services_.table()->context, nullptr);
    assay_evidence shorter{}; // of a module that knows less
    shorter.struct_size = offsetof(assay_evidence, cache_bytes);
    shorter.footprint_bytes = 1e9;
    shorter.cache_bytes = 1e6;
    services_.table()->evidence(services_.table()->context, &shorter);
    EXPECT_EQ(services_.evidence, record::Evidence{.footprint_bytes = 1e9});
}

/// Modules from before there was evidence said some of it by settings: they are measured as before.
TEST_F(ServicesTest, AModuleFromBeforeEvidenceIsUnderstood) {
    auto* const table = services_.table();
    table->setting_number(table->context, "nvlink.devices", 2);
    table->setting_number(table->context, "nvlink.most_bytes", 0);
    table->setting_number(table->context, "batch_at_least", 0.02);
    table->setting_text(table->context, "network_devices", "eth0");
    EXPECT_EQ(services_.evidence, (record::Evidence{.nvlink_devices = 2,
                                                    .nvlink_most_bytes = 0,
                                                    .batch_seconds = 0.02,
                                                    .network_devices = "eth0"}));
    EXPECT_EQ(services_.settings.size(), 4U);
}

TEST_F(ServicesTest, AProgramFromBeforeEvidenceOrTablesIsNotAskedForThem) {
    assay_services old = *services_.table();
    old.struct_size = offsetof(assay_services, evidence);
    old.evidence = nullptr;
    Context{&old}.tell({.machines = 2});
    EXPECT_TRUE(services_.evidence.empty());
    Metrics{&old}.add(table_of("latency", {1, 2}));
    EXPECT_EQ(services_.tables.size(), 1U) << "what it knows, it gets";
    old.struct_size = offsetof(assay_services, table);
    old.table = nullptr;
    Metrics{&old}.add(table_of("latency", {1, 2}));
    EXPECT_EQ(services_.tables.size(), 1U);
}

// --- links -------------------------------------------------------------------------------------------

// Proof by the counters of NVLink for a case that says what they should show.

constexpr std::int64_t gib = std::int64_t{1} << 30U;

/// Two devices, a GiB for each call at least; and ten calls.
const record::Evidence at_least{.nvlink_devices = 2, .nvlink_least_bytes = gib};
const record::Evidence at_most{.nvlink_devices = 2,
                               .nvlink_most_bytes = static_cast<double>(gib) / 10};
std::vector<LinkBytes> each(std::int64_t received, std::int64_t sent) {
    return {{.received = received, .sent = sent}, {.received = received, .sent = sent}};
}

TEST(LinkProof, ALinkThatCarriedTooLittleContradicts) {
    EXPECT_THAT(prove_links(at_least, each(20 * gib, 20 * gib), 10).contradiction, IsEmpty());
    EXPECT_THAT(prove_links(at_least, each(6 * gib, 0), 10).contradiction, IsEmpty())
        << "half is enough, in one direction";
    const auto proof = prove_links(at_least, each(gib, 4 * gib), 10);
    EXPECT_EQ(proof.contradiction, "the NVLink counters show 410 MiB per call and device, "
                                   "where at least 1 GiB must have gone");
    EXPECT_EQ(proof.said, "counted");
    EXPECT_EQ(record::number(proof.values, "least_bytes"), gib);
    EXPECT_TRUE(record::number(proof.values, "counted_bytes"));
}

TEST(LinkProof, ALinkThatShouldHaveBeenIdleAndWasNotContradicts) {
    EXPECT_THAT(prove_links(at_most, each(gib, gib), 10).contradiction, IsEmpty());
    EXPECT_THAT(prove_links(at_most, each(0, 12 << 20U), 10).contradiction, IsEmpty());
    const auto proof = prove_links(at_most, each(20 * gib, 20 * gib), 10);
    EXPECT_THAT(proof.contradiction, HasSubstr("show 2 GiB"));
    EXPECT_THAT(proof.contradiction, HasSubstr("at most 102 MiB may have gone"));
}

TEST(LinkProof, OnlyTheDevicesOfTheCaseCount) {
    auto counted = each(10 * gib, 10 * gib);
    counted.push_back({.received = 0, .sent = 0});
    EXPECT_THAT(prove_links(at_least, counted, 10).contradiction, IsEmpty());
    EXPECT_THAT(prove_links(at_least, {counted.front()}, 10).said, StartsWith("not counted"));
}

TEST(LinkProof, WithoutCountersNothingIsContradicted) {
    for (const auto& told : {at_least, at_most}) {
        const auto none = prove_links(told, {LinkBytes{}, LinkBytes{}}, 10);
        EXPECT_THAT(none.said, StartsWith("not counted"));
        EXPECT_THAT(none.contradiction, IsEmpty());
        EXPECT_THAT(prove_links(told, {}, 10).contradiction, IsEmpty());
    }
    const auto tiny = prove_links({.nvlink_devices = 2, .nvlink_least_bytes = 8}, each(0, 0), 1000);
    EXPECT_THAT(tiny.said, HasSubstr("too few"));
    EXPECT_THAT(tiny.contradiction, IsEmpty());
}

TEST(LinkProof, WhoExpectsNothingGetsNothing) {
    const auto moved = each(gib, gib);
    EXPECT_THAT(prove_links({}, moved, 10).said, IsEmpty());
    EXPECT_THAT(prove_links({.nvlink_least_bytes = 1e9}, moved, 10).said, IsEmpty());
    EXPECT_THAT(prove_links(at_least, moved, 0).said, IsEmpty());
    EXPECT_THAT(
        prove_links({.nvlink_devices = INT64_MAX, .nvlink_least_bytes = 1e9}, moved, 1).said,
        StartsWith("not counted"));
}

TEST(LinkProof, SumsDoNotOverflow) {
    const auto sum = sum_of(each(INT64_MAX, 1));
    EXPECT_EQ(sum.received, std::nullopt);
    EXPECT_EQ(sum.sent, 2);
    EXPECT_EQ(sum_of({}).sent, std::nullopt);
}

} // namespace
} // namespace assay::worker
