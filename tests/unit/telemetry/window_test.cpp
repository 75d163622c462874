// SPDX-License-Identifier: Apache-2.0
#include "scratch.hpp"
#include "telemetry/snapshot.hpp"
#include "telemetry/window.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace assay::telemetry {
namespace {

using namespace testing;

/// A machine with four CPUs on which time passes as a test says. Ticks are 10 ms.
class Machine {
public:
    Machine() {
        process(1, 0, "init", 0);
        process(100, 1, "assay", 0);
        process(101, 100, "worker", 0);
        process(900, 1, "other", 0);
        write_stat();
    }

    void process(int pid, int parent, const std::string& name, long ticks, long started = 5,
                 int cpu = 0, long reaped = 0) const {
        scratch_.write(
            fmt::format("/proc/{}/stat", pid),
            fmt::format("{} ({}) R {} 1 1 0 -1 0 0 0 0 0 {} 0 {} 0 20 0 1 0 {} 0 0 0 0 0 "
                        "0 0 0 0 0 0 0 0 0 0 0 {} 0 0\n",
                        pid, name, parent, ticks, reaped, started, cpu));
    }
    void remove(int pid) const {
        std::filesystem::remove_all(scratch_.root() / fmt::format("proc/{}", pid));
    }
    void write_stat() const {
        scratch_.write("/proc/stat",
                       fmt::format("cpu  {} 0 {} 1000 0 77 77 {} 0 0\ncpu0 1\ncpu1 1\ncpu2 1\n"
                                   "cpu3 1\nintr 5 5\n",
                                   user, system, steal));
    }
    void write(const std::string& path, const std::string& text) const {
        scratch_.write(path, text);
    }
    machine::Files files() const { return scratch_.files(); }

    telemetry::Options options() {
        return {.root = scratch_.root(),
                .owner = 100,
                .core_clock = [this] { return clock; },
                .now = [this] { return now; }};
    }

    /// Summary of a window of so many seconds in which this happens.
    record::Telemetry window(double seconds, const std::function<void()>& happens) {
        return window(options(), seconds, happens);
    }
    record::Telemetry window(telemetry::Options options, double seconds,
                             const std::function<void()>& happens) {
        telemetry::Window window{std::move(options)};
        window.begin();
        now += seconds;
        happens();
        return window.end();
    }
    /// These ticks of the CPUs, of which `own` are our worker's.
    void compute(long all, long own = 0) {
        user += all;
        if (own > 0) process(101, 100, "worker", own);
        write_stat();
    }

    double now = 50;
    double clock = 3.7e9;
    long user = 1000;
    long system = 500;
    long steal = 0;

private:
    machine::Scratch scratch_;
};

TEST(Window, AQuietOne) {
    Machine machine;
    // The worker keeps two of four CPUs busy for ten seconds.
    const auto t = machine.window(10, [&] { machine.compute(2000, 2000); });
    EXPECT_EQ(t.window_seconds, 10);
    EXPECT_EQ(t.core_clock_hz, 3.7e9);
    EXPECT_EQ(t.foreign_cpu, 0);
    EXPECT_EQ(t.steal, 0);
    EXPECT_EQ(t.throttle_events, std::nullopt);
    EXPECT_EQ(t.page_migrations, std::nullopt);
    EXPECT_THAT(t.disturbances, IsEmpty());
}

/// A program that a worker starts and waits for: nobody lists it at either end.
TEST(Window, ProcessesThatOursWaitedForAreNotForeign) {
    Machine machine;
    machine.process(102, 101, "before", 300); // ends within the window, with 50 ticks more
    const auto t = machine.window(10, [&] {
        machine.remove(102);
        machine.compute(2400);
        // And one of 450 within the window.
        machine.process(101, 100, "worker", 1500, 5, 0, 350 + 450);
    });
    EXPECT_NEAR(t.foreign_cpu.value(), (2400 - 1500 - 50 - 450) / 4000.0, 1e-12);
}

TEST(Window, TheProgramsThatUsedMostAreNamed) {
    Machine machine;
    machine.process(901, 1, "idle", 5000);
    machine.process(902, 1, "cc1plus", 100);
    machine.process(903, 1, "bash", 100);
    machine.process(904, 1, "a,b\x1b[1m \xff", 100);
    const auto t = machine.window(10, [&] {
        machine.compute(2400, 1000); // 1400 ticks of 4 CPUs' 4000 are not ours
        machine.process(902, 1, "cc1plus", 300);
        machine.process(903, 1, "bash", 110);            // too little to be named
        machine.process(904, 1, "a,b\x1b[1m \xff", 190); // anything may be a name
        machine.process(905, 1, "cc1plus", 250, 9);      // has begun since: the whole of it counts
        machine.process(900, 1, "chromium", 400, 7);     // not the "other" of this number
        machine.process(906, 1, "least", 80);
    });
    EXPECT_NEAR(t.foreign_cpu.value(), 0.35, 1e-12);
    ASSERT_EQ(t.disturbed_by.size(), 1U);
    EXPECT_EQ(t.disturbed_by[0].code, record::DisturbanceCode::foreign_cpu);
    EXPECT_NEAR(record::number(t.disturbed_by[0].values, "share").value_or(0), 0.35, 1e-12);
    EXPECT_EQ(record::text(t.disturbed_by[0].values, "programs"), "cc1plus, chromium, a?b?[1m ?");
    EXPECT_THAT(t.disturbances,
                ElementsAre(HasSubstr("(cc1plus, chromium, a?b?[1m ?) used 35.0% of the")));
}

/// A worker that may run on CPU 1 alone computes for ten seconds; so many ticks of others are on each CPU.
record::Telemetry pinned(Machine& machine, long on_cpu_0, long on_cpu_1, long steal_1,
                         bool own_cpus = true, bool sibling = false) {
    const auto write = [&](long first, long second, long stolen) {
        machine.write("/proc/stat", fmt::format("cpu {} 0 0 0 0 0 0 {} 0 0\n"
                                                "cpu0 {} 0 0 0 0 0 0 0 0 0\n"
                                                "cpu1 {} 0 0 0 0 0 0 {} 0 0\nintr 5\n",
                                                first + second, stolen, first, second, stolen));
    };
    machine.write("/proc/self/task/101/status", "Name:\tworker\nCpus_allowed_list:\t1,7-8\n");
    write(100, 200, 0);
    machine.process(101, 100, "worker", 0, 5, 1);
    machine.process(102, 100, "worker", 0, 5, 0); // measures at the same time, on CPU 0
    auto options = machine.options();
    options.own_cpus = own_cpus;
    return machine.window(std::move(options), 10, [&] {
        machine.process(101, 100, "worker", 1000 - on_cpu_1 - steal_1, 5, 1);
        if (sibling) machine.process(102, 100, "worker", on_cpu_0, 5, 0);
        machine.process(900, 1, "elsewhere", on_cpu_0, 5, 0);
        machine.process(901, 1, "here", on_cpu_1, 5, 1);
        write(100 + on_cpu_0, 1200 - steal_1, steal_1);
    });
}

TEST(Window, ACaseOnOneCpuIsNotDisturbedOnAnother) {
    Machine machine;
    const auto t = pinned(machine, 900, 0, 0);
    EXPECT_EQ(t.foreign_cpu, 0);
    EXPECT_EQ(t.steal, 0);
    EXPECT_THAT(t.disturbances, IsEmpty());
}

TEST(Window, ACaseOnOneCpuIsDisturbedThere) {
    Machine machine;
    const auto t = pinned(machine, 900, 100, 20);
    EXPECT_NEAR(t.foreign_cpu.value(), 0.1, 1e-12);
    EXPECT_NEAR(t.steal.value(), 0.02, 1e-12);
    EXPECT_THAT(t.disturbances,
                ElementsAre(HasSubstr("Other programs (here) used 10.0% of the case's CPU time"),
                            HasSubstr("took 2.0%")));
}

TEST(Window, ASiblingOnOtherCpusHidesNobodyAndDisturbsNobody) {
    Machine quiet;
    EXPECT_EQ(pinned(quiet, 900, 0, 0, true, true).foreign_cpu, 0);
    Machine busy;
    const auto t = pinned(busy, 900, 100, 0, true, true);
    EXPECT_NEAR(t.foreign_cpu.value(), 0.1, 1e-12);
    EXPECT_THAT(t.disturbances, ElementsAre(HasSubstr("(here) used 10.0% of the case's CPU time")));
}

TEST(Window, ATeamLooksAtTheWholeMachine) {
    Machine machine;
    EXPECT_NEAR(pinned(machine, 900, 0, 0, false).foreign_cpu.value(), 0.45, 1e-12);
}

TEST(Window, WithoutCountersOfCpusTheMachineIsLookedAt) {
    Machine machine; // its CPUs have no times of their own
    machine.write("/proc/self/task/101/status", "Cpus_allowed_list:\t1\n");
    auto options = machine.options();
    options.own_cpus = true;
    const auto t = machine.window(std::move(options), 10, [&] { machine.compute(400); });
    EXPECT_NEAR(t.foreign_cpu.value(), 0.1, 1e-12);
}

TEST(Window, TheLimitLeavesRoomForTheErrorOfCounting) {
    for (const auto& [seconds, foreign_ticks, is_said] :
         {std::tuple{10.0, 81, false}, {10.0, 90, true}, {0.5, 5, false}, {0.5, 7, true}}) {
        Machine machine;
        const auto t =
            machine.window(seconds, [&, ticks = foreign_ticks] { machine.compute(ticks); });
        EXPECT_EQ(t.disturbances.size(), is_said ? 1U : 0U) << seconds << " s, " << foreign_ticks;
    }
}

TEST(Window, AShortOneHasNoShares) {
    Machine machine;
    const auto t = machine.window(0.049, [&] {
        machine.steal += 20;
        machine.compute(20);
    });
    EXPECT_EQ(t.foreign_cpu, std::nullopt);
    EXPECT_EQ(t.steal, std::nullopt);
    EXPECT_NEAR(t.window_seconds.value(), 0.049, 1e-12);
    EXPECT_THAT(t.disturbances, IsEmpty());
}

TEST(Window, TellsOursByDescentAndNotByNumber) {
    const auto foreign = [](const std::function<void(Machine&)>& happens) {
        Machine machine;
        return machine
            .window(10,
                    [&] {
                        machine.compute(2000);
                        happens(machine);
                    })
            .foreign_cpu;
    };
    EXPECT_EQ(foreign([](Machine& machine) {
                  // A launcher with a name made to confuse, and a rank below it.
                  machine.process(102, 100, "mp) R 1 (run", 0);
                  machine.process(103, 102, "rank", 2000);
              }),
              0);
    EXPECT_EQ(foreign([](Machine& machine) {
                  machine.process(101, 1, "worker", 2000); // its parent has died
                  machine.remove(100);
              }),
              0)
        << "once ours, always ours";
    EXPECT_EQ(foreign([](Machine& machine) { machine.process(101, 1, "other", 2000, 77); }), 0.5)
        << "another process with our number";
}

TEST(Window, TheFinerClockIsPreferred) {
    Machine machine;
    double used = 0;
    auto options = machine.options();
    options.cpu_seconds = [&](int pid) { return pid == 101 ? std::optional{used} : std::nullopt; };
    const auto t = machine.window(std::move(options), 10, [&] {
        used = 20;
        machine.compute(2000);
    });
    EXPECT_EQ(t.foreign_cpu, 0);
}

TEST(Window, StealIsSaid) {
    Machine machine;
    const auto t = machine.window(10, [&] {
        machine.steal += 80;
        machine.write_stat();
    });
    EXPECT_NEAR(t.steal.value(), 0.02, 1e-12);
    EXPECT_THAT(t.disturbances, ElementsAre(HasSubstr("hypervisor took 2.0%")));
}

TEST(Window, AClockThatFallsOrRisesIsSaid) {
    for (const auto& [after, words] : {std::pair{3.4e9, "fell from 3.70 to 3.40 GHz (-8.1%)"},
                                       {3.9e9, "rose from 3.70 to 3.90 GHz (+5.4%)"}}) {
        Machine machine;
        const auto t = machine.window(1, [&, hertz = after] { machine.clock = hertz; });
        EXPECT_EQ(t.core_clock_hz, (3.7e9 + after) / 2);
        EXPECT_THAT(t.disturbances, ElementsAre(HasSubstr(words)));
    }
}

TEST(Window, AClockThatCannotBeMeasuredIsAbsent) {
    Machine machine;
    machine.clock = std::nan("");
    EXPECT_EQ(machine.window(1, [] {}).core_clock_hz, std::nullopt);
    auto options = machine.options();
    options.core_clock = {};
    EXPECT_EQ(machine.window(std::move(options), 1, [] {}).core_clock_hz, std::nullopt);
}

TEST(Window, ThrottlingIsCountedOncePerCoreAndPackage) {
    Machine machine;
    const auto set = [&](int cpu, int core, int package_count, int core_count) {
        const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/", cpu);
        machine.write(folder + "topology/physical_package_id", "0\n");
        machine.write(folder + "topology/core_id", fmt::format("{}\n", core));
        machine.write(folder + "thermal_throttle/package_throttle_count",
                      fmt::format("{}\n", package_count));
        machine.write(folder + "thermal_throttle/core_throttle_count",
                      fmt::format("{}\n", core_count));
    };
    // Two cores of two threads.
    for (int cpu = 0; cpu < 4; ++cpu) set(cpu, cpu / 2, 100, 10);
    machine.write("/sys/devices/system/cpu/cpufreq/thermal_throttle/x", "");
    EXPECT_THAT(telemetry::throttle_files(machine.files()), SizeIs(3));
    const auto t = machine.window(1, [&] {
        for (int cpu = 0; cpu < 4; ++cpu) set(cpu, cpu / 2, 105, 12);
    });
    EXPECT_EQ(t.throttle_events, 5 + 2 + 2);
    EXPECT_THAT(t.disturbances, ElementsAre(HasSubstr("9 times")));
}

/// Remarks on a window in which a file of the kernel changes; "": it was not there before.
record::Telemetry changed(Machine& machine, const std::string& path, const std::string& before,
                          const std::string& after) {
    if (!before.empty()) machine.write(path, before);
    return machine.window(10, [&] { machine.write(path, after); });
}

TEST(Window, MigrationsAreCounted) {
    Machine machine;
    const auto t = changed(machine, "/proc/vmstat", "pgmigrate_success 7\nnuma_pages_migrated 3\n",
                           "pgmigrate_success 900\nnuma_pages_migrated 13\n");
    EXPECT_EQ(t.page_migrations, 10);
}

TEST(Window, WaitingForACpuIsSaidWhereItWasCounted) {
    const std::string file = "/proc/self/task/102/schedstat";
    Machine machine;
    machine.write("/proc/self/task/101/schedstat", "5000000000 1000000000 77\n");
    EXPECT_THAT(
        changed(machine, file, "5000000000 0 77\n", "9000000000 500000000 99\n").disturbances,
        ElementsAre(HasSubstr("waited 5.0% of the time")));
    Machine silent; // no file schedstat can be read at first
    EXPECT_THAT(changed(silent, file, "", "9000000000 500000000 99\n").disturbances, IsEmpty());
}

TEST(Window, AQuotaThatStopsUsIsSaid) {
    Machine machine;
    machine.write("/proc/self/cgroup", "0::/\n");
    machine.write("/proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
    EXPECT_THAT(
        changed(machine, "/cg/cpu.stat", "throttled_usec 1000000\n", "throttled_usec 1500000\n")
            .disturbances,
        ElementsAre(HasSubstr("quota stopped")));
}

TEST(Window, AQuotaOfVersionOneIsCalledQuota) {
    Machine machine;
    machine.write("/proc/self/cgroup", "4:cpu,cpuacct:/docker/7\n0::/\n");
    machine.write("/proc/self/mountinfo",
                  "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n"
                  "31 23 0:27 /docker/7 /v1 rw - cgroup cgroup rw,cpu,cpuacct\n");
    const std::string threads = "/proc/self/task/102/schedstat";
    machine.write(threads, "5000000000 0 77\n");
    machine.write("/v1/cpu.stat", "nr_throttled 0\nthrottled_time 0\n");
    const auto t = machine.window(10, [&] {
        machine.write("/v1/cpu.stat", "nr_throttled 50\nthrottled_time 2500000000\n");
        machine.write(threads, "9000000000 2600000000 99\n");
    });
    EXPECT_THAT(t.disturbances, ElementsAre(HasSubstr("quota stopped")));
}

TEST(Window, CountersThatRunBackwardsAreAbsent) {
    Machine machine;
    machine.write("/proc/vmstat", "numa_pages_migrated 13\n");
    const auto t = machine.window(10, [&] {
        machine.user = machine.system = 0;
        machine.write_stat();
        machine.write("/proc/vmstat", "numa_pages_migrated 3\n");
    });
    EXPECT_EQ(t.foreign_cpu, std::nullopt);
    EXPECT_EQ(t.page_migrations, std::nullopt);
}

TEST(Window, NothingToReadIsNothingKnown) {
    Machine machine;
    auto options = machine.options();
    options.root = "/no/such/place";
    const auto t = machine.window(std::move(options), 1, [] {});
    EXPECT_EQ(t.window_seconds, 1);
    EXPECT_EQ(t.foreign_cpu, std::nullopt);
    EXPECT_EQ(t.steal, std::nullopt);
    EXPECT_THAT(t.disturbances, IsEmpty());
}

TEST(Window, GarbageIsSurvived) {
    for (const char* const text :
         {"", "cpu", "cpu \ncpu0\n", "cpu a b c d e f g h\ncpu0 1\n", "cpu 1 2\ncpu0 1\n",
          "\xff\xfe\n", "cpu 99999999999999999999 1 1 1 1 1 1 1\ncpu0\n"}) {
        Machine machine;
        machine.write("/proc/stat", text);
        machine.write("/proc/100/stat", ")))) 1 2");
        machine.write("/proc/101/stat", text);
        machine.write("/proc/self/task/x/schedstat", text);
        machine.write("/proc/self/task/7/schedstat", "1 x 3");
        EXPECT_THAT(machine.window(1, [] {}).disturbances, IsEmpty()) << text;
    }
}

TEST(Window, EndWithoutBeginIsEmpty) {
    Machine machine;
    telemetry::Window window{machine.options()};
    EXPECT_EQ(window.end().window_seconds, std::nullopt);
    window.begin();
    machine.now += 1;
    EXPECT_EQ(window.end().window_seconds, 1);
    EXPECT_EQ(window.end().window_seconds, std::nullopt);
}

TEST(Processes, AreFoundFromTheListsOfChildren) {
    Machine machine;
    machine.write("/proc/100/task/100/children", "101 ");
    machine.write("/proc/100/task/110/children", "102");
    machine.write("/proc/102/task/102/children", "103 100 x -5"); // a ring, and nonsense
    machine.process(102, 100, "mpirun", 0);
    machine.process(103, 102, "rank", 700);
    const auto own = read_processes(machine.files(), 100, {}, {});
    EXPECT_THAT(own, ElementsAre(Key(100), Key(101), Key(102), Key(103)));
    EXPECT_EQ(own.at(103).seconds, 7);
}

TEST(Processes, ARingOfParentsEnds) {
    Machine machine;
    machine.process(500, 501, "a", 1);
    machine.process(501, 500, "b", 1);
    EXPECT_THAT(read_processes(machine.files(), 100, {}, {}), ElementsAre(Key(100), Key(101)));
}

TEST(ThisMachine, KnowsItsOwnWork) {
    const auto before = telemetry::cpu_seconds(::getpid());
    const double begin = telemetry::steady_seconds();
    while (telemetry::steady_seconds() - begin < 0.01) continue;
    ASSERT_TRUE(before);
    EXPECT_GT(telemetry::cpu_seconds(::getpid()).value(), *before);
    EXPECT_EQ(telemetry::cpu_seconds(-1), std::nullopt);
    const auto own = read_processes(machine::Files{}, ::getpid(), {}, telemetry::cpu_seconds);
    EXPECT_THAT(own, Contains(Key(::getpid())));
}

} // namespace
} // namespace assay::telemetry
