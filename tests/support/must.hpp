// SPDX-License-Identifier: Apache-2.0
//
// What a test cannot go on without: the value, or the end of the test with the message.

#pragma once

#include "base/result.hpp"

#include <stdexcept>
#include <utility>

namespace assay::test {

template <class T>
T must(Result<T> result) {
    if (!result) throw std::runtime_error{result.error().message};
    return *std::move(result);
}

} // namespace assay::test
