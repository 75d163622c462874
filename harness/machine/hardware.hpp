// SPDX-License-Identifier: Apache-2.0
//
// What makers and public sources say about a device, from the files of configs/hardware: figures that a
// driver does not tell. Of the many in there, those that a ceiling needs.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"
#include "record/model.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::machine {

/// Which units of a multiprocessor compute: those for single numbers, or those for small matrices.
enum class Engine : std::uint8_t { vector, tensor };

/// By precision: fp64 fp32 tf32 fp16 bf16 fp8 int8 fp4, dense; a fused multiply-add is two operations.
using ByPrecision = std::map<std::string, double, std::less<>>;

struct Arithmetic {
    ByPrecision vector;
    ByPrecision tensor;
    const ByPrecision& of(Engine engine) const {
        return engine == Engine::tensor ? tensor : vector;
    }
    ByPrecision& of(Engine engine) { return engine == Engine::tensor ? tensor : vector; }
};

/// Where a figure comes from, and how sure that is: "retrieved", "recalled", ...
struct Origin {
    std::string source;
    std::string sure;
};

struct HardwareEntry {
    std::string name;               ///< for people: "NVIDIA H200 SXM 141GB"
    std::vector<std::string> names; ///< as drivers report it: "NVIDIA H200"
    std::string architecture;
    std::string compute_capability;
    std::optional<int> multiprocessors;
    /// At which the maker's figures hold; not the highest that the driver reports.
    std::optional<double> vector_clock_hz;
    std::optional<double> tensor_clock_hz;
    Arithmetic peaks; ///< 1/s, the maker's figures
    Arithmetic rates; ///< of one multiprocessor in one clock
    std::optional<double> memory_bytes;
    std::optional<double> memory_bandwidth; ///< B/s
    std::optional<int> memory_bus_bits;
    std::optional<double> memory_clock_hz;
    std::optional<double> l2_bytes;
    std::optional<int> pcie_generation;
    std::optional<int> pcie_lanes;
    std::optional<double> nvlink_bandwidth; ///< B/s in one direction, all links together
    std::optional<double> nvlink_rate;      ///< of one link
    bool nvlink_bridge = false;             ///< links only where a bridge joins two cards
    std::string host_link; ///< what joins it to its host where that is not PCIe: "NVLink-C2C"
    std::optional<double> host_link_bandwidth;          ///< B/s in one direction
    std::map<std::string, Origin, std::less<>> figures; ///< by path: "peaks.tensor.bf16"
};

/// The clock of a figure: all that tensor engines do but fp64, which draws less power, holds at a lower
/// one (NVIDIA H100 Tensor Core GPU Architecture, table of clocks).
std::optional<double> clock_of(const HardwareEntry& entry, Engine engine,
                               std::string_view precision);

struct Hardware {
    std::vector<HardwareEntry> entries;
};

/// A file's content, and its name in messages.
struct HardwareText {
    std::string text;
    std::string source;
};
/// Rates may lie in another file than the entries they belong to.
Result<Hardware> parse_hardware(const std::vector<HardwareText>& files, const json::Value& schema);

/// The files that lie beside the programs.
Result<Hardware> read_hardware();
Result<Hardware> read_hardware(const std::filesystem::path& folder,
                               const std::filesystem::path& schema);

/// By the driver's name for it; of several with that name, the one whose memory is nearest in size.
/// Null where none has it.
const HardwareEntry* find_hardware(const Hardware& hardware, const record::Device& device);
/// Says that the name is not known, and which known one is nearest.
std::string unknown_hardware(const Hardware& hardware, const record::Device& device);

/// For who asks about one device only; nothing where it, or the files, are not known.
std::optional<HardwareEntry> find_hardware(const record::Device& device);

} // namespace assay::machine
