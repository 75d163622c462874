// SPDX-License-Identifier: Apache-2.0
//
// All modules that there are, as their manifests tell of them.

#pragma once

#include "base/result.hpp"
#include "registry/manifest.hpp"

#include <vector>

namespace assay::harness {

/// Every manifest in the layout's module folder and in the folders of ASSAY_MODULE_PATH, ordered by
/// module name. A manifest that cannot be read is a problem to show, not an end: the others are
/// returned. Two modules of one name: the first folder wins and a problem says so.
struct Catalogue {
    std::vector<Manifest> modules;
    std::vector<Error> problems;
};
Catalogue read_catalogue();

} // namespace assay::harness
