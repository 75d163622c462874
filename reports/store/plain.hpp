// SPDX-License-Identifier: Apache-2.0
//
// Parts of a run made plain, as plain() does it with whole runs, and those that digests keep packed.

#pragma once

#include "record/model.hpp"
#include "store/metrics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::report {

record::Case plain_case(record::Case c);
std::optional<record::Soak> plain_soak(std::optional<record::Soak> soak);
std::optional<record::Gates> plain_gates(const record::Schedule& schedule);
std::vector<record::ErrorCounter> plain_counters(std::vector<record::ErrorCounter> counters);
record::NamedList plain_list(record::NamedList list);

/// Of packed bytes; empty where they hold something else.
record::Machine make_machine(const std::string& bytes);
record::NamedList make_settings(const std::string& bytes);
std::vector<MetricKind> make_kinds(const std::string& bytes);

} // namespace assay::report
