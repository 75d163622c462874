// SPDX-License-Identifier: Apache-2.0
//
// One of the variants that take turns in `assay run --interleave`: a label, and what is different where
// its workers run. What a case computes is no variant: that is a parameter, and part of its identity.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

struct Variant {
    std::string label;
    record::NamedList variables; ///< of the environment, put there before exec
    std::string library;         ///< cases are measured with this one; empty: as planned
    std::string governor;        ///< of the clock, for the time of a step; empty: as found
    std::filesystem::path image; ///< root folder or .sif that workers run in; empty: the host's
    std::string via;             ///< a command that starts the worker: "numactl --interleave=all"
    bool operator==(const Variant&) const = default;
};

/// "new: OPENBLAS_CORETYPE=Haswell,governor=performance". A value with a comma stands in double quotes.
Result<Variant> parse_variant(std::string_view text);

/// At least two, each with a label of its own, all of them with a library or none.
Result<std::vector<Variant>> parse_variants(const std::vector<std::string>& texts);

/// As it is recorded: environment.NAME, library, governor, image, via.
record::NamedList changes_of(const Variant& variant);

/// Which variant is measured when, for the pair counted from 0: there and back, so that what drifts
/// over a few seconds meets all alike.
std::vector<std::size_t> order_of_turns(int pair, std::size_t variants);
/// The same in a word: "ABBA", "ABCCBA".
std::string order_word(std::size_t variants);

} // namespace assay::harness
