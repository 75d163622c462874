// SPDX-License-Identifier: Apache-2.0
//
// The sweep that is fastest on the case's own data, and how far the others were behind.

#pragma once

#include "stores.hpp"

#include <assay/define.hpp>

namespace assay::stencil {

/// The fastest of `ways` by run(way). Settings: `isa`, `stores`, and `trial`: the times of the others as multiples of
/// its own.
template <class Way, class Run>
Way chosen(const std::vector<Way>& ways, const Context& context, Run&& run) {
    const auto tell = [&](const host::Trial& trial) {
        context.setting("isa", ways[trial.best].instructions);
        context.setting("stores", name_of(ways[trial.best].stores));
        const auto name = [&](std::size_t i) {
            return joined(ways[i].instructions, ' ', name_of(ways[i].stores));
        };
        context.setting("trial", host::others_of(trial, name));
    };
    return host::fastest_of(ways, std::forward<Run>(run), tell);
}

} // namespace assay::stencil
