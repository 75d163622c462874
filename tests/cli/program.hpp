// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as a user would and keeps what it said. No shell in between.

#pragma once

#include "../support/temporary_folder.hpp"
#include "json/json.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <vector>

namespace assay::cli_test {

struct Outcome {
    int code = -1; ///< exit code; -1 when it was killed by a signal
    std::string output;
    std::string error;
};

struct Options {
    std::vector<std::string> environment; ///< "NAME=value", added to ours
    std::filesystem::path output;         ///< where stdout goes instead of into the outcome
    std::filesystem::path error;          ///< where stderr goes
    std::filesystem::path folder;         ///< that it is started in
    std::filesystem::path program;        ///< instead of that of this build
    std::vector<std::string> through;     ///< a command that starts it: "/usr/bin/prlimit", ...
    bool closed = false;                  ///< descriptors 0 to 2 are closed
    bool no_reader = false;               ///< stdout and stderr are a pipe that nobody reads
    std::function<bool()> interrupt_when; ///< asked every 10 ms: is it time for the signal?
    int signal = SIGINT;
};

/// `assay` of this build, with these arguments.
Outcome run(const std::vector<std::string>& arguments, const Options& options = {});

/// One message on stderr that begins with the program's name; nothing on stdout.
void expect_refusal(const Outcome& outcome, int code, const std::vector<std::string>& parts);
/// The same of `assay` with these arguments, which it does not understand.
void refuses(const std::vector<std::string>& arguments, const std::vector<std::string>& parts);
/// stdout, which must be JSON.
json::Value parsed(const Outcome& outcome);

/// Lines of all journals below, without their headers.
std::size_t steps_in(const std::filesystem::path& folder);

using Folder = made::TemporaryFolder;

/// A run of one case of a second on one core, which leaves its results in a folder.
std::vector<std::string> brief_run(const std::filesystem::path& out,
                                   const std::vector<std::string>& more = {},
                                   const std::string& replicas = "1");
/// The files of this name below a folder.
std::vector<std::filesystem::path> files_named(const std::filesystem::path& folder,
                                               const std::string& name);

} // namespace assay::cli_test
