// SPDX-License-Identifier: Apache-2.0
//
// What was recorded of a machine and its software when a sample was taken, in a form that two of them can
// be compared with each other.

#pragma once

#include "history/history.hpp"
#include "history/tracks.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::history {

struct RecordedFact {
    std::string name;
    std::string value;            ///< never empty: what was not recorded is absent
    std::optional<double> amount; ///< where small differences mean nothing
    ChangeCause cause = ChangeCause::software;
};
/// By name.
using FactList = std::vector<RecordedFact>;

/// Is it the same, but for what the kernel keeps of the memory or the clock's breath?
bool is_same(const RecordedFact& a, const RecordedFact& b);

/// Facts that both lists have and that differ, those of the instance first.
std::vector<ChangedFact> changed_facts(const FactList& before, const FactList& after);

/// The facts behind samples, made once for each state of a machine.
class FactBook {
public:
    explicit FactBook(const store::Collection& collection);

    /// Changes between runs: the machine, its software, the version of assay.
    std::vector<ChangedFact> changes(std::uint32_t before, std::uint32_t after) const;
    /// Changes between samples of a series: also its settings and the clock. Facts about other libraries are left out.
    std::vector<ChangedFact> changes(const Sample& before, const Sample& after,
                                     const decide::Series& series) const;
    /// Does what was recorded of `sample` say the same of this fact as `other` does?
    bool agree(const Sample& sample, const Sample& other, const decide::Series& series,
               std::string_view name) const;

private:
    FactList of(const Sample& sample, const decide::Series& series) const;
    bool matters(std::string_view name, const decide::Series& series) const;

    const store::Collection& collection_;
    std::vector<FactList> machines_;
    std::vector<std::string> libraries_; ///< of all series
};

/// The measured clock follows from other things more often than it is the reason.
inline constexpr std::string_view core_clock = "core_clock";

} // namespace assay::history
