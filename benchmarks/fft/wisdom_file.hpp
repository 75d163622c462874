// SPDX-License-Identifier: Apache-2.0
//
// Plans that were measured once, kept for the next process: one small file per plan, so that no plan
// depends on what else was planned before. Files are not trusted: one that is cut off, huge,
// damaged or about something else is ignored with a reason, and planning starts anew.

#pragma once

#include <filesystem>
#include <string>

namespace assay::fft {

/// The result of planning, and its cost.
struct Wisdom {
    std::string text; ///< the library's own words; empty where the time limit ended planning
    double planning_seconds = 0;
};

/// The result of reading: wisdom, or nothing; with a reason if there was a file.
struct Reading {
    bool found = false;
    Wisdom wisdom;
    std::string problem;
};

/// The file for `key` in `folder`. A key names everything that the plan depends on.
std::filesystem::path wisdom_path(const std::filesystem::path& folder, const std::string& key);

Reading read_wisdom(const std::filesystem::path& folder, const std::string& key);

/// Replaces the file whole or not at all. Returns what went wrong, "" when nothing did.
std::string keep_wisdom(const std::filesystem::path& folder, const std::string& key,
                        const Wisdom& wisdom);

/// Largest file that is read, bytes. The wisdom of one plan is a few thousand.
inline constexpr std::size_t largest_wisdom = std::size_t{1} << 20U;

} // namespace assay::fft
