// SPDX-License-Identifier: Apache-2.0
//
// Facts of the modules `cuda` and `hip`: the versions of driver and runtime.
#include "device/properties.hpp"

#include <assay/define.hpp>

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = assay::facts<assay::device::report_versions>};
