// SPDX-License-Identifier: Apache-2.0
//
// What bounds each benchmark on a host or device, and in each of its choices.
#include "reference/bound.hpp"
#include "reference/sheet_bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using record::Links;
using ::testing::HasSubstr;

/// Devices need compilers that may not be here, so the sources are read.
TEST(Bounds, AreDeclaredByTheBenchmarks) {
    const std::regex bound{R"re(\.bound = Bound::([a-z_]+))re"};
    std::map<std::string, std::string> found;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator{ASSAY_SOURCE_BENCHMARKS}) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file{entry.path()};
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        for (std::sregex_iterator at{text.begin(), text.end(), bound}, end; at != end; ++at) {
            const auto position = static_cast<std::size_t>(at->position());
            const auto start = text.rfind(".id = ", position) + 6;
            const auto body = text.substr(start, position - start); // place comes before bound
            const auto id = body[0] == '"' ? body.substr(1, body.find('"', 1) - 1) : "collective.*";
            const bool on_device = body.find(R"(.place = "cuda")") != std::string::npos ||
                                   body.find(".place = device::") != std::string::npos;
            found[id + (on_device ? " cuda" : "")] = (*at)[1];
        }
    }
    ASSERT_GT(found.size(), 20U);
    std::size_t known = 0;
    for (const auto& [name, by] : found) {
        const bool on_device = name.ends_with(" cuda");
        const auto id = name.substr(0, name.find(' '));
        EXPECT_EQ(to_string(declared_bound(id == "collective.*" ? "collective.allreduce" : id,
                                           !on_device)),
                  by)
            << name;
    }
    for (const auto& one : declared_bounds())
        known +=
            std::size_t{one.on_host != BoundBy::none} + std::size_t{one.on_device != BoundBy::none};
    EXPECT_EQ(found.size(), known);
}

struct Choice {
    BoundBy by;
    std::string precision;
    record::Evidence told;
    Limit limit = Limit::none;
    int ways = 1;
    bool several = false;
    bool matrices = false;
    std::string reason{};
};

constexpr double gib = 1 << 30U;
constexpr double l2 = 60.0 * (1 << 20U);

const std::vector<Choice> choices{
    // collective.*: the links that NCCL's log shows.
    {BoundBy::device_links, "", {.links = Links::nvlink, .machines = 1}, Limit::nvlink, 1, true},
    {BoundBy::device_links, "", {.links = Links::host, .machines = 1}, Limit::link, 1, true},
    {.by = BoundBy::device_links, .told = {.links = Links::other}, .reason = "no data sheet"},
    {.by = BoundBy::device_links, .told = {.machines = 1}, .reason = "transport is unknown"},
    {.by = BoundBy::device_links,
     .told = {.links = Links::nvlink, .machines = 2},
     .reason = "several machines"},
    {.by = BoundBy::device_links,
     .told = {.links = Links::nvlink, .machines = 1, .switch_work = "NVLS"},
     .reason = "\"NVLS\" uses in-switch reduction"},
    // transfer.peer: one_way and both_ways, by peer access and through the host.
    {BoundBy::device_links, "", {.links = Links::peer, .directions = 1}, Limit::peer, 1, true},
    {BoundBy::device_links, "", {.links = Links::peer, .directions = 2}, Limit::peer, 2, true},
    {BoundBy::device_links, "", {.links = Links::host, .directions = 1}, Limit::link, 1, true},
    {BoundBy::device_links, "", {.links = Links::host, .directions = 2}, Limit::link, 2, true},
    // transfer.host: one direction, both, and one while the other is busy.
    {BoundBy::host_link, "", {.directions = 1}, Limit::link, 1},
    {BoundBy::host_link, "", {.directions = 2}, Limit::link, 2},
    // memory.* and transfer.device: four times the cache is beyond it, by the device's own word first.
    {BoundBy::memory, "", {.footprint_bytes = gib}, Limit::memory},
    {BoundBy::memory, "", {.footprint_bytes = gib, .cache_bytes = gib / 4}, Limit::memory},
    {.by = BoundBy::memory,
     .told = {.footprint_bytes = gib, .cache_bytes = gib / 3},
     .reason = "may stay in the device's last cache (341 MiB)"},
    {.by = BoundBy::memory, .told = {.footprint_bytes = 3 * l2}, .reason = "180 MiB may stay"},
    {.by = BoundBy::memory, .told = {}, .reason = "footprint is unknown"},
    // gemm.*, peak.tensor and peak.fma: by precision, where a data sheet has a figure.
    {BoundBy::matrix_units, "fp8_e4m3", {}, Limit::arithmetic, 1, false, true},
    {BoundBy::matrix_units, "fp64", {}, Limit::arithmetic, 1, false, true},
    {BoundBy::vector_units, "fp64", {}, Limit::arithmetic},
    {.by = BoundBy::matrix_units,
     .precision = "fp64_emulated",
     .told = {},
     .reason = "no data sheet has a value for precision \"fp64_emulated\""},
    {.by = BoundBy::vector_units, .told = {}},
    // network.*: between machines, no limit of a device.
    {.by = BoundBy::network, .told = {.machines = 2, .network_devices = "mlx5_0:1"}},
    {.by = BoundBy::none, .told = {.links = Links::nvlink, .footprint_bytes = gib}},
};

TEST(Bounds, FollowFromWhatACaseTells) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const auto& choice = choices[i];
        record::Case c{.evidence = choice.told};
        if (!choice.precision.empty()) c.parameters = {{"precision", choice.precision}};
        const auto bound = bound_of(choice.by, c, l2);
        EXPECT_EQ(bound.limit, choice.limit) << i;
        EXPECT_EQ(bound.ways, choice.ways) << i;
        EXPECT_EQ(bound.several, choice.several) << i;
        EXPECT_EQ(bound.matrices, choice.matrices) << i;
        EXPECT_THAT(bound.reason, HasSubstr(choice.reason)) << i;
        EXPECT_EQ(bound.reason.empty(), choice.reason.empty()) << i;
    }
}

} // namespace
