// SPDX-License-Identifier: Apache-2.0
//
// Where NCCL writes its log: a file in memory that has no name, so that nothing is left behind and nobody
// else can write it. NCCL reads the variables once, before its first line: the first LogFile of a
// process must be made before anything else of NCCL is called.

#pragma once

#include <cstdint>
#include <string>

namespace assay::collective {

class LogFile {
public:
    /// Remembers where the log ends now.
    LogFile();
    /// What was written since; at most a few megabytes.
    std::string text() const;
    /// Gives the memory of all that was written back: NCCL writes a line for each call.
    void forget() const;

private:
    int file_;
    std::int64_t begin_;
};

} // namespace assay::collective
