// SPDX-License-Identifier: Apache-2.0
//
// A folder for the files that launchers and transports leave behind when they are killed: session folders,
// shared memory. Removed at the end; the next run removes the folder of a killed parent.

#pragma once

#include "base/file.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::process {

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

// --- log -----------------------------------------------------------------------------------------
// The output of a process. Launchers and MPI libraries report an error in twenty lines, of which the last is
// advice on how to see more of them.

/// The error that a launcher or an MPI library reported, in one sentence; empty if the text contains no known
/// error.
std::string complaint_in_text(std::string_view text);
std::string complaint_in(const std::filesystem::path& log);

/// The last line of a log, shortened; empty if the log is.
std::string last_line_of(const std::filesystem::path& log);

/// Frees what is between the first and the last 8 MiB of a log, while its process may still write to it (it appends).
void limit_log(const std::filesystem::path& log);
/// When nobody writes to it any more: the head, a line that says how much is left out, the tail.
void shorten_log(const std::filesystem::path& log);

/// Most cases print nothing.
void remove_empty_logs(const std::filesystem::path& folder);

} // namespace assay::process
