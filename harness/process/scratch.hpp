// SPDX-License-Identifier: Apache-2.0
//
// A folder for what launchers and transports would leave behind when they are killed: session folders,
// shared memory. Removed at the end; one that a killed parent left is removed by the next.

#pragma once

#include "base/file.hpp"
#include "base/result.hpp"

#include <filesystem>

namespace assay::harness {

class Scratch {
public:
    /// In `base`, or where that is not writable in the system's folder for temporary files.
    static Result<Scratch> create(const std::filesystem::path& base = "/dev/shm");
    Scratch(Scratch&& other) noexcept;
    Scratch& operator=(Scratch&& other) noexcept;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch();

    const std::filesystem::path& folder() const { return folder_; }

private:
    Scratch() = default;
    std::filesystem::path folder_;
    Descriptor lock_; ///< held while the folder is in use; tells others that it is
};

} // namespace assay::harness
