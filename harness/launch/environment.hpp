// SPDX-License-Identifier: Apache-2.0
//
// The environment of a worker. Variables that libraries read once, when they are loaded, are set here,
// before exec. All others that change a result are recorded.

#pragma once

#include "launch/placement.hpp"
#include "record/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

/// The environment of a worker: `inherited` ("NAME=value") without what would place threads or make
/// the worker part of a job that the parent runs in, without what silently changes kernels or arithmetic, and
/// with what the placement asks for. `forced` beats all of it.
std::vector<std::string> worker_environment(const std::vector<std::string>& inherited,
                                            const Placement& placement,
                                            const record::NamedList& forced = {});

/// The entries that libraries under measurement read, as settings `environment.NAME`, and those of
/// `inherited` that workers are not given because they silently change what is measured: "unset, was
/// 1". No dump: an environment holds secrets.
record::NamedList recorded_environment(const std::vector<std::string>& environment,
                                       const std::vector<std::string>& inherited = {});

} // namespace assay::harness
