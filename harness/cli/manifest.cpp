// SPDX-License-Identifier: Apache-2.0
#include "core/manifest.hpp"

#include "cli/verbs.hpp"
#include "core/module.hpp"

#include <cstdio>

namespace assay::cli {

ExitCode write_manifest(const Options& options) {
    const auto module = core::Module::load(options.what.front());
    if (!module) return report(module.error());
    const auto manifest = core::describe(*module);
    if (!manifest) return report(manifest.error());
    if (const auto written = core::write_manifest(*manifest, options.out); !written)
        return report(written.error());
    return ExitCode::done;
}

} // namespace assay::cli
