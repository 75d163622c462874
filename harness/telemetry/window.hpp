// SPDX-License-Identifier: Apache-2.0
//
// What else happened on the machine while we measured: foreign CPU use, steal, throttling, page
// migrations, the core clock. A disturbed window is flagged, never deleted.

#pragma once

#include "record/model.hpp"

#include <filesystem>
#include <memory>

namespace assay::telemetry {

class Window {
public:
    /// `own_root`: process whose tree counts as ours (the parent of all workers); 0 for this process.
    explicit Window(std::filesystem::path root = "/");
    ~Window();
    void begin();
    record::Telemetry end();

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace assay::telemetry
