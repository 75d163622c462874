// SPDX-License-Identifier: Apache-2.0

#include "made.hpp"

#include "record/summary.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace assay::truth {

record::Case case_of(std::string_view work, record::NoisePlace place, int replicas) {
    constexpr double target = 0.02;
    record::Case c;
    c.benchmark = "memory.stream";
    c.place.kind = place == record::NoisePlace::device ? "cuda" : "host";
    c.library = c.place.kind;
    c.headline = "bandwidth";
    c.spread = record::expected_spread(record::noise_level(work, place), target, replicas,
                                       std::string{work});
    return c;
}

void observe(test::CollectionMaker& maker, std::uint32_t run, std::size_t number, record::Case c,
             const std::vector<MadeReplica>& replicas) {
    c.parameters = {{"number", static_cast<std::int64_t>(number)}};
    for (const auto& [value, disturbed] : replicas) {
        record::Replica replica;
        replica.index = static_cast<int>(c.replicas.size());
        replica.status = record::Status::ok;
        replica.extra = {{c.headline, value}};
        if (disturbed)
            record::disturb(replica.telemetry, record::DisturbanceCode::foreign_cpu, {},
                            "other programs");
        c.replicas.push_back(std::move(replica));
    }
    record::conclude(c, static_cast<int>(replicas.size()));
    const auto series = decide::series_of(c, {});
    auto& seen = maker.observe(run, series, {});
    auto recorded = decide::observation_of(c, {}, true);
    recorded.run = seen.run;
    recorded.series = seen.series;
    seen = std::move(recorded);
}

bool is_called(const compare::Contrast& contrast) {
    return contrast.outcome == compare::ContrastOutcome::better ||
           contrast.outcome == compare::ContrastOutcome::worse;
}

std::vector<compare::Contrast> contrasts_of(const store::Collection& collection, std::size_t cases,
                                            const compare::CompareOptions& options) {
    const auto comparison = compare::compare(collection, options);
    if (!comparison) throw std::runtime_error{comparison.error().message};
    std::vector<compare::Contrast> contrasts(cases);
    std::size_t rows = 0;
    for (const auto& table : comparison->tables)
        for (const auto& row : table.rows) {
            const auto number = record::number(row.parameters, "number").value();
            contrasts.at(static_cast<std::size_t>(number)) = row.cells.at(1).contrast.value();
            ++rows;
        }
    if (rows != cases) throw std::logic_error{"a case was not compared"};
    return contrasts;
}

} // namespace assay::truth
