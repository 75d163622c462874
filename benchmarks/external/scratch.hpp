// SPDX-License-Identifier: Apache-2.0
//
// A folder for what a program reads and writes. Removed at the end; that of a killed process by the next one in the
// same place. Names and locks are those of the program's own folders, so either finds what the other left.

#pragma once

#include <filesystem>

namespace assay::external {

class Scratch {
public:
    /// In `base`; throws where none can be made there.
    explicit Scratch(const std::filesystem::path& base);
    Scratch(const Scratch&) = delete;
    Scratch(Scratch&&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch();

    const std::filesystem::path& folder() const { return folder_; }

private:
    std::filesystem::path folder_;
    int lock_ = -1;
};

} // namespace assay::external
