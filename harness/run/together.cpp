// SPDX-License-Identifier: Apache-2.0
#include "run/together.hpp"

#include "record/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace assay::run {
namespace {

/// By the primary metric, more is faster; nothing where it has no value.
std::optional<double> speed_of(const record::Case& c, const record::Replica& replica) {
    if (!record::is_measured(replica.status)) return std::nullopt;
    const auto* metric = record::find_metric(c.headline);
    const auto reported = record::number(replica.extra, c.headline);
    if (metric != nullptr && reported && *reported > 0)
        return metric->higher_is_better ? *reported : 1 / *reported;
    if (!replica.seconds || !(*replica.seconds > 0)) return std::nullopt;
    const auto work = metric == nullptr ? std::nullopt : record::number(c.work, metric->work);
    return work.value_or(1) / *replica.seconds;
}

bool was_measured(const process::message::Result& result) {
    return !result.result.replicas.empty() &&
           record::is_measured(result.result.replicas.front().status);
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const auto half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void note_missing(record::Telemetry& telemetry, std::size_t measured, std::size_t planned) {
    disturb(telemetry, record::DisturbanceCode::other, {},
            fmt::format("Only {} of {} cases ran at the same time; see the reasons of the others.",
                        measured, planned));
}

} // namespace

std::vector<Errand> loads_of(const std::vector<Errand>& errands) {
    std::vector<Errand> loads;
    for (const auto& errand : errands)
        for (const auto& load : errand.planned.loads) {
            auto log = errand.log;
            log.replace_extension(fmt::format("load{}.log", loads.size() + 1));
            loads.push_back({.planned = load,
                             .protocol = load.protocol,
                             .replica = errand.replica,
                             .log = std::move(log)});
        }
    return loads;
}

void judge_load(const process::message::Result& load,
                std::vector<process::message::Result>& results) {
    const auto& c = load.result;
    const auto ending =
        c.replicas.empty() ? record::conclusion(c) : record::conclusion(c.replicas.front());
    if (ending.status == record::Status::ok) return;
    const auto why = fmt::format("the load, {}, is {}: {}", record::identity(c),
                                 record::to_string(ending.status), ending.reason);
    for (auto& result : results)
        if (was_measured(result))
            record::set_conclusion(result.replica(), {.status = record::Status::failed,
                                                      .code = record::ReasonCode::benchmark_error,
                                                      .reason = why,
                                                      .values = {{"message", why}}});
}

void compare_siblings(std::vector<process::message::Result>& results) {
    // Those without the name use nothing that they share: limits compare them.
    if (results.empty() || record::find(results.front().result.parameters, "together") == nullptr)
        return;
    std::vector<double> speeds;
    for (auto& result : results)
        if (was_measured(result))
            if (const auto speed = speed_of(result.result, result.replica()))
                speeds.push_back(*speed);
    const auto measured = static_cast<std::size_t>(std::ranges::count_if(results, was_measured));
    for (auto& result : results) {
        if (!was_measured(result)) continue;
        auto& replica = result.replica();
        if (measured < results.size())
            note_missing(replica.telemetry, measured, results.size());
        else if (speeds.size() == results.size())
            replica.extra.push_back(
                {"slowest_sibling", *std::ranges::min_element(speeds) / median(speeds)});
    }
}

void compare_with_alone(record::Case& together, const record::Case& alone) {
    for (auto& replica : together.replicas) {
        const auto same = std::ranges::find(alone.replicas, replica.index, &record::Replica::index);
        if (same == alone.replicas.end()) continue;
        const auto beside = speed_of(together, replica);
        const auto by_itself = speed_of(alone, *same);
        if (beside && by_itself)
            replica.extra.push_back({"together_to_alone", *beside / *by_itself});
    }
}

void add_course(record::Replica& replica) {
    constexpr std::size_t fewest = 10;
    const auto& values = replica.values;
    if (!record::is_measured(replica.status) || values.size() < fewest) return;
    const auto mean = [](auto first, auto last) {
        return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
    };
    const auto part = [&](std::size_t share) {
        return static_cast<std::ptrdiff_t>(values.size() / share);
    };
    // The first tenth, because heat shows within seconds.
    replica.extra.push_back({"late_to_early", mean(values.begin(), values.begin() + part(10)) /
                                                  mean(values.end() - part(4), values.end())});
}

// --- siblings ------------------------------------------------------------------------------------

namespace {

/// Have all whose window counts reached this point, or come to an end?
bool have_all(const std::vector<Sibling>& siblings, std::string_view point) {
    return std::ranges::all_of(siblings, [&](const Sibling& sibling) {
        const auto& session = *sibling.session;
        const bool counts = point == process::message::ready || !sibling.request.only_load;
        return !counts || session.is_over() || session.reached() == point;
    });
}

} // namespace

std::vector<process::message::Result> measure_together(const std::vector<Sibling>& siblings,
                                                       const launch::Watch& watch) {
    std::vector<launch::Session*> sessions;
    for (const auto& sibling : siblings) {
        sibling.session->begin(sibling.request, watch);
        sessions.push_back(sibling.session);
    }
    const auto let_all_proceed = [&](std::string_view point) {
        for (const auto& sibling : siblings)
            if (!sibling.session->is_over())
                // A load has no window: it works until its siblings have measured.
                sibling.session->proceed(point, point == process::message::measured ||
                                                    !sibling.request.only_load);
    };
    const auto over = [](const launch::Session* session) { return session->is_over(); };
    for (bool gone = false, finished = false; !std::ranges::all_of(sessions, over);) {
        std::vector<launch::Session*> open;
        std::ranges::copy_if(sessions, std::back_inserter(open),
                             [&](const launch::Session* session) { return !over(session); });
        if (!wait_for_any(open, watch))
            for (auto* session : open) session->interrupt();
        for (auto* session : open) session->step();
        if (!gone && have_all(siblings, process::message::ready)) {
            gone = true;
            let_all_proceed(process::message::ready);
        }
        if (gone && !finished && have_all(siblings, process::message::measured)) {
            finished = true;
            let_all_proceed(process::message::measured);
        }
    }
    std::vector<process::message::Result> answers;
    for (auto* session : sessions) answers.push_back(session->answer());
    return answers;
}

} // namespace assay::run
