// SPDX-License-Identifier: Apache-2.0
//
// Runs with arbitrary content: not consistent, but every member takes every kind of value it can have.

#pragma once

#include "record/model.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace assay::test {

class RandomRun {
public:
    explicit RandomRun(std::uint32_t seed) : engine_{seed} {}

    record::Run run() {
        return {.id = text(),
                .suite = text(),
                .started = text(),
                .ended = text(),
                .status = text(),
                .version = text(),
                .digest = text(),
                .pairing = maybe([&] {
                    return record::Pairing{
                        .id = text(), .setting = text(), .order = text(), .changes = named()};
                }),
                .imported = maybe([&] {
                    return record::Imported{.tool = text(),
                                            .tool_version = text(),
                                            .format = text(),
                                            .file = text(),
                                            .sha256 = text(),
                                            .notes = several([&] { return text(); })};
                }),
                .left_out = several([&] { return record::LeftOut{text()}; }),
                .error_counters = several([&] { return error_counter(); }),
                .hosts =
                    several([&] { return record::TeamHost{.name = text(), .machine = machine()}; }),
                .campaign = text(),
                .note = text(),
                .tags = values(),
                .soak = maybe([&] { return soak(); }),
                .machine = machine(),
                .cases = several([&] { return one_case(); })};
    }

    record::Corruption corruption() {
        return {.of = text(),
                .at = text(),
                .visit = small(),
                .call = engine_(),
                .held_against = static_cast<record::HeldAgainst>(engine_() % 3),
                .right_again = static_cast<record::Replay>(engine_() % 3),
                .output = maybe([&] { return std::int64_t{small()}; }),
                .element = maybe([&] { return std::int64_t{small()}; }),
                .bits = text(),
                .detail = text()};
    }
    record::Soak soak() {
        return {.asked_seconds = real(),
                .seconds = real(),
                .phases = several([&] {
                    return record::SoakPhase{.of = text(),
                                             .calls = engine_(),
                                             .points = several([&] {
                                                 return record::SoakPoint{
                                                     .begun_seconds = real(),
                                                     .seconds = maybe([&] { return real(); })};
                                             })};
                }),
                .wrong = engine_(),
                .corruptions = several([&] { return corruption(); })};
    }

    record::Case one_case() {
        return {.benchmark = text(),
                .version = static_cast<std::uint32_t>(engine_()),
                .place = {.kind = text(), .uuid = text(), .index = small()},
                .library = text(),
                .parameters = named(),
                .settings = named(),
                .evidence = evidence(),
                .work = named(),
                .headline = text(),
                .status = static_cast<record::Status>(below(8)),
                .reason = text(),
                .reason_code = static_cast<record::ReasonCode>(below(22)),
                .reason_values = values(),
                .verification = maybe([&] {
                    return record::Verification{.passed = flag(),
                                                .method = text(),
                                                .bound = maybe([&] { return real(); }),
                                                .error = maybe([&] { return real(); }),
                                                .detail = text()};
                }),
                .metrics = several([&] { return metric(); }),
                .tables = several([&] { return table(); }),
                .ceiling = ceiling(),
                .other_ceilings = several([&] { return ceiling(); }),
                .telemetry = telemetry(),
                .warnings = several([&] { return text(); }),
                .replicas = several([&] { return replica(); })};
    }

private:
    std::uint64_t below(std::uint64_t count) { return engine_() % count; }
    bool flag() { return below(2) == 0; }
    int small() { return static_cast<int>(below(1000)) - 500; }

    std::string text() {
        static const std::array<std::string, 12> pieces{
            "a",    "\"",       "\\", "</script>", "é", "漢字",
            "\n\t", "\x01\x1f", "😀", "",          " ", std::string("\0nul", 4)};
        std::string text;
        for (auto i = below(5); i > 0; --i) text += pieces.at(below(pieces.size()));
        return text;
    }

    double real() {
        static constexpr std::array edges{0.0,
                                          -0.0,
                                          1.0,
                                          0.1,
                                          1e15,
                                          1e18,
                                          123456789012345678.0,
                                          std::numeric_limits<double>::max(),
                                          std::numeric_limits<double>::lowest(),
                                          std::numeric_limits<double>::min(),
                                          std::numeric_limits<double>::denorm_min(),
                                          std::numeric_limits<double>::epsilon()};
        if (below(3) == 0) return edges.at(below(edges.size()));
        return std::ldexp(std::uniform_real_distribution<double>{-1, 1}(engine_),
                          static_cast<int>(below(600)) - 300);
    }

    std::uint64_t count() { return below(3) == 0 ? UINT64_MAX - below(3) : below(100); }

    record::Value value() {
        switch (below(4)) {
        case 0:
            return flag() ? std::int64_t{small()} : std::numeric_limits<std::int64_t>::min();
        case 1:
            return real();
        case 2:
            return flag();
        default:
            return text();
        }
    }
    record::NamedList named() {
        record::NamedList list;
        for (auto i = below(5); i > 0; --i)
            list.push_back({text() + std::to_string(i), value()}); // names are unique
        return list;
    }

    record::Ceiling ceiling() {
        return {.value = maybe([&] { return real(); }),
                .kind = static_cast<record::CeilingKind>(below(3)),
                .source = text(),
                .measured_by = maybe([&] { return text(); })};
    }
    record::Metric metric() {
        return {.name = text(),
                .unit = text(),
                .higher_is_better = flag(),
                .value = maybe([&] { return real(); }),
                .low = maybe([&] { return real(); }),
                .high = maybe([&] { return real(); }),
                .interval_scope = static_cast<record::IntervalScope>(below(3)),
                .median = maybe([&] { return real(); }),
                .min = maybe([&] { return real(); }),
                .p95 = maybe([&] { return real(); }),
                .p99 = maybe([&] { return real(); }),
                .count = count()};
    }
    record::Table table() {
        return {.metric = text(),
                .unit = text(),
                .row_title = text(),
                .column_title = text(),
                .rows = several([&] { return text(); }),
                .columns = several([&] { return text(); }),
                .values = several([&] { return maybe([&] { return real(); }); })};
    }
    record::DeviceTelemetry device_telemetry() {
        return {.samples = maybe([&] { return std::int64_t{small()}; }),
                .power_watts = maybe([&] { return real(); }),
                .power_high_watts = maybe([&] { return real(); }),
                .clock_hz = maybe([&] { return real(); }),
                .clock_low_hz = maybe([&] { return real(); }),
                .memory_clock_hz = maybe([&] { return real(); }),
                .temperature_celsius = maybe([&] { return real(); }),
                .memory_temperature_celsius = maybe([&] { return real(); }),
                .throttles = several([&] {
                    return record::Throttle{.reason = text(),
                                            .seconds = maybe([&] { return real(); }),
                                            .share = maybe([&] { return real(); })};
                }),
                .ecc_corrected = maybe([&] { return std::int64_t{small()}; }),
                .ecc_uncorrected = maybe([&] { return std::int64_t{small()}; }),
                .remapped_rows_corrected = maybe([&] { return std::int64_t{small()}; }),
                .remapped_rows_uncorrected = maybe([&] { return std::int64_t{small()}; }),
                .remapping_pending = maybe([&] { return flag(); }),
                .remapping_failed = maybe([&] { return flag(); }),
                .pcie_generation = maybe([&] { return small(); }),
                .pcie_width = maybe([&] { return small(); }),
                .pcie_generation_max = maybe([&] { return small(); }),
                .pcie_width_max = maybe([&] { return small(); }),
                .pcie_replays = maybe([&] { return std::int64_t{small()}; }),
                .nvlink_received_bytes = maybe([&] { return std::int64_t{small()}; }),
                .nvlink_sent_bytes = maybe([&] { return std::int64_t{small()}; }),
                .other_processes = maybe([&] { return small(); })};
    }
    record::Telemetry telemetry() {
        return {.window_seconds = maybe([&] { return real(); }),
                .core_clock_hz = maybe([&] { return real(); }),
                .foreign_cpu = maybe([&] { return real(); }),
                .steal = maybe([&] { return real(); }),
                .throttle_events = maybe([&] { return real(); }),
                .page_migrations = maybe([&] { return real(); }),
                .temperature_celsius = maybe([&] { return real(); }),
                .energy_joules = maybe([&] { return real(); }),
                .energy_scope = maybe([&] { return text(); }),
                .energy_note = maybe([&] { return text(); }),
                .device = maybe([&] { return device_telemetry(); }),
                .disturbances = several([&] { return text(); }),
                .disturbed_by = several([&] {
                    return record::Disturbance{.code =
                                                   static_cast<record::DisturbanceCode>(below(18)),
                                               .values = values()};
                })};
    }
    record::Values values() {
        record::Values made;
        static_cast<record::NamedList&>(made) = named();
        return made;
    }
    record::Evidence evidence() {
        return {.links = static_cast<record::Links>(below(5)),
                .footprint_bytes = maybe([&] { return real(); }),
                .machines = maybe([&] { return std::int64_t{small()}; }),
                .nvlink_most_bytes = maybe([&] { return real(); }),
                .switch_work = text(),
                .network_bytes_per_second = maybe([&] { return real(); })};
    }
    record::Replica replica() {
        return {.index = small(),
                .started = text(),
                .status = static_cast<record::Status>(below(8)),
                .reason = text(),
                .reason_code = static_cast<record::ReasonCode>(below(22)),
                .reason_values = values(),
                .setup_seconds = maybe([&] { return real(); }),
                .warmup_seconds = real(),
                .batches = count(),
                .calls = maybe([&] { return count(); }),
                .values = several([&] { return real(); }),
                .seconds = maybe([&] { return real(); }),
                .low = maybe([&] { return real(); }),
                .high = maybe([&] { return real(); }),
                .p99 = maybe([&] { return real(); }),
                .extra = named(),
                .tables = several([&] { return table(); }),
                .telemetry = telemetry()};
    }
    record::Device device() {
        return {.kind = text(),
                .index = small(),
                .uuid = text(),
                .whole_uuid = maybe([&] { return text(); }),
                .pci_address = text(),
                .name = text(),
                .compute_capability = text(),
                .multiprocessors = maybe([&] { return small(); }),
                .memory_bytes = maybe([&] { return std::int64_t{small()}; }),
                .clock_max_hz = maybe([&] { return real(); }),
                .memory_clock_max_hz = maybe([&] { return real(); }),
                .memory_bus_bits = maybe([&] { return small(); }),
                .power_limit_watts = maybe([&] { return real(); }),
                .power_limit_default_watts = maybe([&] { return real(); }),
                .mode = text(),
                .ecc = maybe([&] { return flag(); }),
                .confidential = maybe([&] { return flag(); }),
                .numa_node = maybe([&] { return small(); }),
                .nvlinks = maybe([&] { return small(); }),
                .firmware = {.vbios = text(), .inforom = text()}};
    }
    record::MachineIdentity identity() {
        return {.by = text(),
                .node = text(),
                .aliases = several([&] { return text(); }),
                .parts = several(
                    [&] { return record::Part{.kind = text(), .where = text(), .id = text()}; }),
                .serials = several([&] {
                    return record::Serial{
                        .kind = text(), .where = text(), .text = text(), .keyed = text()};
                })};
    }
    record::Platform platform() {
        return {.region = text(),
                .zone = text(),
                .bios_vendor = text(),
                .bios_version = text(),
                .bios_date = text(),
                .microcode = text(),
                .frequency_driver = text(),
                .governor = text(),
                .boost = maybe([&] { return flag(); }),
                .smt = text(),
                .power_limits = several([&] {
                    return record::PowerLimit{.scope = text(), .term = text(), .watts = real()};
                }),
                .memory_modules = several([&] {
                    return record::MemoryModules{
                        .count = small(),
                        .bytes = small(),
                        .type = text(),
                        .transfers_per_second = maybe([&] { return real(); }),
                        .transfers_per_second_most = maybe([&] { return real(); })};
                }),
                .memory_slots = maybe([&] { return small(); }),
                .memory_channels = maybe([&] { return small(); }),
                .storage = several([&] {
                    return record::StorageDevice{.name = text(),
                                                 .model = text(),
                                                 .bytes =
                                                     maybe([&] { return std::int64_t{small()}; }),
                                                 .rotational = maybe([&] { return flag(); }),
                                                 .transport = text(),
                                                 .firmware = text()};
                }),
                .network = several([&] {
                    return record::NetworkCard{.name = text(),
                                               .address = text(),
                                               .driver = text(),
                                               .firmware = text(),
                                               .bytes_per_second = maybe([&] { return real(); }),
                                               .virtual_functions = maybe([&] { return small(); }),
                                               .physical_function = text()};
                }),
                .bonds = several([&] {
                    return record::Bond{.name = text(),
                                        .mode = text(),
                                        .members = several([&] { return text(); }),
                                        .active = several([&] { return text(); }),
                                        .bytes_per_second = maybe([&] { return real(); })};
                }),
                .kernel_options = several([&] { return text(); })};
    }
    record::ErrorCounter error_counter() {
        return {.source = text(),
                .device = text(),
                .counter = text(),
                .before = maybe([&] { return std::int64_t{small()}; }),
                .after = maybe([&] { return std::int64_t{small()}; })};
    }
    record::Machine machine() {
        return {.id = text(),
                .identity = identity(),
                .hostname = text(),
                .cpu_model = text(),
                .cpu_vendor = text(),
                .architecture = text(),
                .sockets = maybe([&] { return small(); }),
                .cores = maybe([&] { return small(); }),
                .threads = small(),
                .usable_cores = small(),
                .usable_threads = small(),
                .numa_nodes = small(),
                .core_clock_hz = maybe([&] { return real(); }),
                .isa = several([&] { return text(); }),
                .caches = several([&] {
                    return record::Cache{.level = small(),
                                         .type = text(),
                                         .bytes = small(),
                                         .count = small(),
                                         .line_bytes = small()};
                }),
                .memory_bytes = std::numeric_limits<std::int64_t>::max(),
                .memory_limit_bytes = maybe([&] { return std::int64_t{small()}; }),
                .huge_pages = text(),
                .pci = several([&] {
                    return record::PciDevice{.address = text(),
                                             .vendor_id = text(),
                                             .device_id = text(),
                                             .kind = text(),
                                             .name = text(),
                                             .driver = text()};
                }),
                .devices = several([&] { return device(); }),
                .os = text(),
                .kernel = text(),
                .virtualization = text(),
                .container = text(),
                .provider = text(),
                .instance = text(),
                .system = text(),
                .platform = platform(),
                .software = named()};
    }

    template <class Make>
    auto maybe(Make make) -> std::optional<decltype(make())> {
        if (flag()) return std::nullopt;
        return make();
    }
    template <class Make>
    auto several(Make make) -> std::vector<decltype(make())> {
        std::vector<decltype(make())> list;
        for (auto i = below(4); i > 0; --i) list.push_back(make());
        return list;
    }

    std::mt19937_64 engine_;
};

} // namespace assay::test
