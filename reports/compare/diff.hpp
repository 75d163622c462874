// SPDX-License-Identifier: Apache-2.0
//
// How does this node differ from one that is known to be good? What was recorded of both machines, fact by fact, and
// the values that differ beyond what a comparison calls noise.

#pragma once

#include "base/names.hpp"
#include "compare/comparison.hpp"
#include "document/document.hpp"
#include "record/model.hpp"

#include <cstdint>
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

struct DifferentValue {
    std::string name; ///< "GEMM fp64, size 1024"
    std::string before;
    std::string after;
    Contrast contrast;
};

struct DiffSide {
    std::string label;
    std::string file;
    record::Run run; ///< plain, with or without cases
};

struct Diff {
    DiffSide a;
    DiffSide b;
    bool same_machine = false;
    std::vector<Difference> differences; ///< those that matter first, then by group
    std::vector<std::string> only_a;     ///< keys that only one of the files has
    std::vector<std::string> only_b;
    std::vector<std::string>
        by_nature; ///< keys that differ between any two machines: serials, addresses
    std::vector<DifferentValue> values; ///< the largest difference first
    std::size_t compared = 0;           ///< values that both have
};

/// The facts alone.
Diff diff_machines(DiffSide a, DiffSide b);
/// Of a comparison whose second side is B.
void add_values(const Comparison& comparison, Diff& diff);

// --- diff document -------------------------------------------------------------------------------
// A difference of two nodes as a document.

document::Document make_document(const Diff& diff);
/// "B differs from A in 2 settings and 1 firmware version; 1 of these matters: ..."
std::string verdict_of(const Diff& diff);

} // namespace assay::compare
