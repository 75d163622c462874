// SPDX-License-Identifier: Apache-2.0
//
// What the machine's counters of errors said before and after a run: memory (EDAC), PCIe (AER), InfiniBand ports,
// network interfaces and what their provider allows, NVLink, and the Xid that NVIDIA's driver writes into the kernel's log.

#pragma once

#include "machine/files.hpp"
#include "machine/network.hpp"
#include "machine/nvml.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace assay::telemetry {

/// The records that the kernel's log holds, each "priority,number,time,...;text"; none for who may not read it.
std::vector<std::string> read_kernel_log();

/// Where counters are read; tests replace all of it.
struct ErrorSources {
    machine::Files files{};
    std::filesystem::path nvml = machine::nvml_library;
    std::function<std::vector<std::string>()> kernel_log = read_kernel_log;
    std::function<std::map<std::string, std::int64_t>(const std::string& interface)> allowances =
        machine::ask_allowances;
};

class ErrorWatch {
public:
    /// Reads what there is for this machine.
    explicit ErrorWatch(const record::Machine& machine, ErrorSources sources = {});

    /// Those that are not zero, or have changed since.
    std::vector<record::ErrorCounter> counters();

private:
    using Key = std::tuple<std::string, std::string, std::string>; ///< source, device, counter
    using Counts = std::map<Key, std::int64_t>;

    Counts read();
    void read_log();

    ErrorSources sources_;
    std::vector<std::string> addresses_; ///< of accelerators and network devices
    bool has_nvidia_;
    Counts logged_;                 ///< events of the log, counted since its beginning
    std::int64_t last_record_ = -1; ///< of the log that was counted
    Counts before_;
};

} // namespace assay::telemetry
