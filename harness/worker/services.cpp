// SPDX-License-Identifier: Apache-2.0
#include "worker/services.hpp"

#include "machine/inventory.hpp"
#include "record/metrics.hpp"

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

namespace assay::harness {
namespace {

/// Lists a module may fill; more is a module gone wild.
constexpr std::size_t most_entries = 1000;

Services& of(void* self) { return *static_cast<Services*>(self); }

/// Whole numbers are recorded as integers: threads=4, not 4.0.
record::Value number(double value) {
    constexpr double exact = 9007199254740992.0; // 2^53: above, a double skips integers
    if (std::floor(value) == value && std::fabs(value) < exact)
        return static_cast<std::int64_t>(value);
    return value;
}

/// Names of parameters, settings and metrics; anything else would not survive as a key.
bool is_name(std::string_view name) {
    constexpr std::size_t longest = 100;
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.' || c == '-';
    };
    return !name.empty() && name.size() <= longest && std::ranges::all_of(name, fits);
}

} // namespace

std::int64_t data_in_use() {
    std::ifstream file{"/proc/self/statm"};
    std::array<std::int64_t, 6> pages{}; // size resident shared text lib data
    for (auto& value : pages)
        if (!(file >> value)) return 0;
    return pages.back() * ::sysconf(_SC_PAGESIZE);
}

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
    texts_.emplace("state.folder", std::move(state_folder));
}

void Services::clear() {
    const std::scoped_lock lock{mutex_};
    settings.clear();
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
    of(self).put(of(self).settings, name, number(value));
}

void Services::setting_text(void* self, const char* name, const char* value) noexcept {
    if (value != nullptr) of(self).put(of(self).settings, name, std::string{value});
}

void Services::metric(void* self, const char* name, double value) noexcept {
    of(self).put(of(self).metrics, name, value);
}

void Services::table(void* self, const assay_table* table) noexcept {
    // A matrix of 512 cores; more would not fit a message.
    constexpr std::size_t most_values = 512UL * 512UL;
    constexpr std::size_t most_tables = 8;
    const auto* metric =
        table == nullptr || table->metric == nullptr ? nullptr : record::find_metric(table->metric);
    if (metric == nullptr) return of(self).warn_("a table of no known metric was dropped");
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

void Services::log(void* self, std::int32_t level, const char* text) noexcept {
    if (text == nullptr) return;
    if (level >= ASSAY_LOG_WARNING) {
        of(self).warn_(text);
        return;
    }
    // Notes go where the module's own output goes.
    const auto line = std::string{text} + '\n';
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

} // namespace assay::harness
