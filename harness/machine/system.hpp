// SPDX-License-Identifier: Apache-2.0
//
// The machine by its firmware, the operating system, the compiler of this build.

#pragma once

#include "base/result.hpp"
#include "machine/files.hpp"
#include "record/model.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::machine {

/// DMI, or a device tree. Placeholders ("To Be Filled By O.E.M.") read as empty.
struct Firmware {
    std::string vendor;
    std::string product;
    std::string bios;        ///< vendor and version: the only trace of Amazon's first generation
    std::string chassis_tag; ///< only compared with the tags that clouds set on all machines
};
/// A file of /sys/class/dmi/id; empty where the vendor left a placeholder.
std::string dmi_field(const Files& files, std::string_view name);
Firmware read_firmware(const Files& files);

/// "Supermicro SYS-821GE-TNHR"; the vendor is not repeated if the product begins with it.
std::string system_name(const Firmware& firmware);

std::string operating_system(const Files& files); ///< "Debian GNU/Linux 12 (bookworm)"
std::string kernel_release(const Files& files);   ///< "6.1.0-18-amd64"
std::string architecture();                       ///< "x86_64"
std::string host_name();
/// May this name a node? Letters, digits, '-', '_', '.' and ':', as schedulers and lists of nodes write them.
bool is_node_name(std::string_view text);
/// Differs between machines, between boots of one, and between networks of one (containers).
std::string boot_identity();

/// The C library this process runs with, and the compiler that built it.
record::NamedList own_software();

/// Serial numbers, MAC addresses and GUIDs in clear, of what this process may read.
std::vector<record::Serial> read_serials(const Files& files);
/// Why another run of this machine may have another id; empty where nothing is hidden.
std::string id_remark(const Files& files);

/// Sets id and identity. The id, sixteen hexadecimal digits, is the same on every run and reveals nothing about the
/// owner: what it is made from cannot be derived from it. The first of these that can be read decides: the id of the
/// cloud's instance, the firmware's UUID, the name of the node, /etc/machine-id with hardware facts and a whole device;
/// the others are aliases. Images that are copied with their machine-id thus stay different machines, and a reinstalled
/// machine stays what it was.
/// Nothing that comes and goes (memory in use, CPUs taken offline, limits, the kernel) may enter; a device only where
/// nothing stronger is known.
/// Reads of `machine` what cannot change without making it another machine; those members must be filled in.
void identify(const Files& files, std::string_view cloud_instance,
              const std::vector<record::Serial>& serials, record::Machine& machine);

struct SerialOptions {
    bool in_clear = false;
    std::string key; ///< of a campaign: records hashes with this key
};
/// The key in a file of the owner's: an error says what is wrong with it.
Result<std::string> read_id_key(const std::filesystem::path& file);
/// Into the record, only as requested.
void record_serials(std::vector<record::Serial> serials, const SerialOptions& options,
                    record::Machine& machine);

/// The version of a network device's firmware; empty where its driver tells none.
using FirmwareOf = std::function<std::string(const std::string& interface)>;
std::string ask_network_firmware(const std::string& interface); ///< of this machine

/// Firmware, clocks, memory modules, disks and network devices, as they are set now.
record::Platform read_platform(const Files& files, const FirmwareOf& firmware_of = {});

// --- clock ---------------------------------------------------------------------------------------
// The actual core clock, measured: the kernel's files show the nominal clock in a virtual machine and an
// older value everywhere else.

/// The clock of the core this thread runs on, in hertz, from a chain of dependent additions (one per
/// cycle on every core we know); takes about 2 ms. The thread stays on that core meanwhile.
double measure_core_clock();

/// The same, repeated until two agree within 0.5% or ten were made: from an idle core, which takes
/// some milliseconds to reach its clock.
double measure_steady_core_clock();

} // namespace assay::machine
