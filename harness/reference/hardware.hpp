// SPDX-License-Identifier: Apache-2.0
//
// Data sheets of devices, processors and instances, from the files of configs/hardware: values that no driver reports.
// Typed are those that something is computed with; each entry's sheet has all, with their sources.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"
#include "record/model.hpp"
#include "reference/figures.hpp"
#include "reference/processor.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::reference {

/// The units of a multiprocessor: vector units or tensor cores.
enum class Engine : std::uint8_t { vector, tensor };

struct PrecisionName {
    std::string_view parameter; ///< value of a benchmark's parameter `precision`
    std::string_view hardware;  ///< its name in configs/hardware
};
/// Without emulated precisions: no data sheet has a value for them.
inline constexpr std::array precision_names{
    PrecisionName{"fp64", "fp64"},        PrecisionName{"fp32", "fp32"},
    PrecisionName{"tf32", "tf32"},        PrecisionName{"fp16", "fp16"},
    PrecisionName{"bf16", "bf16"},        PrecisionName{"fp8_e4m3", "fp8"},
    PrecisionName{"fp8_e5m2", "fp8"},     PrecisionName{"int8", "int8"},
    PrecisionName{"fp8_e4m3fnuz", "fp8"}, PrecisionName{"fp8_e5m2fnuz", "fp8"},
    PrecisionName{"mxfp8", "fp8"},        PrecisionName{"nvfp4", "fp4"},
};

struct Arithmetic {
    ByPrecision vector;
    ByPrecision tensor;
    const ByPrecision& of(Engine engine) const {
        return engine == Engine::tensor ? tensor : vector;
    }
    ByPrecision& of(Engine engine) { return engine == Engine::tensor ? tensor : vector; }
};

struct HardwareEntry {
    std::string id;   ///< "nvidia-h200-sxm-141gb"
    std::string name; ///< for people: "NVIDIA H200 SXM 141GB"
    std::vector<std::string>
        names; ///< as the driver reports it: "NVIDIA H200"; none where that is not known
    std::string architecture;
    std::string form_factor; ///< "SXM5", "PCIe FHFL dual-slot"
    std::string compute_capability;
    std::optional<int> multiprocessors;
    /// At which the vendor's values hold; not the highest that the driver reports.
    std::optional<double> vector_clock_hz;
    std::optional<double> tensor_clock_hz;
    Arithmetic peaks; ///< 1/s, the vendor's values
    Arithmetic rates; ///< of one multiprocessor in one clock
    std::optional<double> memory_bytes;
    std::optional<double> memory_bandwidth; ///< B/s
    std::optional<int> memory_bus_bits;
    std::optional<double> memory_clock_hz;
    std::optional<double> l2_bytes;
    std::optional<int> pcie_generation;
    std::optional<int> pcie_lanes;
    std::optional<double> nvlink_bandwidth;    ///< B/s in one direction, all links together
    std::optional<double> nvlink_rate;         ///< of one link
    bool nvlink_bridge = false;                ///< links only where a bridge joins two cards
    std::string host_link;                     ///< its link to the host if not PCIe: "NVLink-C2C"
    std::optional<double> host_link_bandwidth; ///< B/s in one direction
    std::optional<double> power;               ///< W, the highest that the maker allows by default
    ByPrecision sparse;                        ///< 1/s, with structured sparsity
    Sheet sheet;
};

/// The clock of a value: tensor core values hold at a lower clock, except for fp64, which draws less power
/// (NVIDIA H100 Tensor Core GPU Architecture, table of clocks).
std::optional<double> clock_of(const HardwareEntry& entry, Engine engine,
                               std::string_view precision);

/// Makers' figures of network cards, by the chip that the PCI bus shows.
struct NetworkCardEntry {
    std::string id;               ///< "nvidia-connectx-7"
    std::string name;             ///< for people: "NVIDIA ConnectX-7"
    std::vector<std::string> pci; ///< vendor and device: "15b3:1021"
    /// Of the fastest port that cards with this chip have, B/s in one direction.
    std::optional<double> port_bandwidth;
    std::optional<int> pcie_generation;
    std::optional<int> pcie_lanes;
    Sheet sheet;
};

// Types of machines that providers rent.
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

struct Hardware {
    std::vector<HardwareEntry> entries; ///< accelerators
    std::vector<ProcessorEntry> processors;
    std::vector<NetworkCardEntry> network_cards;
    std::vector<Provider> providers;
    std::vector<InstanceEntry> instances;
};

/// A file's content, and its name in messages.
struct HardwareText {
    std::string text;
    std::string source;
    bool is_laid_over = false; ///< replaces figures of entries that earlier files have
};
/// Rates and microarchitectures may be in another file than the entries they belong to.
Result<Hardware> parse_hardware(const std::vector<HardwareText>& files, const json::Value& schema);

/// The installed files, and `over` laid over them in order.
Result<Hardware> read_hardware(const std::vector<std::string>& over = {});

/// The installed files alone, read once.
const Result<Hardware>& installed_hardware();

/// By the driver's name for it; of several with that name, the one whose memory is nearest in size. Null if not found.
const HardwareEntry* find_hardware(const Hardware& hardware, const record::Device& device);
/// The message about an unknown name, with the nearest known one.
std::string unknown_hardware(const Hardware& hardware, const record::Device& device);

/// For a single device; nothing if it, or the files, are unknown.
std::optional<HardwareEntry> find_hardware(const record::Device& device);

/// B/s of one PCIe lane in one direction after line coding, before packets; nothing for unknown
/// generations.
std::optional<double> pcie_lane_rate(int generation);

} // namespace assay::reference
