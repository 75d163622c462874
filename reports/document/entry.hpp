// SPDX-License-Identifier: Apache-2.0
//
// One text of the catalogue, in every language there is.

#pragma once

namespace assay::document {

struct Entry {
    const char* id;  ///< "compare.cannot_tell"
    const char* en;  ///< English
    const char* one; ///< English, of one; the same as `en` where there is no such form
    const char* zh;  ///< Simplified Chinese
};

} // namespace assay::document
