// SPDX-License-Identifier: Apache-2.0
//
// The usable devices: those that their driver describes. Devices on the bus without a driver are in
// pci.hpp.

#pragma once

#include "machine/files.hpp"
#include "machine/nvml.hpp"
#include "record/finding.hpp"
#include "record/model.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::machine {

struct DeviceInventory {
    std::vector<record::Device> devices; ///< of a divided one (MIG) only the parts
    record::NamedList software;          ///< "nvidia.driver", "nvidia.cuda", "amd.driver"
    std::vector<record::Serial> serials; ///< of the whole ones; the UUID of one that tells none
    std::vector<std::string> problems;   ///< why there are fewer than expected
};
DeviceInventory read_devices(const Files& files, const std::vector<record::PciDevice>& pci,
                             const std::filesystem::path& nvml = machine::nvml_library);

/// The present state of a device.
struct DeviceState {
    record::Device device;
    machine::DeviceReadings readings;
    machine::DeviceCounters counters;
    machine::DeviceHealth health;
    std::optional<std::vector<int>> processes;
    std::string problem;    ///< why readings are missing, if known
    bool is_denied = false; ///< the driver refused this user some
};
struct DeviceStates {
    std::vector<DeviceState> devices;  ///< of a divided one the whole, then its parts
    std::vector<std::string> problems; ///< as in DeviceInventory
};
DeviceStates read_device_states(const Files& files, const std::vector<record::PciDevice>& pci,
                                const std::filesystem::path& nvml = machine::nvml_library);
/// Defects and unusual settings.
std::vector<record::Finding> complaints(const DeviceState& state);

/// The result of `ask()`, or nothing if it takes longer: a call to a driver that hangs, hangs.
/// Then a thread is left that waits forever, so `ask` must own all that it uses. Rethrows its exceptions.
template <class Ask>
std::optional<std::invoke_result_t<Ask&>> answer_within(std::chrono::milliseconds patience,
                                                        Ask ask) {
    std::promise<std::invoke_result_t<Ask&>> promise;
    auto answer = promise.get_future();
    std::thread asking{[promise = std::move(promise), ask = std::move(ask)]() mutable {
        try {
            promise.set_value(ask());
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    }};
    if (answer.wait_for(patience) != std::future_status::ready) {
        asking.detach();
        return {};
    }
    asking.join(); // the thread must release the loader before the program may end
    return answer.get();
}

} // namespace assay::machine
