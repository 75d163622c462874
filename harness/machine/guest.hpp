// SPDX-License-Identifier: Apache-2.0
//
// Bare metal, hypervisor or container; the cloud provider and the instance type. From firmware and
// cloud-init's files; without network access.

#pragma once

#include "machine/files.hpp"
#include "machine/system.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace assay::machine {

/// The signature of this processor's hypervisor ("KVMKVMKVM"); empty without one, and on architectures
/// without signatures.
std::string ask_hypervisor();

/// "kvm", "xen", "hyperv", "vmware", ...; "other" for an unknown hypervisor; "none" only with evidence,
/// otherwise empty.
std::string virtualization(const Files& files, const Firmware& firmware, std::string_view signature,
                           std::optional<bool> is_guest);

/// "docker", "podman", "kubernetes", "lxc", "apptainer", ...; empty outside.
std::string container(const Files& files);

struct Cloud {
    std::string provider; ///< "aws", "gcp", "azure", ...; "unknown"
    std::string instance; ///< "c7a.large"; otherwise the product's name, or "unknown"
    std::string region;
    std::string zone;
    bool burstable = false;  ///< its CPUs slow down when their credits are used up
    std::string instance_id; ///< of a known provider; unique there, and never recorded as it is
};
Cloud read_cloud(const Files& files, const Firmware& firmware);

} // namespace assay::machine
