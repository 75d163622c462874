// SPDX-License-Identifier: Apache-2.0
//
// What a process printed. Launchers and MPI libraries complain in twenty lines of a log, of which the last is
// advice on how to see more of them.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::harness {

/// What a launcher or an MPI library complained of, in one sentence; empty where the text holds no complaint that
/// we know.
std::string complaint_in_text(std::string_view text);
std::string complaint_in(const std::filesystem::path& log);

/// The last line that a log holds, shortened; empty where there is none.
std::string last_line_of(const std::filesystem::path& log);

/// Frees what is between the first and the last 8 MiB of a log, while its process may still write to it (it appends).
void limit_log(const std::filesystem::path& log);
/// When nobody writes to it any more: the head, a line that says how much is left out, the tail.
void shorten_log(const std::filesystem::path& log);

/// Most cases print nothing.
void remove_empty_logs(const std::filesystem::path& folder);

} // namespace assay::harness
