// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

namespace assay {

std::string_view version() { return ASSAY_VERSION; }
std::string_view built() { return ASSAY_BUILT; }

} // namespace assay
