// SPDX-License-Identifier: Apache-2.0
//
// A folder for the files that launchers and transports leave behind when they are killed: session folders,
// shared memory. Removed at the end; the next run removes the folder of a killed parent.

#pragma once

#include "base/file.hpp"
#include "base/result.hpp"

#include <filesystem>

namespace assay::harness {

class Scratch {
public:
    /// In `base`, or if that is not writable, in the system's folder for temporary files.
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
    Descriptor lock_; ///< held while the folder is in use, so that others know
};

} // namespace assay::harness
