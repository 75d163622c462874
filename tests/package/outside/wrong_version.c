/* SPDX-License-Identifier: Apache-2.0 */
#include <assay/module.h>

ASSAY_EXPORT const assay_module_v1* assay_module(void);
const assay_module_v1* assay_module(void) {
    static const assay_module_v1 module = {
        .struct_size = sizeof(assay_module_v1), .abi = ASSAY_MODULE_ABI + 98, .name = "wrong_version"};
    return &module;
}
