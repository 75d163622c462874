// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean ...": the known name that an unknown one was most likely meant to be.

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace assay {

/// The candidate with the fewest edits from `name`; "" if none is close enough to suggest (more than
/// a third of the letters differ).
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// ` (did you mean "x"?)`, or the list of known names when none is near and the list is short.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

} // namespace assay
