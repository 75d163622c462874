// SPDX-License-Identifier: Apache-2.0
//
// Checks of a Result.
//
//     const auto plan = valid(make_plan(all, request)); // the test ends, with the message, on failure
//     const auto run = must(read_run(file));             // the same, for the value itself
//     EXPECT_THAT(result, Fails(HasSubstr("no such file")));            // it is an error, with this message
//     EXPECT_THAT(result, Fails(Fault::usage, HasSubstr("--only")));    // and of this kind

#pragma once

#include "base/result.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <utility>

namespace assay {

/// Also of std::optional.
template <class R>
R valid(R result) {
    if constexpr (requires { result.error(); })
        if (!result) throw std::runtime_error{result.error().message};
    if (!result) throw std::runtime_error{"there is none"};
    return result;
}

/// Its value.
template <class R>
auto must(R result) {
    return *valid(std::move(result));
}

MATCHER_P(Fails, message, "is an error, as said") {
    return !arg && ExplainMatchResult(message, arg.error().message, result_listener);
}
MATCHER_P2(Fails, fault, message, "is an error of a kind, as said") {
    return !arg && arg.error().fault == fault &&
           ExplainMatchResult(message, arg.error().message, result_listener);
}

} // namespace assay
