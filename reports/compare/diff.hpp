// SPDX-License-Identifier: Apache-2.0
//
// How does this node differ from one that is known to be good? The records of both machines, fact by fact, the
// values that differ beyond what a comparison calls noise, and how many could not be compared.

#pragma once

#include "base/names.hpp"
#include "compare/comparison.hpp"
#include "document/document.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay::compare {

ASSAY_ENUM(DiffGroup, hardware, firmware, software, setting, environment)

struct Difference {
    DiffGroup group = DiffGroup::environment;
    std::string key;       ///< as in the result file, without numbers of devices: "devices.ecc"
    std::string before;    ///< on A; of lists what only A has
    std::string after;     ///< on B
    bool matters = false;  ///< for speed or correctness
    std::size_t count = 1; ///< devices of which it is so
};

/// Why a case has no verdict, where that is not its noise.
ASSAY_ENUM(DiffGap, under_load, two_levels, cpus_moved, one_side,
           left_out) // a side's file takes no part: a copy of the other, or damaged

struct DifferentValue {
    std::string name; ///< "GEMM fp64, size 1024"
    std::string before;
    std::string after;
    Contrast contrast;
};

struct DiffSide {
    std::string label;
    std::string file;
    record::Run run;                 ///< plain, with or without cases
    std::vector<std::string> only{}; ///< keys that the other file lacks
};

struct Diff {
    DiffSide a;
    DiffSide b;
    bool same_machine = false;
    std::size_t facts = 0;               ///< recorded of both, those that differ by nature apart
    std::vector<Difference> differences; ///< those that matter first, then by group
    std::vector<std::string>
        by_nature; ///< keys that differ between any two machines: serials, addresses
    std::vector<DifferentValue> values; ///< the largest difference first
    std::string level;                  ///< from what on values differ, in words
    std::size_t compared = 0;           ///< cases with a verdict, or hidden by noise alone
    std::map<DiffGap, std::vector<std::string>> not_compared; ///< names of cases
    std::vector<std::string> left_out{}; ///< files and cases that take no part, and why
};

/// The facts alone.
Diff diff_machines(DiffSide a, DiffSide b);
/// Adds a comparison whose second side is B.
void add_values(const Comparison& comparison, Diff& diff);

document::Document make_document(const Diff& diff);
/// "B differs from A in 3 facts; 1 of these may change ...: .... 4 of 23
/// cases are slower on B; 7 could not be compared (...)."
std::string verdict_of(const Diff& diff);

} // namespace assay::compare
