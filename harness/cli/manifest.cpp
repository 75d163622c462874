// SPDX-License-Identifier: Apache-2.0
#include "plan/manifest.hpp"

#include "cli/verbs.hpp"
#include "worker/module.hpp"

namespace assay::cli {

ExitCode write_manifest(const Options& options) {
    const auto module = worker::Module::load(options.what.front());
    if (!module) return report(module.error());
    const auto manifest = worker::describe(*module);
    if (!manifest) return report(manifest.error());
    if (!manifest->problems.empty()) return report({manifest->problems.front()});
    if (const auto written = plan::write_manifest(*manifest, options.out); !written)
        return report(written.error());
    return ExitCode::done;
}

} // namespace assay::cli
