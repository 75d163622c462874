// SPDX-License-Identifier: Apache-2.0
//
// Digests in run.json: SHA-256 of each section in its canonical form (json::to_canonical), so that a file that was
// only formatted anew keeps them, and any other value, key or order of a list does not. They find damage. Who changes
// a file on purpose can compute them again: only a signature finds that.

#pragma once

#include "json/codec.hpp"

#include <string>
#include <vector>

namespace assay::record {

struct Digests {
    std::string algorithm; ///< "sha256"
    std::string run;
    std::string machine;
    std::vector<std::string> cases; ///< one for each case
    std::string root;               ///< of the schema's name and the digests above
};

template <class Visit>
void each_field(Visit&& visit, Maybe<Digests> auto& digests) {
    visit("algorithm", digests.algorithm);
    visit("run", digests.run);
    visit("machine", digests.machine);
    visit("cases", digests.cases);
    visit("root", digests.root);
}

/// Of a document with schema, run, machine and cases; digests that it has are ignored.
Digests digests_of(const json::Value& document);

/// What `root` must be, from the other digests.
std::string root_of(const json::Value& document, const Digests& digests);

} // namespace assay::record

/// A key more would be one that no digest covers.
template <>
inline constexpr bool assay::json::is_closed<assay::record::Digests> = true;
