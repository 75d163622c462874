// SPDX-License-Identifier: Apache-2.0
//
// One case in a worker: a benchmark of a loaded module, set up with its parameters, as the subject that
// the engine measures. The state is destroyed with it.

#pragma once

#include "base/result.hpp"
#include "record/model.hpp"
#include "worker/engine.hpp"

#include <assay/module.h>

#include <functional>
#include <string>
#include <vector>

namespace assay::worker {

/// Values in the order of the benchmark's parameters. Fails when one is missing, unknown or of the
/// wrong type, so that a module never reads a value it did not ask for. Texts point into `from`.
Result<std::vector<assay_value>> module_values(const assay_benchmark& benchmark,
                                               const record::NamedList& from);

class LoadedCase : public worker::Subject {
public:
    /// `services` and `values` must outlive the case. `phase` is called when running changes to
    /// checking and back, so that the phase of a case that hangs is known.
    LoadedCase(const assay_benchmark& benchmark, const assay_services& services,
               const std::vector<assay_value>& values, std::function<void(const char*)> phase);
    LoadedCase(const LoadedCase&) = delete;
    LoadedCase& operator=(const LoadedCase&) = delete;
    LoadedCase(LoadedCase&&) = delete;
    LoadedCase& operator=(LoadedCase&&) = delete;
    ~LoadedCase() override;

    /// Empty: it fits. Otherwise the reason why not.
    std::string misfit() const;
    Result<void> create();
    /// Only the quantities that apply.
    Result<record::NamedList> work();
    /// The benchmark passes values that only it knows to the services.
    Result<void> report_metrics();
    /// The values `function` and `message` of the last error; empty before the first.
    const record::Values& failure() const { return failure_; }

    Result<double> sample(std::uint64_t calls) override;
    Result<record::Verification> verify() override;
    Result<void> poison() override;
    Result<void> spoil() override;
    Result<void> rewind() override;
    Result<worker::Digest> digest() override;
    Result<worker::OutputBlock> block(std::size_t index) override;
    Result<void> renew() override;

private:
    const assay_benchmark& benchmark_;
    const assay_services& services_;
    const std::vector<assay_value>& values_;
    std::function<void(const char*)> phase_;
    bool checking_ = true;
    record::Values failure_;
    void enter(const char* phase, bool checking);
    template <class Function, class... Arguments>
    Result<void> call(const char* what, Function function, Arguments... arguments);
    void* state_ = nullptr;
};

} // namespace assay::worker
