// SPDX-License-Identifier: Apache-2.0
//
// One case of a described benchmark: its program is run once for each call.

#pragma once

#include "external/fill.hpp"
#include "external/output.hpp"
#include "external/process.hpp"
#include "external/scratch.hpp"
#include "external/team.hpp"

#include <assay/define.hpp>

#include <memory>
#include <optional>
#include <span>

namespace assay::external {

/// A free port of the loopback device; if another program takes it first, the later error says so.
int free_port();

/// Does it fit this machine?
Fit fits(const Description& description, const assay_value* values, const Machine& machine);

class ToolCase {
public:
    ToolCase(const Description& description, const assay_value* values, const Context& context);

    /// Seconds that the program ran.
    double run() try { return run_once(); } catch (const Problem& problem) {
        throw Problem{problem.what() + full_disk()};
    }
    assay::Check verify() const;
    void poison() { outputs_.clear(); }
    void spoil();
    void metrics(Metrics& to) const;

private:
    Command command_of(const Arguments& arguments) const;
    int team_ranks() const;
    Launch launch_of(const Team& team) const;
    Command main_command() const;
    /// Arguments that are started by a launcher.
    Command launched(const Launch& launch, const Arguments& arguments, double limit) const;
    void prepare();
    void find_files();
    void join_team(const Context& context);
    const Server* server() const;
    void start_server();
    double run_once();
    /// Throws where nothing is wrong but that the checks did not come to their end.
    void see_checks_end() const;
    /// Output that a program may have lost because it could not write; empty where there is room.
    std::string full_disk() const;
    std::string file(const std::string& name) const;

    const Description& description_;
    Team team_;
    Fill fill_;
    std::string program_;
    Scratch scratch_;
    std::vector<Metric> metrics_;
    std::vector<Check> checks_;
    std::optional<Where> failure_;
    std::vector<std::string> files_; ///< that are read after each call
    std::optional<Companion> server_;
    Outputs outputs_;
    std::vector<std::pair<std::string, double>> values_; ///< of the last call
    std::size_t spoiled_ = 0;
};

} // namespace assay::external
