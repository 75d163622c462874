// SPDX-License-Identifier: Apache-2.0
//
// One case of one of our modules, loaded through the C interface as a worker does it, and ready to be
// sampled beside a peer.

#pragma once

#include "record/model.hpp"
#include "worker/loaded_case.hpp"
#include "worker/module.hpp"
#include "worker/services.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace assay::peers {

/// Throws std::runtime_error with a sentence when anything is wrong: there is nothing to compare then.
class Subject {
public:
    /// Parameters that are not given have their first default. With `join`, the module's team is
    /// joined first. `state` is the folder that the module may keep files in.
    Subject(const std::string& module_path, const std::string& benchmark,
            const record::NamedList& given, bool join = false, const std::string& state = {});
    Subject(const Subject&) = delete;
    Subject& operator=(const Subject&) = delete;
    ~Subject();

    /// Seconds that so many calls took.
    double sample(std::uint64_t calls);
    /// Amount of work of one call by its name in assay_work, 0 when it does not apply.
    double work(const std::string& name) const;
    /// Resolved value of a parameter, in words; "" for an unknown one.
    std::string setting(const std::string& name) const;
    const assay_team* team() const { return team_; }
    worker::LoadedCase& loaded() { return *case_; }
    /// Runs once from fresh inputs and verifies.
    void prove();

private:
    /// Before the module: loading it may load OpenMP, which may bind this thread to one core.
    record::Machine machine_;
    worker::Module module_;
    worker::Services services_;
    record::NamedList parameters_;
    std::vector<assay_value> values_;
    const assay_team* team_ = nullptr;
    std::unique_ptr<worker::LoadedCase> case_;
};

/// Leaves the team that a Subject joined; after the last one is gone.
void leave_team(const std::string& module_path);

} // namespace assay::peers
