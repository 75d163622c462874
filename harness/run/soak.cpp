// SPDX-License-Identifier: Apache-2.0
#include "run/soak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace assay::run {
namespace {

constexpr std::size_t most_points = 200;      // of a case: one in 7 minutes of a day
constexpr std::size_t most_corruptions = 100; // of a run

/// Cases with the same word must compute the same bits: the parts of a host that are alike, devices of one model.
/// Empty: this case is compared within its process only.
std::string alike_of(const plan::PlannedCase& planned) {
    if (!planned.benchmark->reproducible.value_or(false)) return {};
    auto c = empty_case(planned);
    std::erase_if(c.parameters, [](const record::Named& one) { return one.name == "part"; });
    std::string model;
    if (!planned.devices.empty()) model = planned.devices.front().name;
    c.place = {.kind = c.place.kind, .uuid = {}};
    const auto cores = planned.share ? planned.share->usable.size() : 0;
    return fmt::format("{} {} {}", record::identity(c), model, cores);
}

bool is_disturbed(const record::Telemetry& telemetry) {
    using Code = record::DisturbanceCode;
    return std::ranges::any_of(telemetry.disturbed_by, [](const record::Disturbance& by) {
        return by.code == Code::foreign_cpu || by.code == Code::steal || by.code == Code::waiting ||
               by.code == Code::quota || by.code == Code::device_shared ||
               by.code == Code::neighbours;
    });
}

template <class Choose>
std::optional<double> chosen(std::optional<double> a, std::optional<double> b, Choose choose) {
    if (!a || !b) return a ? a : b;
    return choose(*a, *b);
}
constexpr auto larger = [](double a, double b) { return std::max(a, b); };
constexpr auto smaller = [](double a, double b) { return std::min(a, b); };

record::SoakPoint point_of(const record::Replica& replica) {
    const auto& telemetry = replica.telemetry;
    record::SoakPoint point{.begun_seconds = replica.soak->begun_seconds,
                            .disturbed = is_disturbed(telemetry) ? 1 : 0,
                            .seconds = replica.seconds,
                            .celsius = telemetry.temperature_celsius,
                            .clock_hz = telemetry.core_clock_hz};
    if (const auto& device = telemetry.device) {
        point.celsius = device->temperature_celsius;
        point.clock_hz = device->clock_hz;
        point.power_watts = device->power_watts;
    } else if (telemetry.energy_joules && telemetry.window_seconds.value_or(0) > 0) {
        point.power_watts = *telemetry.energy_joules / *telemetry.window_seconds;
    }
    return point;
}

record::SoakPoint merged(const record::SoakPoint& a, const record::SoakPoint& b) {
    const auto quiet = [](const record::SoakPoint& point) {
        return static_cast<double>(point.visits - point.disturbed);
    };
    auto point = a;
    point.visits += b.visits;
    point.disturbed += b.disturbed;
    if (!a.seconds || (quiet(a) == 0 && quiet(b) > 0 && b.seconds))
        point.seconds = b.seconds;
    else if (b.seconds && (quiet(b) > 0 || quiet(a) == 0)) {
        const double of_a = quiet(a) > 0 ? quiet(a) : static_cast<double>(a.visits);
        const double of_b = quiet(a) > 0 ? quiet(b) : static_cast<double>(b.visits);
        point.seconds = ((*a.seconds * of_a) + (*b.seconds * of_b)) / (of_a + of_b);
    }
    point.celsius = chosen(a.celsius, b.celsius, larger);
    point.clock_hz = chosen(a.clock_hz, b.clock_hz, smaller);
    point.power_watts = chosen(a.power_watts, b.power_watts, larger);
    return point;
}

void append(std::vector<record::SoakPoint>& points, record::SoakPoint point) {
    points.push_back(point);
    if (points.size() <= most_points) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += 2)
        points[kept++] = i + 1 < points.size() ? merged(points[i], points[i + 1]) : points[i];
    points.resize(kept);
}

} // namespace

Soaking::Soaking(const plan::Plan& plan, std::function<double()> now)
    : now_{std::move(now)}, asked_{plan.soak_seconds.value_or(0)} {
    for (const auto& planned : plan.cases) {
        alike_.push_back(alike_of(planned));
        phases_.push_back({.of = record::identity(empty_case(planned))});
    }
}

std::string Soaking::expected(std::size_t index) const {
    const auto known = right_.find(alike_[index]);
    return known == right_.end() ? std::string{} : record::to_text(known->second.blocks);
}

void Soaking::begin() { begun_ = now_(); }

/// The most frequent result is right, until it is known; of equally frequent ones the first.
void Soaking::learn(const std::vector<std::size_t>& cases,
                    const std::vector<process::message::Result>& attempts) {
    std::map<std::string, std::vector<std::string>> said; // by the word, in order
    for (std::size_t i = 0; i < cases.size(); ++i)
        if (const auto& word = alike_[cases[i]]; !word.empty() && !attempts[i].reference.empty())
            said[word].push_back(attempts[i].reference);
    for (const auto& [word, texts] : said) {
        auto& right = right_[word];
        if (right.digest.empty()) {
            const auto most = std::ranges::max_element(
                texts, {}, [&](const auto& text) { return std::ranges::count(texts, text); });
            right.blocks = record::hashes_from(*most);
            right.digest = record::digest_of(right.blocks);
        }
        // The journal of a continued run has the digest alone.
        for (const auto& text : texts)
            if (const auto blocks = record::hashes_from(text);
                right.blocks.empty() && record::digest_of(blocks) == right.digest)
                right.blocks = blocks;
    }
}

/// Against what others computed; the worker has done so where it knew.
void Soaking::hold(std::size_t index, process::message::Result& attempt) {
    auto& replica = attempt.replica();
    const auto known = right_.find(alike_[index]);
    if (known == right_.end() || attempt.reference.empty()) return;
    const auto& right = known->second;
    auto& visit = *replica.soak;
    const auto is_known = [](const record::Corruption& one) {
        return one.held_against == record::HeldAgainst::others;
    };
    if (visit.digest == right.digest || std::ranges::any_of(visit.corruptions, is_known)) return;
    const auto own = record::hashes_from(attempt.reference);
    record::Corruption wrong{.of = {},
                             .at = replica.started,
                             .held_against = record::HeldAgainst::others,
                             .right_again = record::Replay::none};
    if (own.size() == right.blocks.size()) {
        const auto at = std::ranges::mismatch(own, right.blocks).in1 - own.begin();
        wrong.block = at;
        wrong.wrong_blocks = 0;
        for (std::size_t i = 0; i < own.size(); ++i)
            *wrong.wrong_blocks += own[i] != right.blocks[i] ? 1 : 0;
    }
    visit.corruptions.push_back(std::move(wrong));
    ++visit.wrong;
    if (attempt.result.verification) attempt.result.verification->passed = false;
    record::set_conclusion(
        replica, {.status = record::Status::incorrect,
                  .code = record::ReasonCode::wrong_result,
                  .reason = "its result differs from the result of the same work elsewhere"});
}

void Soaking::take(const std::vector<std::size_t>& cases,
                   std::vector<process::message::Result>& attempts) {
    const double took = now_() - begun_;
    for (auto& attempt : attempts)
        for (auto& replica : attempt.result.replicas)
            if (replica.soak) {
                replica.soak->begun_seconds = seconds_;
                replica.soak->seconds = took;
            }
    seconds_ += took;
    learn(cases, attempts);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (attempts[i].result.replicas.empty()) continue;
        if (attempts[i].replica().soak) hold(cases[i], attempts[i]);
        add(cases[i], attempts[i].replica());
    }
}

void Soaking::resume(std::size_t index, const record::Case& step) {
    for (const auto& replica : step.replicas) {
        if (!replica.soak) continue;
        const auto& visit = *replica.soak;
        seconds_ = std::max(seconds_, visit.begun_seconds + visit.seconds);
        // The digest of a visit without errors is right.
        if (const auto& word = alike_[index];
            !word.empty() && visit.wrong == 0 && !visit.digest.empty())
            right_.try_emplace(word, Right{.digest = visit.digest, .blocks = {}});
        add(index, replica);
    }
}

void Soaking::add(std::size_t index, const record::Replica& replica) {
    next_ = std::max(next_, replica.index + 1);
    if (!replica.soak) return;
    const auto& visit = *replica.soak;
    auto& phase = phases_[index];
    ++phase.visits;
    phase.calls += visit.calls;
    phase.compared += visit.compared;
    phase.checked += visit.checked;
    phase.wrong += visit.wrong;
    wrong_ += visit.wrong;
    if (phase.digest.empty()) phase.digest = visit.digest;
    if (const auto known = right_.find(alike_[index]); known != right_.end())
        phase.digest = known->second.digest;
    append(phase.points, point_of(replica));
    for (const auto& corruption : visit.corruptions) {
        if (corruptions_.size() >= most_corruptions) break;
        corruptions_.push_back(corruption);
        corruptions_.back().of = phase.of;
        corruptions_.back().visit = replica.index;
    }
}

record::Soak Soaking::record() const {
    return {.asked_seconds = asked_,
            .seconds = seconds_,
            .phases = phases_,
            .wrong = wrong_,
            .corruptions = corruptions_};
}

void shorten(process::message::Result& visit) {
    auto& c = visit.result;
    c.settings.clear();
    c.tables.clear();
    for (auto& replica : c.replicas) {
        replica.values.clear();
        replica.extra.clear();
        replica.tables.clear();
    }
}

} // namespace assay::run
