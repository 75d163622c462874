// SPDX-License-Identifier: Apache-2.0
#include "worker/services.hpp"

#include "base/text.hpp"
#include "machine/inventory.hpp"
#include "plan/manifest.hpp"
#include "record/metrics.hpp"
#include "worker/module.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace assay::worker {
namespace {

/// Limit of the lists that a module may fill; more is a defect.
constexpr std::size_t most_entries = 1000;

Services& of(void* self) { return *static_cast<Services*>(self); }

constexpr double exact = 9007199254740992.0; // 2^53: above, a double skips integers

/// Whole numbers are recorded as integers: threads=4, not 4.0.
record::Value number(double value) {
    if (std::floor(value) == value && std::fabs(value) < exact)
        return static_cast<std::int64_t>(value);
    return value;
}

/// Names of parameters, settings and metrics, which must be usable as keys.
bool is_name(std::string_view name) {
    constexpr std::size_t longest = 100;
    const auto fits = [](char c) { return is_word(c, "_.-"); };
    return !name.empty() && name.size() <= longest && std::ranges::all_of(name, fits);
}

/// Evidence that modules built before assay_evidence give as settings, so that they are measured as before.
struct ToldBySetting {
    std::string_view name;
    std::optional<double> record::Evidence::* number;
};
constexpr std::array told_by_settings{
    ToldBySetting{"nvlink.least_bytes", &record::Evidence::nvlink_least_bytes},
    ToldBySetting{"nvlink.most_bytes", &record::Evidence::nvlink_most_bytes},
    ToldBySetting{"batch_at_least", &record::Evidence::batch_seconds},
    ToldBySetting{"load_at_least", &record::Evidence::load_seconds},
};

/// The note on values for an unknown metric.
std::string dropped(std::string_view what, const char* metric) {
    return fmt::format("{} was dropped: {}", what,
                       metric == nullptr ? "its metric has no name" : plan::unknown_metric(metric));
}

template <class T, class Told>
void adopt(std::optional<T>& kept, Told told) {
    if (told > 0 && static_cast<double>(told) < exact) kept = static_cast<T>(told);
}
void adopt(std::string& kept, const char* told) {
    if (told != nullptr && *told != '\0') kept = told;
}

} // namespace

namespace {

/// A column of /proc/self/statm (size resident shared text lib data) in bytes; 0: not known.
std::int64_t memory(std::size_t column) {
    std::ifstream file{"/proc/self/statm"};
    std::int64_t pages = 0;
    for (std::size_t i = 0; i <= column; ++i)
        if (!(file >> pages)) return 0;
    return pages * ::sysconf(_SC_PAGESIZE);
}

} // namespace

std::int64_t resident_in_use() { return memory(1); }
std::int64_t data_in_use() { return memory(5); }

Services::Services(const record::Machine& machine, std::int64_t data_limit,
                   std::function<void(const std::string&)> warn, std::string state_folder,
                   JobFacts job)
    : machine_{machine}, data_limit_{data_limit}, job_{job}, warn_{std::move(warn)} {
    table_.struct_size = sizeof table_;
    table_.abi = ASSAY_MODULE_ABI;
    table_.context = this;
    table_.fact = &fact;
    table_.fact_text = &fact_text;
    table_.setting_number = &setting_number;
    table_.setting_text = &setting_text;
    table_.metric = &metric;
    table_.log = &log;
    table_.table = &table;
    table_.evidence = &tell;
    texts_.emplace("state.folder", std::move(state_folder));
}

void Services::clear() {
    const std::scoped_lock lock{mutex_};
    settings.clear();
    evidence = {};
    metrics.clear();
    tables.clear();
}

double Services::fact(void* self, const char* name) noexcept {
    if (name == nullptr) return std::numeric_limits<double>::quiet_NaN();
    auto& services = of(self);
    if (std::string_view{name} == "job.ranks") return services.job_.ranks;
    if (std::string_view{name} == "job.hosts") return services.job_.hosts;
    const double value = machine::fact(services.machine_, name);
    if (services.data_limit_ == 0 || std::string_view{name} != "memory.available") return value;
    const auto left =
        static_cast<double>(std::max<std::int64_t>(services.data_limit_ - data_in_use(), 0));
    return std::isnan(value) ? left : std::min(value, left);
}

const char* Services::fact_text(void* self, const char* name) noexcept {
    if (name == nullptr) return nullptr;
    auto& services = of(self);
    const std::scoped_lock lock{services.mutex_};
    auto known = services.texts_.find(name);
    if (known == services.texts_.end())
        known =
            services.texts_.emplace(name, std::string{machine::fact_text(services.machine_, name)})
                .first;
    return known->second.c_str();
}

void Services::put(record::NamedList& list, const char* name, record::Value value) {
    if (name == nullptr || !is_name(name)) return;
    const std::scoped_lock lock{mutex_};
    const auto known = std::ranges::find(list, name, &record::Named::name);
    if (known != list.end())
        known->value = std::move(value);
    else if (list.size() < most_entries)
        list.push_back({name, std::move(value)});
}

void Services::setting_number(void* self, const char* name, double value) noexcept {
    auto& services = of(self);
    services.put(services.settings, name, number(value));
    if (name == nullptr || !(value >= 0)) return;
    const std::scoped_lock lock{services.mutex_};
    const auto* const told =
        std::ranges::find(told_by_settings, std::string_view{name}, &ToldBySetting::name);
    if (told != told_by_settings.end()) services.evidence.*told->number = value;
    if (name == std::string_view{"nvlink.devices"}) adopt(services.evidence.nvlink_devices, value);
}

void Services::setting_text(void* self, const char* name, const char* value) noexcept {
    if (value == nullptr) return;
    auto& services = of(self);
    services.put(services.settings, name, std::string{value});
    if (name == nullptr || name != std::string_view{"network_devices"}) return;
    const std::scoped_lock lock{services.mutex_};
    services.evidence.network_devices = value;
}

void Services::metric(void* self, const char* name, double value) noexcept {
    if (name == nullptr || record::find_metric(name) == nullptr)
        return of(self).warn_(dropped("a value", name));
    of(self).put(of(self).metrics, name, value);
}

void Services::table(void* self, const assay_table* table) noexcept {
    // A matrix of 512 cores; more would not fit a message.
    constexpr std::size_t most_values = 512UL * 512UL;
    constexpr std::size_t most_tables = 8;
    const auto* name = table == nullptr ? nullptr : table->metric;
    const auto* metric = name == nullptr ? nullptr : record::find_metric(name);
    if (metric == nullptr) return of(self).warn_(dropped("a table", name));
    if (table->row_count == 0 || table->column_count == 0 ||
        table->row_count > most_values / table->column_count)
        return of(self).warn_("a table that is empty or too large was dropped");
    const auto texts = [](const char* const* from, std::size_t count) {
        return std::vector<std::string>{from, from + count};
    };
    record::Table kept{.metric = std::string{metric->name},
                       .unit = std::string{metric->unit},
                       .row_title = table->row_title,
                       .column_title = table->column_title,
                       .rows = texts(table->rows, table->row_count),
                       .columns = texts(table->columns, table->column_count),
                       .values = {}};
    for (const double value : std::span{table->values, table->row_count * table->column_count})
        kept.values.push_back(std::isfinite(value) ? std::optional{value} : std::nullopt);
    const std::scoped_lock lock{of(self).mutex_};
    if (of(self).tables.size() < most_tables) of(self).tables.push_back(std::move(kept));
}

void Services::tell(void* self, const assay_evidence* evidence) noexcept {
    if (evidence == nullptr) return;
    const auto told = copy_of<assay_evidence>(evidence);
    const std::scoped_lock lock{of(self).mutex_};
    auto& kept = of(self).evidence;
    if (told.links > ASSAY_LINKS_OTHER)
        kept.links = record::Links::other; // of a later version
    else if (told.links != ASSAY_LINKS_UNKNOWN)
        kept.links = static_cast<record::Links>(told.links);
    adopt(kept.footprint_bytes, told.footprint_bytes);
    adopt(kept.cache_bytes, told.cache_bytes);
    adopt(kept.directions, told.directions);
    adopt(kept.machines, told.machines);
    adopt(kept.ranks, told.ranks);
    adopt(kept.nvlink_devices, told.nvlink_devices);
    adopt(kept.nvlink_least_bytes, told.nvlink_least_bytes);
    adopt(kept.nvlink_most_bytes, told.nvlink_most_bytes);
    if (told.nvlink_most_bytes < 0) kept.nvlink_most_bytes = 0;
    adopt(kept.batch_seconds, told.batch_seconds);
    adopt(kept.load_seconds, told.load_seconds);
    adopt(kept.switch_work, told.switch_work);
    adopt(kept.network_devices, told.network_devices);
}

void Services::log(void* self, std::int32_t level, const char* text) noexcept {
    if (text == nullptr) return;
    if (level >= ASSAY_LOG_WARNING) {
        of(self).warn_(text);
        return;
    }
    // Notes go to the log of the module's own output.
    const auto line = std::string{text} + '\n';
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

} // namespace assay::worker
