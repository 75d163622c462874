// SPDX-License-Identifier: Apache-2.0
//
// The devices that work can be done on: those whose driver describes them. What is merely plugged in
// is in pci.hpp.

#pragma once

#include "driver/nvml.hpp"
#include "machine/files.hpp"
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
    std::vector<record::Device> devices; ///< of one that is divided (MIG) the parts alone
    record::NamedList software;          ///< "nvidia.driver", "nvidia.cuda"
    std::vector<std::string> problems;   ///< why there are fewer than one might think
};
DeviceInventory read_devices(const Files& files, const std::vector<record::PciDevice>& pci,
                             const std::filesystem::path& nvml = driver::nvml_library);

/// How a device is now.
struct DeviceState {
    record::Device device;
    driver::DeviceReadings readings;
    driver::DeviceCounters counters;
    driver::DeviceHealth health;
    std::optional<std::vector<int>> processes;
    std::string problem; ///< why readings are missing, if that says something
};
struct DeviceStates {
    std::vector<DeviceState> devices;  ///< of one that is divided the whole, then its parts
    std::vector<std::string> problems; ///< as in DeviceInventory
};
DeviceStates read_device_states(const std::vector<record::PciDevice>& pci,
                                const std::filesystem::path& nvml = driver::nvml_library);
/// What is wrong with it or unusual, in sentences that say what to do.
std::vector<std::string> complaints(const DeviceState& state);

/// What `ask()` returns, or nothing where that takes longer: who asks a driver that hangs, hangs with it.
/// Then a thread is left behind that waits for ever, so `ask` owns all that it uses. Throws what it throws.
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
    asking.join(); // what the thread holds of the loader is gone before the program may end
    return answer.get();
}

} // namespace assay::machine
