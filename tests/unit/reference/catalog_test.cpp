// SPDX-License-Identifier: Apache-2.0
//
// The installed catalogue has no slips: no figure without a source, no factor of 1000, no unknown id, no sparse peak in
// a dense field, no contradiction without a conflict.

#include "base/utc.hpp"
#include "reference/catalog.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::reference {
namespace {

using namespace testing;

bool is_near(double a, double b, double share = 0.02) {
    return std::abs(a - b) <= share * std::abs(b);
}

class Slips {
public:
    explicit Slips(const Hardware& hardware) : hardware_{hardware} {
        for (const auto& entry : entries_of(hardware))
            for (const auto& [path, figure] : entry.sheet->figures)
                if (figure.value.is_number() && figure.value.get<double>() > 0)
                    all_[{entry.kind, path}].push_back(figure.value.get<double>());
        for (const auto& entry : entries_of(hardware)) {
            id_ = entry.sheet->id;
            if (!ids_.emplace(entry.kind, id_).second) add("occurs twice");
            figures(entry);
            if (entry.instance != nullptr) instance(*entry.instance);
            if (entry.accelerator != nullptr) accelerator(*entry.accelerator);
        }
        for (const auto& provider : hardware.providers)
            for (const auto& alias : provider.aliases)
                if (provider_id(hardware, alias) != provider.id) add("alias of two: " + alias);
    }
    std::vector<std::string> found;

private:
    void add(const std::string& what) { found.push_back(id_ + ": " + what); }
    void known(const std::string& id, bool is_known) {
        if (!id.empty() && !is_known) add("unknown id " + id);
    }
    void figures(const CatalogEntry& entry) {
        sheet_ = entry.sheet;
        for (const auto& other : sheet_->conflicts)
            if (!sheet_->figures.contains(other.of)) add("conflict about no figure: " + other.of);
        for (const auto& [path, figure] : sheet_->figures) {
            const auto& origin = figure.origin;
            if (origin.source.empty() && !path.starts_with("rates.") &&
                (figure.value.is_number() || entry.instance != nullptr))
                add("no source of " + path);
            if (const auto day = seconds_of(origin.checked); day && *day > seconds_now())
                add("read on a day to come: " + path);
            if (figure.value.is_number()) slip(entry.kind, path, figure.value.get<double>());
        }
    }
    /// Far from all others of its kind, among which a thousandth or the thousandfold of it would be.
    void slip(Kind kind, const std::string& path, double value) {
        auto others = all_[{kind, path}];
        if (value <= 0 || others.size() <= 3) return;
        others.erase(std::ranges::find(others, value));
        const auto [least, most] = std::ranges::minmax(others);
        constexpr double far = 10; // what is new may be larger than all before it
        if (value * far >= least && value <= far * most) return;
        for (const double meant : {value * 1000, value / 1000})
            if (meant >= least && meant <= most) add("a factor of 1000 in " + path);
    }
    void conflicting(const char* path, double has, double computed) {
        if (!is_near(computed, has) &&
            std::ranges::count(sheet_->conflicts, path, &OtherFigure::of) == 0)
            add(fmt::format("{} is {:g}, but {:g} by its other figures", path, has, computed));
    }
    void instance(const InstanceEntry& own) {
        known(own.provider,
              std::ranges::count(hardware_.providers, own.provider, &Provider::id) > 0);
        known(own.cpu, find_processor(hardware_, own.cpu) != nullptr);
        const auto* gpu = find_accelerator(hardware_, own.gpu);
        known(own.gpu, gpu != nullptr);
        if (own.vcpus && own.cores && *own.cores > *own.vcpus) add("more cores than vCPUs");
        if (own.vcpus && own.cores && own.threads_per_core)
            conflicting("vcpus", *own.vcpus, *own.cores * *own.threads_per_core);
        if (gpu == nullptr || !gpu->memory_bytes || !own.gpu_memory_gb || !own.gpus) return;
        // Makers' GB, the driver's bytes and what is kept for error correction are nearer than this.
        if (!is_near(*own.gpu_memory_gb / *own.gpus, *gpu->memory_bytes / 1e9, 0.15))
            add("memory of another number of GPUs");
    }
    /// A dense peak is not a sparse one of the same entry, not beyond what its units can do densely, and not far more
    /// than twice that of the next wider precision.
    void accelerator(const HardwareEntry& own) {
        if (own.memory_bus_bits && own.memory_clock_hz && own.memory_bandwidth)
            conflicting("memory.bandwidth", *own.memory_bandwidth,
                        *own.memory_bus_bits * *own.memory_clock_hz * 2 / 8);
        const std::map<std::string, std::string> wider{
            {"bf16", "tf32"}, {"fp16", "tf32"}, {"fp8", "bf16"}};
        for (const auto& [precision, peak] : own.peaks.tensor) {
            const auto rate = own.rates.tensor.find(precision);
            const auto clock = clock_of(own, Engine::tensor, precision);
            const auto sparse = own.sparse.find(precision);
            const auto wide = wider.find(precision);
            if ((rate != own.rates.tensor.end() && clock && own.multiprocessors &&
                 peak > 1.8 * *own.multiprocessors * rate->second * *clock) ||
                (sparse != own.sparse.end() && is_near(peak, sparse->second)) ||
                (wide != wider.end() && own.peaks.tensor.contains(wide->second) &&
                 peak > 3 * own.peaks.tensor.at(wide->second)))
                add("sparse peak in the dense field " + precision);
        }
    }

    const Hardware& hardware_;
    std::map<std::pair<Kind, std::string>, std::vector<double>> all_;
    std::set<std::pair<Kind, std::string>> ids_;
    const Sheet* sheet_ = nullptr;
    std::string id_;
};

TEST(Catalog, HasNoSlips) {
    constexpr auto h100 = [](Hardware& all) -> HardwareEntry& {
        return *std::ranges::find(all.entries, "nvidia-h100-sxm5-80gb", &HardwareEntry::id);
    };
    const auto hardware = read_hardware().value();
    EXPECT_THAT(Slips{hardware}.found, IsEmpty());
    // Each kind of slip is seen.
    for (const auto& [what, slip] : std::map<std::string, std::function<void(Hardware&)>>{
             {"no source",
              [](auto& all) { all.instances[0].sheet.figures.at("vcpus").origin = {}; }},
             {"1000",
              [](auto& all) { all.instances[0].sheet.figures.at("memory_gib").value = 5e5; }},
             {"unknown id", [](auto& all) { all.instances[0].cpu = "epyc"; }},
             {"sparse", [=](auto& all) { h100(all).peaks.tensor["bf16"] = 1979e12; }},
             {"other figures", [=](auto& all) { h100(all).memory_bandwidth = 1e9; }}}) {
        auto wrong = hardware;
        slip(wrong);
        EXPECT_THAT(Slips{wrong}.found, Contains(HasSubstr(what)));
    }
}

} // namespace
} // namespace assay::reference
