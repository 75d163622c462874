// SPDX-License-Identifier: Apache-2.0
//
// Limits from a fleet: for each case of each type of machine, what its good nodes reach. A bound is
//
//     median exp(-t(1 - a / m, d) sqrt(s^2 + pi / (2 n) v)),   a = 0.1% over the m items of a node
//
// of n nodes, v the variance of single values of good nodes, moderated over the items with d degrees of freedom, and
// s^2 the part of it that stays when the median of nine retests is taken. decide/fleet.hpp has the parts,
// decisions/acceptance.md 0315 where they are from and what they were tried on. A check by such a limit has its own
// noise and its own levels.

#pragma once

#include "base/result.hpp"
#include "decide/acceptance.hpp"
#include "decide/fleet.hpp"
#include "document/document.hpp"
#include "fleet/model.hpp"
#include "judge/limits.hpp"
#include "store/collection.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace assay::fleet {

struct DeriveOptions {
    std::string by = "instance"; ///< what makes a type: instance, cpu, device
    std::vector<std::string> filter;
    std::string name; ///< of the file
    std::string author;
    double valid_days = 180;
    std::optional<double> now; ///< seconds since 1970; the clock's otherwise
    decide::FleetRule rule;
};

struct DerivedLimit {
    judge::Limit limit;
    std::string group; ///< "c7a.large"
    std::string what;  ///< "GEMM fp64, size 1024"
    std::size_t left_out = 0;
    bool without_distribution = false;
    decide::FleetBounds bounds;
    double slowdown = 0; ///< found by screening and retests with the rule's power
    /// The smallest slowdown of a usual node that fails after so many replicas of one run, with the same power.
    std::array<double, decide::fail_looks.size()> by_replicas{};
};

struct Derivation {
    judge::LimitsFile file;
    std::vector<DerivedLimit> limits;
    decide::FleetRule rule;
    std::size_t nodes = 0; ///< that took part
    std::size_t runs = 0;
    std::size_t items = 0;    ///< of the type that has most
    std::size_t too_few = 0;  ///< cases of fewer nodes than fewest_nodes
    std::size_t not_ours = 0; ///< with a metric of another tool
    std::vector<store::Problem> problems;
};

/// Fails where no type has enough nodes, and says how many are missing.
Result<Derivation> derive(const store::Collection& collection, const DeriveOptions& options);

/// Its title, cases, metric and unit; the place without an index is for every device.
judge::Limit limit_for(const decide::Series& series);

// --- limits from one machine ------------------------------------------------------------------------
// An example to edit: what this machine reaches, less a margin that its own results clear.

/// Key of remarks in every object of a file of limits, which no program reads.
inline constexpr const char* comment_key = "//";

struct ExampleOptions {
    std::string name; ///< of the file
    std::string author;
    double valid_days = 180;
    std::optional<double> now; ///< seconds since 1970; the clock's otherwise
};
struct Example {
    judge::LimitsFile file;
    std::size_t left_out = 0; ///< cases without a limit: they are too noisy, or have one replica
};
/// A limit for each case of the newest run that `limits lint` accepts and that these results pass.
Result<Example> example_of(const store::Collection& collection, const ExampleOptions& options);
/// With comments, in the language in use.
json::Value to_json(const Example& example);

document::Document make_document(const Derivation& derivation);
std::string to_json(const Derivation& derivation);

} // namespace assay::fleet
