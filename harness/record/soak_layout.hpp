// SPDX-License-Identifier: Apache-2.0
//
// The keys of what a soak found; part of layout.hpp.

#pragma once

#include "json/codec.hpp"
#include "record/soak.hpp"

#include <optional>
#include <vector>

namespace assay::record {

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<Corruption> auto& corruption) {
    visitor("of", corruption.of);
    visitor("at", corruption.at);
    visitor("visit", corruption.visit);
    visitor("call", corruption.call);
    visitor("held_against", corruption.held_against);
    visitor("right_again", corruption.right_again);
    visitor("output", corruption.output);
    visitor("element", corruption.element);
    visitor("wrong_elements", corruption.wrong_elements);
    visitor("wrong_bits", corruption.wrong_bits);
    visitor("block", corruption.block);
    visitor("wrong_blocks", corruption.wrong_blocks);
    visitor("expected", corruption.expected);
    visitor("got", corruption.got);
    visitor("bits", corruption.bits);
    visitor("detail", corruption.detail);
}

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<SoakVisit> auto& visit) {
    visitor("begun_seconds", visit.begun_seconds);
    visitor("seconds", visit.seconds);
    visitor("calls", visit.calls);
    visitor("compared", visit.compared);
    visitor("checked", visit.checked);
    visitor("digest", visit.digest);
    visitor("wrong", visit.wrong);
    visitor("corruptions", visit.corruptions);
}

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<SoakPoint> auto& point) {
    visitor("begun_seconds", point.begun_seconds);
    visitor("visits", point.visits);
    visitor("disturbed", point.disturbed);
    visitor("seconds", point.seconds);
    visitor("celsius", point.celsius);
    visitor("clock_hz", point.clock_hz);
    visitor("power_watts", point.power_watts);
}

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<SoakPhase> auto& phase) {
    visitor("of", phase.of);
    visitor("visits", phase.visits);
    visitor("calls", phase.calls);
    visitor("compared", phase.compared);
    visitor("checked", phase.checked);
    visitor("wrong", phase.wrong);
    visitor("digest", phase.digest);
    visitor("points", phase.points);
}

template <class Visitor>
void each_field(Visitor&& visitor, Maybe<Soak> auto& soak) {
    visitor("asked_seconds", soak.asked_seconds);
    visitor("seconds", soak.seconds);
    visitor("wrong", soak.wrong);
    visitor("corruptions", soak.corruptions);
    visitor("phases", soak.phases);
}

} // namespace assay::record

namespace assay::json {

template <>
inline constexpr bool is_sparse<std::optional<record::SoakVisit>> = true;
template <>
inline constexpr bool is_sparse<std::optional<record::Soak>> = true;
template <>
inline constexpr bool is_sparse<std::vector<record::Corruption>> = true;
} // namespace assay::json
