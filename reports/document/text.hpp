// SPDX-License-Identifier: Apache-2.0
//
// Makes text that came out of a result file safe to show anywhere. Result files travel between people
// and companies: a label may hold escape sequences, control characters or broken UTF-8. Everything that
// enters the view model goes through plain(); the renderers only add the quoting of their own format.

#pragma once

#include "base/console.hpp"
#include "record/model.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

using assay::plain;

/// What the harness and benchmarks said in English sentences, in the language in use where the catalogue has them.
void translate(record::Run& run);

/// "a", "a and b", "a, b and 3 more", in the language in use.
std::string list_of(const std::vector<std::string>& items, std::size_t shown);

/// "fp64, size 1024, all threads": parts of one thing, with the commas of the language in use.
std::string join(const std::vector<std::string>& parts);

/// "Bandwidth" of "bandwidth", as a heading begins.
std::string capitalised(std::string text);

/// Whole sentences one after the other; Chinese has no blank between them.
std::string sentences(const std::vector<std::string>& parts);

/// With a full stop, where it has none: what others wrote, before a sentence of ours.
std::string as_sentence(std::string text);

} // namespace assay::report
