// SPDX-License-Identifier: Apache-2.0

#include "situation.hpp"

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/utc.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"
#include "record/summary.hpp"
#include "support/sample_run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace assay::decisions {
namespace {

void check(const Result<void>& done) {
    if (!done) throw std::runtime_error{done.error().message};
}

std::filesystem::path file_in(const std::filesystem::path& folder, const std::string& name) {
    std::filesystem::create_directories(folder / name);
    return folder / name / "run.json";
}

bool is_at(const record::Case& c, const std::string& words) {
    std::istringstream stream{words};
    std::string word;
    stream >> word;
    if (c.benchmark != word) return false;
    while (stream >> word) {
        const auto split = word.find('=');
        if (record::text(c.parameters, word.substr(0, split)) != word.substr(split + 1))
            return false;
    }
    return true;
}

std::string time_text(double seconds) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string shifted(const std::string& time, double hours) {
    const auto seconds = seconds_of(time);
    return seconds ? time_text(*seconds + (hours * 3600)) : time;
}

void scale(record::Replica& replica, const std::string& metric, double factor) {
    if (replica.seconds) *replica.seconds *= factor;
    for (auto* value : {&replica.low, &replica.high, &replica.p99})
        if (*value) **value *= factor;
    for (auto& value : replica.values) value *= factor;
    // A case slower beside its siblings has a lower share of what it reaches alone.
    for (auto& named : replica.extra)
        if (named.name == metric || named.name == "together_to_alone" ||
            named.name == "slowest_sibling" || named.name == "late_to_early")
            named.value = record::number(named.value).value_or(0) / factor;
}

template <class Edit>
void edit(record::Run& run, const Wanted& wanted, const Chosen& chosen, const Edit& change) {
    bool any = false;
    for (auto& c : run.cases) {
        if (!wanted(c)) continue;
        any = true;
        for (auto& replica : c.replicas)
            if (chosen(replica)) change(c, replica);
        conclude(c);
    }
    if (!any) throw std::runtime_error{"no case of this run is edited"};
}

} // namespace

std::filesystem::path real(std::string_view name) {
    return std::filesystem::path{ASSAY_DECISIONS_DIR} / "real" / (std::string{name} + ".json");
}

record::Run read(const std::filesystem::path& path) {
    auto run = record::read_run(path);
    if (!run) throw std::runtime_error{run.error().message};
    return *std::move(run);
}

std::filesystem::path write(const std::filesystem::path& folder, const std::string& name,
                            const record::Run& run) {
    auto file = file_in(folder, name);
    check(record::write_run(file, run));
    return file;
}

std::filesystem::path write_small(const std::filesystem::path& folder, const std::string& name,
                                  const record::Run& run) {
    auto file = file_in(folder, name);
    check(write_atomically(file, json::to_line(record::to_json(run))));
    return file;
}

Wanted on_devices(const std::string& words) {
    return [words](const record::Case& c) { return c.place.kind != "host" && is_at(c, words); };
}
Wanted on_host(const std::string& words) {
    return [words](const record::Case& c) { return c.place.kind == "host" && is_at(c, words); };
}

std::size_t measured_replicas(const record::Case& c) {
    return static_cast<std::size_t>(std::ranges::count_if(
        c.replicas, [](const auto& replica) { return record::is_measured(replica.status); }));
}

Chosen every_replica() {
    return [](const record::Replica&) { return true; };
}
Chosen half_of_replicas() {
    return [](const record::Replica& replica) { return replica.index % 2 == 0; };
}

void conclude(record::Case& c) { record::conclude(c, static_cast<int>(c.replicas.size())); }

void slow_down(record::Run& run, const Wanted& wanted, double factor, const Chosen& chosen) {
    edit(run, wanted, chosen, [&](const record::Case& c, record::Replica& replica) {
        scale(replica, c.headline, factor);
    });
}

void mark(record::Run& run, const Wanted& wanted, record::DisturbanceCode code,
          const Chosen& chosen) {
    edit(run, wanted, chosen, [&](const record::Case& /*c*/, record::Replica& replica) {
        record::disturb(replica.telemetry, code, {}, std::string{record::to_string(code)});
    });
}

void interrupt(record::Run& run, std::size_t replicas) {
    for (auto& c : run.cases) {
        if (c.replicas.empty()) continue;
        if (c.replicas.size() > replicas) c.replicas.resize(replicas);
        record::conclude(c, static_cast<int>(replicas) + 1);
    }
    run.status = "interrupted";
    run.ended_by = record::RunEnd::signal;
}

void drop_device(record::Run& run, int index) {
    std::erase_if(run.machine.devices, [&](const auto& one) { return one.index == index; });
    std::erase_if(run.cases, [&](const auto& c) {
        return c.place.kind != "host" && !c.place.uuid.empty() && c.place.index == index;
    });
}

record::Run later(record::Run run, double hours) {
    run.id += fmt::format("-{:g}", hours);
    for (auto* time : {&run.started, &run.ended}) *time = shifted(*time, hours);
    // No two processes measure the same to the last bit.
    constexpr double chance = 1e-6;
    for (auto& c : run.cases) {
        for (auto& replica : c.replicas) {
            replica.started = shifted(replica.started, hours);
            scale(replica, c.headline, 1 + chance * (1 + std::fmod(std::abs(hours), 24)));
        }
        const auto replicas = static_cast<int>(c.replicas.size());
        const bool is_partial = c.status == record::Status::interrupted;
        if (replicas > 0) record::conclude(c, is_partial ? replicas + 1 : replicas);
    }
    return run;
}

void rename_machine(record::Run& run, const std::string& name) {
    Hash hash;
    hash.add(name);
    auto& machine = run.machine;
    machine.id = fmt::format("{:016x}", hash.value());
    machine.identity = {.by = "product_uuid",
                        .parts = {{.kind = "board", .where = "", .id = "board-" + name}}};
    for (auto& device : machine.devices) {
        const auto uuid = fmt::format("GPU-{}-{}", machine.id, device.index);
        for (auto& c : run.cases)
            if (!c.place.uuid.empty() && c.place.uuid == device.uuid) c.place.uuid = uuid;
        device.uuid = uuid;
    }
    run.id += "-" + name;
    test::measure_again(run, name);
}

} // namespace assay::decisions
