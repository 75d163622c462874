// SPDX-License-Identifier: Apache-2.0
//
// All modules, by their manifests.

#pragma once

#include "base/result.hpp"
#include "registry/manifest.hpp"

#include <vector>

namespace assay::harness {

/// Every manifest in the layout's module folder and in the folders of ASSAY_MODULE_PATH, ordered by
/// module name. A manifest that cannot be read is reported as a problem; the others are
/// returned. Of two modules with one name, the first folder's is used, with a problem.
struct Catalogue {
    std::vector<Manifest> modules;
    std::vector<Error> problems;
};
Catalogue read_catalogue();

} // namespace assay::harness
