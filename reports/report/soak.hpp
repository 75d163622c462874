// SPDX-License-Identifier: Apache-2.0
//
// What a soak found, as a section of its report: a sentence, wrong results and where they are, each case over time.

#pragma once

#include "document/document.hpp"
#include "record/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

/// Nothing for other runs. `run` is plain.
std::optional<document::Section> soak_section(const record::Run& run);
/// What a soak is for: moves the first two sentences of its section, about errors and lost speed, to the answer; the
/// tone of the worst.
document::Tone move_answer(document::Section& soak, std::vector<std::string>& said);

/// Where it is: "array 0, element 12345", or the block; "not known".
std::string place_in_words(const record::Corruption& wrong);

} // namespace assay::report
