// SPDX-License-Identifier: Apache-2.0
//
// Data sheets of host processors: what a core does in a clock by instruction set, and the memory that a socket has.

#pragma once

#include "record/model.hpp"
#include "reference/figures.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reference {

/// Models with cores of one design.
struct Microarchitecture {
    std::string id;
    std::string name;
    std::string vendor; ///< as the kernel reports it: "GenuineIntel", "Arm"
    /// FLOP (OP for int8) of one core in one clock, by instruction set: avx2 avx512 amx neon sve.
    std::map<std::string, ByPrecision, std::less<>> rates;
    Sheet sheet;
};

struct ProcessorEntry {
    std::string id;
    std::string name; ///< for people: "AMD EPYC 9R14"
    std::vector<std::string>
        names; ///< as the kernel reports it, with * and ?; none where it does not tell it from others
    std::string microarchitecture;  ///< its id
    std::vector<std::string> needs; ///< features by which it is told from others of the same name
    std::vector<std::string> lacks;
    std::optional<int> cores;                   ///< of one socket
    std::optional<double> boost_clock_hz;       ///< the highest of one core
    std::optional<int> memory_channels;         ///< of one socket, 64 bits each
    std::optional<double> memory_transfer_rate; ///< of one channel
    Sheet sheet;
    Microarchitecture core; ///< of that id
};

/// By the model name, the vendor and the features; of several the one
/// whose pattern has most letters. Null if not found.
const ProcessorEntry* find_processor(const std::vector<ProcessorEntry>& processors,
                                     const record::Machine& machine);

struct CoreRate {
    double per_clock = 0;
    std::string isa;
};
/// The highest rate of one core with the instructions that this machine has, or with those of `isa` alone. Units for
/// matrix products count where `matrices` is set.
std::optional<CoreRate> core_rate(const ProcessorEntry& entry, const record::Machine& machine,
                                  std::string_view precision, bool matrices,
                                  std::string_view isa = {});

} // namespace assay::reference
