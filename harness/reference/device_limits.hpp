// SPDX-License-Identifier: Apache-2.0
//
// The bounds of a case on a device computed from data sheets: at the vendor's clock, at the clock of the
// window, and the printed value.

#pragma once

#include "base/result.hpp"
#include "plan/manifest.hpp"
#include "record/model.hpp"
#include "reference/hardware.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::reference {

struct DeviceLimits {
    std::vector<record::Ceiling> ceilings; ///< the one to compare with comes first
    std::string reason;                    ///< why there are none; may be empty
    std::vector<std::string> warnings;
};

/// `hardware` may be the reason why it could not be read. No data sheet covers a part of a device (MIG), a
/// virtual one or one in confidential mode.
DeviceLimits limits_of(plan::BoundBy by, const record::Case& c, const record::Machine& machine,
                       const Result<reference::Hardware>& hardware);

// --- bound ---------------------------------------------------------------------------------------
// What bounds a case on a host or device, from its benchmark's declaration (assay_bound in assay/module.h) and the evidence of
// the case: arithmetic in one precision, its memory, the link to its host, or the links to other
// devices. Independent of benchmarks.

enum class Limit : std::uint8_t {
    none,
    arithmetic,
    memory,
    link,   ///< to its host
    nvlink, ///< to other devices
    peer    ///< to other devices, by NVLink or PCIe
};

struct Bound {
    Limit limit = Limit::none;
    std::string precision; ///< its name in configs/hardware
    bool matrices = false; ///< matrix products, which tensor cores can do
    bool sparse = false;   ///< with 2:4 sparsity: twice the rate of dense products
    int ways = 1;          ///< directions of the link in use at once
    bool several = false;  ///< the slowest of the participating devices decides
    std::string reason;    ///< why there is no bound; may be empty
};

/// Has the case 2:4 sparsity, by its parameter `sparsity`? Dense work is never compared with it.
bool is_sparse(const record::Case& c);

/// `l2_bytes`: the last-level cache of the host, or of the device by its data sheet, for cases that do not report it: data that
/// fits into it is not bounded by memory.
Bound bound_of(plan::BoundBy by, const record::Case& c, std::optional<double> l2_bytes);

} // namespace assay::reference
