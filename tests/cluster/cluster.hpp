// SPDX-License-Identifier: Apache-2.0
//
// A test on the first host of tests/cluster/with_hosts. It sees nothing of the others but the network, so
// that what is cleaned up there was cleaned up over it.

#pragma once

#include "cli/program.hpp"
#include "run/runner.hpp"
#include "trouble_plan.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace assay::cluster_test {

std::filesystem::path cluster(); ///< folder of what with_hosts made

/// Fails the test where the command fails.
void command(const std::string& text);
void set_switch(const std::string& what);

/// Runs it on another host and waits until it has ended; no ' in it.
std::string on_host(const std::string& host, const std::string& what);

/// The first line that a command prints here.
std::string output_of(const std::string& what);

/// Has values, though hosts that share CPUs wait for each other, as does whatever else this machine does.
bool has_values(const record::Case& c);
/// How far they may be from the truth, as a part of it: a link that waits for a CPU is not full.
double slack(const record::Case& c);

/// 0 where the case has no such metric.
double value_of(const record::Case& c, const std::string& metric);

class Cluster : public testing::Test {
protected:
    /// `what` of rank 1, which is on h2.
    record::Case trouble(const std::string& what, double limit);
    record::Case trouble(const std::string& what, double limit, run::Observer& observer);
    /// `assay run` with these arguments, one replica unless they say otherwise; the file is result().
    record::Run measure(std::vector<std::string> arguments,
                        const std::vector<std::string>& environment = {});
    /// Where there is but one case.
    record::Case measure_one(std::vector<std::string> arguments,
                             const std::vector<std::string>& environment = {});
    const std::filesystem::path& result() const { return result_; }
    /// Workers and daemons of the launcher on h2, which this process could not kill.
    static std::string survivors();

    cli_test::Folder folder_;

private:
    std::set<std::filesystem::path> known_;
    std::filesystem::path result_;
};

} // namespace assay::cluster_test
