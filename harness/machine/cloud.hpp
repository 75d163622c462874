// SPDX-License-Identifier: Apache-2.0
//
// Whose machine is it, and which of theirs? From firmware and what cloud-init left on disk; the
// network is never asked.

#pragma once

#include "machine/files.hpp"
#include "machine/firmware.hpp"

#include <string>

namespace assay::machine {

struct Cloud {
    std::string provider; ///< "aws", "gcp", "azure", ...; "unknown"
    std::string
        instance; ///< "c7a.large"; the product's name, or "unknown", where nothing says more
};
Cloud read_cloud(const Files& files, const Firmware& firmware);

} // namespace assay::machine
