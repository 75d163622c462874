// SPDX-License-Identifier: Apache-2.0
//
// Good nodes: what `assay run acceptance` would write on a healthy machine of a kind. Cases are those of the real files
// beside; bounds come from the code that gives a run its bounds; values are shares of these that good machines of the
// kind are known to reach, and each names its source. A share that was never measured is recalled.

#pragma once

#include "good_values.hpp"
#include "record/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::decisions {

struct GoodNode {
    std::string name; ///< a folder's
    record::Run run;
    std::vector<Basis> bases; ///< one for each case
};
GoodNode good_host(const HostKind& kind);
/// One device or several of a kind, and their host. `in_turn`: as before all devices worked at the same time.
GoodNode good_devices(const reference::HardwareEntry& chip, int count, const HostKind& host,
                      int replicas = 5, bool in_turn = false);
/// The same of a chip of configs/hardware by its id, on the host that it usually has.
GoodNode good_chip(std::string_view id, int count = 1);
/// Cases of suite `quick` on a host.
GoodNode good_quick(const HostKind& kind);

} // namespace assay::decisions
