// SPDX-License-Identifier: Apache-2.0

#include "document/words.hpp"
#include "report/findings.hpp"
#include "report/report.hpp"
#include "sample.hpp"
#include "support/document.hpp"

#include <gmock/gmock.h>

namespace assay::report {
namespace {

using record::Status;
using namespace testing;

record::Case& case_named(record::Run& run, const std::string& identity) {
    const auto found = std::ranges::find_if(
        run.cases, [&](const auto& c) { return record::identity(c) == identity; });
    if (found == run.cases.end()) throw std::runtime_error{"no case " + identity};
    return *found;
}
constexpr const char* fp64 = "gemm.square[openblas] precision=fp64 size=2048 threads=all";

const Row& row_of(const Report& report, const std::string& identity) {
    for (const auto& section : report.sections)
        for (const auto& row : section.rows)
            if (row.identity == identity) return row;
    throw std::runtime_error{"no row " + identity};
}
std::string findings_text(const record::Run& run) {
    std::string text;
    for (const auto& finding : find_findings(run))
        text += finding.what + "|" + finding.action + "\n";
    return text;
}

TEST(View, SaysWhatTheRunKnowsOfItsOccasion) {
    auto run = test::golden_run();
    run.campaign = "2026 Q1";
    run.note = "after the move";
    run.tags.push_back({"rack", "b7"});
    run.tags.push_back({"owner", "hpc"});
    std::string text;
    for (const auto& fact : run_facts(run, "")) text += fact.name + ": " + fact.text + "; ";
    EXPECT_THAT(text,
                HasSubstr("Campaign: 2026 Q1; Tags: rack=b7, owner=hpc; Note: after the move"));
}

TEST(View, SaysHowLongTheSlowCallsTakeWhereSingleOnesWereTimed) {
    auto run = test::golden_run();
    auto& time = case_named(run, fp64).metrics.at(1);
    ASSERT_EQ(time.name, "time");
    time.median = 1e-3;
    EXPECT_THAT(row_of(make_report(run), fp64).figures.at(0).text, Not(HasSubstr("p50")));
    time.p99 = 2e-3;
    EXPECT_THAT(row_of(make_report(run), fp64).figures.at(0).text,
                HasSubstr("(p50 1.00 ms, p99 2.00 ms)"));
}

TEST(View, SaysHowTheMachineIsSet) {
    auto run = test::golden_run();
    run.machine.platform = {
        .region = "eu-central-1",
        .zone = "eu-central-1b",
        .bios_vendor = "AMI",
        .bios_version = "2.1",
        .bios_date = "05/21/2024",
        .microcode = "0x2b000590",
        .frequency_driver = "intel_pstate",
        .governor = "performance",
        .boost = false,
        .smt = "on",
        .power_limits = {{.scope = "package-0", .term = "long_term", .watts = 350}},
        .memory_modules = {{.count = 16,
                            .bytes = std::int64_t{64} << 30U,
                            .type = "DDR5",
                            .transfers_per_second = 4800e6}},
        .storage = {{.name = "nvme0n1", .model = "PM9A3", .transport = "nvme"},
                    {.name = "nvme1n1", .model = "PM9A3", .transport = "nvme"}},
        .network = {{.name = "mlx5_0:1", .driver = "mlx5_core", .virtual_functions = 8},
                    {.name = "eth0v3", .physical_function = "0000:41:00.0"}},
        .kernel_options = {"mitigations=off", "isolcpus=2-7"}};
    run.hosts = {{.name = "node1", .machine = run.machine}};
    const auto report = make_report(run);
    const auto text = [&](const char* key) {
        const auto fact = std::ranges::find(report.machine, key, &document::Fact::key);
        return fact == report.machine.end() ? "" : fact->text;
    };
    EXPECT_EQ(text("Region"), "eu-central-1b");
    EXPECT_EQ(text("Firmware"), "AMI 2.1 (05/21/2024), microcode 0x2b000590");
    EXPECT_EQ(text("Clock control"), "intel_pstate, performance, boost off, SMT on");
    EXPECT_EQ(text("Power limits"), "package-0 long_term 350 W");
    EXPECT_EQ(text("Memory modules"), "16 x 64 GiB DDR5 4800 MT/s");
    EXPECT_EQ(text("Disks"), "2 x PM9A3 nvme");
    EXPECT_EQ(text("Network"), "mlx5_0:1 mlx5_core 8 virtual functions and "
                               "eth0v3 a virtual function of 0000:41:00.0");
    EXPECT_EQ(text("Kernel options"), "mitigations=off isolcpus=2-7");
    const auto hosts = std::ranges::find(report.run, "Hosts", &document::Fact::key);
    ASSERT_NE(hosts, report.run.end());
    EXPECT_THAT(hosts->text, HasSubstr("node1 ("));
}

TEST(View, SaysWhyThereIsNoEnergyOfTheHost) {
    auto run = test::golden_run();
    const auto text = [&](const char* key) {
        const auto report = make_report(run);
        const auto fact = std::ranges::find(report.machine, key, &document::Fact::key);
        return fact == report.machine.end() ? "" : fact->text;
    };
    EXPECT_EQ(text("Processor energy"), "");
    run.machine.platform.energy_unread = "no_counter";
    EXPECT_EQ(text("Processor energy"), "no counter (RAPL)");
    run.machine.platform.energy_unread = "not_permitted";
    EXPECT_EQ(text("Processor energy"), "readable by root only (RAPL)");
    run.machine.platform.energy_unread = "of another version";
    EXPECT_EQ(text("Processor energy"), "");
    run.machine.platform.energy_unread = "no_counter";
    const test::Speaking chinese{document::Language::zh};
    EXPECT_EQ(text("Processor energy"), "无能耗计数器");
}

TEST(View, SaysHowADeviceWasWhileACaseWasMeasured) {
    auto run = test::golden_run();
    auto& c = case_named(run, fp64);
    c.telemetry.device = {.power_watts = 642,
                          .power_high_watts = 690,
                          .clock_hz = 1.77e9,
                          .clock_low_hz = 1.77e9,
                          .temperature_celsius = 61,
                          .memory_temperature_celsius = 72,
                          .throttles = {{.reason = "power_cap", .seconds = 1.25, .share = 0.5},
                                        {.reason = "thermal", .seconds = 0, .share = 0.01},
                                        {.reason = "gremlins", .share = 0.25}}};
    EXPECT_THAT(row_of(make_report(run), fp64).details,
                Contains(Field(&document::Fact::text,
                               "642 W (up to 690 W), 1.77 GHz, 61 °C (memory 72 °C), slowed by its "
                               "power limit for 1.25 s, slowed by gremlins in 25% of samples")));
    run.machine.devices.assign(8, {.kind = "cuda", .name = "NVIDIA H200"});
    for (auto& device : run.machine.devices) device.memory_bytes = std::int64_t{140} << 30U;
    run.machine.pci = {{.vendor_id = "10de", .kind = "accelerator", .name = "GH100"}};
    const auto report = make_report(run);
    const auto devices = std::ranges::find(report.machine, "Devices", &document::Fact::key);
    ASSERT_NE(devices, report.machine.end());
    EXPECT_EQ(devices->text, "8 x NVIDIA H200 (140 GiB)");
}

TEST(View, AWrongResultHasNoFigure) {
    auto run = test::golden_run();
    for (const auto status : {Status::incorrect, Status::ok}) { // whatever its status claims
        auto& c = case_named(run, fp64);
        c.status = status;
        c.verification->passed = false;
        const auto report = make_report(run);
        const auto& row = row_of(report, fp64);
        EXPECT_EQ(row.status, Status::incorrect);
        EXPECT_EQ(row.value, "");
        EXPECT_EQ(row.interval, "");
        EXPECT_THAT(row.bounds, IsEmpty());
        EXPECT_FALSE(row.number.has_value());
        EXPECT_THAT(row.figures, IsEmpty());
        EXPECT_THAT(row.strips, IsEmpty());
    }
}

TEST(View, TellsWhatAnIntervalCovers) {
    record::Metric metric{.value = 100.0, .low = 99.0, .high = 101.0};
    record::Case c;
    metric.interval_scope = record::IntervalScope::within_process;
    EXPECT_THAT(document::covers_in_words(c, metric), HasSubstr("one process only"));
    metric.interval_scope = record::IntervalScope::none;
    EXPECT_THAT(document::covers_in_words(c, metric), HasSubstr("too little data"));
    EXPECT_EQ(document::interval_in_words(metric), "±1.0%");
    metric.high = 105.0;
    EXPECT_EQ(document::interval_in_words(metric), "−1.0% +5.0%");
    metric.low.reset();
    EXPECT_EQ(document::interval_in_words(metric), "");
}

TEST(View, ShareOfACeilingForTimesIsTurnedRound) {
    record::Case c;
    c.status = Status::ok;
    c.headline = "time";
    c.metrics = {{.name = "time", .unit = "s", .higher_is_better = false, .value = 4.0}};
    c.ceiling = {.value = 3.0, .kind = record::CeilingKind::datasheet};
    EXPECT_DOUBLE_EQ(document::ceiling_share(c).value(), 0.75);
    c.ceiling.value = 0.0;
    EXPECT_FALSE(document::ceiling_share(c).has_value());
}

TEST(Findings, OfAQuietRunAreNone) {
    auto run = test::golden_run();
    run.cases.erase(run.cases.begin() + 1, run.cases.end());
    run.cases[0].warnings.clear();
    run.machine.huge_pages = "madvise";
    EXPECT_EQ(findings_text(run), "");
    EXPECT_THAT(quietness(run), HasSubstr("Quiet"));
}

TEST(Findings, SayWhatToDo) {
    auto run = test::golden_run();
    run.machine.cores = 64;
    auto& c = case_named(run, fp64);
    c.telemetry.steal = 0.08;
    c.telemetry.throttle_events = 3.0;
    c.telemetry.page_migrations = 10.0;
    case_named(run, "gemm.square[onednn] precision=fp32 size=2048 threads=all").ceiling.value =
        2e11;
    const auto text = findings_text(run);
    for (const char* expected :
         {"SkylakeX is 1.91 times faster: set OPENBLAS_CORETYPE=SkylakeX", "wrong result",
          "kernel.numa_balancing=0", "transparent_hugepage", "above the bound", "--replicas 3",
          "--resume", "too noisy or drifts", "Only 2 of 64 cores"})
        EXPECT_THAT(text, HasSubstr(expected));
    EXPECT_THAT(quietness(run), HasSubstr("Disturbed"));
    EXPECT_EQ(find_findings(run).front().severity, document::Severity::serious);
}

record::Run with_errors(std::vector<record::ErrorCounter> counters) {
    auto run = test::golden_run();
    run.cases.erase(run.cases.begin() + 1, run.cases.end());
    run.cases[0].warnings.clear();
    run.machine.huge_pages = "madvise";
    run.error_counters = std::move(counters);
    return run;
}

TEST(Findings, CountersOfErrorsThatRose) {
    const auto counter = [](const char* source, const char* device, const char* name,
                            std::optional<std::int64_t> before, std::optional<std::int64_t> after) {
        return record::ErrorCounter{
            .source = source, .device = device, .counter = name, .before = before, .after = after};
    };
    EXPECT_EQ(findings_text(with_errors({counter("edac", "mc0", "ce_count", 7, 7),
                                         counter("edac", "mc1", "ce_count", 7, {}),
                                         counter("nvlink", "0000:1b:00.0", "replay", {}, 3),
                                         counter("network", "eth0", "rx_errors", 9, 0)})),
              "");
    const auto run = with_errors({counter("edac", "mc0", "ce_count", 7, 9),
                                  counter("driver", "0000:1b:00.0", "xid_79", 0, 1),
                                  counter("network", "eth0", "rx_dropped", 1, 4)});
    const auto found = find_findings(run);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].severity, document::Severity::serious);
    EXPECT_EQ(found[0].what, "Error counters rose during the run: driver 0000:1b:00.0 xid_79 +1.");
    EXPECT_EQ(found[1].severity, document::Severity::caution);
    EXPECT_THAT(found[1].what, HasSubstr("edac mc0 ce_count +2"));
    EXPECT_EQ(found[2].severity, document::Severity::note);
    const test::Speaking chinese{document::Language::zh};
    EXPECT_EQ(find_findings(run)[0].what, "运行期间错误计数增加：driver 0000:1b:00.0 xid_79 +1。");
}

TEST(Findings, NamesAllowanceBurstableTypeAndLinks) {
    auto run = with_errors({{.source = "allowance",
                             .device = "eth0",
                             .counter = "pps_allowance_exceeded",
                             .before = 4,
                             .after = 9}});
    run.machine.instance = "t3.large";
    run.machine.platform.burstable = true;
    run.machine.devices = {
        {.kind = "cuda", .fabric = {.state = "completed", .health = {"route_unhealthy"}}}};
    const auto found = find_findings(run);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].severity, document::Severity::serious);
    EXPECT_EQ(found[0].what, "Links are down, narrow or not ready: cuda:0 route_unhealthy.");
    EXPECT_THAT(found[1].what, HasSubstr("allowance eth0 pps_allowance_exceeded +5"));
    EXPECT_THAT(found[2].what, HasSubstr("t3.large has its full CPUs only while credits last"));
}

TEST(Findings, AFewPercentAboveAPeakOrWithinItsIntervalAreNone) {
    auto run = test::golden_run();
    constexpr const char* onednn = "gemm.square[onednn] precision=fp32 size=2048 threads=all";
    auto& peak = case_named(run, "peak.fma[host] precision=fp32 isa=best threads=all");
    const double value = *case_named(run, onednn).metrics.front().value;
    const auto above = [&](double share, double half_width) {
        case_named(run, onednn).ceiling.value = value / share;
        peak.metrics.front().high = value / share * (1 + half_width);
        return Matches(HasSubstr("above the bound"))(findings_text(run));
    };
    EXPECT_FALSE(above(1.02, 0.001));
    EXPECT_TRUE(above(1.06, 0.001));
    EXPECT_FALSE(above(1.06, 0.08));
}

TEST(View, APeakIsNoShareOfItselfNorOfADisturbedOne) {
    auto run = test::golden_run();
    constexpr const char* name = "peak.fma[host] precision=fp64 isa=best threads=all";
    auto& peak = case_named(run, name);
    peak.ceiling = {.value = peak.metrics.front().value,
                    .kind = record::CeilingKind::measured,
                    .measured_by = name};
    EXPECT_THAT(row_of(make_report(run), name).bounds, IsEmpty());
    const auto is_measured = Field(&Bound::kind, record::CeilingKind::measured);
    EXPECT_THAT(row_of(make_report(run), fp64).bounds,
                Contains(AllOf(is_measured, Field(&Bound::share, "94%"))));
    peak.status = Status::disturbed;
    const auto report = make_report(run);
    EXPECT_THAT(row_of(report, fp64).bounds, Not(Contains(is_measured)));
    EXPECT_THAT(
        row_of(report, fp64).details,
        Contains(Field(&document::Fact::text, HasSubstr(std::string{name} + " was disturbed"))));
}

/// Other programs used the machine in 12 of 23 cases.
record::Busy busy() {
    return {.cases = 23,
            .measured_again = 12,
            .disturbed = 2,
            .windows = 81,
            .disturbed_windows = 14,
            .cause = record::DisturbanceCode::foreign_cpu,
            .share = 0.21,
            .programs = {"chromium", "cc1plus"}};
}

TEST(Cause, IsOneLine) {
    auto seen = busy();
    EXPECT_THAT(
        busy_in_words(seen),
        AllOf(HasSubstr("chromium, cc1plus used up to 21%"),
              HasSubstr("12 of 23 cases were measured again, the values of 2 are lower limits.")));
    {
        const test::Speaking chinese{document::Language::zh};
        EXPECT_THAT(busy_in_words(seen),
                    HasSubstr("23 个测试项中有 12 个重新测量，2 个的结果仅为下限"));
    }
    seen.disturbed = 0;
    seen.programs.clear();
    EXPECT_THAT(busy_in_words(seen), AllOf(HasSubstr("other programs used up to 21%"),
                                           HasSubstr("none is still disturbed")));
    seen.measured_again = 0;
    seen.cause = record::DisturbanceCode::steal;
    EXPECT_THAT(busy_in_words(seen), HasSubstr("the hypervisor took the CPU time, in 14 of 81"));
    seen.disturbed = 1;
    seen.cause = record::DisturbanceCode::neighbours;
    EXPECT_THAT(busy_in_words(seen),
                HasSubstr("neighbours used the memory; the value of 1 of 23 cases is"));
    seen.cause.reset();
    EXPECT_EQ(busy_in_words(seen), "");
}

TEST(View, ARowNamesBothLevels) {
    auto run = test::golden_run();
    auto& c = case_named(run, fp64);
    c.status = Status::unstable;
    c.reason_code = record::ReasonCode::two_levels;
    c.reason = "80% of the replicas at 105 GFLOP/s, the others at 63.0 GFLOP/s";
    c.metrics.front().levels = record::Levels{.mean = 9.48e10, .slow = 6.3e10, .share = 0.8};
    const auto notes = row_of(make_report(run), fp64).notes;
    EXPECT_THAT(notes, Contains("105 GFLOP/s in 80% of replicas, 63.0 GFLOP/s in the others"));
    EXPECT_THAT(notes, Contains("mean of all replicas: 94.8 GFLOP/s"));
    EXPECT_THAT(notes, Not(Contains(c.reason)));
    EXPECT_THAT(findings_text(run), HasSubstr("1 case has two levels"));
    c.metrics.front().levels->mean = 1.03e11;
    EXPECT_THAT(row_of(make_report(run), fp64).notes,
                Not(Contains(HasSubstr("mean of all replicas"))));
}

TEST(View, SmtIsNotTheKernelsWord) {
    record::Machine machine;
    machine.platform.smt = "notsupported";
    const auto facts = machine_facts(machine);
    const auto fact = std::ranges::find(facts, "Clock control", &document::Fact::key);
    ASSERT_NE(fact, facts.end());
    EXPECT_EQ(fact->text, "SMT not supported");
}

TEST(Findings, ASentenceOfManyCasesIsSaidOnce) {
    auto run = test::large_run(500);
    for (auto& c : run.cases) c.warnings = {"the same"};
    EXPECT_EQ(
        std::ranges::count_if(find_findings(run),
                              [](const auto& finding) { return finding.what == "The same."; }),
        1);
}

TEST(Summary, OfAnEmptyRunSaysSo) {
    const auto report = make_report({});
    ASSERT_EQ(report.summary.size(), 5U);
    EXPECT_THAT(report.summary[0].text, HasSubstr("no case gave a value"));
    EXPECT_THAT(report.summary[2].text, HasSubstr("nothing was run"));
    EXPECT_THAT(report.title, Not(IsEmpty()));
}

TEST(Summary, SaysWhenFiguresWereNotVerified) {
    auto run = test::golden_run();
    case_named(run, fp64).verification.reset();
    EXPECT_THAT(make_report(run).summary[2].text, HasSubstr("1 value was not verified"));
}

} // namespace
} // namespace assay::report
