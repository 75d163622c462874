// SPDX-License-Identifier: Apache-2.0
#include "collective/nccl_facts.hpp"

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = &assay::collective::report_nccl};
