// SPDX-License-Identifier: Apache-2.0
//
// Numbers as tools print them, which are no better than their last digit; and a rate beside the time it follows from.

#pragma once

#include "import/draft.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::imports {

struct Printed {
    double value = 0;
    double half_digit = 0; ///< half a unit of the last digit
};
/// A finite number; "4.089e+04" is known to 5.
std::optional<Printed> printed_of(std::string_view word, double unit = 1);

/// 22703 is 2.27.3, as NCCL numbers itself.
std::string nccl_version(std::int64_t code);

/// An integer from 1 to `most`; 0 for other text.
std::int64_t count_in(std::string_view text, std::int64_t most = std::int64_t{1} << 50U);

/// One call as a tool describes it. Nothing: the tool does not say.
struct Rated {
    std::string_view metric;
    std::string_view work; ///< the amount that the metric is a rate of
    double amount = 0;     ///< of one call; 0: not known
    Printed rate;
    std::optional<Printed> seconds;
};
/// Makes the rate the primary metric. If rate and time agree with the amount, the more precise one counts; else each is
/// kept as printed, with a note.
void set_rate(Reading& reading, const Rated& rated, Draft& draft);

} // namespace assay::imports
