// SPDX-License-Identifier: Apache-2.0
//
// What the modules `cuda` and `hip` say of itself: the versions of driver and runtime.
#include "device/properties.hpp"

#include <assay/define.hpp>

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = assay::facts<assay::device::report_versions>};
