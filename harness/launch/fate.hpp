// SPDX-License-Identifier: Apache-2.0
//
// How a request to a worker ended, and what the record says of it.

#pragma once

#include "record/model.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::harness {

enum class Fate : std::uint8_t {
    answered,
    crashed,     ///< a process ended in the middle
    timed_out,   ///< ended by us, at the limit
    broken,      ///< sent what is no message
    interrupted, ///< ended by us, because the run shall stop
};

/// Of a case that was not answered for.
struct CaseEnd {
    record::Status status;
    record::ReasonCode code;
};
inline CaseEnd case_end(Fate fate) {
    using record::ReasonCode;
    using record::Status;
    constexpr std::array<CaseEnd, 5> ends{
        {{.status = Status::ok, .code = ReasonCode::none},
         {.status = Status::crashed, .code = ReasonCode::process_died},
         {.status = Status::timed_out, .code = ReasonCode::time_limit},
         {.status = Status::failed, .code = ReasonCode::no_worker},
         {.status = Status::interrupted, .code = ReasonCode::stopped}}};
    return ends.at(static_cast<std::size_t>(fate));
}

} // namespace assay::harness
