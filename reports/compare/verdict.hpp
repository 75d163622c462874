// SPDX-License-Identifier: Apache-2.0
//
// Which side is faster, by how much, and how sure is that: the first sentences of a comparison.

#pragma once

#include "compare/comparison.hpp"
#include "document/document.hpp"

#include <string>

namespace assay::report {

struct VerdictWords {
    std::string text;
    document::Tone tone = document::Tone::plain;
};
/// By the test of the rows, applied to the overall ratio.
VerdictWords verdict_of(const Comparison& comparison);

/// Good for faster, bad for slower, quiet where neither.
document::Tone tone_of(const Contrast& contrast);

} // namespace assay::report
