// SPDX-License-Identifier: Apache-2.0
//
// Types of machines that providers rent.

#pragma once

#include "datasheet/figures.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::datasheet {

struct Provider {
    std::string id; ///< as runs have it: "aws"
    std::string name;
    std::vector<std::string> aliases;
};

struct InstanceEntry {
    std::string provider; ///< its id
    std::string type;     ///< "p5.48xlarge"
    std::optional<double> vcpus;
    std::optional<double> cores; ///< physical ones
    std::optional<double> threads_per_core;
    std::optional<double> memory_gib;
    std::string cpu;                     ///< id of a processor
    std::string gpu;                     ///< id of an accelerator
    std::optional<double> gpus;          ///< 0.5: half of one
    std::optional<double> gpu_memory_gb; ///< of all of them
    Sheet sheet; ///< with disks and networks too; its id is "aws/p5.48xlarge"
};

} // namespace assay::datasheet
