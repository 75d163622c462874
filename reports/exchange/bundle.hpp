// SPDX-License-Identifier: Apache-2.0
//
// Makes a bundle of evidence: results as they are, their logs, the limits, the verdict by them, digests of all.

#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::exchange {

struct BundleOptions {
    std::vector<std::string> limits; ///< files or names of installed ones; "spec" where empty
    std::filesystem::path key;       ///< that signs; empty: nobody does
    bool serials = false;            ///< serial numbers in clear may go out
    std::string created;             ///< UTC; limits and waivers are judged on that day
};

struct MadeBundle {
    std::size_t results = 0;
    std::size_t logs = 0;
    std::string verdict;
    bool is_signed = false;
};

/// `folder` must not be there; it appears when it is complete. Inputs as people type them; a result that is there twice
/// goes in once. Fails where one of them cannot be read or is not consistent: evidence has no gaps.
Result<MadeBundle> make_bundle(const std::vector<std::string>& inputs,
                               const std::filesystem::path& folder, const BundleOptions& options);

} // namespace assay::exchange
