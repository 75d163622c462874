// SPDX-License-Identifier: Apache-2.0

#include "report/soak.hpp"

#include "judge/parts.hpp"
#include "record/soak.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::report {
namespace {

PartFinding results_of(const record::Soak& soak) {
    PartFinding results{.id = "soak:results"};
    if (soak.wrong > 0) {
        results.cause = Cause::corrupted;
        results.detail = std::to_string(soak.wrong);
        if (!soak.corruptions.empty()) {
            const auto& first = soak.corruptions.front();
            results.detail = fmt::format("{}: {}, {}", soak.wrong, first.of, place_in_words(first));
            if (!first.bits.empty()) results.detail += fmt::format(", 0x{}", first.bits);
        }
        return results;
    }
    const auto unseen = std::ranges::find_if(soak.phases, [](const record::SoakPhase& phase) {
        return phase.compared + phase.checked == 0;
    });
    if (soak.phases.empty() || unseen != soak.phases.end()) {
        results.cause = Cause::not_compared;
        if (unseen != soak.phases.end()) results.detail = unseen->of;
    }
    return results;
}

PartFinding speed_of(const record::SoakPhase& phase) {
    PartFinding speed{.id = "soak:speed", .detail = phase.of};
    const auto course = record::course_of(phase);
    const double slower = record::slowing_of(course);
    if (course.points < record::fewest_points) {
        speed.cause = Cause::too_few_replicas;
        speed.detail += fmt::format(", {} / {}", course.points, record::fewest_points);
    } else if (slower > record::slow_warning) {
        speed.cause = slower > record::slow_fault ? Cause::slowed_down : Cause::slowing_down;
        speed.detail += fmt::format(", {:+.1f}%", -100 * slower);
    }
    return speed;
}

} // namespace

std::vector<PartFinding> findings_of(const record::Soak& soak) {
    std::vector<PartFinding> findings{results_of(soak)};
    if (soak.wrong == 0 && soak.seconds < soak.asked_seconds)
        findings.push_back({.cause = Cause::soak_short,
                            .id = "soak:time",
                            .detail = fmt::format("{} / {}", soak_time(soak.seconds),
                                                  soak_time(soak.asked_seconds))});
    for (const auto& phase : soak.phases) findings.push_back(speed_of(phase));
    return findings;
}

} // namespace assay::report
