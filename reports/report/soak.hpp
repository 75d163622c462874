// SPDX-License-Identifier: Apache-2.0
//
// What a soak found, as a section of its report: a sentence, wrong results and where they are, each case over time.

#pragma once

#include "document/document.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>

namespace assay::report {

/// Nothing for other runs. `run` is plain.
std::optional<document::Section> soak_section(const record::Run& run);

/// "1:05:30": hours, minutes and seconds of a soak.
std::string soak_time(double seconds);
/// Where it is: "array 0, element 12345", or the block; "not known".
std::string place_in_words(const record::Corruption& wrong);

} // namespace assay::report
