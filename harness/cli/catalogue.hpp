// SPDX-License-Identifier: Apache-2.0
//
// The modules that are there, with what the user's own files add to them.

#pragma once

#include "plan/manifest.hpp"

namespace assay::cli {

/// Reads all manifests, like read_catalogue(); a module whose table is also made from files is loaded and asked if the
/// variable that names their folders is set (Manifest::path_variable). What it could not use is among the problems.
plan::Catalogue full_catalogue();

} // namespace assay::cli
