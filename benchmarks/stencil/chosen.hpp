// SPDX-License-Identifier: Apache-2.0
//
// The sweep that is fastest on the case's own data, and how far the others were behind.

#pragma once

#include "stores.hpp"

#include <assay/define.hpp>

namespace assay::stencil {

/// "avx2 streaming", and how often it asks for a line, where ways differ in that.
template <class Way>
std::string name_of(const Way& way) {
    std::string name = joined(way.instructions, ' ', name_of(way.stores));
    if constexpr (requires { way.requests; }) name += joined(" x", way.requests);
    return name;
}

/// The fastest of `ways` by run(way). Settings: `isa`, `stores`, `requests`; and `trial`: the times of the others as
/// multiples of its own.
template <class Way, class Run>
Way chosen(const std::vector<Way>& ways, const Context& context, Run&& run) {
    const auto tell = [&](const host::Trial& trial) {
        const Way& best = ways[trial.best];
        context.setting("isa", best.instructions);
        context.setting("stores", name_of(best.stores));
        if constexpr (requires { best.requests; }) context.setting("requests", best.requests);
        context.setting("trial",
                        host::others_of(trial, [&](std::size_t i) { return name_of(ways[i]); }));
    };
    return host::fastest_of(ways, std::forward<Run>(run), tell);
}

} // namespace assay::stencil
