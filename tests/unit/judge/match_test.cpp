// SPDX-License-Identifier: Apache-2.0
//
// For which machines, devices and cases a limit is.

#include "judge/match.hpp"
#include "measured_node.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::report {
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
    for (const std::string name : {"together", "part"}) {
        auto series = test::gemm("openblas", 2048);
        series.parameters.push_back({name, std::string{"sockets:2"}});
        EXPECT_FALSE(is_for(alone, series)) << name;
        auto of_it = alone;
        of_it.cases.emplace(name, "sockets:*");
        EXPECT_TRUE(is_for(of_it, series)) << name;
        EXPECT_FALSE(is_for(of_it, test::gemm("openblas", 2048))) << name;
    }
}

TEST(Match, PlacesOfALimit) {
    EXPECT_EQ(places_of({.cases = {{"place", "cuda*"}}}), "cuda*");
    EXPECT_EQ(places_of({}), "*");
}

} // namespace
} // namespace assay::report
