// SPDX-License-Identifier: Apache-2.0
//
// For which machines, devices and cases a limit is; which values count and what their noise is; what each cause means.

#include "judge/evidence.hpp"
#include "judge/match.hpp"
#include "judge/parts.hpp"
#include "measured_node.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>

namespace assay::judge {
namespace {

record::Machine machine() {
    record::Machine out;
    out.cpu_model = "AMD EPYC 9R14";
    out.usable_cores = 96;
    out.sockets = 2;
    out.architecture = "x86_64";
    out.provider = "aws";
    out.instance = "m7a.metal";
    out.virtualization = "none";
    out.pci = {{.address = "0000:01:00.0", .vendor_id = "0x10de", .device_id = "0x2335"},
               {.address = "0000:02:00.0", .vendor_id = "10de", .device_id = "2330"}};
    out.devices = {{.kind = "cuda",
                    .index = 0,
                    .pci_address = "0000:01:00.0",
                    .name = "NVIDIA H200",
                    .power_limit_watts = 700,
                    .mode = ""},
                   {.kind = "cuda",
                    .index = 1,
                    .pci_address = "0000:02:00.0",
                    .name = "NVIDIA H100 80GB HBM3",
                    .mode = "mig 1g.10gb"}};
    return out;
}

TEST(Match, PatternsHaveAlternativesThatOverlap) {
    EXPECT_EQ(alternatives("a|b*|c"), (std::vector<std::string>{"a", "b*", "c"}));
    EXPECT_EQ(alternatives("a"), std::vector<std::string>{"a"});
    EXPECT_TRUE(alternatives("").empty());
    EXPECT_TRUE(matches("NVIDIA H200*|NVIDIA H100*", "NVIDIA H100 80GB HBM3"));
    EXPECT_FALSE(matches("NVIDIA H200*", "NVIDIA GH200"));
    EXPECT_FALSE(matches("", "x"));
    EXPECT_TRUE(overlap("fp64|fp32", "fp3*"));
    EXPECT_TRUE(overlap("fp3*", "bf16|fp32"));
    EXPECT_FALSE(overlap("fp64|fp32", "bf16|int8"));
}

TEST(Match, EveryKeyOfAMachine) {
    const std::pair<const char*, std::pair<const char*, const char*>> keys[] = {
        {"devices", {"2", "8"}},
        {"cpu", {"AMD EPYC*", "Intel*"}},
        {"cores", {"96", "9"}},
        {"sockets", {"[2-9]", "1"}},
        {"architecture", {"x86_64", "aarch64"}},
        {"provider", {"aws", "gcp"}},
        {"instance", {"m7a.*", "c7a.*"}},
        {"virtualization", {"none", "kvm"}},
        {"device", {"NVIDIA H200", "NVIDIA L4"}},
        {"pci", {"10de:2335", "10de:27b8"}},
        {"power_limit", {"700", "350"}},
        {"mode", {"mig*", "vgpu"}},
    };
    for (const auto& [key, patterns] : keys) {
        EXPECT_TRUE(is_for(Selector{{key, patterns.first}}, machine())) << key;
        EXPECT_FALSE(is_for(Selector{{key, patterns.second}}, machine())) << key;
        const bool is_cores = std::string_view{key} == "cores";
        const Selector both{{key, patterns.first}, {is_cores ? "sockets" : "cores", "1"}};
        EXPECT_FALSE(is_for(both, machine())) << key;
    }
    EXPECT_TRUE(is_for(Selector{}, machine()));
    EXPECT_TRUE(is_for(Selector{{"pci", "10de:2330"}}, machine())); // without 0x
    EXPECT_FALSE(is_for(Selector{{"sockets", "?*"}}, record::Machine{})) << "unknown is none";
    EXPECT_FALSE(is_for(Selector{{"power_limit", "?*"}, {"mode", "mig*"}}, machine()))
        << "of one device, not of two";
}

TEST(Match, OneDeviceOfAMachine) {
    const auto all = machine();
    const Selector of_first{{"device", "NVIDIA H200"}, {"cores", "1"}};
    EXPECT_TRUE(is_for_device(of_first, all, all.devices[0])) << "the machine is not asked";
    EXPECT_FALSE(is_for_device(of_first, all, all.devices[1]));
    const record::Device nowhere{.kind = "cuda", .pci_address = "0000:09:00.0"};
    EXPECT_FALSE(is_for_device(Selector{{"pci", "?*"}}, all, nowhere));
}

TEST(Match, ADeviceByItsPlace) {
    const auto all = machine();
    auto series = test::gemm("cublaslt", 8192);
    const auto index_at = [&](const char* place) {
        series.place = place;
        const auto* const found = device_of(all, series);
        return found == nullptr ? -1 : found->index;
    };
    EXPECT_EQ(index_at("cuda:0"), 0);
    EXPECT_EQ(index_at("cuda:1"), 1);
    EXPECT_EQ(index_at("cuda"), 0);
    for (const char* none : {"cuda:2", "host", "cuda:", "cuda:x", "cuda:1x", "hip:0", ""})
        EXPECT_EQ(index_at(none), -1) << none;
}

TEST(Match, EveryKeyOfACase) {
    auto series = test::gemm("openblas", 2048);
    series.version = 3;
    series.conditions = {{"machines", std::int64_t{2}}};
    const auto is_matched = [&](const Selector& cases, const char* metric = "") {
        return is_for(Limit{.cases = cases, .metric = metric}, series);
    };
    EXPECT_TRUE(is_matched({{"benchmark", "gemm.*"},
                            {"library", "openblas"},
                            {"place", "host"},
                            {"version", "3"},
                            {"size", "2048"},
                            {"machines", "2"}}));
    for (const auto& [key, pattern] : Selector{{"benchmark", "fft.*"},
                                               {"library", "onednn"},
                                               {"place", "cuda*"},
                                               {"version", "2"},
                                               {"size", "4096"},
                                               {"machines", "1"},
                                               {"unknown", "*"}})
        EXPECT_FALSE(is_matched({{key, pattern}})) << key;
    EXPECT_TRUE(is_matched({}, "flop_rate"));
    EXPECT_FALSE(is_matched({}, "bandwidth"));
}

TEST(Match, APartOrAllAtOnceIsAnotherCase) {
    const Limit alone{.cases = {{"benchmark", "gemm.square"}}};
    for (const std::string name : {"together", "part", "soak", "alone", "stress"}) {
        auto series = test::gemm("openblas", 2048);
        series.parameters.push_back({name, std::string{"sockets:2"}});
        EXPECT_FALSE(is_for(alone, series)) << name;
        auto of_it = alone;
        of_it.cases.emplace(name, "sockets:*");
        EXPECT_TRUE(is_for(of_it, series)) << name;
        EXPECT_FALSE(is_for(of_it, test::gemm("openblas", 2048))) << name;
    }
}

std::vector<Cause> all_causes() {
    std::vector<Cause> all;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last_cause); ++i)
        all.push_back(static_cast<Cause>(i));
    return all;
}

TEST(Match, PlacesOfALimit) {
    EXPECT_EQ(places_of({.cases = {{"place", "cuda*"}}}), "cuda*");
    EXPECT_EQ(places_of({}), "*");
}

TEST(Causes, OnlyNoneIsAPass) {
    for (const auto cause : all_causes()) {
        const auto meaning = meaning_of(cause);
        EXPECT_EQ(meaning.outcome == Outcome::pass, cause == Cause::none) << to_string(cause);
        EXPECT_NE(meaning.outcome, Outcome::skip) << to_string(cause);
    }
}

TEST(Causes, AskForWhatFitsTheirBlame) {
    for (const auto cause : all_causes()) {
        const auto [outcome, blame, action] = meaning_of(cause);
        const std::string name{to_string(cause)};
        if (blame == Blame::none) {
            EXPECT_LE(outcome, Outcome::warn) << name;
            EXPECT_EQ(action, Action::none) << name;
        }
        if (blame == Blame::user) {
            EXPECT_EQ(outcome, Outcome::inconclusive) << name;
            EXPECT_EQ(action, cause == Cause::driver_silent ? Action::reboot : Action::fix_setup)
                << name;
        }
        if (blame == Blame::node) {
            EXPECT_EQ(outcome == Outcome::fail, action > Action::retest) << name;
            EXPECT_EQ(action == Action::retest, cause == Cause::throttled) << name;
        }
        if (outcome == Outcome::error) {
            EXPECT_EQ(action, Action::retest) << name;
        }
    }
    // Another measurement of the same kind would find the same.
    for (const auto cause : {Cause::no_limits, Cause::no_datasheet, Cause::unsettled,
                             Cause::limit_expired, Cause::executed_on_cpu})
        EXPECT_EQ(meaning_of(cause).action, Action::none) << to_string(cause);
    for (const auto cause :
         {Cause::not_measured, Cause::undecided, Cause::disturbed, Cause::throttled})
        EXPECT_EQ(meaning_of(cause).action, Action::retest) << to_string(cause);
}

TEST(Evidence, ATeamIsNotOfOneDevice) {
    auto series = test::gemm("cublaslt", 8192);
    EXPECT_FALSE(is_of_one_device(series)); // of the host
    series.place = "cuda:1";
    EXPECT_TRUE(is_of_one_device(series));
    series.conditions = {{"ranks", std::int64_t{2}}};
    EXPECT_FALSE(is_of_one_device(series));
    series.place = "host";
    EXPECT_FALSE(is_of_one_device(series));
}

TEST(Evidence, NeighboursAreOnTheHostAndItsNetwork) {
    const record::Machine guest{.virtualization = "kvm"};
    const record::Machine metal{.virtualization = "none"};
    auto series = test::triad();
    EXPECT_TRUE(feels_neighbours(guest, series));
    EXPECT_FALSE(feels_neighbours(metal, series));
    series = test::on_device(test::gemm("cublaslt", 8192), 0);
    EXPECT_FALSE(feels_neighbours(guest, series));
    series.conditions = {{"machines", std::int64_t{1}}, {"ranks", std::int64_t{8}}};
    EXPECT_FALSE(feels_neighbours(guest, series));
    series.conditions = {{"machines", std::int64_t{2}}, {"ranks", std::int64_t{16}}};
    EXPECT_TRUE(feels_neighbours(guest, series));
    EXPECT_FALSE(feels_neighbours(metal, series));
}

TEST(Evidence, NoiseIsThatOfTheLimit) {
    const decide::Observation seen{.between_replicas = 0.03, .degrees = 5};
    const Item item{.seen = {{.observation = &seen}}};
    EXPECT_DOUBLE_EQ(noise_of({}, item, false).fail.replica.variance, 0.0009);
    EXPECT_EQ(noise_of({}, item, false).fail.replica.degrees, 5);
    // A spread without that of replicas says nothing of them.
    EXPECT_DOUBLE_EQ(
        noise_of({.spread = Components{.run = 0.1}}, item, false).fail.replica.variance, 0.0009);
    const Limit of_replicas{.spread = Components{.replica = 0.01}};
    EXPECT_DOUBLE_EQ(noise_of(of_replicas, item, false).fail.replica.variance, 0.0001);
    EXPECT_EQ(noise_of(of_replicas, item, false).fail.run.degrees,
              decide::AcceptanceNoise{}.run.degrees);
    // Days alone, or runs alone, are enough for a variance between runs.
    EXPECT_DOUBLE_EQ(noise_of({.spread = Components{.replica = 0.01, .day = 0.2}}, item, false)
                         .fail.run.variance,
                     0.04);
    EXPECT_DOUBLE_EQ(noise_of({.spread = Components{.replica = 0.01, .run = 0.1}}, item, false)
                         .fail.run.variance,
                     0.01);
    EXPECT_DOUBLE_EQ(
        noise_of({.spread = Components{.replica = 0.01, .run = 0.3, .day = 0.4}}, item, false)
            .fail.run.variance,
        0.25);
}

TEST(Evidence, NoiseOfReplicasNeedsDegrees) {
    const decide::Observation unsure{.between_replicas = 0.03};
    const Item item{.seen = {{.observation = &unsure}}};
    EXPECT_EQ(noise_of({}, item, false).fail.replica.degrees,
              decide::AcceptanceNoise{}.replica.degrees);
    const decide::Observation without{.degrees = 5};
    const Item other{.seen = {{.observation = &without}}};
    EXPECT_EQ(noise_of({}, other, false).fail.replica.degrees,
              decide::AcceptanceNoise{}.replica.degrees);
}

TEST(Evidence, CasesDifferInTheseParameters) {
    auto small = test::gemm("openblas", 1024);
    auto large = test::gemm("openblas", 2048);
    auto tuned = test::gemm("openblas", 2048);
    tuned.parameters.push_back({"load", std::string{"sustained"}});
    const auto which = differences_of({&small, &large, &tuned});
    ASSERT_EQ(which.size(), 3U);
    ASSERT_EQ(which[0].size(), 1U); // the precision is that of all
    EXPECT_EQ(which[0][0].name, "size");
    EXPECT_EQ(record::to_string(which[0][0].value), "1024");
    ASSERT_EQ(which[2].size(), 2U);
    EXPECT_EQ(which[2][1].name, "load");
    EXPECT_TRUE(differences_of({&small})[0].empty());
    EXPECT_TRUE(differences_of({}).empty());
}

} // namespace
} // namespace assay::judge
