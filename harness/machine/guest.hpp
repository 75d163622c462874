// SPDX-License-Identifier: Apache-2.0
//
// Does it run on hardware, under a hypervisor, in a container; whose machine is it, and which of theirs? From
// firmware and what cloud-init left on disk; the network is never asked.

#pragma once

#include "machine/files.hpp"
#include "machine/system.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace assay::machine {

/// What this processor's hypervisor calls itself ("KVMKVMKVM"); empty without one, and where the
/// architecture has no such question.
std::string ask_hypervisor();

/// "kvm", "xen", "hyperv", "vmware", ...; "other" for an unknown hypervisor; "none" only where
/// something says so, else empty.
std::string virtualization(const Files& files, const Firmware& firmware, std::string_view signature,
                           std::optional<bool> is_guest);

/// "docker", "podman", "kubernetes", "lxc", "apptainer", ...; empty outside.
std::string container(const Files& files);

struct Cloud {
    std::string provider; ///< "aws", "gcp", "azure", ...; "unknown"
    std::string
        instance; ///< "c7a.large"; the product's name, or "unknown", where nothing says more
};
Cloud read_cloud(const Files& files, const Firmware& firmware);

} // namespace assay::machine
