// SPDX-License-Identifier: Apache-2.0
//
// What a good machine measures: shares of the bound of a case, or amounts, each with its source; the cases that have
// such a value; and what bounds a benchmark.

#pragma once

#include "good_machines.hpp"
#include "plan/manifest.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace assay::decisions {

/// Where a value of a good node comes from.
struct Basis {
    double share = 0; ///< of the bound, or an amount
    bool is_measured = false;
    std::string source;
};

/// Base of a share: the case's own bound, that of another benchmark at the same place, or nothing.
struct Value {
    Basis basis;
    std::string of{};       ///< a benchmark; empty: the case's own bound
    double per_unit = 1;    ///< of that bound
    bool is_amount = false; ///< the share is the value itself
    std::string metric{};   ///< empty: the primary one
};
Value measured(double share, std::string source);
Value guessed(double share, std::string source = "recalled");
Value amount(Value value);
Value share_of(Value value, std::string benchmark, double per_unit, std::string metric = {});

/// Value of a case on the host.
Value host_value(const record::Case& c, const HostKind& host);
/// Value of a case on a device.
Value device_value(const record::Case& c, const reference::HardwareEntry& chip, bool is_amd);

/// The cases of the real files without what was measured: those of the host, and of a device.
const std::vector<record::Case>& patterns(bool on_host);
std::string precision_of(const record::Case& c);
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words);

/// Bounds by a data sheet, as the benchmarks' authors state them (Info::bound); the others have no such bound.
plan::Catalogue catalogue();

} // namespace assay::decisions
