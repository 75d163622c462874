// SPDX-License-Identifier: Apache-2.0
//
// The used part of NVIDIA's management library (NVML): its functions, structures and numbers, declared
// here so that assay builds without its header and runs without it. The library keeps this
// interface stable: a new version of a function gets a new name, one of a structure a
// new number in its first member.
//
// Sizes: those of the library's header on 64-bit Linux.

#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace assay::machine::nvml {

using Handle = struct Opaque*; ///< of a device

// Return codes.
inline constexpr int success = 0;
inline constexpr int not_supported = 3;
inline constexpr int no_permission = 4;
inline constexpr int not_found = 6;
inline constexpr int insufficient_size = 7;
inline constexpr int driver_not_loaded = 9;
inline constexpr int function_not_found = 13;
inline constexpr int gpu_is_lost = 15;
inline constexpr int version_mismatch = 18; ///< of the library and the kernel's module
inline constexpr int no_data = 21;
inline constexpr int argument_version_mismatch = 25;
inline constexpr int deprecated = 26;

// Kinds of clocks, of ECC errors, and since when these are counted.
inline constexpr int clock_sm = 1;
inline constexpr int clock_memory = 2;
inline constexpr int ecc_corrected = 0;
inline constexpr int ecc_uncorrected = 1;
inline constexpr int ecc_since_boot = 0;

inline constexpr int virtual_gpu = 2; ///< of GetVirtualizationMode; 1 is passed through whole

struct PciInfo {
    std::array<char, 16> legacy_address;
    std::uint32_t domain;
    std::uint32_t bus;
    std::uint32_t device;
    std::uint32_t device_id;
    std::uint32_t subsystem_id;
    std::array<char, 32> address;
};
static_assert(sizeof(PciInfo) == 68);

struct Temperature {
    std::uint32_t version;
    std::int32_t sensor; ///< 0: the chip
    std::int32_t celsius;
};
static_assert(sizeof(Temperature) == 12);
inline constexpr std::uint32_t temperature_version = sizeof(Temperature) | (1U << 24U);

struct MemoryInfo {
    std::uint32_t version;
    std::uint64_t total; ///< of the device, including the driver's reserve
    std::uint64_t reserved;
    std::uint64_t free;
    std::uint64_t used;
};
static_assert(sizeof(MemoryInfo) == 40);
inline constexpr std::uint32_t memory_version = sizeof(MemoryInfo) | (2U << 24U);

/// Attributes of a part of a device (MIG).
struct Attributes {
    std::uint32_t multiprocessors;
    std::uint32_t copy_engines;
    std::uint32_t decoders;
    std::uint32_t encoders;
    std::uint32_t jpeg_engines;
    std::uint32_t optical_flow_engines;
    std::uint32_t gpu_slices;
    std::uint32_t compute_slices;
    std::uint64_t memory_mebibytes;
};
static_assert(sizeof(Attributes) == 40);

struct ProcessInfo {
    std::uint32_t pid;
    std::uint64_t memory_bytes;
    std::uint32_t gpu_instance;
    std::uint32_t compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);

struct ConfidentialState {
    std::uint32_t environment;
    std::uint32_t feature; ///< 1: confidential computing is on
    std::uint32_t tools_mode;
};
static_assert(sizeof(ConfidentialState) == 12);

/// The device's place in an NVLink fabric.
struct FabricInfo {
    std::uint32_t version;
    std::array<unsigned char, 16> cluster;
    std::int32_t status; ///< of a completed registration: success, or why it failed
    std::uint32_t clique;
    unsigned char state;  ///< an index of fabric_states
    std::uint32_t health; ///< two bits for each of fabric_faults: 1 it has it, 2 it has not
};
static_assert(sizeof(FabricInfo) == 36);
inline constexpr std::uint32_t fabric_version = sizeof(FabricInfo) | (2U << 24U);
inline constexpr std::array fabric_states{"", "not_started", "in_progress", "completed"};
inline constexpr std::array fabric_faults{"degraded_bandwidth", "route_recovery", "route_unhealthy",
                                          "access_timeout_recovery"};

/// One reading by number. `value` is to be read as `type` says.
struct FieldValue {
    std::uint32_t field;
    std::uint32_t scope; ///< a link; for some fields all_links
    std::int64_t time;
    std::int64_t latency;
    std::int32_t type;
    std::int32_t result; ///< success, or why it has no value
    std::array<unsigned char, 8> value;
};
static_assert(sizeof(FieldValue) == 40);
inline constexpr std::uint32_t all_links = 0xffffffffU;
inline constexpr std::uint32_t most_links = 36; ///< of one device

enum FieldType : std::int32_t {
    type_double = 0,
    type_uint = 1,
    type_ulong = 2,
    type_ulonglong = 3,
    type_longlong = 4,
    type_int = 5,
    type_ushort = 6,
};

// Fields.
inline constexpr std::uint32_t throttled_power = 74; ///< nanoseconds, as all of these
inline constexpr std::uint32_t throttled_thermal = 75;
inline constexpr std::uint32_t nvlink_crc_flit = 38; ///< errors on all links, as the next three
inline constexpr std::uint32_t nvlink_crc_data = 45;
inline constexpr std::uint32_t nvlink_replay = 52;
inline constexpr std::uint32_t nvlink_recovery = 59;
inline constexpr std::uint32_t memory_temperature = 82; ///< degrees Celsius
inline constexpr std::uint32_t nvlink_sent = 138; ///< KiB of data, on a link or on all of them
inline constexpr std::uint32_t nvlink_received = 139;
inline constexpr std::uint32_t power_instant = 186; ///< milliwatts
inline constexpr std::uint32_t nvlink5_sent = 202;  ///< bytes, on a link
inline constexpr std::uint32_t nvlink5_received = 204;
inline constexpr std::uint32_t nvlink5_malformed = 206; ///< errors on a link or all, as all below
inline constexpr std::uint32_t nvlink5_overrun = 207;
inline constexpr std::uint32_t nvlink5_receive_errors = 208;
inline constexpr std::uint32_t nvlink5_integrity = 211;
inline constexpr std::uint32_t nvlink5_recovery_failed = 214;
inline constexpr std::uint32_t nvlink5_recovery_events = 215;

/// Further throttling counters, in fields whose numbers are not stable.
struct ThrottleFields {
    std::uint32_t software_thermal;
    std::uint32_t hardware_thermal;
    std::uint32_t power_brake;
};
/// By the driver's branch, 580 of 580.65.06. They came with CUDA 12.9 (branch 575) and moved with 13.1
/// (590); with 13.0 and before, 269 to 271 are settings of power smoothing, with 12.8 and since 13.1
/// 251 to 253 are. Source: nvml.h of each.
constexpr std::optional<ThrottleFields> throttle_fields(int branch) {
    constexpr int first = 575;
    constexpr int moved = 590;
    if (branch < first) return {};
    if (branch < moved)
        return ThrottleFields{.software_thermal = 251, .hardware_thermal = 252, .power_brake = 253};
    return ThrottleFields{.software_thermal = 269, .hardware_thermal = 270, .power_brake = 271};
}

// Reasons for which clocks are lower than they might be: bits of
// GetCurrentClocksEventReasons. Bit 0, idle, does not count.
inline constexpr std::uint64_t reason_clock_setting = 0x2;
inline constexpr std::uint64_t reason_power_cap = 0x4;
inline constexpr std::uint64_t reason_hardware_slowdown = 0x8; ///< stands beside the next but two
inline constexpr std::uint64_t reason_sync_boost = 0x10;
inline constexpr std::uint64_t reason_software_thermal = 0x20;
inline constexpr std::uint64_t reason_hardware_thermal = 0x40;
inline constexpr std::uint64_t reason_power_brake = 0x80;
inline constexpr std::uint64_t reason_display = 0x100;

} // namespace assay::machine::nvml
