// SPDX-License-Identifier: Apache-2.0
#include "procure/catalog_lint.hpp"

#include "base/console.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/catalog.hpp"
#include "document/texts/offers.hpp"
#include "record/format.hpp"
#include "reference/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace assay::procure {

using namespace document;
namespace {

using document::LintRow;
using document::Severity;
using reference::CatalogEntry;
using reference::Kind;

constexpr double thousand = 1000;
constexpr double seconds_a_day = 86400;
/// After this providers have changed enough of what they rent to look again.
constexpr double days_that_hold = 365;
/// Of figures that are the same but for rounding.
constexpr double rounding = 0.02;
/// Makers' GB, the driver's bytes and what is kept for error correction are nearer than this.
constexpr double counted_otherwise = 0.15;

bool is_near(double a, double b, double share) { return std::abs(a - b) <= share * std::abs(b); }
bool is_near(const json::Value& a, const json::Value& b) {
    return a.is_number() && b.is_number() ? is_near(a.get<double>(), b.get<double>(), rounding)
                                          : a == b;
}

class Linter {
public:
    Linter(const reference::Hardware& hardware, const CatalogLint& options)
        : hardware_{hardware}, options_{options}, entries_{reference::entries_of(hardware)} {
        for (const auto& entry : entries_)
            for (const auto& [path, figure] : entry.sheet->figures)
                if (figure.value.is_number() && figure.value.get<double>() > 0)
                    all_[{entry.kind, path}].push_back(figure.value.get<double>());
        for (auto& [path, values] : all_) std::ranges::sort(values);
    }

    std::vector<LintRow> take() {
        names();
        for (const auto& entry : entries_) {
            if (!is_asked(entry.sheet->file)) continue;
            entry_ = &entry;
            sources();
            slips();
            conflicts();
            if (entry.instance != nullptr) instance(*entry.instance);
            if (entry.accelerator != nullptr) sparse(*entry.accelerator);
        }
        entry_ = nullptr;
        days();
        return std::move(found_);
    }

private:
    bool is_asked(const std::string& file) const {
        return options_.files.empty() || std::ranges::count(options_.files, file) > 0;
    }
    const reference::Sheet& sheet() const { return *entry_->sheet; }

    void add(CatalogCode code, const std::string& file, const std::string& id, std::string what,
             std::string instead, Severity severity) {
        found_.push_back({.code = to_string(code),
                          .severity = severity,
                          .file = file,
                          .about = plain(id),
                          .what = std::move(what),
                          .instead = std::move(instead)});
    }
    void add(CatalogCode code, std::string what, std::string instead,
             Severity severity = Severity::serious) {
        add(code, sheet().file, sheet().id, std::move(what), std::move(instead), severity);
    }
    std::string shown(std::string_view path, const json::Value& value) const {
        return figure_in_words(path, value);
    }

    /// Ids and names of one kind, and names of providers.
    void names() {
        std::map<std::pair<Kind, std::string>, const CatalogEntry*> known;
        for (const auto& entry : entries_)
            for (const auto& name : std::set{entry.sheet->id, entry.sheet->name}) {
                const auto key = entry.instance != nullptr ? entry.sheet->id : name;
                const auto [first, is_new] = known.try_emplace({entry.kind, key}, &entry);
                if (is_new || first->second->sheet == entry.sheet || !is_asked(entry.sheet->file))
                    continue;
                add(CatalogCode::same_name, entry.sheet->file, entry.sheet->id,
                    say<text::catalog::same_name>(plain(key), plain(first->second->sheet->file)),
                    say<text::catalog::name_apart>(), Severity::serious);
                break;
            }
        for (const auto& provider : hardware_.providers)
            for (const auto& alias : provider.aliases)
                if (const auto id = reference::provider_id(hardware_, alias); id != provider.id)
                    add(CatalogCode::same_name,
                        options_.files.empty() ? std::string{} : options_.files.front(),
                        provider.id, say<text::catalog::same_alias>(plain(alias), plain(id)),
                        say<text::catalog::name_apart>(), Severity::serious);
    }

    void sources() {
        std::vector<std::string> without;
        for (const auto& [path, figure] : sheet().figures)
            if (figure.origin.source.empty() && is_asked(figure.origin.file) &&
                !path.starts_with("rates.") &&
                (figure.value.is_number() || entry_->instance != nullptr))
                without.push_back(path);
        constexpr std::size_t few = 5;
        if (!without.empty())
            add(CatalogCode::no_source, say<text::catalog::no_source>(list_of(without, few)),
                say<text::catalog::give_source>(), Severity::caution);
    }

    /// Away from all others of that kind, among which a thousandth or the thousandfold of it would be.
    void slips() {
        for (const auto& [path, figure] : sheet().figures) {
            if (!figure.value.is_number() || !is_asked(figure.origin.file)) continue;
            const double value = figure.value.get<double>();
            if (!(value > 0)) continue;
            auto others = all_.at({entry_->kind, path});
            others.erase(std::ranges::find(others, value));
            constexpr std::size_t enough = 3;
            constexpr double far = 10; // what is new may be larger than all before it
            if (others.size() < enough ||
                (value * far >= others.front() && value <= far * others.back()))
                continue;
            for (const double factor : {thousand, 1 / thousand}) {
                const double meant = value * factor;
                if (meant < others.front() || meant > others.back()) continue;
                add(CatalogCode::unit_slip,
                    say<text::catalog::unit_slip>(path, shown(path, figure.value),
                                                  shown(path, others.front()),
                                                  shown(path, others.back())),
                    say<text::catalog::perhaps>(shown(path, meant)));
                break;
            }
        }
    }

    bool has_conflict(std::string_view path) const {
        return std::ranges::count(sheet().conflicts, path, &reference::OtherFigure::of) > 0;
    }
    void conflicts() {
        for (const auto& other : sheet().conflicts)
            if (!sheet().figures.contains(other.of))
                add(CatalogCode::unknown_id, say<text::catalog::no_figure>(plain(other.of)),
                    say<text::catalog::name_figure>(), Severity::caution);
        for (const auto& before : sheet().replaced) {
            const auto& now = sheet().figures.at(before.of);
            if (is_near(now.value, before.value) || has_conflict(before.of)) continue;
            add(CatalogCode::conflict_missing,
                say<text::catalog::replaced>(before.of, shown(before.of, now.value),
                                             plain(before.origin.file),
                                             shown(before.of, before.value)),
                say<text::catalog::say_conflict>(), Severity::caution);
        }
        const auto bandwidth = [&](const auto& entry) {
            if (!entry.memory_bus_bits || !entry.memory_clock_hz || !entry.memory_bandwidth) return;
            const double computed = *entry.memory_bus_bits * *entry.memory_clock_hz * 2 / 8;
            if (is_near(computed, *entry.memory_bandwidth, rounding) ||
                has_conflict("memory.bandwidth"))
                return;
            add(CatalogCode::conflict_missing,
                say<text::catalog::contradicts>(
                    "memory.bandwidth", shown("memory.bandwidth", *entry.memory_bandwidth),
                    "memory.bus_bits, memory.clock", shown("memory.bandwidth", computed)),
                say<text::catalog::say_conflict>(), Severity::caution);
        };
        if (entry_->accelerator != nullptr) bandwidth(*entry_->accelerator);
    }

    void known(std::string_view path, const std::string& id, bool is_known) {
        if (!id.empty() && !is_known)
            add(CatalogCode::unknown_id, say<text::catalog::unknown_id>(path, plain(id)),
                say<text::catalog::add_entry>());
    }
    void instance(const reference::InstanceEntry& own) {
        known("provider", own.provider,
              std::ranges::count(hardware_.providers, own.provider, &reference::Provider::id) > 0);
        known("cpu", own.cpu, reference::find_processor(hardware_, own.cpu) != nullptr);
        const auto* gpu = reference::find_accelerator(hardware_, own.gpu);
        known("gpu", own.gpu, gpu != nullptr);
        if (own.vcpus && own.cores && *own.cores > *own.vcpus) {
            add(CatalogCode::more_cores,
                say<text::catalog::more_cores>(fmt::format("{:g}", *own.cores),
                                               fmt::format("{:g}", *own.vcpus)),
                say<text::offers::count_cores>());
        } else if (own.vcpus && own.cores && own.threads_per_core &&
                   *own.vcpus != *own.cores * *own.threads_per_core && !has_conflict("vcpus") &&
                   !has_conflict("cores")) {
            add(CatalogCode::conflict_missing,
                say<text::catalog::contradicts>(
                    "vcpus", fmt::format("{:g}", *own.vcpus), "cores, threads_per_core",
                    fmt::format("{:g}", *own.cores * *own.threads_per_core)),
                say<text::catalog::say_conflict>(), Severity::caution);
        }
        if (gpu == nullptr || !gpu->memory_bytes || !own.gpu_memory_gb || !(own.gpus > 0)) return;
        constexpr double bytes_a_gb = 1e9;
        const double each = *own.gpu_memory_gb / *own.gpus;
        const double sheet = *gpu->memory_bytes / bytes_a_gb;
        if (!is_near(each, sheet, counted_otherwise))
            add(CatalogCode::gpu_memory_differs,
                say<text::catalog::gpu_memory>(
                    fmt::format("{:g}", *own.gpu_memory_gb), fmt::format("{:.3g}", *own.gpus),
                    plain(gpu->name), fmt::format("{:.3g}", sheet), fmt::format("{:.3g}", each)),
                say<text::catalog::count_gpus>());
    }

    /// A dense peak is no sparse one of the same entry, nothing that its units cannot do densely, and not far more than
    /// twice that of the next wider precision.
    void sparse(const reference::HardwareEntry& own) {
        constexpr double likely = 1.8;
        constexpr double steep = 3;
        constexpr std::array wider{std::pair{"bf16", "tf32"}, std::pair{"fp16", "tf32"},
                                   std::pair{"fp8", "bf16"}};
        for (const auto& [precision, peak] : own.peaks.tensor) {
            const auto path = "peaks.tensor." + precision;
            double dense = 0;
            const auto rate = own.rates.tensor.find(precision);
            const auto clock = reference::clock_of(own, reference::Engine::tensor, precision);
            if (rate != own.rates.tensor.end() && clock && own.multiprocessors)
                dense = *own.multiprocessors * rate->second * *clock;
            const auto there = own.sparse.find(precision);
            bool found = (dense > 0 && peak > likely * dense) ||
                         (there != own.sparse.end() && is_near(peak, there->second, rounding));
            for (const auto& [narrow, wide] : wider)
                if (const auto next = own.peaks.tensor.find(wide);
                    narrow == precision && next != own.peaks.tensor.end())
                    found = found || peak > steep * next->second;
            if (found)
                add(CatalogCode::sparse_as_dense,
                    say<text::catalog::sparse_as_dense>(path, shown(path, peak)),
                    say<text::catalog::move_sparse>(precision, shown(path, peak / 2)));
        }
    }

    /// By file and day: one finding for all that were read together.
    void days() {
        std::map<std::pair<std::string, std::string>, std::size_t> read;
        for (const auto& entry : entries_) {
            for (const auto& [path, figure] : entry.sheet->figures)
                ++read[{figure.origin.file, figure.origin.checked}];
            for (const auto& other : entry.sheet->conflicts)
                ++read[{other.origin.file, other.origin.checked}];
        }
        for (const auto& [place, count] : read) {
            const auto& [file, day] = place;
            const auto seconds = seconds_of(day);
            if (!seconds || !is_asked(file)) continue;
            const double days = (options_.now - *seconds) / seconds_a_day;
            if (days < 0)
                add(CatalogCode::future_day, file, "", say_count<text::catalog::future>(count, day),
                    say<text::catalog::right_day>(), Severity::serious);
            else if (days > days_that_hold)
                add(CatalogCode::old_check, file, "",
                    say_count<text::catalog::old>(count, day, fmt::format("{:.0f}", days)),
                    say<text::catalog::read_again>(), Severity::caution);
        }
    }

    const reference::Hardware& hardware_;
    const CatalogLint& options_;
    std::vector<CatalogEntry> entries_;
    std::map<std::pair<Kind, std::string>, std::vector<double>> all_; ///< values, sorted
    const CatalogEntry* entry_ = nullptr;
    std::vector<LintRow> found_;
};

} // namespace

std::vector<LintRow> lint(const reference::Hardware& hardware, const CatalogLint& options) {
    return Linter{hardware, options}.take();
}

LintRow lint_unreadable(const std::string& file, const std::string& error) {
    return {.code = to_string(CatalogCode::unreadable),
            .file = file,
            .what = as_sentence(plain(error)),
            .instead = say<text::catalog::by_schema>()};
}

// --- catalog words -------------------------------------------------------------------------------

namespace {

/// The unit of figures whose path begins and ends so.
struct PathUnit {
    std::string_view begins;
    std::string_view ends;
    std::string_view unit;
};
constexpr std::array units{
    PathUnit{"peaks.", ".int8", "OP/s"},
    PathUnit{"peaks.", "", "FLOP/s"},
    PathUnit{"rates.", "", "1/clock"},
    PathUnit{"memory.clock", "", "Hz"},
    PathUnit{"clock.", "", "Hz"},
    PathUnit{"", "bytes", "B"},
    PathUnit{"", "bandwidth", "B/s"},
    PathUnit{"memory.transfer_rate", "", "T/s"},
    PathUnit{"power", "", "W"},
    PathUnit{"", "_gib", "GiB"},
    PathUnit{"", "_gb", "GB"},
    PathUnit{"", "_gbps", "Gb/s"},
    PathUnit{"memory.bus_bits", "", "bit"},
};
} // namespace

std::string_view unit_of_figure(std::string_view path) {
    const auto found = std::ranges::find_if(units, [&](const PathUnit& one) {
        return path.starts_with(one.begins) && path.ends_with(one.ends);
    });
    return found == units.end() ? std::string_view{} : found->unit;
}

std::string name_of_figure(std::string_view path) {
    const auto key = [](std::string text) {
        std::ranges::replace(text, '.', '_');
        return text;
    };
    if (const auto whole = find_text("figure", key(std::string{path}))) return std::string{*whole};
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos) return plain(path);
    const auto part = find_text("figure", key(std::string{path.substr(0, dot)}));
    if (!part) return plain(path);
    return fmt::format("{} {}", *part, plain(path.substr(dot + 1)));
}

std::string figure_in_words(std::string_view path, const json::Value& value) {
    if (value.is_string()) return plain(value.get<std::string>());
    if (value.is_boolean())
        return value.get<bool>() ? say<text::catalog::yes>() : say<text::catalog::no>();
    if (!value.is_number()) return "";
    const double number = value.get<double>();
    const auto unit = unit_of_figure(path);
    if (unit.empty()) return fmt::format("{:g}", number);
    if (unit == "GiB" || unit == "GB" || unit == "Gb/s" || unit == "1/clock" || unit == "bit")
        return fmt::format("{:.6g} {}", number, unit);
    return record::human(number, unit);
}

} // namespace assay::procure
