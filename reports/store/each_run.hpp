// SPDX-License-Identifier: Apache-2.0
//
// The runs of many files, one in memory at a time.

#pragma once

#include "record/model.hpp"
#include "store/find.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace assay::report {

struct EachRun {
    std::size_t runs = 0;          ///< that were taken
    std::vector<Problem> problems; ///< files that cannot be read, and runs that are there twice
};

/// False: no more runs. Texts in the run are plain.
using TakeRun = std::function<bool(const record::Run& run, const FoundFile& file)>;

/// Each run once, by its id: complete ones in the order of the files, then those that were interrupted and are complete
/// nowhere. Reads them without the values of their replicas.
EachRun each_run(const FoundFiles& files, const TakeRun& take);

/// "precision=fp64 size=1024"
std::string joined(const record::NamedList& list);

} // namespace assay::report
