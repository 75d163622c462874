// SPDX-License-Identifier: Apache-2.0
#include "machine/identity.hpp"

#include "base/sha256.hpp"

namespace assay::machine {
namespace {

// Keeps our ids apart from everybody else's that are made from the same machine-id. Random; never to
// change, or every machine becomes a new one.
constexpr std::string_view application = "assay.machine/1 5f1d8c0e7a3b4962b0c47d19e6f2a853";

std::string machine_id(const Files& files) {
    for (const char* const path : {"/etc/machine-id", "/var/lib/dbus/machine-id"}) {
        std::string id = files.line(path);
        // systemd writes "uninitialized" into images that are to get an id at first boot.
        if (id.size() == 32 && id.find_first_not_of("0123456789abcdef") == std::string::npos)
            return id;
    }
    return {};
}

} // namespace

std::string identity(const Files& files, const record::Machine& machine) {
    std::string facts{application};
    for (const std::string& fact : {machine.architecture, machine.cpu_vendor, machine.cpu_model,
                                    machine.provider, machine.instance, machine.system,
                                    // Those that are there, online or not.
                                    files.line("/sys/devices/system/cpu/present")})
        facts += '\n' + fact;
    // 64 bits: among a million machines two share an id with probability 3e-8.
    return to_hex(hmac_sha256(machine_id(files), facts)).substr(0, 16);
}

} // namespace assay::machine
