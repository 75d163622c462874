// SPDX-License-Identifier: Apache-2.0
//
// A variant of `assay run --interleave`: a label, and what its workers' environment changes. What a case
// computes is not a variant but a parameter, and part of its identity.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

struct Variant {
    std::string label;
    record::NamedList variables; ///< of the environment, set before exec
    std::string library;         ///< that measures the cases; empty: as planned
    std::string via;             ///< a command that starts the worker: "numactl --interleave=all"
    std::string beside;          ///< of --while: the load that works at the same time
    bool operator==(const Variant&) const = default;
};

/// "new: OPENBLAS_CORETYPE=Haswell,library=openblas". A value with a comma needs double quotes.
Result<Variant> parse_variant(std::string_view text);

/// At least two, with different labels, and all or none of them with a library.
Result<std::vector<Variant>> parse_variants(const std::vector<std::string>& texts);

/// As it is recorded: environment.NAME, library, via.
record::NamedList changes_of(const Variant& variant);

/// The order of the variants in this pair (from 0): forward and back, so that a drift over a few seconds
/// affects all alike.
std::vector<std::size_t> order_of_turns(int pair, std::size_t variants);
/// The same as a word: "ABBA", "ABCCBA".
std::string order_word(std::size_t variants);

} // namespace assay::harness
