// SPDX-License-Identifier: Apache-2.0
//
// What a reader finds, gathered into a run: readings of the same case become replicas where the tool
// was started anew, and further values of one replica where it was not.

#pragma once

#include "base/result.hpp"
#include "import/types.hpp"
#include "record/model.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::imports {

/// One result line: a case of one start of the tool.
struct Reading {
    std::string name;    ///< without "external.<tool>."
    std::string place;   ///< "host" unless said otherwise
    std::string library; ///< the tool unless said otherwise
    record::NamedList parameters;
    record::NamedList settings;
    record::NamedList work; ///< of one call, by the names of assay_work
    std::string headline;
    std::optional<double> seconds; ///< per call
    std::optional<std::uint64_t> calls;
    std::optional<double> p99;
    record::NamedList extra; ///< figures the tool gives, by metric name, in SI base units
    std::optional<record::Table> table;
    std::optional<record::Verification> verification;
    record::Status status = record::Status::ok; ///< failed, skipped: no replica is made
    std::string reason;
    std::string where; ///< for messages: "line 7"
};

class Draft {
public:
    Draft(std::string tool, const ImportOptions& options);

    const ImportOptions& options() const { return options_; }
    record::Run& run() { return import_.run; }
    record::Machine& machine() { return import_.run.machine; }

    /// The tool was started (again): what follows is another process, which begins at line `where`.
    void begin_process(std::string where = "");
    void add(Reading reading);
    void skip(std::string where, std::string_view text, std::string reason,
              bool is_in_front = false);
    /// Something about the whole file; the same sentence once, and a few at most of those that are `many`.
    void note(const std::string& text, bool many = false);
    /// The fate of a line, for those who ask.
    void explain(const std::string& where, std::string_view what);
    /// Names that only serve to know the machine again; no name is kept.
    void add_host(std::string_view name);
    void set_tool_version(std::string_view version);
    /// The description used, and its version: a change of it explains a step in a history.
    void add_software(const std::string& name, std::string_view version);
    void set_started(std::string_view text);
    void set_ended(std::string_view text);

    std::size_t cases() const { return cases_.size(); }
    bool is_full() const { return cases_.size() > options_.cases; }

    /// Makes the cases, and the run around them.
    Result<Import> finish(std::string_view content, std::string_view source, std::string format);

private:
    struct Gathered {
        record::Case result;
        std::vector<std::size_t> processes; ///< one for each replica
    };
    struct Process {
        std::string where;
        std::set<std::string> hosts;
    };
    /// A case of two processes that ran on different hosts: no mean of it means anything.
    void refuse_other_hosts(const Gathered& gathered);
    void add_to(Gathered& gathered, const Reading& reading);
    void finish_case(Gathered& gathered) const;
    void finish_machine(std::string_view digest);

    std::string tool_;
    std::size_t many_ = 0; ///< notes
    const ImportOptions& options_;
    Import import_;
    std::vector<Gathered> cases_;
    std::map<std::string, std::size_t> by_identity_;
    std::set<std::string> hosts_;
    std::vector<Process> processes_{1}; ///< the last is the present one
    std::string refusal_;
};

} // namespace assay::imports
